// Graphs as text of Graphviz; the contract is in the header.
#include "model/dot.h"

#include <cctype>
#include <cstdint>

namespace model {
namespace {

// Escapes `text` for the quotes of a label.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string hex(std::uint64_t number) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[number & 15]);
    number >>= 4;
  } while (number != 0);
  return "0x" + digits;
}

std::string line(const char* name, std::uint64_t value) {
  return std::string("\\n") + name + " " + std::to_string(value);
}
std::string address_line(const char* name, std::uint64_t value) {
  return std::string("\\n") + name + " " + hex(value);
}
std::string dim(const Dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}

const char* direction(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToHost:
      return "HtoH";
    case CopyKind::kHostToDevice:
      return "HtoD";
    case CopyKind::kDeviceToHost:
      return "DtoH";
    case CopyKind::kDeviceToDevice:
    case CopyKind::kDeviceToDeviceNoCu:
      return "DtoD";
    case CopyKind::kDefault:
      break;
  }
  return "default";
}

std::string kernel_label(const KernelParams& kernel, unsigned flags) {
  std::string label = "KERNEL\\n" + quoted(kernel.function->kernel->name);
  if ((flags & (kDotKernelParams | kDotVerbose)) != 0) {
    label += "\\ngrid " + dim(kernel.shape.grid) + "\\nblock " + dim(kernel.shape.block);
    label += line("shared bytes", kernel.shape.shared_bytes) + line("argument bytes", kernel.arguments.size());
  }
  if ((flags & (kDotKernelAttributes | kDotVerbose)) != 0) {
    const KernelAttributes& has = kernel.attributes;
    label += address_line("window", has.window.base) + line("window bytes", has.window.bytes);
    label += "\\ncooperative " + std::to_string(has.cooperative) + "\\npriority " + std::to_string(has.priority);
  }
  if ((flags & (kDotHandles | kDotVerbose)) != 0) label += line("function", kernel.function->id);
  return label;
}

std::string copy_label(const CopyParams& copy, unsigned flags) {
  std::string label = std::string("MEMCPY\\n(") + direction(copy.kind) + ")";
  if ((flags & (kDotCopyParams | kDotVerbose)) == 0) return label;
  label += address_line("dst", copy.dst.base) + line("dst pitch", copy.dst.pitch);
  label += address_line("src", copy.src.base) + line("src pitch", copy.src.pitch);
  label += line("width", copy.extent.width) + line("height", copy.extent.height) + line("depth", copy.extent.depth);
  return label;
}

std::string memset_label(const MemsetParams& set, unsigned flags) {
  std::string label = "MEMSET";
  if ((flags & (kDotMemsetParams | kDotVerbose)) == 0) return label;
  label += address_line("dst", set.dst) + line("pitch", set.pitch) + line("value", set.value);
  label += line("element", set.element_size) + line("width", set.width) + line("height", set.height);
  return label;
}

std::string host_label(const HostParams& host, unsigned flags) {
  if ((flags & (kDotHostParams | kDotVerbose)) == 0) return "HOST";
  return "HOST" + address_line("function", reinterpret_cast<std::uintptr_t>(host.function)) +
         address_line("data", reinterpret_cast<std::uintptr_t>(host.user_data));
}

std::string label_of(const NodeParams& params, unsigned flags) {
  if (const auto* kernel = std::get_if<KernelParams>(&params)) return kernel_label(*kernel, flags);
  if (const auto* copy = std::get_if<CopyParams>(&params)) return copy_label(*copy, flags);
  if (const auto* set = std::get_if<MemsetParams>(&params)) return memset_label(*set, flags);
  if (const auto* host = std::get_if<HostParams>(&params)) return host_label(*host, flags);
  std::string label;
  for (const char c : name_of(type_of(params))) {
    label += c == ' ' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if ((flags & (kDotEventParams | kDotVerbose)) == 0) return label;
  if (const auto* record = std::get_if<EventRecordParams>(&params)) label += line("event", record->event);
  if (const auto* wait = std::get_if<EventWaitParams>(&params)) label += line("event", wait->event);
  return label;
}

std::string name_of_node(const Graph& graph, const Node& node) {
  return "\"graph_" + std::to_string(graph.id()) + "_node_" + std::to_string(node.index()) + "\"";
}

// Prints child graphs recursively; kMaxChildDepth bounds the depth.
void print(const Graph& graph, unsigned flags, std::string* out) {
  const std::string name = std::to_string(graph.id());
  *out += "subgraph cluster_" + name + " {\nlabel=\"graph " + name + "\" graph[style=\"dashed\"];\n";
  for (const auto& node : graph.nodes()) {
    std::string label = std::to_string(node->index()) + " " + label_of(node->params(), flags);
    if ((flags & (kDotHandles | kDotVerbose)) != 0) label += line("node", node->id());
    *out += name_of_node(graph, *node) + "[shape=\"rectangle\" label=\"" + label + "\"];\n";
    if (node->child() != nullptr) print(*node->child(), flags, out);
  }
  for (const auto& [from, to] : graph.edges()) {
    *out += name_of_node(graph, *from) + " -> " + name_of_node(graph, *to) + ";\n";
  }
  *out += "}\n";
}

}  // namespace

std::string to_dot(const Graph& graph, unsigned flags) {
  std::string out = "digraph dot {\n";
  print(graph, flags, &out);
  return out + "}\n";
}

}  // namespace model
