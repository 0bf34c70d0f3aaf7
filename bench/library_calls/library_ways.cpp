#include "bench/library_calls/library_ways.h"

#include <chrono>
#include <memory>
#include <utility>

#include "hip/address_stabilizer.h"
#include "hip/captured_graph.h"
#include "hip/errors.h"
#include "hip/graph_patcher.h"
#include "hip/stream.h"
#include "hip/trace_cache.h"

namespace bench {
namespace {

hip::Result<hip::CapturedGraph> capture_at(const LibraryStep& step, std::span<const hip::DeviceAddress> addresses) {
  return hip::CapturedGraph::capture(step.api, step.stream, [&](hipStream_t on) { return step.call(on, addresses); });
}

hip::Status launch(const LibraryStep& step, hipGraphExec_t exec) {
  return hip::called(step.api.hipGraphLaunch(exec, step.stream), "hipGraphLaunch");
}

// The executable graph of the last capture. The device is idle when it is replaced.
class OwnedExec {
 public:
  explicit OwnedExec(const LibraryStep& step) : step_(step) {}
  OwnedExec(const OwnedExec&) = delete;
  OwnedExec& operator=(const OwnedExec&) = delete;
  ~OwnedExec() {
    if (const hip::Status status = destroy(); !status) {
      hip::report_teardown_error(status.error().code, status.error().message.c_str());
    }
  }

  [[nodiscard]] hipGraphExec_t get() const { return exec_; }
  hip::Status capture(std::span<const hip::DeviceAddress> addresses) {
    const hip::Result<hip::CapturedGraph> graph = capture_at(step_, addresses);
    if (!graph) return graph.error();
    if (hip::Status status = destroy(); !status) return status;
    hipGraphExec_t made = nullptr;
    const hipError_t status = step_.api.hipGraphInstantiate(&made, graph.value().graph(), nullptr, nullptr, 0);
    if (status == hipSuccess) exec_ = made;
    return hip::called(status, "hipGraphInstantiate");
  }
  hip::Status update(std::span<const hip::DeviceAddress> addresses) {
    if (exec_ == nullptr) return capture(addresses);
    const hip::Result<hip::CapturedGraph> graph = capture_at(step_, addresses);
    if (!graph) return graph.error();
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result{};
    const hipError_t status = step_.api.hipGraphExecUpdate(exec_, graph.value().graph(), &node, &result);
    if (status == hipErrorGraphExecUpdateFailure) return hip::Error{hipErrorNotSupported, "the update is refused"};
    return hip::called(status, "hipGraphExecUpdate");
  }

 private:
  hip::Status destroy() {
    hipGraphExec_t exec = std::exchange(exec_, nullptr);
    return exec == nullptr ? hip::Status() : hip::destroy_exec(step_.api, exec);
  }

  const LibraryStep& step_;
  hipGraphExec_t exec_ = nullptr;
};

// A step with the buffers at the addresses. hipErrorNotSupported: the way is not for this call.
using RunStep = std::function<hip::Status(const hip::AddressTable& addresses)>;

RunStep capture_step(const LibraryStep& step) {
  return [&step, exec = std::make_shared<OwnedExec>(step)](const hip::AddressTable& addresses) {
    const hip::Status status = exec->capture(addresses);
    return status ? launch(step, exec->get()) : status;
  };
}

RunStep eager_step(const LibraryStep& step) {
  return [&step](const hip::AddressTable& addresses) { return step.call(step.stream, addresses); };
}

RunStep update_step(const LibraryStep& step) {
  return [&step, exec = std::make_shared<OwnedExec>(step)](const hip::AddressTable& addresses) {
    const hip::Status status = exec->update(addresses);
    return status ? launch(step, exec->get()) : status;
  };
}

// An opaque node is an error.
using OwnedGraph = std::shared_ptr<LibraryGraph>;
hip::Result<OwnedGraph> library_graph(const LibraryStep& step) {
  hip::Result<LibraryGraph> graph = LibraryGraph::capture(step.api, step.driver, step.stream, step.call, step.shadows);
  if (!graph) return graph.error();
  for (const LibraryNode& node : graph.value().seen().nodes) {
    if (!node.opaque.empty()) return hip::Error{hipErrorNotSupported, "opaque: " + node.opaque};
  }
  return std::make_shared<LibraryGraph>(std::move(graph).value());
}

hip::Result<RunStep> patch_step(const LibraryStep& step, bool launches) {
  const hip::Result<OwnedGraph> graph = library_graph(step);
  if (!graph) return graph.error();
  return RunStep([&step, launches, graph = graph.value()](const hip::AddressTable& addresses) {
    const hip::Status status = graph->patch(addresses);
    return status && launches ? launch(step, graph->exec()) : status;
  });
}

hip::Result<RunStep> setters_step(const LibraryStep& step) {
  const hip::Result<OwnedGraph> graph = library_graph(step);
  if (!graph) return graph.error();
  return RunStep([graph = graph.value()](const hip::AddressTable&) { return graph->set_all(); });
}

struct PatchedGraph {
  OwnedGraph graph;  // outlives the patcher
  hip::GraphPatcher patcher;
  std::vector<hip::Move> moves;
};

hip::Result<RunStep> patcher_step(const LibraryStep& step, bool launches) {
  const hip::Result<OwnedGraph> graph = library_graph(step);
  if (!graph) return graph.error();
  const hip::Result<KnownGraph> known = known_graph(step.api, *graph.value());
  if (!known) return known.error();
  hip::GraphPatcher patcher = hip::GraphPatcher::of_exec(step.api, known.value().recording, known.value().handles,
                                                         graph.value()->exec(), step.shadows.tables.front());
  const auto patched = std::make_shared<PatchedGraph>(graph.value(), std::move(patcher));
  return RunStep([&step, launches, patched](const hip::AddressTable& addresses) -> hip::Status {
    patched->moves.clear();
    for (const hip::BufferIndex buffer : step.shadows.buffers) {
      const hip::DeviceAddress from = patched->patcher.addresses()[buffer];
      if (from != addresses[buffer]) patched->moves.push_back({buffer, from, addresses[buffer]});
    }
    if (const hip::PatchResult result = patched->patcher.patch(patched->moves); !result.ok()) {
      return hip::Error{result.error().code, result.error().message};
    }
    return launches ? launch(step, patched->graph->exec()) : hip::Status();
  });
}

class LibraryTrace final : public hip::Trace {
 public:
  explicit LibraryTrace(OwnedGraph graph) : graph_(std::move(graph)) {}
  hip::Status patch(std::span<const hip::TraceBuffer> buffers) override {
    addresses_.clear();
    for (const hip::TraceBuffer& buffer : buffers) addresses_.push_back(buffer.address);
    return graph_->patch(addresses_);
  }
  hip::Status launch(const hip::StreamRef& stream) override { return stream.launch(graph_->exec()); }

