#include "bench/library_calls/library_graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hip/errors.h"
#include "hip/graph_patcher.h"

namespace bench {
namespace {

constexpr std::size_t kWord = sizeof(hip::DeviceAddress);
// CU_LAUNCH_PARAM_END, _BUFFER_POINTER and _BUFFER_SIZE of cuda.h; HIP's end is another number.
constexpr std::uintptr_t kExtraEnd = 0, kExtraPointer = 1, kExtraSize = 2;

void* marker(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

hip::Status driver_called(int result, const char* function) {
  if (result == 0) return {};
  return hip::Error{hipErrorUnknown, std::string(function) + " answered CUresult " + std::to_string(result)};
}

std::uint64_t word_at(const std::vector<std::byte>& block, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, block.data() + offset, kWord);
  return word;
}

void write_word(std::vector<std::byte>& block, std::size_t offset, std::uint64_t word) {
  std::memcpy(block.data() + offset, &word, kWord);
}

template <class T>
T* pointer_at(const std::vector<std::byte>& block, std::size_t offset) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(word_at(block, offset)));
}

// ---- reading

class GraphReader {
 public:
  GraphReader(const hip::Api& api, const Driver& driver) : api_(api), driver_(driver) {}

  hip::Result<SeenGraph> read(hipGraph_t graph) {
    std::size_t count = 0;
    if (hip::Status s = hip::called(api_.hipGraphGetNodes(graph, nullptr, &count), "hipGraphGetNodes"); !s) {
      return s.error();
    }
    std::vector<hipGraphNode_t> handles(count);
    if (count != 0) {
      hip::Status s = hip::called(api_.hipGraphGetNodes(graph, handles.data(), &count), "hipGraphGetNodes");
      if (!s) return s.error();
    }
    for (const hipGraphNode_t handle : handles) {
      LibraryNode node;
      node.handle = handle;
      if (hip::Status s = look(node); !s) return s.error();
      seen_.nodes.push_back(std::move(node));
    }
    return std::move(seen_);
  }

 private:
  hip::Status look(LibraryNode& node) {
    if (hip::Status s = hip::called(api_.hipGraphNodeGetType(node.handle, &node.type), "hipGraphNodeGetType"); !s) {
      return s;
    }
    switch (node.type) {
      case hipGraphNodeTypeKernel:
        return kernel(node);
      case hipGraphNodeTypeMemcpy:
        return copy(node);
      case hipGraphNodeTypeMemset:
        return memset(node);
      case hipGraphNodeTypeMemAlloc:
        return allocation(node);
      case hipGraphNodeTypeMemFree:
        return release(node);
      case hipGraphNodeTypeEmpty:
        return {};
      default:
        node.opaque = "a node of a type that holds what no getter shows";
        return {};
    }
  }

  std::vector<hip::ArgumentSlot> slots_of(const DriverKernelParams& params) const {
    std::vector<hip::ArgumentSlot> slots;
    std::size_t offset = 0, bytes = 0;
    const auto next = [&] {
      return params.function != nullptr ? driver_.function_argument(params.function, slots.size(), &offset, &bytes)
                                        : driver_.kernel_argument(params.kernel, slots.size(), &offset, &bytes);
    };
    while (next() == 0) slots.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
    return slots;
  }

