#include "hip/cloned_nodes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "hip/captured_graph.h"

namespace hip {
namespace {

using Handles = std::vector<hipGraphNode_t>;
using Edges = std::vector<std::pair<hipGraphNode_t, hipGraphNode_t>>;

Error failed(const char* function, hipError_t status) {
  return Error{status, std::string(function) + ": " + status_name(status)};
}

// hipGraphNodeTypeBatchMemOp: a number, because headers older than HIP 6.4 lack the name.
constexpr auto kBatchType = static_cast<hipGraphNodeType>(14);

// The answer of hipGraphNodeGetType for a node that was recorded from `record`; nullopt for an opaque node.
std::optional<hipGraphNodeType> type_of(const NodeRecord& record) {
  static constexpr std::optional<hipGraphNodeType> kTypes[] = {hipGraphNodeTypeKernel,
                                                               hipGraphNodeTypeMemcpy,
                                                               hipGraphNodeTypeMemset,
                                                               hipGraphNodeTypeHost,
                                                               hipGraphNodeTypeEmpty,
                                                               hipGraphNodeTypeGraph,
                                                               std::nullopt,
                                                               hipGraphNodeTypeEventRecord,
                                                               hipGraphNodeTypeWaitEvent,
                                                               hipGraphNodeTypeMemAlloc,
                                                               hipGraphNodeTypeMemFree,
                                                               kBatchType,
                                                               hipGraphNodeTypeExtSemaphoreSignal,
                                                               hipGraphNodeTypeExtSemaphoreWait};
  static_assert(std::size(kTypes) == std::variant_size_v<NodeRecord>);
  return kTypes[record.index()];
}

Result<Handles> list_nodes(const Api& api, hipGraph_t graph) {
  std::size_t count = 0;
  if (const hipError_t status = api.hipGraphGetNodes(graph, nullptr, &count); status != hipSuccess) {
    return failed("hipGraphGetNodes", status);
  }
  Handles nodes(count);
  if (count == 0) return nodes;
  if (const hipError_t status = api.hipGraphGetNodes(graph, nodes.data(), &count); status != hipSuccess) {
    return failed("hipGraphGetNodes", status);
  }
  return nodes;
}

Result<Edges> list_edges(const Api& api, hipGraph_t graph) {
  std::size_t count = 0;
  if (const hipError_t status = api.hipGraphGetEdges(graph, nullptr, nullptr, &count); status != hipSuccess) {
    return failed("hipGraphGetEdges", status);
  }
  Edges edges;
  if (count == 0) return edges;
  Handles from(count);
  Handles to(count);
  if (const hipError_t status = api.hipGraphGetEdges(graph, from.data(), to.data(), &count); status != hipSuccess) {
    return failed("hipGraphGetEdges", status);
  }
  for (std::size_t i = 0; i < from.size(); ++i) edges.emplace_back(from[i], to[i]);
  return edges;
}

// The position of each node of the recording in the runtime's list of the nodes of a graph that was recorded from it.
Result<std::vector<std::size_t>> places_in_list(const Api& api, const Recording& recording,
                                                std::span<const DeviceAddress> addresses) {
  std::vector<std::size_t> places(recording.nodes().size());
  if (places.size() < 2) return places;  // there is only one order
  Result<RecordedGraph> twin = record_graph(api, recording, addresses);
  if (!twin) return twin.error();
  const Result<Handles> listed = list_nodes(api, twin.value().graph);
  const Status destroyed = destroy_graph(api, twin.value().graph);
  if (!listed) return listed.error();
  if (!destroyed) return Error{destroyed.error().code, "a passing graph: " + destroyed.error().message};
  std::unordered_map<hipGraphNode_t, std::size_t> place_of;
  for (std::size_t place = 0; place < listed.value().size(); ++place) place_of[listed.value()[place]] = place;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = place_of.find(twin.value().nodes[i]);
    places[i] = found != place_of.end() ? found->second : listed.value().size();
  }
  return places;
}

Result<const char*> difference_of_types(const Api& api, const Handles& nodes, const Recording& recording) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    hipGraphNodeType type{};
    if (const hipError_t status = api.hipGraphNodeGetType(nodes[i], &type); status != hipSuccess) {
      return failed("hipGraphNodeGetType", status);
    }
    const auto expected = type_of(recording.nodes()[i].record);
    if (expected && *expected != type) return "type of a node";
  }
  return nullptr;
}

Result<const char*> difference_of_edges(const Api& api, hipGraph_t graph, const Handles& nodes,
                                        const Recording& recording) {
  Result<Edges> found = list_edges(api, graph);
  if (!found) return found.error();
  Edges expected;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const NodeIndex dependency : recording.nodes()[i].dependencies) {
      expected.emplace_back(nodes[dependency], nodes[i]);
    }
  }
  std::ranges::sort(expected);
  std::ranges::sort(found.value());
  return expected == found.value() ? nullptr : "edges";
}

}  // namespace

Result<ClonedNodes> nodes_of_clone(const Api& api, hipGraph_t graph, const Recording& recording,
                                   std::span<const DeviceAddress> addresses) {
  const Result<std::vector<std::size_t>> places = places_in_list(api, recording, addresses);
  if (!places) return places.error();
  const Result<Handles> listed = list_nodes(api, graph);
  if (!listed) return listed.error();
  if (listed.value().size() != recording.nodes().size()) return ClonedNodes{{}, "number of nodes"};
  ClonedNodes clone;
  for (const std::size_t place : places.value()) {
    if (place >= listed.value().size()) return ClonedNodes{{}, "number of nodes"};
    clone.nodes.push_back(listed.value()[place]);
  }
  const Result<const char*> types = difference_of_types(api, clone.nodes, recording);
  if (!types) return types.error();
  if (types.value() != nullptr) return ClonedNodes{{}, types.value()};
  const Result<const char*> edges = difference_of_edges(api, graph, clone.nodes, recording);
  if (!edges) return edges.error();
  clone.difference = edges.value();
  return clone;
}

}  // namespace hip
