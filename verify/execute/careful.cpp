#include "verify/execute/careful.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/captured_launch.h"
#include "verify/execute/quirk_context.h"
#include "verify/execute/rebuild.h"

namespace verify {
namespace {

// Whether a node frees memory that another graph allocated. Memory has one free node (hipGraphAddMemFreeNode), so such
// a graph cannot be recorded a second time.
bool frees_for_another(const hip::Recording& recording) {
  const auto is_allocation_of = [](const hip::MemoryFreeRecord& freed) {
    return [&freed](const hip::RecordedNode& node) {
      const auto* allocated = std::get_if<hip::MemoryAllocRecord>(&node.record);
      return allocated != nullptr && allocated->buffer == freed.buffer;
    };
  };
  return std::ranges::any_of(recording.nodes(), [&](const hip::RecordedNode& node) {
    const auto* freed = std::get_if<hip::MemoryFreeRecord>(&node.record);
    return freed != nullptr && std::ranges::none_of(recording.nodes(), is_allocation_of(*freed));
  });
}

// Makes an executable graph without nodes that holds the user objects. (A second executable graph of the program's
// graph would hold them, too, but a graph with memory nodes may not have two.)
hip::Result<hipGraphExec_t> hold(StrategyContext& context, const std::map<hipUserObject_t, std::uint32_t>& objects) {
  hip::Result<hip::RecordedGraph> holder = hip::record_graph(context.api, {}, context.addresses);
  if (!holder) return holder.error();
  const hipGraph_t graph = holder.value().graph;
  hip::Status status;
  for (const auto& [object, times] : objects) {
    if (status) status = hip::call<&hip::Api::hipGraphRetainUserObject>(context.api, graph, object, times, 0);
  }
  hip::Result<hipGraphExec_t> held =
      status ? instantiate(context, graph, InstantiateForm::kPlain, 0) : hip::Result<hipGraphExec_t>(status.error());
  const hip::Status destroyed = hip::call<&hip::Api::hipGraphDestroy>(context.api, graph);
  if (destroyed || !held) return held;
  static_cast<void>(context.api.hipGraphExecDestroy(held.value()));
  return destroyed.error();
}

void note_error(void* context, const hip::Error&) {
  static_cast<StrategyContext*>(context)->error_reported = true;
}

hip::Places same_places(const hip::Recording& recording) {
  hip::Places places;
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) places.push_back({i});
  return places;
}

class CarefulStrategy final : public Strategy {
 public:
  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    const auto* quirk =
        quirks(context).of_patch(hip::QuirkyUse::kSetInExec, exec.recording, moves, context_of(context, exec));
    if (quirk == nullptr && exec.shape != ExecShape::kFlat) return patching_->patch(context, exec, moves);
    PatchOutcome outcome;
    outcome.in_place = false;
    if (!moves.empty()) outcome.status = record_again(context, exec);
    return outcome;
  }
  PatchOutcome patch(StrategyContext& context, GraphObject& graph, std::span<const hip::Move> moves) override {
    const auto* quirk = quirks(context).of_patch(hip::QuirkyUse::kSetInGraph, graph.recording, moves,
                                                 context_of(context, graph.recording));
    if (quirk == nullptr) return patching_->patch(context, graph, moves);
    PatchOutcome outcome = rebuilding_->patch(context, graph, moves);
    outcome.in_place = false;
    return outcome;
  }
  hip::RecordedNode as_added(StrategyContext& context, const hip::Recording& graph, hip::RecordedNode node) override {
    return quirks(context).as_added(std::move(node), context_of(context, graph));
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    hip::Recording changed = exec.recording;
    changed.replace(index, node.record, node.relocations);
    const Shaped as = shaped(context, changed, exec.disabled);
    const std::optional<hip::RecordedNode> way = setter(context, exec, index, node);
    const bool opaque = std::holds_alternative<hip::OpaqueRecord>(node.record);
    // Another node may stand for this one, such as an empty node for a disabled memset that the host does.
    const bool has_own = exec.handles.nodes[index] != nullptr;
    if (!way || !has_own || opaque || hip::recorded_otherwise(exec.recording.nodes()[index], node) ||
        as.shape != exec.shape || as.shape == ExecShape::kFlat) {
      return record_as(context, exec, changed, as);
    }
    return patching_->set(context, exec, index, *way);
  }
  hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    const hip::RecordedNode& was = graph.recording.nodes()[index];
    const auto* quirk =
        quirks(context).of_set(hip::QuirkyUse::kSetInGraph, was, node, index, context_of(context, graph.recording));
    return (quirk == nullptr ? patching_ : rebuilding_)->set(context, graph, index, node);
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    const DocumentedUpdate documented = documented_update(exec.recording, graph.recording);
    const UpdateStatus status{documented.code, documented.result,
                              documented.node ? graph.handles.nodes[*documented.node] : nullptr};
    if (status.code != hipSuccess) {
      // An update that has to fail is not tried on a release with quirks, which may accept it or a part of it.
      return quirks(context).empty() ? patching_->update(context, exec, graph) : status;
    }
    const auto* quirk = quirks(context).of_update(exec.recording, graph.recording, context_of(context, exec));
    const Shaped as = shaped(context, graph.recording, exec.disabled);
    const bool as_they_are = exec.shape == ExecShape::kAsItIs && as.shape == ExecShape::kAsItIs;
    const bool by_other_kinds = hip::recorded_otherwise(exec.recording, graph.recording);
    if (quirk == nullptr && as_they_are && !by_other_kinds) return patching_->update(context, exec, graph);
    const hip::Status recorded = record_as(context, exec, graph.recording, as);
    return recorded ? status : UpdateStatus{recorded.error().code, hipGraphExecUpdateError, nullptr};
  }
  hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                          std::string* said) override {
    const Shaped as = shaped(context, graph.recording);
    if (as.shape == ExecShape::kAsItIs) return Strategy::instantiate(context, graph, exec, said);
    // An executable graph holds the user objects of its graph, but the graph that is recorded here holds none.
    if (!graph.held_objects.empty()) {
      const hip::Result<hipGraphExec_t> anchor = hold(context, graph.held_objects);
      if (!anchor) return anchor.error();
      exec.anchor = anchor.value();
    }
    hip::Status status = build(context, exec, graph.recording, as, said);
    if (status) return status;
    if (hipGraphExec_t anchor = std::exchange(exec.anchor, nullptr)) {
      static_cast<void>(context.interposer.inner().hipGraphExecDestroy(anchor));
    }
    return status;
  }
  hip::Status launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) override {
    const bool otherwise = exec.shape != ExecShape::kAsItIs || quirks(context).of_captured_launch() != nullptr;
    if (otherwise && captures(context, stream.handle())) return launch_as_child(context, exec, stream);
    const int home = hip::home_of(exec.recording);
    if (home == stream.device() || quirks(context).of_launch_elsewhere() == nullptr) {
      return Strategy::launch(context, exec, stream);
    }
    auto found = context.home_streams.find(home);
    if (found == context.home_streams.end()) {
      found = context.home_streams.try_emplace(home, context.api, home, hip::ErrorSink{note_error, &context}).first;
    }
    return found->second.launch(exec.exec, stream);
  }
  hip::Status record_again(StrategyContext& context, ExecObject& exec) override {
    return record_as(context, exec, exec.recording, shaped(context, exec.recording, exec.disabled));
  }
  hip::Result<unsigned> enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on) override {
    if (exec.handles.nodes[index] != nullptr || exec.stand_ins.contains(index)) {
      return Strategy::enable(context, exec, index, on);
    }
    // A host node stands for the node and cannot be disabled, so the graph is recorded again.
    if (exec.disabled.contains(index) == !on) return on ? 1U : 0U;
    note_enabled(exec, index, on);
    const hip::Status status = record_again(context, exec);
    if (status) return on ? 1U : 0U;
    note_enabled(exec, index, !on);
    return status.error();
  }

 private:
  static hip::QuirkContext context_of(const StrategyContext& context, const hip::Recording& recording) {
    return {memory_of(context, recording), {}, context.devices > 1};
  }
  static hip::QuirkContext context_of(const StrategyContext& context, const ExecObject& exec) {
    return {memory_of(context, exec.recording), exec.disabled, context.devices > 1};
  }
  const hip::ReleaseQuirks& quirks(const StrategyContext& context) {
    if (!quirks_) quirks_ = release_quirks_of(context);
    return *quirks_;
  }

  // Returns the node in a form that the release sets correctly, or nothing where there is none.
  std::optional<hip::RecordedNode> setter(StrategyContext& context, const ExecObject& exec, hip::NodeIndex index,
                                          hip::RecordedNode node) {
    const auto touched = [&](const hip::RecordedNode& each) {
      return quirks(context).of_set(hip::QuirkyUse::kSetInExec, exec.recording.nodes()[index], each, index,
                                    context_of(context, exec));
    };
    const hip::ReleaseQuirk* quirk = touched(node);
    if (quirk == nullptr) return node;
    if (quirk->way != hip::QuirkWay::kTyped) return {};
    node.form = hip::NodeForm::kTyped;
    return touched(node) == nullptr ? std::optional(std::move(node)) : std::nullopt;
  }

  // Returns the shape in which the release launches the graph correctly: as it is, as a chain of its own nodes where
  // that is enough, otherwise without children.
  Shaped shaped(StrategyContext& context, const hip::Recording& recording,
                const std::set<hip::NodeIndex>& disabled = {}) {
    if (frees_for_another(recording)) return {ExecShape::kAsItIs, {}, {}};
    Shaped as = shaped_whole(context, recording);
    // A node cannot be disabled where nodes of another type stand for it: a disabled node is then left out.
    std::set<hip::NodeIndex> left_out;
    for (const hip::NodeIndex index : disabled) {
      if (as.shape != ExecShape::kAsItIs && !as.keeps_type(recording.nodes()[index], index)) left_out.insert(index);
    }
    if (left_out.empty()) return as;
    hip::Recording rest = emptied(recording, left_out);
    as = shaped_whole(context, rest);
    if (as.shape == ExecShape::kAsItIs) as = {ExecShape::kFlat, std::move(rest), same_places(recording)};
    return as;
  }
  Shaped shaped_whole(StrategyContext& context, const hip::Recording& recording) {
    const hip::QuirkContext quirk_context = context_of(context, recording);
    const auto right = [&](const hip::Recording& each) {
      return quirks(context).of_launch(each, quirk_context) == nullptr;
    };
    if (right(recording)) return {ExecShape::kAsItIs, {}, {}};
    Shaped as{ExecShape::kChained, hip::chained(recording), same_places(recording)};
    if (right(as.recording)) return as;
    as.shape = ExecShape::kFlat;
    as.recording =
        hip::flattened(recording, as.places, quirks(context).spelling(quirk_context, {note_error, &context}));
    // Also where the recording still has children, because they have cycles: a chain is always launched correctly.
    if (!right(as.recording)) as.recording = hip::chained(as.recording);
    return as;
  }
  static hip::Status record_as(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                               const Shaped& as) {
    return rebuild(context, exec, recording, context.addresses, as.shape == ExecShape::kAsItIs ? nullptr : &as);
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
