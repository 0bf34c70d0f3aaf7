// A process that forks while its other threads call HIP. Its runtime is a library of empty functions, so that a child
// can wait for no lock but the recorder's. Exits with 1 when a child does not end in time.
//
//   forking
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr int kForks = 10, kRanges = 8;
constexpr unsigned kSecondsOfAChild = 20;
constexpr std::size_t kRangeBytes = std::size_t{1} << 20;  // the recorder compares the contents under its lock

// The calls take each lock of the recorder: those of host memory, of kernels, and of the log.
bool call(void* memory) {
  return hipMemsetAsync(memory, 1, kRangeBytes, nullptr) == hipSuccess &&
         hipModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == hipSuccess;
}

bool child_ends(void* memory) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsOfAChild);
    _exit(call(memory) ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main() {
  std::vector<std::vector<char>> ranges(kRanges, std::vector<char>(kRangeBytes));
  for (std::vector<char>& range : ranges) {
    void* memory = range.data();  // the empty function leaves it as it is
    if (hipHostMalloc(&memory, kRangeBytes, 0) != hipSuccess) return 1;
  }
  void* const memory = ranges.front().data();
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!over) call(memory);
    });
  }
  bool all_end = true;
  for (int i = 0; i < kForks && all_end; ++i) all_end = child_ends(memory);
  over = true;
  for (std::thread& each : threads) each.join();
  return all_end && call(memory) ? 0 : 1;
}
