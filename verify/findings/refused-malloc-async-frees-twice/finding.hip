// The process dies at its end after a refused hipMallocAsync.
// The story: finding.toml.
#include "../full_device.h"

int main() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    take_all_memory();
    void* memory = nullptr;
    if (hipMallocAsync(&memory, 1 << 20, stream) != hipErrorOutOfMemory) std::exit(2);
    std::exit(0);  // the runtime's own objects are destroyed here
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) return 2;
  check("end", "exit", WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status)) : "exit");
  return verdict();
}
