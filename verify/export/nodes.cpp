#include "verify/export/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "verify/export/node_calls.h"

namespace verify {

std::string ReproducerNodes::stream_flaw_of(const NodeParams& params) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  if (kernel != nullptr && kernel->style == ArgumentStyle::kExtra) {
    return "packed arguments of a launch into a stream have no stand-alone form yet";
  }
  return {};
}

std::string ReproducerNodes::dependencies(const GraphState& graph, const NodeState& node, const GraphNames& names) {
  if (node.after.empty()) return "nullptr, 0";
  if (node.after.size() == 1) {
    const std::uint32_t fan = graph.nodes[node.after[0]].fan;
    return fmt::format("{}{}, {}", fan == 1 ? "&" : "", names.nodes[node.after[0]], fan);
  }
  std::string list;
  std::size_t count = 0;
  for (const std::uint32_t index : node.after) {
    const std::uint32_t fan = graph.nodes[index].fan;
    for (std::uint32_t k = 0; k < fan; ++k) {
      list += fmt::format("{}{}{}", list.empty() ? "" : ", ", names.nodes[index],
                          fan == 1 ? std::string() : fmt::format("[{}]", k));
      ++count;
    }
  }
  const std::string variable = fmt::format("after{}", text_.number(LocalKind::kNode));
  text_.line(fmt::format("hipGraphNode_t {}[] = {{{}}};", variable, list));
  return fmt::format("{}, {}", variable, count);
}

std::string ReproducerNodes::prepare(const State& state, const NodeState& node, const ExpectedStatus& expected) {
  return node.child ? record_child(state, node, expected) : std::string();
}

void ReproducerNodes::add(const State& state, const GraphState& graph, std::size_t index, const GraphNames& names,
                          const ExpectedStatus& expected, NodeForm form) {
  text_.on_device(device_of_node(state, graph.nodes[index].params),
                  [&] { add_there(state, graph, index, names, expected, form); });
}

void ReproducerNodes::add_there(const State& state, const GraphState& graph, std::size_t index, const GraphNames& names,
                                const ExpectedStatus& expected, NodeForm form) {
  const NodeState& node = graph.nodes[index];
  NodeCalls calls = calls_of(text_, node, prepare(state, node, expected));
  const std::string after = dependencies(graph, node, names);
  std::string loop;
  const char* element = loop_over(node.fan, loop);
  if (form == NodeForm::kDriver) {
    const bool in_context = !std::holds_alternative<MemoryFreeParams>(node.params);
    if (in_context) text_.need(HelperFunction::kContext);
    make_driver(text_, calls, node.params);
    return emit(text_, calls, node.fan, expected,
                fmt::format("hipDrvGraphAdd{}Node(&{}{}, {}, {}, {}{})", calls.name, names.nodes[index], element,
                            names.graph, after, calls.parameters, in_context ? ", context()" : ""));
  }
  if (form == NodeForm::kGeneric) {
    const std::string params = make_generic(text_, calls);
    return emit(
        text_, calls, node.fan, expected,
        fmt::format("hipGraphAddNode(&{}{}, {}, {}, &{})", names.nodes[index], element, names.graph, after, params));
  }
  emit(text_, calls, node.fan, expected,
       fmt::format("hipGraphAdd{}Node{}(&{}{}, {}, {}{}{})", calls.name, calls.suffix, names.nodes[index], element,
                   names.graph, after, calls.parameters.empty() ? "" : ", ", calls.parameters));
}

void ReproducerNodes::set(const State& state, const NodeState& node, const std::string& exec, const std::string& handle,
                          const ExpectedStatus& expected, NodeForm form) {
  text_.on_device(device_of_node(state, node.params), [&] { set_there(state, node, exec, handle, expected, form); });
}

void ReproducerNodes::set_there(const State& state, const NodeState& node, const std::string& exec,
                                const std::string& handle, const ExpectedStatus& expected, NodeForm form) {
  if (std::holds_alternative<EmptyParams>(node.params)) return;  // it has no parameters
  NodeCalls calls = calls_of(text_, node, prepare(state, node, expected));
  std::string loop;
  const char* element = loop_over(node.fan, loop);
  if (form == NodeForm::kDriver) {
    text_.need(HelperFunction::kContext);
    make_driver(text_, calls, node.params);
    return emit(
        text_, calls, node.fan, expected,
        fmt::format("hipDrvGraph{}{}NodeSetParams({}{}{}{}, {}{})", exec.empty() ? "" : "Exec", calls.name, exec,
                    exec.empty() ? "" : ", ", handle, element, calls.parameters, exec.empty() ? "" : ", context()"));
  }
  if (form == NodeForm::kGeneric) {
    const std::string params = make_generic(text_, calls);
    return emit(text_, calls, node.fan, expected,
                fmt::format("hipGraph{}NodeSetParams({}{}{}{}, &{})", exec.empty() ? "" : "Exec", exec,
                            exec.empty() ? "" : ", ", handle, element, params));
  }
  emit(text_, calls, node.fan, expected,
       fmt::format("hipGraph{}{}Node{}{}({}{}{}{}, {})", exec.empty() ? "" : "Exec", calls.name, calls.setter,
                   calls.suffix, exec, exec.empty() ? "" : ", ", handle, element, calls.parameters));
}

