#include "verify/execute/careful.h"

#include <optional>
#include <utility>

#include "hip/release_quirks.h"

namespace verify {
namespace {

class CarefulStrategy final : public Strategy {
 public:
  PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) override {
    const hip::QuirkContext context = context_of(machine, exec);
    const auto* quirk = quirks(machine).of_patch(hip::QuirkyUse::kSetInExec, exec.recording, moves, context);
    if (quirk == nullptr) return patching_->patch(machine, exec, moves);
    PatchOutcome outcome{record_again(machine, exec, exec.recording), {}, {}};
    outcome.in_place = false;
    return outcome;
  }
  PatchOutcome patch(Machine& machine, GraphObject& graph, std::span<const hip::Move> moves) override {
    const hip::QuirkContext context = context_of(machine);
    const auto* quirk = quirks(machine).of_patch(hip::QuirkyUse::kSetInGraph, graph.recording, moves, context);
    if (quirk == nullptr) return patching_->patch(machine, graph, moves);
    PatchOutcome outcome = rebuilding_->patch(machine, graph, moves);
    outcome.in_place = false;
    return outcome;
  }
  hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) override {
    const hip::RecordedNode& was = exec.recording.nodes()[index];
    const auto* quirk = quirks(machine).of_set(hip::QuirkyUse::kSetInExec, was, node, index, context_of(machine, exec));
    if (quirk == nullptr) return patching_->set(machine, exec, index, node);
    hip::Recording changed = exec.recording;
    changed.replace(index, node.record, node.relocations);
    return record_again(machine, exec, changed);
  }
  hip::Status set(Machine& machine, GraphObject& graph, hip::NodeIndex index, const hip::RecordedNode& node) override {
    const hip::RecordedNode& was = graph.recording.nodes()[index];
    const auto* quirk = quirks(machine).of_set(hip::QuirkyUse::kSetInGraph, was, node, index, context_of(machine));
    return (quirk == nullptr ? patching_ : rebuilding_)->set(machine, graph, index, node);
  }
  UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) override {
    const auto* quirk = quirks(machine).of_update(exec.recording, graph.recording, context_of(machine, exec));
    // What cannot fit is not tried on a release that may take it, or a part of it.
    const bool fits = documented_update(exec.recording, graph.recording).code == hipSuccess;
    if (quirk == nullptr && (fits || quirks(machine).empty())) return patching_->update(machine, exec, graph);
    const UpdateStatus status = rebuilding_->update(machine, exec, graph);
    if (status.code != hipSuccess) return status;
    const hip::Status ordered = instantiated(machine, exec);
    return ordered ? status : UpdateStatus{ordered.error().code, hipGraphExecUpdateError, nullptr};
  }
  // A launch that an entry touches is made right by recording the graph another way, once.
  hip::Status instantiated(Machine& machine, ExecObject& exec) override {
    // Nothing may be waited for while a stream captures.
    if (machine.capturing || !chains(machine, exec, exec.recording)) return {};
    return record_again(machine, exec, hip::Recording(exec.recording));
  }

 private:
  // What is not device memory may be anything.
  static hip::QuirkContext context_of(const Machine& machine) {
    hip::QuirkContext context;
    context.memory = [&machine](hip::BufferIndex buffer) {
      return machine.on_device[buffer] ? hip::BufferMemory::kDevice : hip::BufferMemory::kUnknown;
    };
    return context;
  }
  static hip::QuirkContext context_of(const Machine& machine, const ExecObject& exec) {
    hip::QuirkContext context = context_of(machine);
    context.disabled = [&exec](hip::NodeIndex node) { return exec.disabled.contains(node); };
    return context;
  }
  const hip::ReleaseQuirks& quirks(const Machine& machine) {
    if (!quirks_) {
      int version = 0;  // of no release: all there are
      static_cast<void>(machine.interposer.inner().hipRuntimeGetVersion(&version));
      quirks_ = hip::ReleaseQuirks::of_version(version);
    }
    return *quirks_;
  }
  bool chains(Machine& machine, const ExecObject& exec, const hip::Recording& recording) {
    if (recording.has_memory_nodes()) return false;
    const auto* quirk = quirks(machine).of_launch(recording, context_of(machine, exec));
    return quirk != nullptr && quirk->way == hip::QuirkWay::kChain;
  }
  hip::Status record_again(Machine& machine, ExecObject& exec, const hip::Recording& recording) {
    hip::Recording kept = recording;  // may be exec's own
    if (!chains(machine, exec, recording)) return rebuild(machine, exec, kept);
    const hipGraphExec_t before = exec.exec;
    hip::Status status = rebuild(machine, exec, hip::chained(kept));
    // The program knows its own dependencies, also where the old graph could not go.
    if (exec.exec != before) exec.recording = std::move(kept);
    return status;
  }

  std::unique_ptr<Strategy> patching_ = make_strategy(StrategyKind::kPatch);
  std::unique_ptr<Strategy> rebuilding_ = make_strategy(StrategyKind::kRebuild);
  std::optional<hip::ReleaseQuirks> quirks_;
};

}  // namespace

std::unique_ptr<Strategy> make_careful_strategy() {
  return std::make_unique<CarefulStrategy>();
}

}  // namespace verify
