// Detectors::stepped: the evidence of a step of a library's command buffer, which is judged as a patch is.
//
// The library makes graphs of its own, so its nodes are matched with the commands by their order: kernels, copies,
// memsets and the like, level by level into child graphs, without empty nodes. A library that records its commands in
// their order, nested command buffers as child graphs or flattened, is matched; a library that records commands of one
// kind in another order would be judged wrongly, and the interface says so. Where the kinds do not agree, or the
// library recorded or updated a graph in the step, nothing is judged here: memory still is. The interface asks for no
// least number of calls, so A6 is not judged. A traced graph that is handed to a child graph node is an honest answer
// to A7. Setters of definitions alone change no launch: such a step breaks P3.
#include <fmt/format.h>

#include <algorithm>

#include "verify/properties/detectors.h"

namespace verify {

namespace {

using CommandLeaves = std::vector<std::pair<std::string, const hip::RecordedNode*>>;

void add_leaves(const hip::Recording& recording, const std::string& name, CommandLeaves& leaves) {
  for (std::size_t i = 0; i < recording.nodes().size(); ++i) {
    const hip::RecordedNode& node = recording.nodes()[i];
    const std::string inner = fmt::format("{}n{}", name, i);
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record))
      add_leaves(*child->graph, inner + "/", leaves);
    else if (!std::holds_alternative<hip::EmptyRecord>(node.record))
      leaves.emplace_back(inner, &node);
  }
}

void add_leaves(const std::vector<model::NodeView>& nodes, std::vector<const model::NodeView*>& leaves) {
  for (const model::NodeView& node : nodes) {
    if (node.type == model::NodeType::kChild)
      add_leaves(node.children, leaves);
    else if (node.type != model::NodeType::kEmpty)
      leaves.push_back(&node);
  }
}

// Whether the node can be the command's. Nothing is known of an opaque command.
bool fits(const hip::NodeRecord& record, const model::NodeParams& params) {
  if (std::holds_alternative<hip::OpaqueRecord>(record)) return true;
  return std::holds_alternative<hip::KernelRecord>(record) == std::holds_alternative<model::KernelParams>(params) &&
         std::holds_alternative<hip::CopyRecord>(record) == std::holds_alternative<model::CopyParams>(params) &&
         std::holds_alternative<hip::MemsetRecord>(record) == std::holds_alternative<model::MemsetParams>(params);
}

}  // namespace

bool Detectors::gather_leaves(const LibraryStep& library_step, PatchEvidence& patch) const {
  const std::optional<std::vector<model::NodeView>> launched =
      platform_.look_into(interposer_.launched(), model::kAllNodes);
  if (!launched) return false;
  CommandLeaves commands;
  std::vector<const model::NodeView*> nodes;
  add_leaves(library_step.recording, "", commands);
  add_leaves(*launched, nodes);
  if (commands.size() != nodes.size()) return false;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto& [name, recorded] = commands[i];
    if (!fits(recorded->record, *nodes[i]->params)) return false;
    NodeEvidence evidence{"command " + name, recorded, nodes[i]->params, nullptr, false};
    evidence.touched = touched(*recorded, patch, &patch.opaque_touched);
    patch.nodes.push_back(std::move(evidence));
  }
  return true;
}

bool Detectors::stepped(std::size_t step, const LibraryStep& library_step,
                        const std::vector<std::uint64_t>& buffer_bytes, const Calls& calls_before) {
  const Calls now = calls();
  if (now.rerecorded != calls_before.rerecorded) return false;
  PatchEvidence patch{step, library_step.before, library_step.now, buffer_bytes, {}};
  if (!platform_.white_box() || !gather_leaves(library_step, patch)) return false;
  Violations& found = observation_.violations;
  if (now.exec_setters == calls_before.exec_setters && now.graph_setters != calls_before.graph_setters) {
    static_cast<void>(detect_p3(patch, found));
    return true;
  }
  const std::uint64_t handed_over = interposer_.calls_of(Function::k_hipGraphExecChildGraphNodeSetParams);
  patch.rerecorded = handed_over - calls_before.children;
  judge_fields(patch);
  return true;
}

}  // namespace verify