  // The bytes are the node's own while its graph is there (cuGraphKernelNodeGetParams).
  hip::Status kernel(LibraryNode& node) const {
    DriverKernelParams params;
    if (hip::Status s = driver_called(driver_.get_kernel_node(node.handle, &params), "cuGraphKernelNodeGetParams");
        !s) {
      return s;
    }
    LibraryKernel kernel{params, slots_of(params), params.arguments == nullptr && params.extra != nullptr};
    for (const hip::ArgumentSlot& slot : kernel.slots) {
      node.block.resize(std::max<std::size_t>(node.block.size(), std::size_t{slot.offset} + slot.size));
    }
    const bool read = kernel.as_extra ? read_extra(params.extra, node.block) : read_arguments(kernel, node.block);
    if (!read) node.opaque = "a kernel whose arguments the driver does not give back";
    kernel.params.arguments = kernel.params.extra = nullptr;
    node.params = std::move(kernel);
    return {};
  }
  static bool read_arguments(const LibraryKernel& kernel, std::vector<std::byte>& block) {
    if (kernel.slots.empty()) return true;
    if (kernel.params.arguments == nullptr) return false;
    for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
      const void* value = kernel.params.arguments[i];
      if (value == nullptr) return false;
      std::memcpy(block.data() + kernel.slots[i].offset, value, kernel.slots[i].size);
    }
    return true;
  }
  static bool read_extra(void* const* extra, std::vector<std::byte>& block) {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    for (; extra[0] != marker(kExtraEnd); extra += 2) {
      if (extra[0] == marker(kExtraPointer)) {
        begin = static_cast<const std::byte*>(extra[1]);
      } else if (extra[0] == marker(kExtraSize) && extra[1] != nullptr) {
        bytes = *static_cast<const std::size_t*>(extra[1]);
      } else {
        return false;
      }
    }
    if (begin == nullptr || bytes < block.size()) return false;
    block.assign(begin, begin + bytes);
    return true;
  }

  hip::Status copy(LibraryNode& node) const {
    hipMemcpy3DParms params{};
    hip::Status status =
        hip::called(api_.hipGraphMemcpyNodeGetParams(node.handle, &params), "hipGraphMemcpyNodeGetParams");
    if (!status) return status;
    if (params.srcArray != nullptr || params.dstArray != nullptr) node.opaque = "a copy of an array";
    node.block.resize(2 * kWord);
    write_word(node.block, 0, reinterpret_cast<std::uintptr_t>(params.dstPtr.ptr));
    write_word(node.block, kWord, reinterpret_cast<std::uintptr_t>(params.srcPtr.ptr));
    node.params = params;
    return {};
  }
  hip::Status memset(LibraryNode& node) const {
    hipMemsetParams params{};
    hip::Status status =
        hip::called(api_.hipGraphMemsetNodeGetParams(node.handle, &params), "hipGraphMemsetNodeGetParams");
    if (!status) return status;
    node.block.resize(kWord);
    write_word(node.block, 0, reinterpret_cast<std::uintptr_t>(params.dst));
    node.params = params;
    return {};
  }
  hip::Status allocation(LibraryNode& node) {
    if (api_.hipGraphMemAllocNodeGetParams == nullptr) {
      node.opaque = "an allocation of which the runtime does not tell where";
      return {};
    }
    hipMemAllocNodeParams params{};
    hip::Status status =
        hip::called(api_.hipGraphMemAllocNodeGetParams(node.handle, &params), "hipGraphMemAllocNodeGetParams");
    if (status) seen_.memory.push_back({reinterpret_cast<std::uintptr_t>(params.dptr), params.bytesize});
    return status;
  }
  // Reads a free node. Its block is the freed address: an address in the graph's own memory stays, any other address
  // that differs between captures makes the node opaque.
  hip::Status release(LibraryNode& node) const {
    if (api_.hipGraphMemFreeNodeGetParams == nullptr) {
      node.opaque = "a free node of which the runtime does not tell what it frees";
      return {};
    }
    void* memory = nullptr;
    hip::Status status =
        hip::called(api_.hipGraphMemFreeNodeGetParams(node.handle, &memory), "hipGraphMemFreeNodeGetParams");
    node.block.resize(kWord);
    write_word(node.block, 0, reinterpret_cast<std::uintptr_t>(memory));
    return status;
  }

  const hip::Api& api_;
  const Driver& driver_;
  SeenGraph seen_;
};

// ---- attributing

bool same_shape(const LibraryNode& a, const LibraryNode& b) {
  if (a.type != b.type || a.params.index() != b.params.index() || a.block.size() != b.block.size()) return false;
  if (const auto* kernel = std::get_if<LibraryKernel>(&a.params)) {
    const DriverKernelParams &p = kernel->params, &q = std::get<LibraryKernel>(b.params).params;
    return p.function == q.function && p.kernel == q.kernel && p.context == q.context &&
           p.shared_bytes == q.shared_bytes && std::equal(p.grid, p.grid + 3, q.grid) &&
           std::equal(p.block, p.block + 3, q.block) && kernel->as_extra == std::get<LibraryKernel>(b.params).as_extra;
  }
  if (const auto* copy = std::get_if<hipMemcpy3DParms>(&a.params)) {
    const auto& other = std::get<hipMemcpy3DParms>(b.params);
    return copy->kind == other.kind && copy->extent.width == other.extent.width &&
           copy->extent.height == other.extent.height && copy->extent.depth == other.extent.depth;
  }
  if (const auto* memset = std::get_if<hipMemsetParams>(&a.params)) {
    const auto& other = std::get<hipMemsetParams>(b.params);
    return memset->value == other.value && memset->width == other.width && memset->height == other.height &&
           memset->elementSize == other.elementSize && memset->pitch == other.pitch;
  }
  return true;
}