 private:
  OwnedGraph graph_;
  hip::AddressTable addresses_;
};

RunStep cache_step(const LibraryStep& step) {
  const auto record = [&step](std::span<const hip::TraceBuffer> buffers) -> hip::Result<std::unique_ptr<hip::Trace>> {
    const hip::Result<OwnedGraph> graph = library_graph(step);
    if (!graph) return graph.error();
    auto trace = std::make_unique<LibraryTrace>(graph.value());
    if (hip::Status status = trace->patch(buffers); !status) return status.error();
    return std::unique_ptr<hip::Trace>(std::move(trace));
  };
  return [&step, record, cache = std::make_shared<hip::TraceCache>()](const hip::AddressTable& addresses) {
    std::vector<hip::TraceBuffer> buffers;
    for (std::size_t i = 0; i < addresses.size(); ++i) buffers.push_back({i + 1, addresses[i]});
    const hip::Result<hip::TraceOutcome> outcome =
        cache->execute(1, buffers, hip::StreamRef(step.api, step.stream, 0), record);
    return outcome ? hip::Status() : outcome.error();
  };
}

class StableCall final : public hip::StableWork {
 public:
  explicit StableCall(const LibraryStep& step) : exec_(step) {}
  hip::Status record(std::span<void* const> addresses) override {
    hip::AddressTable table;
    for (void* address : addresses) table.push_back(reinterpret_cast<std::uintptr_t>(address));
    return exec_.capture(table);
  }
  hip::Status launch(const hip::StreamRef& stream) override { return stream.launch(exec_.get()); }

 private:
  OwnedExec exec_;
};

struct Stabilised {
  explicit Stabilised(const LibraryStep& step) : work(step), stabilizer(step.api) {}
  StableCall work;  // goes behind the stabiliser, which waits for it
  hip::AddressStabilizer stabilizer;
};

RunStep stabilise_step(const LibraryStep& step) {
  return [&step, stable = std::make_shared<Stabilised>(step)](const hip::AddressTable& addresses) {
    std::vector<hip::StepBuffer> buffers;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      buffers.push_back({reinterpret_cast<void*>(static_cast<std::uintptr_t>(addresses[i])), step.shadows.bytes[i],
                         hip::BufferUse::kInOut, step.devices[i]});
    }
    const hip::Result<hip::StableStep> result =
        stable->stabilizer.step(1, buffers, hip::StreamRef(step.api, step.stream, 0), stable->work);
    return result ? hip::Status() : result.error();
  };
}

// ---- measuring

class Measurement {
 public:
  Measurement(const LibraryStep& step, int times) : step_(step), times_(times) {}

  // Adds the row of a way. An error is one of HIP's or of the call's.
  hip::Status add(const char* name, bool launches, const hip::Result<RunStep>& made) {
    WayTimes& row = rows_.emplace_back();
    row.name = name;
    hip::Status status = made ? run(row, launches, made.value()) : made.error();
    if (status || status.error().code != hipErrorNotSupported) return status;
    row.refused = status.error().message;
    return {};
  }
  std::vector<WayTimes> take() { return std::move(rows_); }

