#include "verify/export/node_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string_view>

namespace verify {
namespace {

const char* hip_kind(CopyKind kind) {
  static constexpr const char* kKinds[] = {"hipMemcpyHostToHost", "hipMemcpyHostToDevice", "hipMemcpyDeviceToHost",
                                           "hipMemcpyDeviceToDevice", "hipMemcpyDefault"};
  return kKinds[static_cast<std::size_t>(kind)];
}

// "b0 + 16", and in a loop over a fan "b0 + 16 + i * 4".
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

// The fields from `at` on whose names begin with `prefix`, as the initialiser of their struct; moves `at` past them.
std::string initialiser(const KernelParams& p, const KernelParams& next, std::size_t& at, const std::string& prefix) {
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

std::string arguments(const KernelParams& p, const KernelParams& next) {
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

std::string position(const Position& p) {
  return fmt::format("{{{}, {}, {}}}", p.x, p.y, p.z);
}

// The calls on a node of each type.
struct CallsOf {
  ReproducerText& text;
  const NodeState& node;
  std::string child;  // the variable of the graph that a child node is made from
  NodeParams second = fan_instance(node.params, node.fan > 1 ? 1 : 0);

  template <class P>
  [[nodiscard]] const P& next(const P&) const {
    return std::get<P>(second);
  }

  NodeCalls operator()(const KernelParams& p) const {
    const bool extra = p.style == ArgumentStyle::kExtra;
    text.need(extra ? HelperFunction::kExtra : HelperFunction::kKernel);
    text.need_kernel(p.kernel->name);
    if (p.module) text.need(HelperFunction::kOfModule);
    const std::string kernel =
        p.module ? fmt::format("of_module(module{}, \"{}\", {})", *p.module, p.kernel->name, p.kernel->name)
                 : p.kernel->name;
    return {{},
            fmt::format("{}({}, {}, {}, [&](auto* p) {{ return ", extra ? "with_extra" : "with_kernel", kernel, p.grid,
                        p.block),
            fmt::format("; }}{})", arguments(p, next(p))),
            "Kernel",
            "",
            "p"};
  }
  NodeCalls operator()(const CopyParams& p) const {
    const std::string dst = reference(p.dst.ref, next(p).dst.ref), src = reference(p.src.ref, next(p).src.ref);
    if (p.symbol != CopySymbol::kNone) {
      const bool to = p.symbol == CopySymbol::kDestination;
      const BufferRef &ref = (to ? p.dst : p.src).ref, &second_ref = (to ? next(p).dst : next(p).src).ref;
      std::string offset = fmt::format("{}", ref.offset);
      if (second_ref.offset != ref.offset) offset += fmt::format(" + i * {}", second_ref.offset - ref.offset);
      const std::string symbol = fmt::format("HIP_SYMBOL({})", text.variable_of(ref.buffer));
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
    const std::string name = fmt::format("c{}", text.number(LocalKind::kNode));
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
  NodeCalls operator()(const MemsetParams& p) const {
    const std::string name = fmt::format("m{}", text.number(LocalKind::kNode));
    return {{fmt::format("hipMemsetParams {}{{{}, {}, {}, {}, {}, {}}};  // dst, element, height, pitch, value, width",
                         name, reference(p.dst, next(p).dst), p.element, p.height, p.pitch, p.value, p.width)},
            "",
            "",
            "Memset",
            "",
            "&" + name};
  }
  NodeCalls operator()(const HostParams& p) const {
    text.need(HelperFunction::kHost);
    const std::string name = fmt::format("h{}", text.number(LocalKind::kNode));
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
  NodeCalls operator()(const BatchParams& p) const {
    text.need_header("iterator");
    const std::string name = fmt::format("w{}", text.number(LocalKind::kNode));
    std::vector<std::string> lines = {
        "// Static: some runtimes keep the pointer to the array.",
        fmt::format("static hipStreamBatchMemOpParams {}_list[{}]{{}};", name, p.operations.size())};
    for (std::size_t i = 0; i < p.operations.size(); ++i) operation(p.operations[i], name, i, lines);
    lines.push_back(
        fmt::format("hipBatchMemOpNodeParams {0}{{nullptr, {1}, {0}_list, 0}};", name, p.operations.size()));
    text.need(HelperFunction::kContext);
    lines.push_back(fmt::format("{}.ctx = context();", name));
    return {std::move(lines), "", "", "BatchMemOp", "", "&" + name};
  }
  NodeCalls operator()(const SemaphoreSignalParams& p) const { return semaphores(p, "Signal"); }
  NodeCalls operator()(const SemaphoreWaitParams& p) const { return semaphores(p, "Wait"); }
  NodeCalls operator()(const EmptyParams&) const { return {{}, "", "", "Empty", "", ""}; }
  NodeCalls operator()(const ChildParams&) const { return {{}, "", "", "ChildGraph", "", child}; }
  NodeCalls operator()(const EventRecordParams& p) const {
    return {{}, "", "", "EventRecord", "", fmt::format("v{}", p.event), "SetEvent"};
  }
  NodeCalls operator()(const EventWaitParams& p) const {
    return {{}, "", "", "EventWait", "", fmt::format("v{}", p.event), "SetEvent"};
  }
  NodeCalls operator()(const MemoryAllocParams& p) const {
    const std::string name = fmt::format("a{}", text.number(LocalKind::kNode));
    std::vector<std::string> lines = {fmt::format("hipMemAllocNodeParams {}{{}};", name),
                                      fmt::format("{}.poolProps.allocType = hipMemAllocationTypePinned;", name),
                                      fmt::format("{}.poolProps.location = {{hipMemLocationTypeDevice, 0}};", name),
                                      fmt::format("{}.bytesize = {};", name, p.bytes)};
    access(p, name, lines);
    return {std::move(lines),
            "",
            "",
            "MemAlloc",
            "",
            "&" + name,
            "SetParams",
            {fmt::format("b{} = static_cast<char*>({}.dptr);", p.buffer, name)}};
  }
  NodeCalls operator()(const MemoryFreeParams& p) const {
    return {{}, "", "", "MemFree", "", fmt::format("b{}", p.buffer)};
  }

 private:
  [[nodiscard]] NodeCalls semaphores(const SemaphoreParams& p, const char* what) const {
    text.need(HelperFunction::kSemaphore);
    text.need_header("sys/eventfd.h");
    const std::string name = fmt::format("x{}", text.number(LocalKind::kNode));
    std::string handles;
    for (const SemaphoreValue& each : p.list)
      handles += fmt::format("{}semaphores.all[{}]", handles.empty() ? "" : ", ", each.semaphore);
    std::vector<std::string> lines = {
        fmt::format("hipExternalSemaphore_t {}_list[] = {{{}}};", name, handles),
        fmt::format("hipExternalSemaphore{}Params {}_values[{}]{{}};", what, name, p.list.size())};
    for (std::size_t i = 0; i < p.list.size(); ++i)
      lines.push_back(fmt::format("{}_values[{}].params.fence.value = {};", name, i, p.list[i].value));
    lines.push_back(
        fmt::format("hipExternalSemaphore{0}NodeParams {1}{{{1}_list, {1}_values, {2}}};", what, name, p.list.size()));
    return {std::move(lines),
            "",
            "",
            std::string_view(what) == "Wait" ? "ExternalSemaphoresWait" : "ExternalSemaphoresSignal",
            "",
            "&" + name};
  }
  static void operation(const MemoryOperation& o, const std::string& name, std::size_t i,
                        std::vector<std::string>& lines) {
    static constexpr const char* kFlags[] = {"Gte", "Eq", "And", "Nor"};
    const std::string one = fmt::format("{}_list[{}]", name, i), part = o.waits ? "waitValue" : "writeValue";
    lines.push_back(
        fmt::format("{}.operation = hipStreamMemOp{}Value{};", one, o.waits ? "Wait" : "Write", o.bytes * 8));
    lines.push_back(fmt::format("{}.{}.address = {};", one, part, reference(o.ref, o.ref)));
    lines.push_back(fmt::format("{}.{}.value{} = {};", one, part, o.bytes == 8 ? "64" : "", number(o.value, o.bytes)));
    if (!o.waits) return;
    lines.push_back(
        fmt::format("{}.waitValue.flags = hipStreamWaitValue{};", one, kFlags[static_cast<std::size_t>(o.comparison)]));
  }
  void access(const MemoryAllocParams& p, const std::string& name, std::vector<std::string>& lines) const {
    if (p.access == 0) return;
    text.need_header("iterator");
    std::string rights;
    for (Id device = 0; device < kMaxDevices; ++device) {
      if ((p.access >> device & 1) == 0) continue;
      rights += fmt::format("{}{{{{hipMemLocationTypeDevice, {}}}, hipMemAccessFlagsProtReadWrite}}",
                            rights.empty() ? "" : ", ", device);
    }
    lines.push_back(fmt::format("const hipMemAccessDesc {}_access[] = {{{}}};", name, rights));
    lines.push_back(fmt::format("{0}.accessDescs = {0}_access;", name));
    lines.push_back(fmt::format("{0}.accessDescCount = std::size({0}_access);", name));
  }
};

}  // namespace

NodeCalls calls_of(ReproducerText& text, const NodeState& node, std::string child) {
  return std::visit(CallsOf{text, node, std::move(child)}, node.params);
}

const char* loop_over(std::uint32_t fan, std::string& text) {
  if (fan == 1) return "";
  text = fmt::format("for (int i = 0; i < {}; ++i) ", fan);
  return "[i]";
}

// Structs of parameters stand inside the loop over a fan, because they use its counter.
void emit(ReproducerText& text, const NodeCalls& calls, std::uint32_t fan, const ExpectedStatus& expected,
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

void make_driver(ReproducerText& text, NodeCalls& calls, const NodeParams& params) {
  const auto* copy = std::get_if<CopyParams>(&params);
  if (copy == nullptr) return;
  const std::string typed = calls.parameters.substr(1), name = fmt::format("d{}", text.number(LocalKind::kNode));
  const bool unified = copy->kind == CopyKind::kDefault;
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
  side("dst", copy->kind == CopyKind::kHostToHost || copy->kind == CopyKind::kDeviceToHost);
  side("src", copy->kind == CopyKind::kHostToHost || copy->kind == CopyKind::kHostToDevice);
  calls.before.push_back(
      fmt::format("{0}.WidthInBytes = {1}.extent.width, {0}.Height = {1}.extent.height, {0}.Depth = {1}.extent.depth;",
                  name, typed));
  calls.parameters = "&" + name;
}

std::string make_generic(ReproducerText& text, NodeCalls& calls) {
  struct Kind {
    const char* name;
    const char* type;
    const char* member;  // null for a type without parameters
  };
  static constexpr Kind kKinds[] = {{"Kernel", "Kernel", "kernel"},
                                    {"Memcpy", "Memcpy", "memcpy.copyParams"},
                                    {"Memset", "Memset", "memset"},
                                    {"Host", "Host", "host"},
                                    {"Empty", "Empty", nullptr},
                                    {"ChildGraph", "Graph", "graph.graph"},
                                    {"MemAlloc", "MemAlloc", "alloc"},
                                    {"MemFree", "MemFree", "free.dptr"},
                                    {"EventRecord", "EventRecord", "eventRecord.event"},
                                    {"EventWait", "WaitEvent", "eventWait.event"},
                                    {"ExternalSemaphoresSignal", "ExtSemaphoreSignal", "extSemSignal"},
                                    {"ExternalSemaphoresWait", "ExtSemaphoreWait", "extSemWait"}};
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return std::string_view(k.name) == calls.name; });
  assert(kind != std::end(kKinds));
  const std::string variable = fmt::format("any{}", text.number(LocalKind::kNode));
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
    if (calls.name == std::string_view("MemAlloc")) {  // the address is in the struct that the call is given
      calls.behind.insert(calls.behind.begin(), fmt::format("{} = {}.alloc;", calls.parameters.substr(1), variable));
    }
    return variable;
  }
  // The struct of a kernel's parameters exists only inside of the lambda that makes the call.
  const std::size_t at = calls.around.find("return ");
  assert(at != std::string::npos);
  calls.around.insert(at, fmt::format("{} {} {} ", lines[0], lines[1], lines[2]));
  return variable;
}

Id device_of_node(const State& state, const NodeParams& params) {
  if (const auto* kernel = std::get_if<KernelParams>(&params)) return kernel->device;
  const auto* memset = std::get_if<MemsetParams>(&params);
  return memset == nullptr ? 0 : state.buffer(memset->dst.buffer)->device;
}

namespace {

// The shape of the memset chooses the function. `async`: the end of its name; `on`: its last argument, with a comma.
std::string memset_call(const MemsetParams& p, const char* async, const std::string& on) {
  const std::string dst = reference(p.dst, p.dst);
  const char* element = p.element == 1 ? "" : p.element == 2 ? "D16" : "D32";
  const std::uint64_t value = p.element == 2 ? p.value & 0xffffu : p.value;
  if (p.height == 1) return fmt::format("hipMemset{}{}({}, {}, {}{})", element, async, dst, value, p.width, on);
  return fmt::format("hipMemset{}{}({}, {}, {}, {}, {}{})",
                     p.element == 1   ? "2D"
                     : p.element == 2 ? "D2D16"
                                      : "D2D32",
                     async, dst, p.pitch, value, p.width, p.height, on);
}

std::string peer_call(const State& state, const CopyParams& p, const std::string& stream) {
  const bool wait = p.peer == PeerCopy::kBlocking;
  return fmt::format("hipMemcpyPeer{}({}, {}, {}, {}, {}{}{})", wait ? "" : "Async", reference(p.dst.ref, p.dst.ref),
                     state.buffer(p.dst.ref.buffer)->device, reference(p.src.ref, p.src.ref),
                     state.buffer(p.src.ref.buffer)->device, p.width, wait ? "" : ", ", wait ? "" : stream);
}

}  // namespace

std::pair<NodeCalls, std::string> stream_call(ReproducerText& text, const State& state, const NodeParams& params,
                                              const StreamCall& how) {
  const auto& [stream, thread, wait, cooperative] = how;
  NodeState node;
  node.params = params;
  const char* async = wait ? "" : "Async";
  const std::string on = wait ? "" : ", " + stream;
  if (const auto* memset = std::get_if<MemsetParams>(&params)) return {{}, memset_call(*memset, async, on)};
  NodeCalls calls = calls_of(text, node, {});
  std::string call;
  if (const auto* kernel = std::get_if<KernelParams>(&params)) {
    const char* together = cooperative ? "Cooperative" : "";
    call = fmt::format("hipLaunch{}Kernel(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, {})",
                       together, stream);
    if (kernel->module)
      call = fmt::format(
          "hipModuleLaunch{}Kernel(static_cast<hipFunction_t>(p->func), p->gridDim.x, 1, 1, p->blockDim.x, 1, 1, "
          "p->sharedMemBytes, {}, p->kernelParams{})",
          together, stream, cooperative ? "" : ", nullptr");
  } else if (const auto* copy = std::get_if<CopyParams>(&params)) {
    const char* shape = copy->linear ? "" : "3D";
    call = fmt::format("hipMemcpy{}{}({}{})", copy->symbol != CopySymbol::kNone ? calls.suffix : shape, async,
                       calls.parameters, on);
    if (wait && stream != "nullptr") call = fmt::format("hipMemcpyWithStream({}, {})", calls.parameters, stream);
    if (copy->peer != PeerCopy::kNone) call = peer_call(state, *copy, stream);
  } else if (std::holds_alternative<HostParams>(params)) {
    calls.before.resize(1);  // the function's data; the struct for a node is not needed
    call = fmt::format("hipLaunchHostFunc({}, host, {}_data)", stream, calls.parameters);
  } else if (const auto* record = std::get_if<EventRecordParams>(&params)) {
    call = fmt::format("hipEventRecordWithFlags(v{}, {}, hipEventRecordExternal)", record->event, stream);
  } else if (const auto* awaited = std::get_if<EventWaitParams>(&params)) {
    call = fmt::format("hipStreamWaitEvent({}, v{}, hipEventWaitExternal)", stream, awaited->event);
  }
  assert(!call.empty());
  return {std::move(calls), std::move(call)};
}

}  // namespace verify
