// F11 and F12: patchers that mistreat nodes which they do not know.
//
// F11. The author believed: a node of a type that the patcher has no case for holds no address. The mistake: it may
// hold a pointer that has no name, and a silent patch leaves this pointer unchanged. A7.
//
// F12. The author believed: the nodes of a child graph can go into the parent (a graph without children is launched
// faster), each behind the node at its dependency's index in the list. An empty node does nothing and is left out. The
// mistake: the indices change once children are expanded and nodes are left out, and the dependents of an empty node
// still have to come behind its dependencies. P5.
#include <algorithm>
#include <utility>

#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class KnownTypesOnly final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const override {
    return std::holds_alternative<hip::ChildRecord>(node.record) && FlatPatcher::refuses(node, moves);
  }
};

// Patches correctly, but launches the flattened graph, which it records again when something has changed.
class Flattener final : public verify::ExecPatcher {
 public:
  explicit Flattener(const verify::PatchTarget& target)
      : real_(verify::graph_patcher_factory()(target)),
        api_(target.api),
        handles_(target.graph.nodes),
        recording_(target.recording),
        addresses_(target.addresses.begin(), target.addresses.end()) {}
  ~Flattener() override { static_cast<void>(drop()); }

  hip::PatchResult patch(std::span<const hip::Move> moves) override {
    hip::PatchResult result = real_->patch(moves);
    if (!result.ok()) return result;
    for (const hip::Move& move : moves) addresses_[move.buffer] = move.to;
    changed_ = true;
    return result;
  }
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    recording_.replace(node, record, relocations);
    real_->replace(node, std::move(record), std::move(relocations));
    changed_ = true;
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    recording_ = recording;
    addresses_.assign(addresses.begin(), addresses.end());
    real_->replace_all(recording, addresses);
    changed_ = true;
  }

  hipError_t launch(const hip::Api& api, hipGraphExec_t exec, hipStream_t stream) override {
    bool flat = exec != nullptr && may_flatten(stream);
    if (flat) {
      if (const hipError_t status = ask_for_disabled(exec, &flat); status != hipSuccess) return status;
    }
    if (flat && changed_) {
      if (const hipError_t status = record(); status != hipSuccess) return status;
    }
    return api.hipGraphLaunch(flat ? exec_ : exec, stream);
  }

 private:
  static bool handled(const hip::Recording& recording) {
    const auto nodes = recording.nodes();
    for (hip::NodeIndex i = 0; i < nodes.size(); ++i) {
      const hip::NodeRecord& record = nodes[i].record;
      const auto* child = std::get_if<hip::ChildRecord>(&record);
      if (child != nullptr ? !handled(*child->graph)
                           : !std::holds_alternative<hip::KernelRecord>(record) &&
                                 !std::holds_alternative<hip::CopyRecord>(record) &&
                                 !std::holds_alternative<hip::MemsetRecord>(record) &&
                                 !std::holds_alternative<hip::EmptyRecord>(record)) {
        return false;
      }
      const auto& behind = nodes[i].dependencies;
      if (std::ranges::any_of(behind, [i](hip::NodeIndex index) { return index >= i; })) return false;
    }
    return true;
  }
  static bool is_child(const hip::RecordedNode& node) { return std::holds_alternative<hip::ChildRecord>(node.record); }
  // Whether a launch may be flattened: a graph with children and only nodes of known types, outside of captures.
  bool may_flatten(hipStream_t stream) const {
    const auto nodes = recording_.nodes();
    if (std::ranges::none_of(nodes, is_child) || !handled(recording_)) return false;
    hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
    return api_.hipStreamIsCapturing(stream, &state) == hipSuccess && state == hipStreamCaptureStatusNone;
  }
  // Whether no node is disabled: a graph with a disabled node is launched as it is.
  hipError_t ask_for_disabled(hipGraphExec_t exec, bool* none) const {
    const auto nodes = recording_.nodes();
    for (hip::NodeIndex i = 0; i < nodes.size(); ++i) {
      if (is_child(nodes[i]) || std::holds_alternative<hip::EmptyRecord>(nodes[i].record)) continue;
      unsigned enabled = 1;
      const hipError_t status = api_.hipGraphNodeGetEnabled(exec, handles_[i], &enabled);
      if (status != hipSuccess) return status;
      *none = *none && enabled != 0;
    }
    return hipSuccess;
  }

  static void flatten(const hip::Recording& from, hip::Recording& flat) {
    for (const hip::RecordedNode& node : from.nodes()) {
      if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
        flatten(*child->graph, flat);
        continue;
      }
      if (std::holds_alternative<hip::EmptyRecord>(node.record)) continue;
      hip::RecordedNode copy = node;
      std::erase_if(copy.dependencies, [&](hip::NodeIndex index) { return index >= flat.nodes().size(); });
      flat.add(std::move(copy));
    }
  }

  hipError_t record() {
    hip::Recording flat;
    flatten(recording_, flat);
    if (flat.nodes().empty()) flat.add({hip::EmptyRecord{}, {}, {}});
    const hip::Result<hip::RecordedGraph> fresh = hip::record_graph(api_, flat, addresses_);
    if (!fresh) return static_cast<hipError_t>(fresh.error().code);
    hipGraphExec_t exec = nullptr;
    const hipError_t status = api_.hipGraphInstantiate(&exec, fresh.value().graph, nullptr, nullptr, 0);
    if (status != hipSuccess) {
      static_cast<void>(api_.hipGraphDestroy(fresh.value().graph));
      return status;
    }
    const hipError_t dropped = drop();
    exec_ = exec;
    graph_ = fresh.value().graph;
    changed_ = false;
    return dropped;
  }
  hipError_t drop() {
    if (exec_ == nullptr) return hipSuccess;
    const hipError_t waited = api_.hipDeviceSynchronize();
    const hipError_t gone = api_.hipGraphExecDestroy(std::exchange(exec_, nullptr));
    const hipError_t graph = api_.hipGraphDestroy(std::exchange(graph_, nullptr));
    return waited != hipSuccess ? waited : gone != hipSuccess ? gone : graph;
  }

  std::unique_ptr<verify::ExecPatcher> real_;
  hip::Api api_;
  std::vector<hipGraphNode_t> handles_;
  hip::Recording recording_;
  hip::AddressTable addresses_;
  bool changed_ = true;
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t exec_ = nullptr;  // of the flattened graph
};

}  // namespace

std::vector<Fault> unknown_nodes_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<KnownTypesOnly>("F11", "skips node types that it does not know", {kA7, kP5}),
          patcher_fault<Flattener>(
              "F12", "resolves dependencies of flattened nodes by position and drops those of skipped nodes", {kP5})};
}

}  // namespace fuzz