// Aligned words within the graph's own memory, at the same offset in every capture, become the first capture's.
void settle_graph_memory(std::span<std::vector<std::byte>> blocks, std::span<const SeenGraph> captures) {
  for (std::size_t offset = 0; offset + kWord <= blocks[0].size(); offset += kWord) {
    const std::uint64_t word = word_at(blocks[0], offset);
    for (std::size_t m = 0; m < captures[0].memory.size(); ++m) {
      const std::uint64_t addend = word - captures[0].memory[m].begin;
      if (addend > captures[0].memory[m].bytes) continue;
      bool in_all = true;
      for (std::size_t k = 1; k < blocks.size(); ++k) {
        in_all = in_all && word_at(blocks[k], offset) - captures[k].memory[m].begin == addend;
      }
      for (std::size_t k = 1; in_all && k < blocks.size(); ++k) write_word(blocks[k], offset, word);
    }
  }
}

void attribute_node(std::span<const SeenGraph> captures, std::size_t index, const hip::Shadows& shadows,
                    LibraryNode& node) {
  std::vector<std::vector<std::byte>> blocks;
  for (const SeenGraph& capture : captures) {
    blocks.push_back(capture.nodes[index].block);
    if (node.opaque.empty()) node.opaque = capture.nodes[index].opaque;
  }
  if (!node.opaque.empty() || node.block.empty()) return;
  settle_graph_memory(blocks, captures);
  const auto* kernel = std::get_if<LibraryKernel>(&node.params);
  hip::Result<std::vector<hip::Relocation>> found =
      kernel == nullptr ? hip::attribute(blocks, shadows) : hip::attribute(blocks, shadows, kernel->slots);
  if (!found) {
    node.opaque = found.error().message;
  } else if (std::holds_alternative<std::monostate>(node.params) && !found.value().empty()) {
    node.opaque = "it frees a buffer of the caller's";
  } else {
    node.relocations = std::move(found).value();
  }
}

}  // namespace

hip::Result<SeenGraph> read_graph(const hip::Api& api, const Driver& driver, hipGraph_t graph) {
  return GraphReader(api, driver).read(graph);
}

hip::Result<SeenGraph> attribute_graphs(std::span<const SeenGraph> captures, const hip::Shadows& shadows) {
  if (const char* flaw = hip::flaw_of(shadows)) return hip::Error{hipErrorInvalidValue, flaw};
  SeenGraph first = captures[0];
  for (const SeenGraph& capture : captures) {
    bool same = capture.nodes.size() == first.nodes.size() && capture.memory.size() == first.memory.size();
    for (std::size_t i = 0; same && i < first.nodes.size(); ++i) same = same_shape(capture.nodes[i], first.nodes[i]);
    for (std::size_t i = 0; same && i < first.memory.size(); ++i) {
      same = capture.memory[i].bytes == first.memory[i].bytes;
    }
    if (!same) return hip::Error{hipErrorNotSupported, "the work is another at other addresses"};
  }
  for (std::size_t i = 0; i < first.nodes.size(); ++i) attribute_node(captures, i, shadows, first.nodes[i]);
  return first;
}

hip::Result<LibraryGraph> LibraryGraph::capture(const hip::Api& api, const Driver& driver, hipStream_t stream,
                                                const hip::EnqueueAt& call, const hip::Shadows& shadows) {
  std::vector<hip::CapturedGraph> graphs;
  std::vector<SeenGraph> seen;
  for (const hip::AddressTable& table : shadows.tables) {
    // All captures stay until they are compared, so that the memory of two graphs is never at one address.
    hip::Result<hip::CapturedGraph> graph =
        hip::CapturedGraph::capture(api, stream, [&](hipStream_t on) { return call(on, table); });
    if (!graph) return graph.error();
    hip::Result<SeenGraph> nodes = read_graph(api, driver, graph.value().graph());
    if (!nodes) return nodes.error();
    graphs.push_back(std::move(graph).value());
    seen.push_back(std::move(nodes).value());
  }
  hip::Result<SeenGraph> attributed = attribute_graphs(seen, shadows);
  if (!attributed) return attributed.error();
  LibraryGraph made(api, driver, std::move(graphs.front()), std::move(attributed).value());
  made.addresses_ = shadows.tables.front();
  const hipError_t status = api.hipGraphInstantiate(&made.exec_, made.graph_.graph(), nullptr, nullptr, 0);
  if (status != hipSuccess) {
    made.exec_ = nullptr;
    return hip::call_error(status, "hipGraphInstantiate");
  }
  return made;
}

