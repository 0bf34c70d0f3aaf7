// The documented answers of hipGraphExecUpdate for two recordings. verify/program/update_outcome.cpp has the rules and
// their sources, and says for which pairs of graphs there is a documented answer at all.
#include <algorithm>

#include "verify/execute/strategy.h"

namespace verify {

namespace {

// Opaque nodes of this project are kernels.
std::size_t type_of(const hip::NodeRecord& record) {
  return std::holds_alternative<hip::OpaqueRecord>(record) ? 0 : record.index();
}

bool parameters_fit(const hip::NodeRecord& from, const hip::NodeRecord& to) {
  if (const auto* copy = std::get_if<hip::CopyRecord>(&from)) {
    return kind_asked(*copy) == kind_asked(std::get<hip::CopyRecord>(to));
  }
  if (const auto* memset = std::get_if<hip::MemsetRecord>(&from)) {
    const hipMemsetParams &a = memset->params, &b = std::get<hip::MemsetRecord>(to).params;
    return b.height <= 1 || (a.height == b.height && a.width * a.elementSize == b.width * b.elementSize);
  }
  return true;
}

int difference(const hip::RecordedNode& from, const hip::RecordedNode& to, bool* inside) {
  if (type_of(from.record) != type_of(to.record)) return hipGraphExecUpdateErrorNodeTypeChanged;
  std::vector<hip::NodeIndex> before = from.dependencies, after = to.dependencies;
  std::ranges::sort(before);
  std::ranges::sort(after);
  if (before != after) return hipGraphExecUpdateErrorTopologyChanged;
  if (const auto* child = std::get_if<hip::ChildRecord>(&from.record)) {
    const int inner = documented_update(*child->graph, *std::get<hip::ChildRecord>(to.record).graph).result;
    *inside = *inside || inner != hipGraphExecUpdateSuccess;
    return inner;
  }
  return parameters_fit(from.record, to.record) ? hipGraphExecUpdateSuccess : hipGraphExecUpdateErrorParametersChanged;
}

}  // namespace

DocumentedUpdate documented_update(const hip::Recording& from, const hip::Recording& to) {
  DocumentedUpdate answer;
  if (from.nodes().size() != to.nodes().size()) {
    return {hipErrorGraphExecUpdateFailure, hipGraphExecUpdateErrorTopologyChanged, {}, false};
  }
  for (hip::NodeIndex i = 0; i < from.nodes().size(); ++i) {
    bool inside = false;
    const int result = difference(from.nodes()[i], to.nodes()[i], &inside);
    if (result == hipGraphExecUpdateSuccess) continue;
    answer.any_node = answer.any_node || inside || answer.result != hipGraphExecUpdateSuccess;
    if (answer.result == hipGraphExecUpdateSuccess) answer.node = i;
    answer.code = hipErrorGraphExecUpdateFailure;
    answer.result = answer.result == hipGraphExecUpdateSuccess ? result : answer.result;
  }
  return answer;
}

}  // namespace verify
