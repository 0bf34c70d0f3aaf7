// hip::CapturedGraph: the work that a library enqueues on a stream, as a graph; hip::capture_trace makes it a trace for
// hip/trace_cache.h, and hip::captured_command a node of a command buffer (hip/command_buffer.h).
//
//   mode      captured for the calling thread alone, so that other threads may make calls that a capture forbids.
//   empty     work that enqueues nothing gives a graph without nodes. HIP does not document instantiating such a graph
//             or adding it as a child, and runtimes have crashed on both, so a runtime never gets one. Its trace is
//             null, and its command is an empty node, which keeps the dependencies.
//   failure   an error of the work or of HIP is returned. The capture is ended then, and nothing is left behind; if it
//             could not be ended, the error says so. An exception of the work ends the capture, too.
//
// The stream is the caller's. It must not be the default stream, must not capture, and must not be used by another
// thread meanwhile. Not checked: effects of the work other than enqueueing.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "hip/trace_cache.h"

namespace hip {

using Enqueue = std::function<Status(hipStream_t stream)>;

class CapturedGraph {
 public:
  [[nodiscard]] static Result<CapturedGraph> capture(const Api& api, hipStream_t stream, const Enqueue& work,
                                                     ErrorSink errors = {});

  CapturedGraph(CapturedGraph&& other) noexcept
      : api_(other.api_), graph_(std::exchange(other.graph_, nullptr)), nodes_(other.nodes_), errors_(other.errors_) {}
  CapturedGraph& operator=(CapturedGraph&&) = delete;
  // A failure is tried once more and then goes to the error sink.
  ~CapturedGraph();

  [[nodiscard]] hipGraph_t graph() const { return graph_; }
  [[nodiscard]] bool empty() const { return nodes_ == 0; }
  // The graph is the caller's to destroy from now on.
  [[nodiscard]] hipGraph_t take() { return std::exchange(graph_, nullptr); }

 private:
  CapturedGraph(const Api& api, hipGraph_t graph, std::size_t nodes, ErrorSink errors)
      : api_(&api), graph_(graph), nodes_(nodes), errors_(errors) {}

  const Api* api_;
  hipGraph_t graph_;
  std::size_t nodes_;
  ErrorSink errors_;
};

// A trace with an executable graph of its own, or null where the work is empty. Its addresses are fixed by the work:
// patch() returns an error that says that the trace has to be recorded again (A7). A launch on another stream than the
// last launch's is ordered behind the last launch (hip/last_launch.h). `quirks` tell how the trace has to wait, on the
// runtime's release, before its executable graph is destroyed.
[[nodiscard]] Result<std::unique_ptr<Trace>> capture_trace(const Api& api, hipStream_t stream, const Enqueue& work,
                                                           ErrorSink errors = {}, const ReleaseQuirks& quirks = {});

// A command with opaque nodes, for a recording: captured on `stream` each time it is recorded. The work
// gets the addresses of all buffers (by index, as record_graph does) and may use only the buffers in `buffers`.
using EnqueueAt = std::function<Status(hipStream_t stream, std::span<const DeviceAddress> addresses)>;
[[nodiscard]] RecordedNode captured_command(hipStream_t stream, std::vector<BufferIndex> buffers, EnqueueAt work,
                                            ErrorSink errors = {});

// Adds the graph as a child, or an empty node where it is null: HIP does not document child graphs without nodes.
[[nodiscard]] Result<hipGraphNode_t> add_child(const Api& api, hipGraph_t graph,
                                               std::span<const hipGraphNode_t> dependencies, hipGraph_t child);

// If the call fails, it is made once more; the first error is returned even if the second call succeeds.
[[nodiscard]] Status destroy_exec(const Api& api, hipGraphExec_t exec);
[[nodiscard]] Status destroy_graph(const Api& api, hipGraph_t graph);
[[nodiscard]] Status free_pinned(const Api& api, void* memory);

}  // namespace hip
