#include "reports/reproducer_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <regex>
#include <sstream>
#include <utility>

#include "verify/program/text.h"

namespace reports {
namespace {

using verify::ArgumentSpec;
using verify::ArgumentValue;
using verify::BufferRef;
using verify::FieldKind;
using verify::FieldSpec;
using verify::GraphState;
using verify::NodeForm;
using verify::NodeParams;
using verify::NodeState;
using verify::State;

const char* hip_kind(verify::CopyKind kind) {
  static constexpr const char* kKinds[] = {"hipMemcpyHostToHost", "hipMemcpyHostToDevice", "hipMemcpyDeviceToHost",
                                           "hipMemcpyDeviceToDevice", "hipMemcpyDefault"};
  return kKinds[static_cast<std::size_t>(kind)];
}

// b0 + 16, and in a loop over a fan b0 + 16 + i * 4.
std::string reference(const BufferRef& ref, const BufferRef& next) {
  std::string text = fmt::format("b{}", ref.buffer);
  if (ref.offset != 0) text += fmt::format(" + {}", ref.offset);
  if (next.offset != ref.offset) text += fmt::format(" + i * {}", next.offset - ref.offset);
  return text;
}

std::string number(std::uint64_t value, std::uint32_t size) {
  if (size < 8) value &= (std::uint64_t{1} << (8 * size)) - 1;
  return value >> 31 == 0 ? fmt::format("{}", value) : fmt::format("{}{}", value, size == 8 ? "ull" : "u");
}

std::string argument(const FieldSpec& field, const ArgumentValue& value, const ArgumentValue& next) {
  if (value.kind != ArgumentValue::Kind::kPointer) return number(value.number, field.size);
  const std::string text = reference(value.ref, next.ref);
  const bool sum = text.find(' ') != std::string::npos;
  return fmt::format("(u{}*){}{}{}", 8 * field.element, sum ? "(" : "", text, sum ? ")" : "");
}

// The fields [from, to) as an initialiser of a struct whose members' names begin with `prefix`.
std::string initialiser(const verify::KernelParams& p, const verify::KernelParams& next, std::size_t& at,
                        const std::string& prefix) {
  const std::vector<FieldSpec>& fields = p.kernel->fields;
  std::string text;
  while (at < fields.size() && fields[at].name.starts_with(prefix)) {
    const std::string rest = fields[at].name.substr(prefix.size());
    const std::size_t dot = rest.find('.');
    if (!text.empty()) text += ", ";
    if (dot == std::string::npos) {
      text += argument(fields[at], p.arguments[at], next.arguments[at]);
      ++at;
    } else {
      text += initialiser(p, next, at, prefix + rest.substr(0, dot + 1));
    }
  }
  return "{" + text + "}";
}

std::string arguments(const verify::KernelParams& p, const verify::KernelParams& next) {
  std::string text;
  std::size_t at = 0;
  while (at < p.kernel->fields.size()) {
    const FieldSpec& field = p.kernel->fields[at];
    const std::size_t dot = field.name.find('.');
    if (dot != std::string::npos) {
      text += ", " + initialiser(p, next, at, field.name.substr(0, dot + 1));
      continue;
    }
    text += ", " + argument(field, p.arguments[at], next.arguments[at]);
    ++at;
  }
  return text;
}

std::string position(const verify::Position& p) {
  return fmt::format("{{{}, {}, {}}}", p.x, p.y, p.z);
}

// The pieces of a call on a node: what stands before it, and the call in the three forms that HIP has.
struct Calls {
  std::vector<std::string> before;
  std::string around;  // "with_kernel(...)" holds the call, or empty
  std::string after;
  const char* name;  // "Kernel": of hipGraphAddKernelNode, hipGraphExecKernelNodeSetParams, ...
  const char* suffix = "";
  std::string parameters;
  const char* setter = "SetParams";
  std::vector<std::string> behind{};  // lines that take what the call gave

  [[nodiscard]] std::string whole(const std::string& call) const { return around + call + after; }
};

struct CallsOf {
  ReproducerText& text;
  const NodeState& node;
  unsigned& locals;
  std::string child;  // the variable of the graph that a child node is made from
  NodeParams second = verify::fan_instance(node.params, node.fan > 1 ? 1 : 0);

