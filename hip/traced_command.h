// hip::traced_command: a command of a command buffer that a library enqueues, with its traces kept.
//
// A command buffer (hip/command_buffer.h) captures such a command when its trace cache (hip/trace_cache.h) has no trace
// of it for these buffers, and adds the trace's graph to its own graph as a child. Any other recording of the node
// captures the work each time, as captured_command does.
//
//   relocations  with shadows, the work is captured differentially once (hip/differential_capture.h). A trace with only
//                known addresses is patched when buffers move; any other trace is captured again. Whenever a trace
//                is made, the known command is compared with the work as captured at the real addresses; a command that
//                differs is opaque from then on. A patch keeps the footing of its trace: each buffer's address modulo
//                kFooting, and the distances of overlapping buffers. A library may choose its work by these, so on
//                another footing the work is captured again.
//   collective   the ranks decide together whether they use traces or all capture (C6). Never captured for shadow
//                addresses: a library may talk to its peers while it is captured, and they would not answer.
//   empty        work that enqueues nothing is an empty node.
//
// Does not check that the work depends on its buffers' addresses alone: make other inputs, and the buffers' sizes, part
// of the command's number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hip/captured_graph.h"
#include "hip/differential_capture.h"
#include "hip/graph_patcher.h"
#include "hip/trace_cache.h"

namespace hip {

// Bytes: no library is known to choose by a coarser alignment than a cache line's.
inline constexpr DeviceAddress kFooting = 64;

struct TracedWork {
  std::uint64_t command = 0;         // the name of the work in the cache; different for different works
  hipStream_t stream = nullptr;      // the work is captured on it, as in captured_command
  std::vector<BufferIndex> buffers;  // every buffer that the work uses; meant to be few
  EnqueueAt work;
  bool collective = false;
  std::optional<Shadows> shadows{};  // without a flaw and of all its buffers; never with a collective (asserted)
  KernelLayouts layouts{};           // for shadows; empty: no kernel's layout is known
  ErrorSink errors{};
};

[[nodiscard]] RecordedNode traced_command(TracedWork work);
// The work of a node that is a traced command; otherwise null.
[[nodiscard]] std::shared_ptr<const TracedWork> traced_work_of(const RecordedNode& node);

// The result of differential capture: a child or an empty node where every address of it is known and the work
// does the same with its buffers at `addresses`, or an opaque node with the reason. Work without shadows is opaque.
[[nodiscard]] Result<RecordedNode> known_command(const Api& api, const TracedWork& work,
                                                 std::span<const DeviceAddress> addresses,
                                                 const ReleaseQuirks& quirks = {});
// The device of the work's stream; the current one for a stream that every device has, or if HIP has no getter for it.
[[nodiscard]] Result<int> device_of(const Api& api, const TracedWork& work);
// Whether a trace of the work with its buffers at `was` may be patched for buffers at `now` (both by buffer index).
[[nodiscard]] bool same_footing(const TracedWork& work, std::span<const DeviceAddress> was,
                                std::span<const DeviceAddress> now);

// The captured graph of a traced command, at the buffers' present addresses. Other graphs clone it as a child. The same
// device is current whenever this object is used; its nodes belong to the device of the work's stream.
class TracedGraph {
 public:
  // Captures the work with the buffers at `addresses`; null where it enqueues nothing. `known` is the result of
  // differential capture, which the caller keeps between calls; it becomes opaque once the work contradicts it.
  [[nodiscard]] static Result<std::shared_ptr<TracedGraph>> capture(const Api& api,
                                                                    std::shared_ptr<const TracedWork> work,
                                                                    std::span<const DeviceAddress> addresses,
                                                                    std::optional<RecordedNode>& known);
  TracedGraph(const TracedGraph&) = delete;
  TracedGraph& operator=(const TracedGraph&) = delete;
  ~TracedGraph();

  // Patches the graph to new addresses, in the order in which the work names its buffers. If it fails, capture again.
  [[nodiscard]] Status patch(std::span<const TraceBuffer> buffers);
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }

 private:
  TracedGraph(const Api& api, std::shared_ptr<const TracedWork> work, RecordedGraph recorded,
              std::span<const DeviceAddress> addresses)
      : api_(api),
        work_(std::move(work)),
        recorded_(std::move(recorded)),
        addresses_(addresses.begin(), addresses.end()) {}

  [[nodiscard]] Status record_nodes(const Recording& nodes);

  const Api& api_;
  const std::shared_ptr<const TracedWork> work_;
  RecordedGraph recorded_;  // owned; has no node handles if the nodes are not known
  AddressTable addresses_, wanted_;
  std::optional<int> other_device_{};    // the device of its nodes, if that is not the current one
  std::optional<GraphPatcher> patcher_;  // of recorded_; destroyed before it
  std::vector<Move> moves_;
};

}  // namespace hip