LibraryGraph::LibraryGraph(LibraryGraph&& other) noexcept
    : api_(other.api_),
      driver_(other.driver_),
      graph_(std::move(other.graph_)),
      seen_(std::move(other.seen_)),
      exec_(std::exchange(other.exec_, nullptr)),
      addresses_(std::move(other.addresses_)) {}

LibraryGraph::~LibraryGraph() {
  if (exec_ == nullptr) return;
  if (const hip::Status status = hip::destroy_exec(*api_, exec_); !status) {
    hip::report_teardown_error(status.error().code, status.error().message.c_str());
  }
}

std::size_t LibraryGraph::opaque_nodes() const {
  return static_cast<std::size_t>(std::count_if(seen_.nodes.begin(), seen_.nodes.end(),
                                                [](const LibraryNode& node) { return !node.opaque.empty(); }));
}

std::size_t LibraryGraph::relocations() const {
  std::size_t count = 0;
  for (const LibraryNode& node : seen_.nodes) count += node.relocations.size();
  return count;
}

hip::Status LibraryGraph::patch(std::span<const hip::DeviceAddress> addresses) {
  if (opaque_nodes() != 0) return hip::Error{hipErrorNotSupported, "a node is opaque: capture the call again"};
  for (LibraryNode& node : seen_.nodes) {
    bool moved = false;
    for (const hip::Relocation& relocation : node.relocations) {
      if (addresses[relocation.buffer] == addresses_[relocation.buffer]) continue;
      moved = true;
      write_word(node.block, relocation.offset,
                 addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend));
    }
    if (!moved) continue;
    if (hip::Status status = set(node); !status) return status;
  }
  addresses_.assign(addresses.begin(), addresses.end());
  return {};
}

hip::Status LibraryGraph::set_all() {
  for (LibraryNode& node : seen_.nodes) {
    if (node.relocations.empty()) continue;
    if (hip::Status status = set(node); !status) return status;
  }
  return {};
}

hip::Status LibraryGraph::set(LibraryNode& node) {
  if (std::holds_alternative<LibraryKernel>(node.params)) return set_kernel(node);
  if (std::holds_alternative<hipMemcpy3DParms>(node.params)) return set_copy(node);
  auto params = std::get<hipMemsetParams>(node.params);
  params.dst = pointer_at<void>(node.block, 0);
  return hip::called(api_->hipGraphExecMemsetNodeSetParams(exec_, node.handle, &params),
                     "hipGraphExecMemsetNodeSetParams");
}

hip::Status LibraryGraph::set_kernel(LibraryNode& node) {
  auto& kernel = std::get<LibraryKernel>(node.params);
  DriverKernelParams params = kernel.params;
  std::size_t bytes = node.block.size();
  void* extra[] = {marker(kExtraPointer), node.block.data(), marker(kExtraSize), &bytes, marker(kExtraEnd)};
  arguments_.clear();
  for (const hip::ArgumentSlot& slot : kernel.slots) arguments_.push_back(node.block.data() + slot.offset);
  if (kernel.as_extra) {
    params.extra = extra;
  } else {
    params.arguments = arguments_.data();
  }
  return driver_called(driver_->set_kernel_node(exec_, node.handle, &params), "cuGraphExecKernelNodeSetParams");
}

// CUDA documents setters of executable graphs for copies of one dimension only; it says so itself where there are more.
hip::Status LibraryGraph::set_copy(const LibraryNode& node) {
  auto params = std::get<hipMemcpy3DParms>(node.params);
  params.dstPtr.ptr = pointer_at<void>(node.block, 0);
  params.srcPtr.ptr = pointer_at<void>(node.block, kWord);
  return hip::called(api_->hipGraphExecMemcpyNodeSetParams(exec_, node.handle, &params),
                     "hipGraphExecMemcpyNodeSetParams");
}

}  // namespace bench
