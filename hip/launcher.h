// hip::Launcher: kernel launches with transfers of host arrays and results, through buffers that persist.
//
// A launch names a kernel, its packed argument block and the host arrays; their device addresses go into the block.
// Everything goes to the active stream (the calling thread's CurrentStream, else the default stream of the launcher's
// device): arrays in, the kernel, arrays and results out.
//
//   buffers    a launch works in a context: device memory for its arrays, pinned memory to stage them, and an event.
//              Contexts are used again; once they are large enough a launch allocates nothing and frees nothing. A
//              context with finished work is used before another one is made; a launch waits only if no context is idle
//              and no more may be made.
//   results    with results to bring back, the call synchronises with the stream exactly once, and the arrays then hold
//              the kernel's results. Without results it does not wait at all.
//   lifetimes  the arguments may be freed when the call returns. A context is used again, or destroyed, only after its
//              work is done. The work may outlive the stream. It does not outlive the launcher: the launcher's
//              destructor waits.
//   failure    a call that failed has brought nothing back; some of its work may have reached the stream, and its
//              context is not used again before that work is over. If the caller's device cannot be made current again,
//              the launch has not failed: the error goes to the error sink.
//
// Several threads may launch at once. A launch on a stream that captures is refused: contexts are no part of a graph.
// Captures of other streams are left alone (hip/beside_captures.h). Exception: on 6.4, the capture of a stream that has
// begun to capture after a launch on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

enum class Direction : std::uint8_t {
  kIn,     // copied to the device before the kernel runs
  kOut,    // copied back afterwards: a result; bytes that the kernel does not write are undefined
  kInOut,  // both
};

// One array (or result) of the host, and where in the argument block its device address goes.
struct Transfer {
  std::uint32_t argument_offset = 0;
  void* host = nullptr;
  std::size_t bytes = 0;  // 0: the address is null
  Direction direction = Direction::kInOut;
};

struct KernelLaunch {
  hipFunction_t function = nullptr;
  dim3 grid{1, 1, 1};
  dim3 block{64, 1, 1};
  unsigned shared_bytes = 0;
  std::span<const std::byte> arguments;  // packed, as the kernel's metadata lays it out
  std::span<const Transfer> transfers;
};

struct LauncherOptions {
  int device = 0;
  std::size_t max_contexts = 8;                     // launches in flight, at least 1; one more waits for the oldest
  const struct ReleaseQuirk* free_async = nullptr;  // as in ScratchOptions
  ErrorSink errors{};                               // receives errors that no launch returns, and the destructor's
};

struct LauncherCounts {
  std::uint64_t launches = 0;
  std::uint64_t synchronizations = 0;  // for results
  std::uint64_t waits = 0;             // because no context had finished, and no more may be made
  std::uint64_t contexts = 0;          // made
};

class Launcher {
 public:
  explicit Launcher(const Api& api, const LauncherOptions& options = {});
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  // Waits for the work that is in flight; errors go to the error sink.
  ~Launcher();

  // Launches on the active stream.
  [[nodiscard]] Status launch(const KernelLaunch& launch);
  [[nodiscard]] Status launch_on(const StreamRef& stream, const KernelLaunch& launch);

  [[nodiscard]] LauncherCounts counts() const;

 private:
  class Context;
  struct Pool {
    std::vector<std::unique_ptr<Context>> contexts;  // not in use: idle ones first, then the longest unused
    std::size_t made = 0;
    LauncherCounts counts;
  };

  [[nodiscard]] Result<std::unique_ptr<Context>> take();
  [[nodiscard]] Result<std::unique_ptr<Context>> make();
  [[nodiscard]] std::unique_ptr<Context> pick();
  void give_back(std::unique_ptr<Context> context);

  const Api& api_;
  const LauncherOptions options_;
  mutable sync::Mutex mutex_;
  sync::ConditionVariable returned_;
  sync::Cell<Pool> pool_;  // guarded by mutex_
};

}  // namespace hip
