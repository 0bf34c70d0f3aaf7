// Ranks of a collective as processes: each has a runtime, a device and a command buffer of its own, and they decide
// together whether to replay their traces or to capture (hip/rank_agreement.h).
//
//   ranks LIBRARY        on a HIP runtime (libamdhip64.so.7)
//
// Each rank has a socket to the process that started it, and that process decides; a framework has its own way. Prints
// the work of the ranks; status 1 and a reason when a rank did something wrong.
//
// The deciding process gives a round up after its patience; a rank does so only when it has had no answer for much
// longer. Giving up closes the sockets, so the other side notices: no rank is told to launch a step after another rank
// has given it up. Not covered: the deciding process stops for so long while it is sending the answers. Against that,
// ranks would have to confirm the answer, and then wait without an end.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"
#include "hip/traced_command.h"

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kRanks = 2;
constexpr milliseconds kPatience{120000};             // a busy machine is no rank that does not come
constexpr milliseconds kOwnPatience = 2 * kPatience;  // of a rank with the deciding process
constexpr milliseconds kNoPatience{50};               // where no rank will come
constexpr std::size_t kBytes = 256;

// One rank's side: sends whether the rank succeeded, and receives whether all ranks did.
class SocketRanks final : public hip::RankAgreement {
 public:
  explicit SocketRanks(int socket, milliseconds patience = kOwnPatience) : socket_(socket), patience_(patience) {}
  ~SocketRanks() override { close(socket_); }

  hip::Result<bool> all(bool mine) override {
    const char said = mine ? 1 : 0;
    if (left_ || send(socket_, &said, 1, MSG_NOSIGNAL) != 1) return leave();
    pollfd answer{socket_, POLLIN, 0};
    if (poll(&answer, 1, static_cast<int>(patience_.count())) != 1) return leave();
    char heard = 0;
    if (recv(socket_, &heard, 1, 0) != 1) return leave();
    return heard != 0;
  }

 private:
  // Leaves for good: a later answer does not arrive, and its sender gets an error. An answer that arrived just before
  // was sent to the other ranks as well, so it counts, and the next round is an error.
  hip::Result<bool> leave() {
    shutdown(socket_, SHUT_RDWR);
    char heard = 0;
    if (!std::exchange(left_, true) && recv(socket_, &heard, 1, MSG_DONTWAIT) == 1) return heard != 0;
    return hip::Error{hipErrorLaunchTimeOut, "a rank did not come to agree: the ranks are no longer together"};
  }

  const int socket_;
  const milliseconds patience_;
  bool left_ = false;
};

using Sockets = std::array<int, kRanks>;

// Hears all ranks, then tells all of them. False when that cannot be: a rank is gone, also one that had said its word,
// or has not come within `patience` of the first.
bool decide(const Sockets& sockets, milliseconds patience) {
  std::array<pollfd, kRanks> ranks{};
  for (std::size_t i = 0; i < kRanks; ++i) ranks[i] = {sockets[i], POLLIN | POLLRDHUP, 0};
  char all = 1;
  std::chrono::steady_clock::time_point end;
  for (std::size_t came = 0; came < kRanks;) {
    const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (came != 0 && left.count() <= 0) return false;
    if (poll(ranks.data(), kRanks, came == 0 ? -1 : static_cast<int>(left.count())) <= 0) return false;
    if (came == 0) end = std::chrono::steady_clock::now() + patience;
    for (pollfd& rank : ranks) {
      if ((rank.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return false;
      if ((rank.revents & POLLIN) == 0) continue;
      char said = 0;
      if (recv(rank.fd, &said, 1, 0) != 1) return false;
      all = static_cast<char>(all & said);
      rank.events = POLLRDHUP;  // it says no more before it is told
      ++came;
    }
  }
  for (const int socket : sockets) {
    if (send(socket, &all, 1, MSG_NOSIGNAL) != 1) return false;
  }
  return true;
}

// Round after round, until one cannot be: then all are told by the end of their sockets. Returns how many there were.
int agree(const Sockets& sockets, milliseconds patience) {
  int rounds = 0;
  while (decide(sockets, patience)) ++rounds;
  for (const int socket : sockets) close(socket);
  return rounds;
}

int fail(int rank, const std::string& what) {
  std::fprintf(stderr, "ranks: rank %d: %s\n", rank, what.c_str());
  return 1;
}

// The outcome of a rank's step: "captured", "hit", "overruled" or the error.
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

// The first rank waits in vain, and its peer comes when that has been given up: by the rank, or by whoever decides.
// Both are told so then and ever after; the peer never, that both are ready.
static_assert(kRanks == 2);
bool nobody_goes_on_alone(milliseconds deciding, milliseconds ranks, std::size_t first) {
  Sockets deciders{}, sockets{};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) return false;
    deciders[rank] = pair[0];
    sockets[rank] = pair[1];
  }
  const pid_t child = fork();
  if (child == 0) {
    for (const int socket : sockets) close(socket);
    agree(deciders, deciding);
    _exit(0);
  }
  for (const int socket : deciders) close(socket);
  bool apart = child > 0;
  {
    SocketRanks early(sockets[first], ranks), late(sockets[1 - first], ranks);
    apart = apart && !early.all(true) && !late.all(true);
    apart = apart && !early.all(true) && !late.all(true);
  }
  int status = 0;
  return apart && waitpid(child, &status, 0) == child && status == 0;
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
  int version = 0;
  if (api.hipRuntimeGetVersion(&version) != hipSuccess) return fail(rank, "the runtime does not say which it is");
  hip::CommandBufferOptions options;
  options.device = device;
  options.ranks = &ranks;
  options.quirks = hip::ReleaseQuirks::of_version(version);
  options.memory = [](hip::BufferIndex) { return hip::BufferMemory::kDevice; };
  hip::CommandBuffer buffer(api, options);
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
  for (std::size_t first = 0; first < kRanks; ++first) {
    if (nobody_goes_on_alone(kPatience, kNoPatience, first) && nobody_goes_on_alone(kNoPatience, kOwnPatience, first)) {
      continue;
    }
    return fail(static_cast<int>(1 - first), "it went on when the other one had been given up");
  }
  Sockets sockets{};
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
  const int rounds = agree(sockets, kPatience);
  bool right = true;
  for (const pid_t process : processes) {
    int status = 0;
    right = waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0 && right;
  }
  if (right) {
    std::printf("%zu ranks as processes: together for %d rounds, and none waited for the one that left\n", kRanks,
                rounds);
    std::printf("a rank that was given up: its peer did not go on alone\n");
  }
  return right ? 0 : 1;
}
