#include "verify/commands/nodes/node_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include "verify/commands/fields.h"
#include "verify/commands/nodes/batches.h"
#include "verify/commands/nodes/kernel_nodes.h"
#include "verify/commands/nodes/semaphores.h"

namespace verify {

namespace {

constexpr std::array<std::string_view, 5> kCopyKinds = {"h2h", "h2d", "d2h", "d2d", "default"};

constexpr std::array<NodeWord, std::variant_size_v<NodeParams> + 1> kNodeWords = {{
    {"kernel", true, true,
     "NAME FIELD=VALUE... [grid=1] [block=64] [style=params|extra] [opaque] [shared=0] [device=0..3] "
     "[module=m0] [by_symbol]",
     "A kernel of the project (program-language.md lists them), or `NAME@CODE_OBJECT`, a kernel of a "
     "recorded program. `opaque`: recorded by code that cannot say where its pointers are. `module` takes the "
     "kernel from a module that the program loads; other kernels are of a module that is loaded before the program. "
     "`hipModuleGetFunction` finds both. `by_symbol` names the kernel by its host function, as compiled programs do; "
     "a stream gets it through `hipLaunchKernel`, without `style=extra`. A setter may put one form in the place of "
     "another. Exported files name a kernel without `module` by its symbol."},
    {"memcpy", true, true, "dst=b1 src=b0 bytes=512 [kind=h2h|h2d|d2h|d2d|default] [symbol=dst|src] [peer=async|wait]",
     "The linear copy. `symbol` names one end as a variable of the device code, by its symbol and offset: "
     "`hipGraphAddMemcpyNodeToSymbol`, `hipGraphAddMemcpyNodeFromSymbol` and their like; a setter or an "
     "update may name another symbol, and keeps the direction. `peer`: eager work through "
     "`hipMemcpyPeerAsync` or `hipMemcpyPeer`; nothing may be running for `wait`."},
    {"memcpy3d", true, true,
     "dst=b1 src=b0 width=8 height=4 depth=2 dpitch=16 spitch=12 [drows=4] [srows=4] [dpos=x,y,z] "
     "[spos=x,y,z] [kind=...]",
     "The 3D copy: width in bytes, pitches in bytes a row, rows a slice, positions. All slices up to the "
     "last one lie within the buffer."},
    {"memset", true, true, "dst=b0 value=258 [element=1|2|4] width=5 [height=3 pitch=16]",
     "Sets elements of 1, 2 or 4 bytes."},
    {"host", true, true, "tag=7 [mem=b2 bytes=16]",
     "A host function. It is counted by its tag, and mixes the tag into host memory."},
    {"empty", false, false, "", "An empty node."},
    {"child", false, true, "g1 [nest=3]",
     "A child graph, cloned as it is now. `nest=N` wraps it into N-1 graphs that hold nothing else."},
    {"eventrecord", true, true, "v0",
     "Each launch records the event when the node and all nodes before it are done. A graph, with its "
     "children, records an event in one node at most and does not wait for it as well. An event lives as "
     "long as a graph or an executable graph has a node of it."},
    {"eventwait", true, true, "v0",
     "Work behind the node waits for what the event stood for when the graph was launched."},
    {"alloc", false, false, "b5 BYTES [access=0,1]",
     "Memory that the graph allocates when it runs (`hipGraphAddMemAllocNode`). The name is a buffer from "
     "here on, and is not declared. `access`: the devices that the node's access descriptors let read and write it."},
    {"free", false, false, "b5", "Frees it (`hipGraphAddMemFreeNode`), behind every node that names it."},
    {"batch", true, true, "do=OPERATION,...",
     "Up to 4 memory operations (`hipGraphAddBatchMemOpNode`), which run in order: `write32:b0+0:7`, `write64:b0+8:9`, "
     "`wait32:b0+0:geq:7`, `wait64:b0+8:eq:9` (`geq`, `eq`, `and`, `nor`), on memory of device 0. A wait is for "
     "a value that the batch has written itself, and writes do not overlap. Setters keep the kinds of operations."},
    {"semsignal", true, true, "sem=0:150,3:200",
     "Signals external semaphores (`hipGraphAddExternalSemaphoresSignalNode`): semaphores 0 to 7, each with a value of "
     "at least 100, which is the value that they begin with. Setters keep the number of semaphores. Only the model has "
     "them: AMD imports none on Linux. `inspect` compares the values that nodes hold. No call of HIP reads a "
     "semaphore, so what a launch did to it is not compared."},
    {"semwait", true, true, "sem=0:100", "Waits until each semaphore has its value, which is at most 100."},
}};

static_assert(std::all_of(kNodeWords.begin(), kNodeWords.end(), [](const NodeWord& row) { return !row.word.empty(); }));

// ---- parsing

NodeParams start_alloc(Line& line) {
  const Id buffer = next_id(line, 'b');
  return MemoryAllocParams{buffer,
                           parse_number(line, line.word("a size in bytes"), kMaxBufferBytes, "a size in bytes")};
}

template <bool linear>
NodeParams start_copy(Line&) {
  CopyParams copy;
  copy.linear = linear;
  return copy;
}

// The parameters of a node type that takes one object name by place (start_named) or none (start_empty).
template <class Params, char letter>
NodeParams start_named(Line& line) {
  return Params{next_id(line, letter)};
}
template <class Params>
NodeParams start_empty(Line&) {
  return Params{};
}

// The functions that parse the places of each word, in the order of kNodeWords.
constexpr std::array<NodeParams (*)(Line&), kNodeWords.size()> kStarts = {parse_kernel_name,
                                                                          start_copy<true>,
                                                                          start_copy<false>,
                                                                          start_empty<MemsetParams>,
                                                                          start_empty<HostParams>,
                                                                          start_empty<EmptyParams>,
                                                                          start_named<ChildParams, 'g'>,
                                                                          start_named<EventRecordParams, 'v'>,
                                                                          start_named<EventWaitParams, 'v'>,
                                                                          start_alloc,
                                                                          start_named<MemoryFreeParams, 'b'>,
                                                                          start_empty<BatchParams>,
                                                                          start_empty<SemaphoreSignalParams>,
                                                                          start_empty<SemaphoreWaitParams>};
static_assert(std::all_of(kStarts.begin(), kStarts.end(), [](auto start) { return start != nullptr; }));

PeerCopy parse_peer_copy(Line& line, Attributes& attributes) {
  Token token;
  if (!attributes.take("peer", token)) return PeerCopy::kNone;
  if (token.text != "async" && token.text != "wait") line.fail(token.column, "peer is async or wait");
  return token.text == "wait" ? PeerCopy::kBlocking : PeerCopy::kAsync;
}

CopyKind parse_kind(Line& line, Token token) {
  const auto* const found = std::find(kCopyKinds.begin(), kCopyKinds.end(), token.text);
  if (found != kCopyKinds.end()) return static_cast<CopyKind>(found - kCopyKinds.begin());
  line.fail(token.column, "kind is h2h, h2d, d2h, d2d or default");
  return CopyKind::kDefault;
}

Position parse_position(Line& line, Token token) {
  std::uint64_t parts[3] = {0, 0, 0};
  std::string_view rest = token.text;
  std::uint32_t column = token.column;
  for (int i = 0; i < 3; ++i) {
    const std::size_t comma = i < 2 ? rest.find(',') : std::string_view::npos;
    if (i < 2 && comma == std::string_view::npos) {
      line.fail(column, "a position is three numbers: x,y,z");
      return {};
    }
    parts[i] = parse_number(line, {rest.substr(0, comma), column}, kMaxBufferBytes, "a position");
    column += static_cast<std::uint32_t>(comma == std::string_view::npos ? rest.size() : comma + 1);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return {parts[0], parts[1], parts[2]};
}

// The types without keys.
template <class Params>
concept Keyless = OneOf<Params, EmptyParams, EventRecordParams, EventWaitParams, MemoryFreeParams>;

// "0,2": each device once.
std::uint32_t parse_devices(Line& line, Token token) {
  std::uint32_t devices = 0;
  while (true) {
    const std::size_t comma = token.text.find(',');
    const std::uint64_t device =
        parse_number(line, {token.text.substr(0, comma), token.column}, kMaxDevices - 1, "a device");
    if ((devices >> device & 1) != 0) line.fail(token.column, "access names each device once");
    devices |= 1U << device;
    if (comma == std::string_view::npos) return devices;
    token.text.remove_prefix(comma + 1);
    token.column += static_cast<std::uint32_t>(comma + 1);
  }
}

// Parses the keys of each type.
struct KeysParser {
  Attributes& attributes;

  void operator()(KernelParams& params) const { parse_kernel_keys(attributes, params); }
  void operator()(CopyParams& params) const {
    params.dst.ref = attributes.required_ref("dst");
    params.src.ref = attributes.required_ref("src");
    if (params.linear) {
      params.width = attributes.required_number("bytes", kMaxBufferBytes);
    } else {
      shape_of_copy(params);
    }
    Token kind, symbol;
    Line& line = attributes.line();
    if (attributes.take("kind", kind)) params.kind = parse_kind(line, kind);
    if (attributes.take("symbol", symbol)) {
      params.symbol = symbol.text == "dst" ? CopySymbol::kDestination : CopySymbol::kSource;
      if (symbol.text != "dst" && symbol.text != "src") line.fail(symbol.column, "symbol is dst or src");
    }
    params.peer = parse_peer_copy(line, attributes);
  }
  void operator()(MemsetParams& params) const {
    params.dst = attributes.required_ref("dst");
    params.value = static_cast<std::uint32_t>(attributes.required_number("value", 0xffffffffU));
    params.element = static_cast<std::uint32_t>(attributes.number("element", 1, 255));
    params.width = attributes.required_number("width", kMaxBufferBytes);
    params.height = attributes.number("height", 1, kMaxBufferBytes);
    params.pitch = attributes.number("pitch", 0, kMaxBufferBytes);
  }
  void operator()(HostParams& params) const {
    params.tag = static_cast<std::uint32_t>(attributes.required_number("tag", 0xffffffffU));
    Token memory;
    if (!attributes.take("mem", memory)) return;
    params.memory = parse_ref(attributes.line(), memory);
    params.bytes = static_cast<std::uint32_t>(attributes.required_number("bytes", kMaxBufferBytes));
  }
  void operator()(ChildParams& params) const {
    params.nest = static_cast<std::uint32_t>(attributes.number("nest", 1, kMaxNest));
  }
  void operator()(MemoryAllocParams& params) const {
    Token devices;
    if (attributes.take("access", devices)) params.access = parse_devices(attributes.line(), devices);
  }
  void operator()(BatchParams& params) const { parse_batch_keys(attributes, params); }
  void operator()(SemaphoreParams& params) const { parse_semaphore_keys(attributes, params); }
  void operator()(Keyless auto&) const {}

 private:
  void shape_of_copy(CopyParams& params) const {
    params.width = attributes.required_number("width", kMaxBufferBytes);
    params.height = attributes.required_number("height", kMaxBufferBytes);
    params.depth = attributes.required_number("depth", kMaxBufferBytes);
    params.dst.pitch = attributes.required_number("dpitch", kMaxBufferBytes);
    params.src.pitch = attributes.required_number("spitch", kMaxBufferBytes);
    params.dst.rows = attributes.number("drows", params.height, kMaxBufferBytes);
    params.src.rows = attributes.number("srows", params.height, kMaxBufferBytes);
    Token position;
    if (attributes.take("dpos", position)) params.dst.position = parse_position(attributes.line(), position);
    if (attributes.take("spos", position)) params.src.position = parse_position(attributes.line(), position);
  }
};

// ---- printing

void print_position(Out out, const char* key, const Position& p) {
  if (!(p == Position{})) fmt::format_to(out, " {}={},{},{}", key, p.x, p.y, p.z);
}

struct ParamsPrinter {
  Out out;

  void operator()(const KernelParams& p) const { print_kernel(out, p); }
  void operator()(const CopyParams& p) const {
    fmt::format_to(out, " dst={} src={}", print_ref(p.dst.ref), print_ref(p.src.ref));
    if (p.linear) {
      fmt::format_to(out, " bytes={}", p.width);
    } else {
      fmt::format_to(out, " width={} height={} depth={} dpitch={} spitch={} drows={} srows={}", p.width, p.height,
                     p.depth, p.dst.pitch, p.src.pitch, p.dst.rows, p.src.rows);
      print_position(out, "dpos", p.dst.position);
      print_position(out, "spos", p.src.position);
    }
    fmt::format_to(out, " kind={}", kCopyKinds[static_cast<std::size_t>(p.kind)]);
    if (p.symbol != CopySymbol::kNone) {
      fmt::format_to(out, " symbol={}", p.symbol == CopySymbol::kDestination ? "dst" : "src");
    }
    if (p.peer != PeerCopy::kNone) fmt::format_to(out, " peer={}", p.peer == PeerCopy::kAsync ? "async" : "wait");
  }
  void operator()(const MemsetParams& p) const {
    fmt::format_to(out, " dst={} value={} element={} width={}", print_ref(p.dst), p.value, p.element, p.width);
    if (p.height != 1) fmt::format_to(out, " height={}", p.height);
    if (p.pitch != 0) fmt::format_to(out, " pitch={}", p.pitch);
  }
  void operator()(const HostParams& p) const {
    fmt::format_to(out, " tag={}", p.tag);
    if (p.memory) fmt::format_to(out, " mem={} bytes={}", print_ref(*p.memory), p.bytes);
  }
  void operator()(const EmptyParams&) const {}
  void operator()(const ChildParams& p) const {
    fmt::format_to(out, " g{}", p.graph);
    if (p.nest != 1) fmt::format_to(out, " nest={}", p.nest);
  }
  void operator()(const EventRecordParams& p) const { fmt::format_to(out, " v{}", p.event); }
  void operator()(const EventWaitParams& p) const { fmt::format_to(out, " v{}", p.event); }
  void operator()(const MemoryAllocParams& p) const {
    fmt::format_to(out, " b{} {}", p.buffer, p.bytes);
    const char* before = " access=";
    for (Id device = 0; device < kMaxDevices; ++device) {
      if ((p.access >> device & 1) == 0) continue;
      fmt::format_to(out, "{}{}", before, device);
      before = ",";
    }
  }
  void operator()(const MemoryFreeParams& p) const { fmt::format_to(out, " b{}", p.buffer); }
  void operator()(const BatchParams& p) const { fmt::format_to(out, " do={}", print_batch(p)); }
  void operator()(const SemaphoreParams& p) const { fmt::format_to(out, " sem={}", print_semaphores(p)); }
};

// ---- making them simpler

template <class T, class Emit>
void smaller_field(const T& original, std::uint64_t T::* field, std::uint64_t least, const Emit& emit) {
  for (const std::uint64_t value : smaller_values(original.*field, least)) {
    T changed = original;
    changed.*field = value;
    emit(changed);
  }
}

template <class Emit>
struct ParamsSimplifier {
  const Emit& emit;

  void operator()(const KernelParams& p) const { simplify_kernel(p, emit); }
  void operator()(const CopyParams& p) const {
    if (!p.linear) {
      CopyParams linear;
      linear.dst.ref = p.dst.ref;
      linear.src.ref = p.src.ref;
      linear.kind = p.kind;
      linear.width = p.width;
      emit(linear);
    }
    CopyParams changed = p;
    changed.symbol = CopySymbol::kNone;
    changed.peer = PeerCopy::kNone;
    if (!(changed == p)) emit(changed);
    changed = p;
    changed.dst.position = changed.src.position = {};
    if (!(changed == p)) emit(changed);
    smaller_field(p, &CopyParams::width, 1, emit);
    smaller_field(p, &CopyParams::height, 1, emit);
    smaller_field(p, &CopyParams::depth, 1, emit);
    for (CopyEnd CopyParams::* end : {&CopyParams::dst, &CopyParams::src}) {
      for (const BufferRef& ref : simpler_refs((p.*end).ref)) {
        CopyParams moved = p;
        (moved.*end).ref = ref;
        emit(moved);
      }
    }
  }
  void operator()(const MemsetParams& p) const {
    if (p.height != 1) {
      MemsetParams flat = p;
      flat.height = 1;
      flat.pitch = 0;
      emit(flat);
    }
    smaller_field(p, &MemsetParams::width, 1, emit);
    smaller_field(p, &MemsetParams::height, 1, emit);
    for (const BufferRef& ref : simpler_refs(p.dst)) {
      MemsetParams moved = p;
      moved.dst = ref;
      emit(moved);
    }
    MemsetParams changed = p;
    if (p.value != 0) {
      changed.value = 0;
      emit(changed);
      changed = p;
    }
    if (p.element != 1) {
      changed.element = 1;
      emit(changed);
    }
  }
  void operator()(const HostParams& p) const {
    if (p.memory) emit(HostParams{p.tag, {}, 0});
    if (p.tag != 0) emit(HostParams{0, p.memory, p.bytes});
  }
  void operator()(const MemoryAllocParams& p) const {
    for (Id device = 0; device < kMaxDevices; ++device) {
      const std::uint32_t others = p.access & ~(1U << device);
      if (others != p.access) emit(MemoryAllocParams{p.buffer, p.bytes, others});
    }
  }
  void operator()(const BatchParams& p) const { simplify_batch(p, emit); }
  template <OneOf<SemaphoreSignalParams, SemaphoreWaitParams> Params>
  void operator()(const Params& p) const {
    simplify_semaphores(p, OneOf<Params, SemaphoreSignalParams>, [&](const auto& simpler) { emit(Params{simpler}); });
  }
  void operator()(const Keyless auto&) const {}
  void operator()(const ChildParams& p) const {
    for (const std::uint64_t nest : smaller_values(p.nest, 1))
      emit(ChildParams{p.graph, static_cast<std::uint32_t>(nest)});
  }
};

// ---- features

struct FeatureCounter {
  const std::vector<std::uint64_t>& buffer_bytes;
  const CountFeature& add;

  void operator()(const KernelParams& kernel) const { count_kernel_features(kernel, buffer_bytes, add); }
  void operator()(const CopyParams& copy) const {
    add(fmt::format("copy {}", kCopyKinds[static_cast<std::size_t>(copy.kind)]));
    if (copy.symbol == CopySymbol::kDestination) add("copy to a symbol");
    if (copy.symbol == CopySymbol::kSource) add("copy from a symbol");
    if (copy.peer != PeerCopy::kNone) add("copy to a peer");
    if (copy.linear) return;
    if (!(copy.dst.position == Position{}) || !(copy.src.position == Position{})) add("copy with positions");
    add(copy.depth > 1 ? "copy of many slices" : copy.height > 1 ? "copy of many rows" : "copy of one row");
  }

  void operator()(const MemsetParams& memset) const {
    add(memset.height == 1 ? "memset 1D" : "memset 2D");
    add(memset.element == 1 ? "memset element 1" : memset.element == 2 ? "memset element 2" : "memset element 4");
  }
  void operator()(const HostParams& host) const {
    if (host.memory) add("host with memory");
  }
  void operator()(const ChildParams& child) const {
    if (child.nest > 1) add("nest");
  }
  void operator()(const MemoryAllocParams& memory) const {
    if (memory.access != 0) add("memory with access descriptors");
    if (memory.access > 1) add("memory that another device may access");
  }
  void operator()(const BatchParams& batch) const { count_batch_features(batch, add); }
  void operator()(const SemaphoreParams& p) const { add(p.list.size() > 1 ? "many semaphores" : "one semaphore"); }
  // These types have no feature besides their word.
  void operator()(const Keyless auto&) const {}
};

}  // namespace

std::span<const NodeWord> node_words() {
  return kNodeWords;
}

std::string_view node_word(const NodeParams& params) {
  // Copies have two words, so the words of the later types are one place further on.
  const auto* copy = std::get_if<CopyParams>(&params);
  static const std::size_t copies = NodeParams(CopyParams{}).index();
  const bool second = params.index() > copies || (copy != nullptr && !copy->linear);
  return kNodeWords[params.index() + (second ? 1 : 0)].word;
}

bool is_node_word(std::string_view word) {
  return std::any_of(kNodeWords.begin(), kNodeWords.end(), [word](const NodeWord& row) { return row.word == word; });
}

NodeParams parse_node_places(Line& line, std::string_view word) {
  const auto row =
      std::find_if(kNodeWords.begin(), kNodeWords.end(), [&](const NodeWord& r) { return r.word == word; });
  assert(row != kNodeWords.end());
  return kStarts[static_cast<std::size_t>(row - kNodeWords.begin())](line);
}

void parse_node_keys(Attributes& attributes, NodeParams& params) {
  std::visit(KeysParser{attributes}, params);
}

void print_node_params(std::string& out, const NodeParams& params) {
  std::visit(ParamsPrinter{std::back_inserter(out)}, params);
}

void simplify_node_params(const NodeParams& params, const std::function<void(const NodeParams&)>& emit) {
  const auto wrap = [&](const auto& simpler) { emit(NodeParams(simpler)); };
  std::visit(ParamsSimplifier<decltype(wrap)>{wrap}, params);
}

std::vector<std::string> node_feature_names() {
  std::vector<std::string> names;
  for (const NodeWord& row : kNodeWords) {
    names.push_back(fmt::format("node {}", row.word));
    if (row.set_in_exec) names.push_back(fmt::format("set exec {}", row.word));
    if (row.set_in_graph) names.push_back(fmt::format("set graph {}", row.word));
  }
  for (const KernelSpec& spec : drawn_kernels()) names.push_back("kernel " + spec.name);
  for (const int size : {1, 2, 4, 8}) {
    names.push_back(fmt::format("scalar number in {} bytes", size));
    names.push_back(fmt::format("scalar addr() in {} bytes", size));
  }
  for (const std::string_view kind : kCopyKinds) names.push_back(fmt::format("copy {}", kind));
  for (const char* name : {"kernel by symbol", "memory with access descriptors",
                           "memory that another device may access", "one semaphore", "many semaphores"}) {
    names.emplace_back(name);
  }
  for (const char* name : {"pointer base",        "pointer interior",    "pointer one past the end",
                           "pointer in a struct", "style params",        "style extra",
                           "opaque kernel",       "shared memory",       "kernel of another device",
                           "kernel of a module",  "copy to a peer",      "copy to a symbol",
                           "copy from a symbol",  "copy with positions", "copy of one row",
                           "copy of many rows",   "copy of many slices", "memset 1D",
                           "memset 2D",           "memset element 1",    "memset element 2",
                           "memset element 4",    "host with memory",    "nest"}) {
    names.emplace_back(name);
  }
  for (std::string& name : batch_feature_names()) names.push_back(std::move(name));
  return names;
}

void count_node_features(const NodeParams& params, const std::vector<std::uint64_t>& buffer_bytes,
                         const CountFeature& count) {
  std::visit(FeatureCounter{buffer_bytes, count}, params);
}

std::vector<BufferRef> simpler_refs(const BufferRef& ref) {
  std::vector<BufferRef> simpler;
  if (ref.offset != 0) simpler.push_back({ref.buffer, 0});
  if (ref.offset > 256) simpler.push_back({ref.buffer, 256});
  return simpler;
}

std::vector<std::uint64_t> smaller_values(std::uint64_t value, std::uint64_t least) {
  std::vector<std::uint64_t> values;
  for (const std::uint64_t candidate : {least, least + 1, least + (value - least) / 2, value - 1}) {
    if (value > least && candidate < value && (values.empty() || values.back() < candidate))
      values.push_back(candidate);
  }
  return values;
}

}  // namespace verify