  template <class P>
  [[nodiscard]] const P& next(const P&) const {
    return std::get<P>(second);
  }

  Calls operator()(const verify::KernelParams& p) const {
    const bool extra = p.style == verify::ArgumentStyle::kExtra;
    text.need(extra ? Helper::kExtra : Helper::kKernel);
    text.need_kernel(p.kernel->name);
    return {{},
            fmt::format("{}({}, {}, {}, [&](auto* p) {{ return ", extra ? "with_extra" : "with_kernel", p.kernel->name,
                        p.grid, p.block),
            fmt::format("; }}{})", arguments(p, next(p))),
            "Kernel",
            "",
            "p"};
  }
  Calls operator()(const verify::CopyParams& p) const {
    const std::string dst = reference(p.dst.ref, next(p).dst.ref), src = reference(p.src.ref, next(p).src.ref);
    if (p.symbol != verify::CopySymbol::kNone) {
      const bool to = p.symbol == verify::CopySymbol::kDestination;
      const BufferRef &ref = (to ? p.dst : p.src).ref, &second_ref = (to ? next(p).dst : next(p).src).ref;
      std::string offset = fmt::format("{}", ref.offset);
      if (second_ref.offset != ref.offset) offset += fmt::format(" + i * {}", second_ref.offset - ref.offset);
      const std::string symbol = text.need_symbol(ref.buffer);
      return {
          {},
          "",
          "",
          "Memcpy",
          to ? "ToSymbol" : "FromSymbol",
          fmt::format("{}, {}, {}, {}, {}", to ? symbol : dst, to ? src : symbol, p.width, offset, hip_kind(p.kind))};
    }
    if (p.linear) {
      return {{}, "", "", "Memcpy", "1D", fmt::format("{}, {}, {}, {}", dst, src, p.width, hip_kind(p.kind))};
    }
    const std::string name = fmt::format("c{}", ++locals);
    return {
        {fmt::format("hipMemcpy3DParms {}{{nullptr, {}, {{{}, {}, {}, {}}}, nullptr, {}, {{{}, {}, {}, {}}}, {{{}, "
                     "{}, {}}}, {}}};",
                     name, position(p.src.position), src, p.src.pitch, p.width, p.src.rows, position(p.dst.position),
                     dst, p.dst.pitch, p.width, p.dst.rows, p.width, p.height, p.depth, hip_kind(p.kind))},
        "",
        "",
        "Memcpy",
        "",
        "&" + name};
  }
  Calls operator()(const verify::MemsetParams& p) const {
    const std::string name = fmt::format("m{}", ++locals);
    return {{fmt::format("hipMemsetParams {}{{{}, {}, {}, {}, {}, {}}};  // dst, element, height, pitch, value, width",
                         name, reference(p.dst, next(p).dst), p.element, p.height, p.pitch, p.value, p.width)},
            "",
            "",
            "Memset",
            "",
            "&" + name};
  }
  Calls operator()(const verify::HostParams& p) const {
    text.need(Helper::kHost);
    const std::string name = fmt::format("h{}", ++locals);
    const std::string memory = p.memory ? fmt::format("&b{}, {}, {}", p.memory->buffer, p.memory->offset, p.bytes)
                                        : std::string("nullptr, 0, 0");
    return {{fmt::format("static Host {}_data{{{}, {}}};", name, p.tag, memory),
             fmt::format("hipHostNodeParams {}{{host, &{}_data}};", name, name)},
            "",
            "",
            "Host",
            "",
            "&" + name};
  }
  Calls operator()(const verify::EmptyParams&) const { return {{}, "", "", "Empty", "", ""}; }
  Calls operator()(const verify::ChildParams&) const { return {{}, "", "", "ChildGraph", "", child}; }
  Calls operator()(const verify::EventRecordParams& p) const {
    return {{}, "", "", "EventRecord", "", fmt::format("v{}", p.event), "SetEvent"};
  }
  Calls operator()(const verify::EventWaitParams& p) const {
    return {{}, "", "", "EventWait", "", fmt::format("v{}", p.event), "SetEvent"};
  }
  Calls operator()(const verify::MemoryAllocParams& p) const {
    const std::string name = fmt::format("a{}", ++locals);
    return {{fmt::format("hipMemAllocNodeParams {}{{}};", name),
             fmt::format("{}.poolProps.allocType = hipMemAllocationTypePinned;", name),
             fmt::format("{}.poolProps.location = {{hipMemLocationTypeDevice, 0}};", name),
             fmt::format("{}.bytesize = {};", name, p.bytes)},
            "",
            "",
            "MemAlloc",
            "",
            "&" + name,
            "SetParams",
            {fmt::format("b{} = static_cast<char*>({}.dptr);", p.buffer, name)}};
  }
  Calls operator()(const verify::MemoryFreeParams& p) const {
    return {{}, "", "", "MemFree", "", fmt::format("b{}", p.buffer)};
  }
};

const char* loop_over(std::uint32_t fan, std::string& text) {
  if (fan == 1) return "";
  text = fmt::format("for (int i = 0; i < {}; ++i) ", fan);
  return "[i]";
}

// Structs of parameters belong into the loop over a fan, since they name its counter.
void emit(ReproducerText& text, const Calls& calls, std::uint32_t fan, const ExpectedStatus& expected,
          const std::string& call) {
  std::string loop;
  loop_over(fan, loop);
  if (fan == 1 || calls.before.empty()) {
    for (const std::string& line : calls.before) text.line(line);
    const std::size_t at = text.size();
    text.call(expected, calls.whole(call));
    for (const std::string& line : text.take(at)) text.line(loop + line);
    for (const std::string& line : calls.behind) text.line(line);
    return;
  }
  text.line(loop + "{");
  for (const std::string& line : calls.before) text.line("  " + line);
  const std::size_t at = text.size();
  text.call(expected, calls.whole(call));
  for (const std::string& line : text.take(at)) text.line("  " + line);
  text.line("}");
}

// Packs the parameters of `calls` into the struct for a node of any type; its variable.
// The driver's call of a copy or a memset: a copy says where each end is, and every call names the context.
void make_driver(Calls& calls, const NodeParams& params, unsigned& locals) {
  if (const auto* copy = std::get_if<verify::CopyParams>(&params)) {
    const std::string typed = calls.parameters.substr(1), name = fmt::format("d{}", ++locals);
    const bool unified = copy->kind == verify::CopyKind::kDefault;
    const auto side = [&](const char* which, bool host) {
      const char* type = unified ? "Unified" : host ? "Host" : "Device";
      calls.before.push_back(fmt::format("{0}.{1}MemoryType = hipMemoryType{2};", name, which, type));
      calls.before.push_back(fmt::format("{0}.{1}{2} = {3}.{1}Ptr.ptr;", name, which, host ? "Host" : "Device", typed));
      calls.before.push_back(
          fmt::format("{0}.{1}Pitch = {2}.{1}Ptr.pitch, {0}.{1}Height = {2}.{1}Ptr.ysize;", name, which, typed));
      calls.before.push_back(fmt::format(
          "{0}.{1}XInBytes = {2}.{1}Pos.x, {0}.{1}Y = {2}.{1}Pos.y, {0}.{1}Z = {2}.{1}Pos.z;", name, which, typed));
    };
    calls.before.push_back(fmt::format("HIP_MEMCPY3D {}{{}};", name));
    side("dst", copy->kind == verify::CopyKind::kHostToHost || copy->kind == verify::CopyKind::kDeviceToHost);
    side("src", copy->kind == verify::CopyKind::kHostToHost || copy->kind == verify::CopyKind::kHostToDevice);
    calls.before.push_back(fmt::format(
        "{0}.WidthInBytes = {1}.extent.width, {0}.Height = {1}.extent.height, {0}.Depth = {1}.extent.depth;", name,
        typed));
    calls.parameters = "&" + name;
  }
}

std::string make_generic(Calls& calls, unsigned& locals) {
  struct Kind {
    const char* name;
    const char* type;
    const char* member;  // or null: there is nothing to say
  };
  static constexpr Kind kKinds[] = {{"Kernel", "Kernel", "kernel"},
                                    {"Memcpy", "Memcpy", "memcpy.copyParams"},
                                    {"Memset", "Memset", "memset"},
                                    {"Host", "Host", "host"},
                                    {"Empty", "Empty", nullptr},
                                    {"ChildGraph", "Graph", "graph.graph"},
                                    {"EventRecord", "EventRecord", "eventRecord.event"},
                                    {"EventWait", "WaitEvent", "eventWait.event"}};
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return std::string_view(k.name) == calls.name; });
  assert(kind != std::end(kKinds));
  const std::string variable = fmt::format("any{}", ++locals);
  std::vector<std::string> lines = {fmt::format("hipGraphNodeParams {}{{}};", variable),
                                    fmt::format("{}.type = hipGraphNodeType{};", variable, kind->type)};
  const bool kernel = calls.name == std::string_view("Kernel");
  if (kind->member != nullptr) {
    const bool pointer = calls.parameters.starts_with('&');
    const std::string value = kernel ? "*p" : calls.parameters.substr(pointer ? 1 : 0);
    lines.push_back(fmt::format("{}.{} = {};", variable, kind->member, value));
  }
  if (!kernel) {
    calls.before.insert(calls.before.end(), lines.begin(), lines.end());
    return variable;
  }
  // The struct of a kernel's parameters exists where its call is made.
  const std::size_t at = calls.around.find("return ");
  assert(at != std::string::npos);
  calls.around.insert(at, fmt::format("{} {} {} ", lines[0], lines[1], lines[2]));
  return variable;
}

