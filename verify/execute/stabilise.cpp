#include "verify/execute/stabilise.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hip/address_stabilizer.h"
#include "verify/execute/devices.h"
#include "verify/execute/own_graphs.h"
#include "verify/execute/quirk_context.h"
#include "verify/execute/rebuild.h"

namespace verify {
namespace {

std::vector<hip::BufferIndex> stable_buffers(const StrategyContext& context, const hip::Recording& recording) {
  std::vector<hip::BufferIndex> named = named_buffers(recording);
  // Only device memory that the program allocated gets a stable address. Memory that never moves needs none, and a
  // variable of device code is not an allocation.
  std::erase_if(named, [&](hip::BufferIndex buffer) { return context.memory[buffer] != hip::BufferMemory::kDevice; });
  return named;
}

// Launches an executable graph whose buffers have moved: the graph recorded at its stable addresses.
class StableExec final : public ExecPatcher, private hip::StableWork {
 public:
  StableExec(StrategyContext& context, ExecObject& exec)
      : context_(context),
        exec_(exec),
        buffers_(stable_buffers(context, exec.recording)),
        stabilizer_(context.api, {.device = 0,
                                  .follow_capturing = release_quirks_of(context).of_follow_capturing(),
                                  .errors = {note_error, &context}}) {}

  // Notes the program's new addresses. If a buffer without a stable address moved, the next launch records the graph
  // again.
  void move_to(const hip::AddressTable& addresses) {
    for (hip::BufferIndex i = 0; i < addresses.size(); ++i) {
      const bool moved = addresses[i] != exec_.addresses[i];
      if (moved && !std::ranges::binary_search(buffers_, i)) forget_ = true;
    }
    exec_.addresses = addresses;
  }

  hipError_t launch(const hip::Api&, hipGraphExec_t, hipStream_t stream) override {
    const hip::Result<bool> other = is_elsewhere(context_);
    if (!other) return static_cast<hipError_t>(other.error().code);
    if (context_.capturing || other.value()) return code_of(launch_once(context_, exec_, stream));
    if (std::exchange(forget_, false)) {
      if (const hip::Status released = stabilizer_.release(0); !released) return code_of(released);
    }
    std::vector<hip::StepBuffer> given;
    for (const hip::BufferIndex buffer : buffers_) {
      given.push_back({reinterpret_cast<void*>(exec_.addresses[buffer]), context_.buffer_bytes[buffer],
                       hip::BufferUse::kInOut, static_cast<int>(context_.buffer_devices[buffer])});
    }
    if (const hip::Status waited = synchronize_devices(context_.api, context_.devices); !waited) return code_of(waited);
    const auto done = stabilizer_.step(0, given, hip::StreamRef(context_.api, stream, 0), *this);
    const hip::Status waited = synchronize_devices(context_.api, context_.devices);
    return done.ok() ? code_of(waited) : static_cast<hipError_t>(done.error().code);
  }

  // There is no patcher: this strategy records the graph again instead.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "stable addresses are never patched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override { forget_ = true; }
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override { forget_ = true; }

 private:
  static hipError_t code_of(const hip::Status& status) {
    return status ? hipSuccess : static_cast<hipError_t>(status.error().code);
  }
  static void note_error(void* context, const hip::Error&) {
    static_cast<StrategyContext*>(context)->error_reported = true;
  }

  hip::Status record(std::span<void* const> addresses) override {
    hip::AddressTable at = exec_.addresses;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      at[buffers_[i]] = reinterpret_cast<hip::DeviceAddress>(addresses[i]);
    }
    // rebuild() destroys the `stable` of the executable graph, which is this object.
    std::unique_ptr<ExecPatcher> self = std::move(exec_.stable);
    hip::AddressTable programs = exec_.addresses;
    hip::Status status = rebuild(context_, exec_, exec_.recording, at);
    exec_.addresses = std::move(programs);
    exec_.stable = std::move(self);
    return status;
  }
  hip::Status launch(const hip::StreamRef& stream) override {
    // Releases of AMD's runtime start the second and later roots of a graph before earlier work of the stream is done.
    // The copies to the stable buffers are such earlier work (docs/quirks.md).
    if (hip::Status waited = stream.synchronize(); !waited) return waited;
    return hip::call<&hip::Api::hipGraphLaunch>(context_.api, exec_.exec, stream.handle());
  }

  StrategyContext& context_;
  ExecObject& exec_;
  const std::vector<hip::BufferIndex> buffers_;
  hip::AddressStabilizer stabilizer_;
  bool forget_ = false;  // the recorded graph is out of date
};

class StabiliseStrategy final : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  StabiliseStrategy() : StrategyForExecs(make_strategy(StrategyKind::kRebuild)) {}

  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    if (moves.empty() && !exec.stable) return {};
    if (exec.recording.has_memory_nodes()) return PatchOutcome{rebuild(context, exec, exec.recording), {}, {}};
    if (!exec.stable) exec.stable = std::make_unique<StableExec>(context, exec);
    static_cast<StableExec&>(*exec.stable).move_to(context.addresses);
    PatchOutcome outcome;
    outcome.in_place = false;
    return outcome;
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return for_graphs().set(context, exec, index, node);
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    return for_graphs().update(context, exec, graph);
  }
};

}  // namespace

std::unique_ptr<Strategy> make_stabilise_strategy() {
  return std::make_unique<StabiliseStrategy>();
}

}  // namespace verify
