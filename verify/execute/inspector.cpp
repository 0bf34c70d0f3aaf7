#include "verify/execute/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hip/batch_nodes.h"
#include "hip/kernel_attributes.h"
#include "hip/memory_parameters.h"
#include "hip/release_quirks.h"
#include "hip/semaphore_nodes.h"
#include "hip/stream.h"
#include "verify/execute/strategy.h"

namespace verify {

namespace {

std::string type_word(hipGraphNodeType type) {
  switch (type) {
    case hipGraphNodeTypeKernel:
      return "kernel";
    case hipGraphNodeTypeMemcpy:
      return "memcpy";
    case hipGraphNodeTypeMemset:
      return "memset";
    case hipGraphNodeTypeHost:
      return "host";
    case hipGraphNodeTypeGraph:
      return "child";
    case hipGraphNodeTypeEmpty:
      return "empty";
    case hipGraphNodeTypeMemAlloc:
      return "alloc";
    case hipGraphNodeTypeMemFree:
      return "free";
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

// Says whether a pointer has the address that the relocation of the field gives.
const char* place_word(const hip::RecordedNode& node, hip::Field field, const void* pointer,
                       const hip::AddressTable& addresses) {
  for (const hip::Relocation& relocation : node.relocations) {
    if (relocation.field != field) continue;
    const std::uint64_t expected = addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend);
    return reinterpret_cast<std::uintptr_t>(pointer) == expected ? "right" : "elsewhere";
  }
  return "anywhere";
}

// Compares the access descriptors of an allocation node; empty where none were asked for and none are answered.
std::string access_word(const hipMemAllocNodeParams& asked, const hipMemAllocNodeParams& answered) {
  if (answered.accessDescCount != asked.accessDescCount)
    return fmt::format(" with {} access descriptors, {} were given", answered.accessDescCount, asked.accessDescCount);
  if (asked.accessDescCount == 0) return "";
  const auto same = [](const hipMemAccessDesc& a, const hipMemAccessDesc& b) {
    return a.location.type == b.location.type && a.location.id == b.location.id && a.flags == b.flags;
  };
  const bool equal =
      answered.accessDescs != nullptr &&
      std::equal(asked.accessDescs, asked.accessDescs + asked.accessDescCount, answered.accessDescs, same);
  return equal ? " with the access that was given" : " with other access than was given";
}

}  // namespace

void Inspector::say(std::string text) {
  if (!said_.empty()) said_ += "; ";
  said_ += text;
}

bool Inspector::holds(hipError_t code, const char* function) {
  if (code == hipSuccess) return true;
  if (failed_) failed_ = hip::Error{code, fmt::format("{} answered {}", function, hip::status_name(code))};
  return false;
}

void Inspector::name_nodes(const std::vector<hipGraphNode_t>& handles, const std::vector<NodePlace>& places) {
  names_.clear();
  said_.clear();
  failed_ = {};
  own_names_.assign(handles.size(), {});
  for (const NodePlace& place : places) {
    for (std::uint32_t k = 0; k < place.fan; ++k) {
      std::string& own = own_names_[place.first + k];
      own = place.fan == 1 ? fmt::format("n{}", place.id) : fmt::format("n{}[{}]", place.id, k);
      names_[handles[place.first + k]] = own;
    }
  }
}

std::string Inspector::name(hipGraphNode_t node) const {
  const auto found = names_.find(node);
  return found == names_.end() ? (node == nullptr ? "null" : "unknown") : found->second;
}

void Inspector::list(const std::string& what, const Query& query) {
  std::size_t count = 0;
  if (!holds(query(nullptr, &count), what.c_str())) return;
  std::string text = fmt::format("{} {}:", what, count);
  // CUDA refuses an array of length 0, and HIP's documentation does not mention one.
  if (count > 1) {
    std::size_t fewer = count - 1;
    std::vector<hipGraphNode_t> some(count, nullptr);
    if (!holds(query(some.data(), &fewer), what.c_str())) return;
    std::size_t known = 0;
    for (std::size_t i = 0; i + 1 < count; ++i) known += names_.contains(some[i]) ? 1 : 0;
    if (fewer != count - 1 || known != count - 1) text += fmt::format(" (a short array: {}, {} known)", fewer, known);
  }
  std::size_t more = count + 2;
  std::vector<hipGraphNode_t> all(count + 2, reinterpret_cast<hipGraphNode_t>(&more));
  if (!holds(query(all.data(), &more), what.c_str())) return;
  if (more != count) text += fmt::format(" (a long array: {})", more);
  if (all[count] != nullptr || all[count + 1] != nullptr) text += " (a long array is not filled up with nulls)";
  all.resize(count);
  std::vector<std::string> words;
  for (const hipGraphNode_t node : all) words.push_back(name(node));
  std::ranges::sort(words);
  if (count <= kMaxInspectedNodes) {
    for (const std::string& word : words) text += " " + word;
  }
  say(std::move(text));
}

void Inspector::edges(const GraphObject& graph) {
  const hip::Api& api = context_.api;
  const hipGraph_t handle = graph.handles.graph;
  std::size_t count = 0;
  if (!holds(api.hipGraphGetEdges(handle, nullptr, nullptr, &count), "hipGraphGetEdges")) return;
  std::string text = fmt::format("edges {}:", count);
  std::size_t more = count + 1;
  std::vector<hipGraphNode_t> from(more), to(more);
  if (!holds(api.hipGraphGetEdges(handle, from.data(), to.data(), &more), "hipGraphGetEdges")) return;
  if (more != count) text += fmt::format(" (a long array: {})", more);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(name(from[i]) + ">" + name(to[i]));
  std::ranges::sort(words);
  for (std::size_t i = 0; i < std::min(count, kMaxInspectedNodes); ++i) text += " " + words[i];
  if (count > 1) {
    std::size_t fewer = count - 1;
    if (!holds(api.hipGraphGetEdges(handle, from.data(), to.data(), &fewer), "hipGraphGetEdges")) return;
    if (fewer != count - 1) text += fmt::format(" (a short array: {})", fewer);
  }
  say(std::move(text));
}

void Inspector::kernel(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name,
                       const GraphObject& graph) {
  hipKernelNodeParams params{};
  if (!holds(context_.api.hipGraphKernelNodeGetParams(handle, &params), "hipGraphKernelNodeGetParams")) return;
  const auto function = static_cast<hipFunction_t>(params.func);
  const KernelSpec* spec = context_.interposer.kernel_of(function);
  std::string text = fmt::format("{} runs {}{} grid {} block {} shared {}", name, spec == nullptr ? "?" : spec->name,
                                 context_.interposer.is_symbol(function) ? " by symbol" : "", params.gridDim.x,
                                 params.blockDim.x, params.sharedMemBytes);
  const auto* record = std::get_if<hip::KernelRecord>(&node.record);
  if (record != nullptr && record->style == hip::ArgumentStyle::kParams && !graph.edited) {
    const hip::NodeRecord now = hip::relocated(node, graph.addresses);
    const auto& expected = std::get<hip::KernelRecord>(now);
    for (std::size_t i = 0; i < expected.slots.size(); ++i) {
      const hip::ArgumentSlot& slot = expected.slots[i];
      const bool same = params.kernelParams != nullptr && params.kernelParams[i] != nullptr &&
                        std::memcmp(params.kernelParams[i], expected.arguments.data() + slot.offset, slot.size) == 0;
      if (!same) text += fmt::format(", argument {} differs", i);
    }
  }
  if (record != nullptr && hip::has_any(record->attributes)) {
    const hip::Result<hip::KernelAttributes> attributes = hip::attributes_of(context_.api, handle, record->attributes);
    if (!attributes) {
      failed_ = attributes.error();
      return;
    }
    text += ", " + describe(context_.api, attributes.value(), record->attributes);
  }
  say(std::move(text));
}

void Inspector::copy(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name,
                     const GraphObject& graph) {
  hipMemcpy3DParms params{};
  if (!holds(context_.api.hipGraphMemcpyNodeGetParams(handle, &params), "hipGraphMemcpyNodeGetParams")) return;
  const auto& record = std::get<hip::CopyRecord>(node.record);
  // A variable never moves: its end of the copy has the address from when the copy was recorded or set.
  const auto place = [&](hip::Field field, const void* pointer, const void* recorded) {
    const bool symbol = record.symbol.symbol != nullptr && record.symbol.to == (field == hip::Field::kCopyDestination);
    if (!symbol) return place_word(node, field, pointer, graph.addresses);
    return pointer == recorded ? "the symbol" : "elsewhere";
  };
  const hipMemcpyKind kind = params.kind == record.params.kind ? kind_asked(record) : params.kind;
  std::string text = fmt::format("{} copies {}x{}x{} kind {} to {} from {}", name, params.extent.width,
                                 params.extent.height, params.extent.depth, static_cast<int>(kind),
                                 place(hip::Field::kCopyDestination, params.dstPtr.ptr, record.params.dstPtr.ptr),
                                 place(hip::Field::kCopySource, params.srcPtr.ptr, record.params.srcPtr.ptr));
  if (!record.linear) {
    text +=
        fmt::format(" pitches {} {} at {},{},{} {},{},{}", params.dstPtr.pitch, params.srcPtr.pitch, params.dstPos.x,
                    params.dstPos.y, params.dstPos.z, params.srcPos.x, params.srcPos.y, params.srcPos.z);
  }
  say(std::move(text));
}

void Inspector::memset(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name,
                       const GraphObject& graph) {
  hipMemsetParams params{};
  if (!holds(context_.api.hipGraphMemsetNodeGetParams(handle, &params), "hipGraphMemsetNodeGetParams")) return;
  std::string text = fmt::format("{} sets {} of {} in {} rows of {} at {}", name, hip::cut_value(params),
                                 params.elementSize, params.height, params.width,
                                 place_word(node, hip::Field::kMemsetDestination, params.dst, graph.addresses));
  if (params.height > 1) text += fmt::format(" pitch {}", params.pitch);
  say(std::move(text));
}

void Inspector::allocation(const hip::MemoryAllocRecord& record, hipGraphNode_t handle, const std::string& name,
                           const GraphObject& graph) {
  if (context_.api.hipGraphMemAllocNodeGetParams == nullptr) return;
  hipMemAllocNodeParams params{};
  if (!holds(context_.api.hipGraphMemAllocNodeGetParams(handle, &params), "hipGraphMemAllocNodeGetParams")) return;
  const bool there = reinterpret_cast<std::uintptr_t>(params.dptr) == graph.addresses[record.buffer];
  const hip::MemoryParameters asked(record);
  say(fmt::format("{} allocates {} bytes {}{}", name, params.bytesize, there ? "where it said" : "elsewhere",
                  access_word(*asked.get(), params)));
}

void Inspector::freed(const hip::MemoryFreeRecord& record, hipGraphNode_t handle, const std::string& name,
                      const GraphObject& graph) {
  if (context_.api.hipGraphMemFreeNodeGetParams == nullptr) return;
  void* pointer = nullptr;
  if (!holds(context_.api.hipGraphMemFreeNodeGetParams(handle, &pointer), "hipGraphMemFreeNodeGetParams")) return;
  const bool right = reinterpret_cast<std::uintptr_t>(pointer) == graph.addresses[record.buffer];
  say(fmt::format("{} frees {}", name, right ? "what it was given" : "something else"));
}

void Inspector::batch(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name,
                      const GraphObject& graph) {
  const hip::Result<hip::BatchRecord> told = hip::batch_of(context_.api, handle);
  if (!told) {
    failed_ = told.error();
    return;
  }
  const hip::NodeRecord expected = hip::relocated(node, graph.addresses);
  const std::vector<hip::MemoryOperation>& wanted = std::get<hip::BatchRecord>(expected).operations;
  const std::vector<hip::MemoryOperation>& got = told.value().operations;
  std::string text = fmt::format("{} makes {} operations:", name, got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool there = i < wanted.size() && got[i].address == wanted[i].address;
    text += fmt::format(" {}{}", got[i].waits ? "wait" : "write", got[i].bytes * 8);
    if (got[i].waits) text += fmt::format(" by comparison {}", static_cast<int>(got[i].comparison));
    text += fmt::format(" {} at {}", got[i].value, there ? "the given address" : "another address");
  }
  say(std::move(text));
}

void Inspector::semaphores(hipGraphNode_t handle, const std::string& name, const hip::SemaphoreRecord& given,
                           bool waits) {
  const hip::Result<hip::SemaphoreRecord> told = hip::semaphores_of(context_.api, handle, waits);
  if (!told) {
    failed_ = told.error();
    return;
  }
  const bool same = told.value().semaphores == given.semaphores;
  std::string text = fmt::format("{} {} {} with", name, waits ? "waits for" : "signals",
                                 same ? "the given semaphores" : "other semaphores");
  for (const std::uint64_t value : told.value().values) text += fmt::format(" {}", value);
  say(std::move(text));
}

void Inspector::parameters(const GraphObject& graph, hip::NodeIndex index, const std::string& name) {
  const hip::RecordedNode& node = graph.recording.nodes()[index];
  const hipGraphNode_t handle = graph.handles.nodes[index];
  if (std::holds_alternative<hip::KernelRecord>(node.record)) return kernel(node, handle, name, graph);
  if (std::holds_alternative<hip::CopyRecord>(node.record)) return copy(node, handle, name, graph);
  if (std::holds_alternative<hip::MemsetRecord>(node.record)) return memset(node, handle, name, graph);
  if (std::holds_alternative<hip::BatchRecord>(node.record)) return batch(node, handle, name, graph);
  if (const auto* memory = std::get_if<hip::MemoryAllocRecord>(&node.record))
    return allocation(*memory, handle, name, graph);
  if (const auto* memory = std::get_if<hip::MemoryFreeRecord>(&node.record)) return freed(*memory, handle, name, graph);
  if (const auto* signal = std::get_if<hip::SemaphoreSignalRecord>(&node.record))
    return semaphores(handle, name, *signal, false);
  if (const auto* wait = std::get_if<hip::SemaphoreWaitRecord>(&node.record))
    return semaphores(handle, name, *wait, true);
  if (const auto* record = std::get_if<hip::HostRecord>(&node.record)) {
    hipHostNodeParams params{};
    if (!holds(context_.api.hipGraphHostNodeGetParams(handle, &params), "hipGraphHostNodeGetParams")) return;
    const bool same = params.fn == record->params.fn && params.userData == record->params.userData;
    say(fmt::format("{} calls {}", name, same ? "what was recorded" : "something else"));
  } else if (std::holds_alternative<hip::ChildRecord>(node.record)) {
    hipGraph_t child = nullptr;
    std::size_t count = 0;
    if (!holds(context_.api.hipGraphChildGraphNodeGetGraph(handle, &child), "hipGraphChildGraphNodeGetGraph")) return;
    if (!holds(context_.api.hipGraphGetNodes(child, nullptr, &count), "hipGraphGetNodes of a child")) return;
    say(fmt::format("{} holds {} nodes", name, count));
  }
}

void Inspector::node(const GraphObject& graph, hip::NodeIndex index) {
  const hip::Api& api = context_.api;
  const hipGraphNode_t handle = graph.handles.nodes[index];
  const std::string name = this->name(handle);
  hipGraphNodeType type{};
  if (!holds(api.hipGraphNodeGetType(handle, &type), "hipGraphNodeGetType")) return;
  say(fmt::format("{} is a {}", name, type_word(type)));
  list(name + " waits for", [&](hipGraphNode_t* nodes, std::size_t* count) {
    return api.hipGraphNodeGetDependencies(handle, nodes, count);
  });
  list(name + " is waited for by", [&](hipGraphNode_t* nodes, std::size_t* count) {
    return api.hipGraphNodeGetDependentNodes(handle, nodes, count);
  });
  parameters(graph, index, name);
}

bool Inspector::has_queries() {
  const hip::Api& api = context_.api;
  const char* missing = api.hipGraphGetRootNodes == nullptr            ? "hipGraphGetRootNodes"
                        : api.hipGraphNodeGetDependencies == nullptr   ? "hipGraphNodeGetDependencies"
                        : api.hipGraphNodeGetDependentNodes == nullptr ? "hipGraphNodeGetDependentNodes"
                        : api.hipGraphNodeGetEnabled == nullptr        ? "hipGraphNodeGetEnabled"
                                                                       : nullptr;
  if (missing != nullptr) failed_ = lacking(context_, missing);
  return missing == nullptr;
}

hip::Result<std::string> Inspector::look_at(const GraphObject& graph) {
  const hip::Api& api = context_.api;
  name_nodes(graph.handles.nodes, graph.places);
  if (!has_queries()) return failed_.error();
  list("nodes", [&](hipGraphNode_t* nodes, std::size_t* count) {
    return api.hipGraphGetNodes(graph.handles.graph, nodes, count);
  });
  list("roots", [&](hipGraphNode_t* nodes, std::size_t* count) {
    return api.hipGraphGetRootNodes(graph.handles.graph, nodes, count);
  });
  edges(graph);
  const std::size_t shown = std::min(graph.handles.nodes.size(), kMaxInspectedNodes);
  for (hip::NodeIndex i = 0; i < shown && failed_; ++i) node(graph, i);
  if (!failed_) return failed_.error();
  return std::move(said_);
}

// Only kernel, copy and memset nodes have an enabled state.
hip::Result<std::string> Inspector::look_at(const ExecObject& exec) {
  name_nodes(exec.handles.nodes, exec.places);
  if (!has_queries()) return failed_.error();
  const std::size_t shown = std::min(exec.handles.nodes.size(), kMaxInspectedNodes);
  for (hip::NodeIndex i = 0; i < shown && failed_; ++i) {
    const hip::NodeRecord& record = exec.recording.nodes()[i].record;
    const bool can = std::holds_alternative<hip::KernelRecord>(record) ||
                     std::holds_alternative<hip::CopyRecord>(record) ||
                     std::holds_alternative<hip::MemsetRecord>(record);
    if (!can || exec.removed.contains(i)) continue;
    const hipGraphNode_t handle = exec.handles.nodes[i];
    if (handle == nullptr) {  // other nodes stand for it
      if (exec.disabled.contains(i)) say(fmt::format("{} is disabled", own_names_.at(i)));
      continue;
    }
    unsigned enabled = 2;
    if (!holds(context_.api.hipGraphNodeGetEnabled(exec.exec, handle, &enabled), "hipGraphNodeGetEnabled")) break;
    if (enabled != 1) say(fmt::format("{} is {}", name(handle), enabled == 0 ? "disabled" : "neither on nor off"));
  }
  if (!failed_) return failed_.error();
  return std::move(said_);
}

int priority_as_asked(const hip::Api& api, int asked, int answered) {
  const hip::Result<int> in_range = hip::clamp_priority(api, asked);
  return in_range && in_range.value() == answered ? asked : answered;
}

static bool same_fields(const hipAccessPolicyWindow& a, const hipAccessPolicyWindow& b) {
  return a.base_ptr == b.base_ptr && a.num_bytes == b.num_bytes && a.hitRatio == b.hitRatio && a.hitProp == b.hitProp &&
         a.missProp == b.missProp;
}

std::string describe(const hip::Api& api, const hip::KernelAttributes& answered, const hip::KernelAttributes& asked) {
  std::string text;
  const auto say = [&text](std::string_view name, long value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, value);
  };
  if (answered.cooperative) say("cooperative", *answered.cooperative ? 1 : 0);
  if (answered.priority) {
    say("priority", priority_as_asked(api, asked.priority.value_or(*answered.priority), *answered.priority));
  }
  if (answered.window) {
    const bool same = asked.window && same_fields(*asked.window, *answered.window);
    say(same ? "window" : "other-window", std::lround(answered.window->hitRatio * 100));
  }
  return text;
}

}  // namespace verify