void ReproducerNodes::enqueue(const State& state, const NodeParams& params, const StreamCall& how,
                              const ExpectedStatus& expected) {
  const auto [calls, call] = stream_call(text_, state, params, how);
  for (const std::string& line : calls.before) text_.line(line);
  text_.call(expected, text_.on_thread(how.thread, calls.whole(call)));
}

void ReproducerNodes::declare(const GraphState& graph, const GraphNames& names) {
  if (graph.nodes.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    list += (list.empty() ? "" : ", ") + names.nodes[i];
    if (graph.nodes[i].fan != 1) list += fmt::format("[{}]", graph.nodes[i].fan);
  }
  text_.line(fmt::format("hipGraphNode_t {};", list));
}

GraphNames ReproducerNodes::record(const State& state, const GraphState& graph, const ExpectedStatus& expected) {
  GraphNames names{fmt::format("again{}", text_.number(LocalKind::kRecording)), {}};
  for (const NodeState& node : graph.nodes) names.nodes.push_back(fmt::format("{}_n{}", names.graph, node.id));
  text_.line(fmt::format("hipGraph_t {};", names.graph));
  declare(graph, names);
  text_.call(expected, fmt::format("hipGraphCreate(&{}, 0)", names.graph));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    add(state, graph, i, names, expected);
    set_attributes(graph.nodes[i].attributes, names.nodes[i], graph.nodes[i].fan, expected);
  }
  return names;
}

void ReproducerNodes::set_attributes(const NodeAttributes& attributes, const std::string& node, std::uint32_t fan,
                                     const ExpectedStatus& expected) {
  std::string loop;
  const char* element = loop_over(fan, loop);
  const auto set = [&](const char* id, const char* member, const std::string& value) {
    const std::string name = fmt::format("attribute{}", text_.number(LocalKind::kNode));
    text_.line(fmt::format("hipKernelNodeAttrValue {}{{}};", name));
    text_.line(fmt::format("{}.{} = {};", name, member, value));
    const std::size_t at = text_.size();
    text_.call(expected, fmt::format("hipGraphKernelNodeSetAttribute({}{}, {}, &{})", node, element, id, name));
    for (const std::string& line : text_.take(at)) text_.line(loop + line);
  };
  if (attributes.cooperative)
    set("hipKernelNodeAttributeCooperative", "cooperative", *attributes.cooperative ? "1" : "0");
  if (attributes.priority) set("hipKernelNodeAttributePriority", "priority", std::to_string(*attributes.priority));
  if (!attributes.window) return;
  set("hipKernelNodeAttributeAccessPolicyWindow", "accessPolicyWindow",
      fmt::format("{{nullptr, hipAccessPropertyPersisting, {}.0f / 100, hipAccessPropertyStreaming, 0}}",
                  *attributes.window));
}

void ReproducerNodes::check_attributes(const std::string& seen, const std::string& node, std::uint32_t fan) {
  std::istringstream words(seen);
  std::string attribute, value;
  struct Member {
    const char* id;
    const char* text;  // an expression of its value; {} is the variable
  };
  static const std::map<std::string, Member> kMembers = {
      {"priority", {"Priority", "std::to_string({}.priority)"}},
      {"cooperative", {"Cooperative", "std::to_string({}.cooperative)"}},
      {"window", {"AccessPolicyWindow", "std::to_string(std::lround({}.accessPolicyWindow.hitRatio * 100))"}}};
  while (words >> attribute >> value) {
    const Member& member = kMembers.at(attribute);
    if (attribute == "window") text_.need_header("cmath");
    const std::string name = fmt::format("attribute{}", text_.number(LocalKind::kNode));
    text_.line(fmt::format("hipKernelNodeAttrValue {}{{}};", name));
    text_.must(fmt::format("hipGraphKernelNodeGetAttribute({}{}, hipKernelNodeAttribute{}, &{})", node,
                           fan == 1 ? "" : "[0]", member.id, name));
    text_.equal(fmt::format("the attribute {} of {}", attribute, node), fmt::format("\"{}\"", value),
                fmt::format(fmt::runtime(member.text), name));
  }
}

std::string ReproducerNodes::record_child(const State& state, const NodeState& node, const ExpectedStatus& expected) {
  const auto& params = std::get<ChildParams>(node.params);
  std::string inner;
  // The graph itself can be used as long as it still has the nodes that the child was made from.
  const GraphState* origin = state.graph(params.graph);
  const auto known = names_.graphs.find(params.graph);
  const auto same = [](const NodeState& a, const NodeState& b) {
    return a.params == b.params && a.after == b.after && a.fan == b.fan;
  };
  const bool serves = known != names_.graphs.end() && origin != nullptr && origin->alive && state.current(*origin) &&
                      origin->nodes.size() == node.child->nodes.size() &&
                      std::equal(origin->nodes.begin(), origin->nodes.end(), node.child->nodes.begin(), same);
  inner = serves ? known->second.graph : record(state, *node.child, expected).graph;
  for (std::uint32_t i = 1; i < params.nest; ++i) {
    const std::string outer = fmt::format("again{}", text_.number(LocalKind::kRecording));
    text_.line(fmt::format("hipGraph_t {};", outer));
    text_.line(fmt::format("hipGraphNode_t {}_n0;", outer));
    text_.call(expected, fmt::format("hipGraphCreate(&{}, 0)", outer));
    text_.call(expected, fmt::format("hipGraphAddChildGraphNode(&{0}_n0, {0}, nullptr, 0, {1})", outer, inner));
    inner = outer;
  }
  return inner;
}

}  // namespace verify