// That has to be current while a node is added or set.
verify::Id device_of(const State& state, const NodeParams& params) {
  if (const auto* kernel = std::get_if<verify::KernelParams>(&params)) return kernel->device;
  const auto* memset = std::get_if<verify::MemsetParams>(&params);
  return memset == nullptr ? 0 : state.buffer(memset->dst.buffer)->device;
}

// The function that gives a memset to a stream, which goes by its shape, and its arguments.
std::string memset_call(const verify::MemsetParams& p, const std::string& stream) {
  const std::string dst = reference(p.dst, p.dst);
  const char* element = p.element == 1 ? "" : p.element == 2 ? "D16" : "D32";
  const std::uint64_t value = p.element == 2 ? p.value & 0xffffu : p.value;
  if (p.height == 1) return fmt::format("hipMemset{}Async({}, {}, {}, {})", element, dst, value, p.width, stream);
  return fmt::format("hipMemset{}Async({}, {}, {}, {}, {}, {})",
                     p.element == 1   ? "2D"
                     : p.element == 2 ? "D2D16"
                                      : "D2D32",
                     dst, p.pitch, value, p.width, p.height, stream);
}

std::string peer_call(const State& state, const verify::CopyParams& p, const std::string& stream) {
  const bool wait = p.peer == verify::PeerCopy::kBlocking;
  return fmt::format("hipMemcpyPeer{}({}, {}, {}, {}, {}{}{})", wait ? "" : "Async", reference(p.dst.ref, p.dst.ref),
                     state.buffer(p.dst.ref.buffer)->device, reference(p.src.ref, p.src.ref),
                     state.buffer(p.src.ref.buffer)->device, p.width, wait ? "" : ", ", wait ? "" : stream);
}

}  // namespace

