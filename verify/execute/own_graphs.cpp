#include "verify/execute/own_graphs.h"

#include <algorithm>
#include <utility>

#include "hip/device_scope.h"
#include "hip/errors.h"
#include "verify/execute/devices.h"
#include "verify/execute/rebuild.h"

namespace verify {

namespace {

void name_buffers(const hip::Recording& recording, std::vector<hip::BufferIndex>& named) {
  for (const hip::RecordedNode& node : recording.nodes()) {
    for (const hip::Relocation& relocation : node.relocations) named.push_back(relocation.buffer);
    if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
      named.insert(named.end(), opaque->buffers.begin(), opaque->buffers.end());
    }
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) name_buffers(*child->graph, named);
  }
}

template <class Change>
auto keeping_stable(ExecObject& exec, const Change& change) {
  std::unique_ptr<ExecPatcher> stable = std::move(exec.stable);
  auto result = change();
  if (stable != nullptr) stable->replace_all(exec.recording, exec.addresses);
  exec.stable = std::move(stable);
  return result;
}

}  // namespace

PatchOutcome StrategyWithStandIns::patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) {
  if (!exec.stable) return for_graphs().patch(context, exec, moves);
  exec.addresses = context.addresses;
  PatchOutcome outcome;
  outcome.in_place = false;
  return outcome;
}
hip::Status StrategyWithStandIns::set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                                      const hip::RecordedNode& node) {
  return keeping_stable(exec, [&] { return for_graphs().set(context, exec, index, node); });
}
UpdateStatus StrategyWithStandIns::update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) {
  return keeping_stable(exec, [&] { return for_graphs().update(context, exec, graph); });
}
hip::Status StrategyWithStandIns::instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                                              std::string* said) {
  hip::Status status = for_graphs().instantiate(context, graph, exec, said);
  if (status) exec.stable = stand_in(context, exec);
  return status;
}
hip::Status StrategyWithStandIns::record_again(StrategyContext& context, ExecObject& exec) {
  return keeping_stable(exec, [&] { return for_graphs().record_again(context, exec); });
}
hip::Result<unsigned> StrategyWithStandIns::enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                                                   bool on) {
  return keeping_stable(exec, [&] { return for_graphs().enable(context, exec, index, on); });
}

std::vector<hip::BufferIndex> named_buffers(const hip::Recording& recording) {
  std::vector<hip::BufferIndex> named;
  name_buffers(recording, named);
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

hip::Result<bool> is_elsewhere(const StrategyContext& context) {
  if (context.devices < 2) return false;
  int device = 0;
  if (const hip::Status asked = hip::call<&hip::Api::hipGetDevice>(context.api, &device); !asked) return asked.error();
  return device != 0;
}

static hip::Result<OwnGraph> record_and_instantiate(StrategyContext& context, const ExecObject& exec,
                                                    const hip::AddressTable& addresses) {
  hip::Result<hip::RecordedGraph> recorded = hip::record_graph(context.api, exec.recording, addresses);
  if (!recorded) return recorded.error();
  OwnGraph own{std::move(recorded).value()};
  const hip::Result<hipGraphExec_t> instantiated = instantiate(context, own.recorded.graph, exec.form, exec.flags);
  hip::Status status = instantiated ? hip::Status() : instantiated.error();
  if (instantiated) own.exec = instantiated.value();
  for (const hip::NodeIndex index : exec.disabled) {
    if (!status) break;
    status = hip::call<&hip::Api::hipGraphNodeSetEnabled>(context.api, own.exec, own.recorded.nodes[index], 0U);
  }
  if (status) return own;
  destroy_own_graph(context, own);
  return status.error();
}

hip::Result<OwnGraph> make_own_graph(StrategyContext& context, const ExecObject& exec,
                                     const hip::AddressTable& addresses) {
  if (context.devices < 2) return record_and_instantiate(context, exec, addresses);
  const hip::ErrorSink returned = {[](void*, const hip::Error&) {}, nullptr};
  const int home = static_cast<int>(hip::home_of(exec.recording));
  hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(context.api, home, returned);
  if (!scope) return scope.error();
  hip::Result<OwnGraph> own = record_and_instantiate(context, exec, addresses);
  const hip::Status left = scope.value().leave();
  if (left || !own) return own;
  destroy_own_graph(context, own.value());
  return left.error();
}

void destroy_own_graph(const StrategyContext& context, const OwnGraph& graph) {
  const hip::Api& api = context.interposer.inner();
  if (graph.exec != nullptr) static_cast<void>(api.hipGraphExecDestroy(graph.exec));
  static_cast<void>(api.hipGraphDestroy(graph.recorded.graph));
}

void destroy_launched(StrategyContext& context) {
  for (const OwnGraph& graph : std::exchange(context.launched_once, {})) destroy_own_graph(context, graph);
}

hip::Status launch_once(StrategyContext& context, const ExecObject& exec, hipStream_t stream) {
  // While a thread captures, no device may be synchronized.
  if (!context.capturing && !context.launched_once.empty()) {
    if (hip::Status waited = synchronize_devices(context.api, context.devices); !waited) return waited;
    destroy_launched(context);
  }
  hip::Result<OwnGraph> own = make_own_graph(context, exec, exec.addresses);
  if (!own) return own.error();
  context.launched_once.push_back(std::move(own).value());
  return hip::call<&hip::Api::hipGraphLaunch>(context.api, context.launched_once.back().exec, stream);
}

}  // namespace verify
