// Enqueues the work of a node's record with HIP's stream functions: the stream runs the work, or its capture takes it.
// A kernel whose attribute says so is launched cooperatively.
//
// An empty node, a child graph and the memory nodes have no such function: they are refused. An opaque record is
// refused too: its owner enqueues the work that the record was made from.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "hip/api/api.h"
#include "hip/recording.h"

namespace verify {

struct EnqueueResult {
  hip::Status status;
  std::string unsupported;  // the function that the runtime lacks; then nothing was enqueued
};

// Returns no value where the runtime lacks the function, or where the headers of this build do not declare it (the
// function then has no parameters).
template <class Function, class... Args>
[[nodiscard]] std::optional<hipError_t> call_if_there(Function function, Args... args) {
  if constexpr (std::is_invocable_v<Function, Args...>) {
    if (function != nullptr) return function(args...);
  }
  return {};
}

[[nodiscard]] EnqueueResult enqueue(const hip::Api& api, const hip::NodeRecord& record, hipStream_t stream);

// Gives the work of a copy or a memset to the stream by the call without Async, which waits for it. HIP has such calls
// for the null stream, and for linear copies of any stream; all other work is refused.
[[nodiscard]] EnqueueResult run_and_wait(const hip::Api& api, const hip::NodeRecord& record, hipStream_t stream);

// A linear copy that names the device of each end: hipMemcpyPeerAsync, or hipMemcpyPeer (`wait`), which takes no
// stream.
struct CopyOfPeers {
  hip::CopyRecord copy;
  int dst_device = 0, src_device = 0;
  bool wait = false;
};
[[nodiscard]] EnqueueResult enqueue_peer(const hip::Api& api, const CopyOfPeers& peers, hipStream_t stream);

}  // namespace verify