 private:
  hip::Status run(WayTimes& row, bool launches, const RunStep& run_step) {
    if (launches) {
      if (hip::Status status = check(row, run_step); !status) return status;
    }
    using Clock = std::chrono::steady_clock;
    Clock::duration host{}, whole{};
    for (int i = 0; i < times_; ++i) {
      const Clock::time_point start = Clock::now();
      if (hip::Status status = run_step(step_.shadows.tables[static_cast<std::size_t>(i) % 2]); !status) return status;
      host += Clock::now() - start;
      if (hip::Status status = wait(); !status) return status;
      whole += Clock::now() - start;
    }
    const auto mean = [&](Clock::duration sum) {
      return std::chrono::duration<double, std::micro>(sum).count() / times_;
    };
    row.host = mean(host);
    row.whole = launches ? mean(whole) : 0;
    return {};
  }

  // The first way that is checked says what the bytes have to be.
  hip::Status check(WayTimes& row, const RunStep& run_step) {
    const hip::AddressTable& table = step_.shadows.tables.back();
    if (hip::Status status = step_.fill(table); !status) return status;
    if (hip::Status status = run_step(table); !status) return status;
    if (hip::Status status = wait(); !status) return status;
    hip::Result<std::vector<std::byte>> bytes = step_.read(table);
    if (!bytes) return bytes.error();
    if (expected_.empty())
      expected_ = std::move(bytes).value();
    else
      row.same_bytes = bytes.value() == expected_;
    return {};
  }

  hip::Status wait() const { return hip::called(step_.api.hipStreamSynchronize(step_.stream), "hipStreamSynchronize"); }

  const LibraryStep& step_;
  int times_;
  std::vector<std::byte> expected_;
  std::vector<WayTimes> rows_;
};

hip::Result<hip::NodeRecord> record_of(const hip::Api& api, const LibraryNode& node) {
  if (const auto* kernel = std::get_if<LibraryKernel>(&node.params)) {
    hipKernelNodeParams params{};
    hip::Status status =
        hip::called(api.hipGraphKernelNodeGetParams(node.handle, &params), "hipGraphKernelNodeGetParams");
    if (!status) return status.error();
    return hip::NodeRecord(hip::KernelRecord{.function = reinterpret_cast<hipFunction_t>(params.func),
                                             .grid = params.gridDim,
                                             .block = params.blockDim,
                                             .shared_bytes = params.sharedMemBytes,
                                             .arguments = node.block,
                                             .slots = kernel->slots});
  }
  if (const auto* copy = std::get_if<hipMemcpy3DParms>(&node.params)) return hip::NodeRecord(hip::CopyRecord{*copy});
  return hip::NodeRecord(hip::MemsetRecord{std::get<hipMemsetParams>(node.params)});
}

// Attribution names bytes of a node's block; a recording names the fields of copies and memsets.
std::vector<hip::Relocation> fields_of(const LibraryNode& node) {
  std::vector<hip::Relocation> relocations = node.relocations;
  if (std::holds_alternative<LibraryKernel>(node.params)) return relocations;
  const bool copy = std::holds_alternative<hipMemcpy3DParms>(node.params);
  for (hip::Relocation& relocation : relocations) {
    relocation.field = !copy                    ? hip::Field::kMemsetDestination
                       : relocation.offset == 0 ? hip::Field::kCopyDestination
                                                : hip::Field::kCopySource;
    relocation.offset = 0;
  }
  return relocations;
}

}  // namespace

hip::Result<KnownGraph> known_graph(const hip::Api& api, const LibraryGraph& graph) {
  KnownGraph known;
  for (const LibraryNode& node : graph.seen().nodes) {
    if (!node.opaque.empty()) return hip::Error{hipErrorNotSupported, "opaque: " + node.opaque};
    known.handles.nodes.push_back(node.handle);
    if (node.relocations.empty()) {
      known.recording.add({hip::EmptyRecord{}, {}, {}});
      continue;
    }
    hip::Result<hip::NodeRecord> record = record_of(api, node);
    if (!record) return record.error();
    known.recording.add({std::move(record).value(), {}, fields_of(node)});
  }
  return known;
}

hip::Result<std::vector<WayTimes>> time_ways(const LibraryStep& step, int times) {
  Measurement all(step, times);
  hip::Status status = all.add("capture", true, capture_step(step));
  if (status) status = all.add("eager", true, eager_step(step));
  if (status) status = all.add("update", true, update_step(step));
  if (status) status = all.add("patch", true, patch_step(step, true));
  if (status) status = all.add("patcher", true, patcher_step(step, true));
  if (status) status = all.add("cache", true, cache_step(step));
  if (status) status = all.add("stabilise", true, stabilise_step(step));
  if (status) status = all.add("patch, not launched", false, patch_step(step, false));
  if (status) status = all.add("patcher, not launched", false, patcher_step(step, false));
  if (status) status = all.add("setters, not launched", false, setters_step(step));
  if (!status) return status.error();
  return all.take();
}

}  // namespace bench
