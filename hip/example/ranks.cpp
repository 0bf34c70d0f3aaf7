// Ranks of a collective as processes: each has a runtime, a device and a command buffer of its own, and they decide
// together whether to replay their traces or to capture (hip/rank_agreement.h).
//
//   ranks LIBRARY        on a HIP runtime (libamdhip64.so.7)
//
// What is between the ranks here is a socket each to the process that started them; a framework has its own. Prints
// what the ranks did; status 1 and a reason when it is not as it should be.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"
#include "hip/traced_command.h"

namespace {

constexpr int kRanks = 2;
constexpr int kPatienceMilliseconds = 120000;  // a busy machine is no rank that does not come
constexpr std::size_t kBytes = 256;

// One rank's side: says what it could do, and hears what all could.
class SocketRanks final : public hip::RankAgreement {
 public:
  explicit SocketRanks(int socket) : socket_(socket) {}
  ~SocketRanks() override { close(socket_); }

  hip::Result<bool> all(bool mine) override {
    const char said = mine ? 1 : 0;
    if (broken_ || send(socket_, &said, 1, MSG_NOSIGNAL) != 1) return apart();
    pollfd answer{socket_, POLLIN, 0};
    char heard = 0;
    if (poll(&answer, 1, kPatienceMilliseconds) != 1 || recv(socket_, &heard, 1, 0) != 1) return apart();
    return heard != 0;
  }

 private:
  hip::Error apart() {
    broken_ = true;
    return {hipErrorLaunchTimeOut, "a rank did not come to agree: the ranks are no longer together"};
  }
  int socket_;
  bool broken_ = false;
};

// Hears all ranks and tells all of them, round after round, until one is gone: then the others are told by the end of
// their sockets. Returns how many rounds there were.
int agree(std::array<int, kRanks>& sockets) {
  for (int rounds = 0;; ++rounds) {
    char all = 1;
    for (const int socket : sockets) {
      char said = 0;
      if (recv(socket, &said, 1, 0) != 1) {
        for (const int each : sockets) close(each);
        return rounds;
      }
      all = static_cast<char>(all & said);
    }
    for (const int socket : sockets) static_cast<void>(send(socket, &all, 1, MSG_NOSIGNAL));
  }
}

int fail(int rank, const std::string& what) {
  std::fprintf(stderr, "ranks: rank %d: %s\n", rank, what.c_str());
  return 1;
}

// What a step of a rank came to: "captured", "hit", "overruled" or the error.
std::string step(hip::CommandBuffer& buffer, std::span<const hip::DeviceAddress> addresses,
                 const hip::StreamRef& stream) {
  const hip::Result<hip::CommandStep> done = buffer.step(addresses, stream);
  if (!done) return "error";
  const hip::TraceUse& traces = done.value().traces;
  return traces.overruled != 0 ? "overruled" : traces.captured != 0 ? "captured" : traces.hits != 0 ? "hit" : "nothing";
}

// The work of a library that talks to its peers: a copy of this rank's part.
hip::Recording collective(const hip::Api& api, hipStream_t stream) {
  hip::TracedWork work;
  work.command = 1;
  work.stream = stream;
  work.buffers = {0, 1};
  work.collective = true;
  work.work = [&api](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api.hipMemcpyAsync(reinterpret_cast<void*>(at[1]), reinterpret_cast<void*>(at[0]), kBytes,
                                          hipMemcpyDeviceToDevice, on),
                       "hipMemcpyAsync");
  };
  hip::Recording commands;
  commands.add(hip::traced_command(std::move(work)));
  return commands;
}

// Four steps together; before the third rank 1 gets another buffer. Then rank 1 leaves, and rank 0 is told so.
int run_steps(const hip::Api& api, int rank, hip::RankAgreement& ranks) {
  int devices = 0;
  if (api.hipGetDeviceCount(&devices) != hipSuccess || devices == 0) return fail(rank, "there is no device");
  const int device = rank % devices;
  hipStream_t stream = nullptr, capturing = nullptr;
  hip::AddressTable addresses(2);
  bool ready = api.hipSetDevice(device) == hipSuccess && api.hipStreamCreate(&stream) == hipSuccess &&
               api.hipStreamCreate(&capturing) == hipSuccess;
  for (hip::DeviceAddress& address : addresses) {
    void* memory = nullptr;
    ready = ready && api.hipMalloc(&memory, kBytes) == hipSuccess;
    address = reinterpret_cast<hip::DeviceAddress>(memory);
  }
  if (!ready) return fail(rank, "there is no stream or no memory");
  std::vector<unsigned char> in(kBytes, static_cast<unsigned char>(rank + 1)), out(kBytes, 0);
  std::string seen;
  hip::CommandBuffer buffer(api, {.device = device, .ranks = &ranks});
  buffer.set(collective(api, capturing));
  const hip::StreamRef on(api, stream, device);
  const int steps = rank == 0 ? 5 : 4;
  for (int i = 0; i < steps; ++i) {
    if (i == 2 && rank == 1) buffer.forget(0);
    if (api.hipMemcpy(reinterpret_cast<void*>(addresses[0]), in.data(), kBytes, hipMemcpyHostToDevice) != hipSuccess)
      return fail(rank, "the host cannot write");
    seen += (seen.empty() ? "" : ", ") + step(buffer, addresses, on);
  }
  if (api.hipStreamSynchronize(stream) != hipSuccess ||
      api.hipMemcpy(out.data(), reinterpret_cast<void*>(addresses[1]), kBytes, hipMemcpyDeviceToHost) != hipSuccess)
    return fail(rank, "the host cannot read");
  const std::string expected = rank == 0 ? "captured, hit, overruled, hit, error" : "captured, hit, captured, hit";
  if (out != in) return fail(rank, "the result is wrong");
  if (seen != expected) return fail(rank, "expected " + expected + "; observed " + seen);
  std::printf("rank %d on device %d: %s\n", rank, device, seen.c_str());
  return 0;
}

int run_rank(const char* library, int rank, int socket) {
  SocketRanks ranks(socket);
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(library);
  if (!loaded) return fail(rank, loaded.error().message);
  return run_steps(loaded.value().api, rank, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ranks LIBRARY\n");
    return 2;
  }
  std::array<int, kRanks> sockets{};
  std::array<pid_t, kRanks> processes{};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) return fail(static_cast<int>(rank), "no socket");
    const pid_t child = fork();
    if (child == 0) {  // the runtime begins in here: it does not survive a fork
      for (std::size_t earlier = 0; earlier < rank; ++earlier) close(sockets[earlier]);
      close(pair[0]);
      const int status = run_rank(argv[1], static_cast<int>(rank), pair[1]);
      std::fflush(nullptr);
      _exit(status);
    }
    close(pair[1]);
    sockets[rank] = pair[0];
    processes[rank] = child;
  }
  const int rounds = agree(sockets);
  bool right = true;
  for (const pid_t process : processes) {
    int status = 0;
    right = waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0 && right;
  }
  if (right)
    std::printf("%d ranks as processes: together for %d rounds, and none waited for the one that left\n", kRanks,
                rounds);
  return right ? 0 : 1;
}