std::string ReproducerNodes::stream_flaw_of(const NodeParams& params) {
  const auto* kernel = std::get_if<verify::KernelParams>(&params);
  if (kernel != nullptr && kernel->style == verify::ArgumentStyle::kExtra) {
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
  const std::string variable = fmt::format("after{}", ++locals_);
  text_.line(fmt::format("hipGraphNode_t {}[] = {{{}}};", variable, list));
  return fmt::format("{}, {}", variable, count);
}

std::string ReproducerNodes::prepare(const State& state, const NodeState& node, const ExpectedStatus& expected) {
  return node.child ? record_child(state, node, expected) : std::string();
}

void ReproducerNodes::add(const State& state, const GraphState& graph, std::size_t index, const GraphNames& names,
                          const ExpectedStatus& expected, NodeForm form) {
  text_.on_device(device_of(state, graph.nodes[index].params),
                  [&] { add_there(state, graph, index, names, expected, form); });
}

void ReproducerNodes::add_there(const State& state, const GraphState& graph, std::size_t index, const GraphNames& names,
                                const ExpectedStatus& expected, NodeForm form) {
  const NodeState& node = graph.nodes[index];
  Calls calls = std::visit(CallsOf{text_, node, locals_, prepare(state, node, expected)}, node.params);
  const std::string after = dependencies(graph, node, names);
  std::string loop;
  const char* element = loop_over(node.fan, loop);
  if (form == NodeForm::kDriver) {
    const bool in_context = !std::holds_alternative<verify::MemoryFreeParams>(node.params);
    if (in_context) text_.need(Helper::kContext);
    make_driver(calls, node.params, locals_);
    return emit(text_, calls, node.fan, expected,
                fmt::format("hipDrvGraphAdd{}Node(&{}{}, {}, {}, {}, context())", calls.name, names.nodes[index],
                            element, names.graph, after, calls.parameters));
  }
  if (form == NodeForm::kGeneric) {
    const std::string params = make_generic(calls, locals_);
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
  text_.on_device(device_of(state, node.params), [&] { set_there(state, node, exec, handle, expected, form); });
}

void ReproducerNodes::set_there(const State& state, const NodeState& node, const std::string& exec,
                                const std::string& handle, const ExpectedStatus& expected, NodeForm form) {
  if (std::holds_alternative<verify::EmptyParams>(node.params)) return;  // it has no parameters
  Calls calls = std::visit(CallsOf{text_, node, locals_, prepare(state, node, expected)}, node.params);
  std::string loop;
  const char* element = loop_over(node.fan, loop);
  if (form == NodeForm::kDriver) {
    text_.need(Helper::kContext);
    make_driver(calls, node.params, locals_);
    return emit(
        text_, calls, node.fan, expected,
        fmt::format("hipDrvGraph{}{}NodeSetParams({}{}{}{}, {}{})", exec.empty() ? "" : "Exec", calls.name, exec,
                    exec.empty() ? "" : ", ", handle, element, calls.parameters, exec.empty() ? "" : ", context()"));
  }
  if (form == NodeForm::kGeneric) {
    const std::string params = make_generic(calls, locals_);
    return emit(text_, calls, node.fan, expected,
                fmt::format("hipGraph{}NodeSetParams({}{}{}{}, &{})", exec.empty() ? "" : "Exec", exec,
                            exec.empty() ? "" : ", ", handle, element, params));
  }
  emit(text_, calls, node.fan, expected,
       fmt::format("hipGraph{}{}Node{}{}({}{}{}{}, {})", exec.empty() ? "" : "Exec", calls.name, calls.setter,
                   calls.suffix, exec, exec.empty() ? "" : ", ", handle, element, calls.parameters));
}

void ReproducerNodes::enqueue(const State& state, const NodeParams& params, const std::string& stream,
                              verify::Id thread, const ExpectedStatus& expected) {
  NodeState node;
  node.params = params;
  Calls calls;
  std::string call;
  if (const auto* memset = std::get_if<verify::MemsetParams>(&params)) {
    call = memset_call(*memset, stream);
  } else {
    calls = std::visit(CallsOf{text_, node, locals_, {}}, params);
  }
  if (std::holds_alternative<verify::KernelParams>(params)) {
    call = fmt::format("hipLaunchKernel(p->func, p->gridDim, p->blockDim, p->kernelParams, 0, {})", stream);
  } else if (const auto* copy = std::get_if<verify::CopyParams>(&params)) {
    const bool symbol = copy->symbol != verify::CopySymbol::kNone;
    call = fmt::format("hipMemcpy{}Async({}, {})",
                       symbol         ? calls.suffix
                       : copy->linear ? ""
                                      : "3D",
                       calls.parameters, stream);
    if (copy->peer != verify::PeerCopy::kNone) call = peer_call(state, *copy, stream);
  } else if (std::holds_alternative<verify::HostParams>(params)) {
    calls.before.resize(1);  // the function's data; the struct for a node is not needed
    call = fmt::format("hipLaunchHostFunc({}, host, {}_data)", stream, calls.parameters);
  } else if (const auto* record = std::get_if<verify::EventRecordParams>(&params)) {
    call = fmt::format("hipEventRecordWithFlags(v{}, {}, hipEventRecordExternal)", record->event, stream);
  } else if (const auto* wait = std::get_if<verify::EventWaitParams>(&params)) {
    call = fmt::format("hipStreamWaitEvent({}, v{}, hipEventWaitExternal)", stream, wait->event);
  }
  assert(!call.empty());
  for (const std::string& line : calls.before) text_.line(line);
  text_.call(expected, text_.on_thread(thread, calls.whole(call)));
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
  GraphNames names{fmt::format("again{}", ++fresh_), {}};
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

void ReproducerNodes::set_attributes(const verify::NodeAttributes& attributes, const std::string& node,
                                     std::uint32_t fan, const ExpectedStatus& expected) {
  std::string loop;
  const char* element = loop_over(fan, loop);
  const auto set = [&](const char* id, const char* member, int value) {
    const std::string name = fmt::format("attribute{}", ++locals_);
    text_.line(fmt::format("hipKernelNodeAttrValue {}{{}};", name));
    text_.line(fmt::format("{}.{} = {};", name, member, value));
    const std::size_t at = text_.size();
    text_.call(expected, fmt::format("hipGraphKernelNodeSetAttribute({}{}, {}, &{})", node, element, id, name));
    for (const std::string& line : text_.take(at)) text_.line(loop + line);
  };
  if (attributes.cooperative) set("hipKernelNodeAttributeCooperative", "cooperative", *attributes.cooperative ? 1 : 0);
  if (attributes.priority) set("hipKernelNodeAttributePriority", "priority", *attributes.priority);
}

void ReproducerNodes::check_attributes(const std::string& seen, const std::string& node, std::uint32_t fan) {
  std::istringstream words(seen);
  std::string attribute, value;
  while (words >> attribute >> value) {
    const std::string name = fmt::format("attribute{}", ++locals_);
    text_.line(fmt::format("hipKernelNodeAttrValue {}{{}};", name));
    text_.must(fmt::format("hipGraphKernelNodeGetAttribute({}{}, hipKernelNodeAttribute{}, &{})", node,
                           fan == 1 ? "" : "[0]", attribute == "priority" ? "Priority" : "Cooperative", name));
    text_.equal(fmt::format("the attribute {} of {}", attribute, node), fmt::format("\"{}\"", value),
                fmt::format("std::to_string({}.{})", name, attribute));
  }
}

std::string ReproducerNodes::record_child(const State& state, const NodeState& node, const ExpectedStatus& expected) {
  const auto& params = std::get<verify::ChildParams>(node.params);
  std::string inner;
  // The graph itself serves as long as it is what the child was made from.
  const GraphState* origin = state.graph(params.graph);
  const auto known = graphs_.find(params.graph);
  const auto same = [](const NodeState& a, const NodeState& b) {
    return a.params == b.params && a.after == b.after && a.fan == b.fan;
  };
  const bool serves = known != graphs_.end() && origin != nullptr && origin->alive && state.current(*origin) &&
                      origin->nodes.size() == node.child->nodes.size() &&
                      std::equal(origin->nodes.begin(), origin->nodes.end(), node.child->nodes.begin(), same);
  inner = serves ? known->second : record(state, *node.child, expected).graph;
  for (std::uint32_t i = 1; i < params.nest; ++i) {
    const std::string outer = fmt::format("again{}", ++fresh_);
    text_.line(fmt::format("hipGraph_t {};", outer));
    text_.line(fmt::format("hipGraphNode_t {}_n0;", outer));
    text_.call(expected, fmt::format("hipGraphCreate(&{}, 0)", outer));
    text_.call(expected, fmt::format("hipGraphAddChildGraphNode(&{0}_n0, {0}, nullptr, 0, {1})", outer, inner));
    inner = outer;
  }
  return inner;
}

}  // namespace reports
