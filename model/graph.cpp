// Building and querying graphs; the contract is in the header.
//
// Sources: hipGraphAdd*Node, hipGraphAddDependencies, hipGraphRemoveDependencies and hipGraphClone in HIP's header
// documentation; GraphAddNodeCommonNegativeTests (catch/unit/graph) for dependencies of another graph or named twice.
#include "model/graph.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <cassert>

namespace model {

// A removed node leaves its vertex here, without edges: Boost.Graph would go through the whole graph to remove it.
struct Topology {
  using List = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  List list;
  std::vector<Node*> nodes;  // by vertex; null: the node was removed
};

Graph::Graph(ObjectTable& objects, const AddressSpace& space, Node* parent)
    : objects_(objects),
      space_(space),
      parent_(parent),
      id_(objects.add(ObjectKind::kGraph, this)),
      topology_(std::make_unique<Topology>()) {}

Graph::~Graph() {
  objects_.visit(nodes_.size());
  for (const auto& node : nodes_) objects_.remove(node->id_);
  objects_.remove(id_);
}

int Graph::height() const {
  int highest = 0;
  for (const auto& node : nodes_) {
    if (node->child_) highest = std::max(highest, node->child_->height() + 1);
  }
  return highest;
}

int Graph::depth() const {
  int levels = 0;
  for (const Graph* graph = this; graph->parent_ != nullptr; graph = graph->parent_->graph_) ++levels;
  return levels;
}

Status Graph::check_dependencies(std::span<Node* const> dependencies) const {
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    if (dependencies[i] == nullptr || dependencies[i]->graph_ != this) return Status::kInvalidValue;
    if (std::find(dependencies.begin(), dependencies.begin() + static_cast<std::ptrdiff_t>(i), dependencies[i]) !=
        dependencies.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Status::kInvalidValue;
    }
  }
  return Status::kSuccess;
}

Node& Graph::append(NodeParams params) {
  std::unique_ptr<Node> node(new Node);
  node->params_ = std::move(params);
  node->graph_ = this;
  node->index_ = static_cast<std::uint32_t>(nodes_.size());
  objects_.visit();
  node->id_ = objects_.add(ObjectKind::kNode, node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

Node& Graph::append(NodeParams params, std::span<Node* const> dependencies) {
  Node& node = append(std::move(params));
  objects_.visit(dependencies.size());
  node.vertex_ = static_cast<std::uint32_t>(boost::add_vertex(topology_->list));
  topology_->nodes.push_back(&node);
  for (const Node* dependency : dependencies) boost::add_edge(dependency->vertex_, node.vertex_, topology_->list);
  return node;
}

Status Graph::add(NodeParams params, std::span<Node* const> dependencies, Node** out) {
  assert(type_of(params) != NodeType::kChild && "add_child");
  if (const Status status = check_dependencies(dependencies); status != Status::kSuccess) return status;
  if (const Status status = validate(params, space_); status != Status::kSuccess) return status;
  if (auto* kernel = std::get_if<KernelParams>(&params); kernel != nullptr && kernel->shape.cooperative) {
    kernel->attributes.cooperative = 1;  // captured from a cooperative launch
  }
  *out = &append(std::move(params), dependencies);
  return Status::kSuccess;
}

Status Graph::add_child(const Graph& child, std::span<Node* const> dependencies, Node** out) {
  if (const Status status = check_dependencies(dependencies); status != Status::kSuccess) return status;
  if (child.has_memory_nodes()) return Status::kNotSupported;
  if (depth() + 1 + child.height() > kMaxChildDepth) return Status::kInvalidValue;
  std::unique_ptr<Graph> clone = child.clone();
  Node& node = append(ChildParams{}, dependencies);
  clone->parent_ = &node;
  node.child_ = std::move(clone);
  *out = &node;
  return Status::kSuccess;
}

Status Graph::set_params(Node& node, NodeParams params) {
  assert(node.graph_ == this);
  if (node.type() != type_of(params) || node.type() == NodeType::kChild) return Status::kInvalidValue;
  if (const Status status = validate(params, space_); status != Status::kSuccess) return status;
  keep_attributes(node.params_, &params);
  node.params_ = std::move(params);
  node.attachment_.reset();
  return Status::kSuccess;
}

void Graph::set_attributes(Node& node, const KernelAttributes& attributes) {
  assert(node.graph_ == this && node.type() == NodeType::kKernel);
  auto& kernel = std::get<KernelParams>(node.params_);
  kernel.attributes = attributes;
  kernel.shape.cooperative = attributes.cooperative != 0;
}

bool Graph::has_memory_nodes() const {
  return std::ranges::any_of(
      nodes_, [](const auto& node) { return node->type() == NodeType::kAllocate || node->type() == NodeType::kFree; });
}

void Graph::remove(Node& node) {
  assert(node.graph_ == this);
  const std::uint32_t index = node.index_;
  boost::clear_vertex(node.vertex_, topology_->list);
  topology_->nodes[node.vertex_] = nullptr;
  objects_.remove(node.id_);
  nodes_.erase(nodes_.begin() + index);
  for (std::size_t i = index; i < nodes_.size(); ++i) nodes_[i]->index_ = static_cast<std::uint32_t>(i);
  if (topology_->nodes.size() > 2 * nodes_.size()) forget_removed_vertices();
}

// The edges keep their order.
void Graph::forget_removed_vertices() {
  Topology fresh{Topology::List(nodes_.size()), std::vector<Node*>(nodes_.size())};
  const auto [begin, end] = boost::edges(topology_->list);
  for (auto edge = begin; edge != end; ++edge) {
    const Node& from = *topology_->nodes[boost::source(*edge, topology_->list)];
    const Node& to = *topology_->nodes[boost::target(*edge, topology_->list)];
    boost::add_edge(from.index_, to.index_, fresh.list);
  }
  for (const auto& node : nodes_) {
    node->vertex_ = node->index_;
    fresh.nodes[node->vertex_] = node.get();
  }
  *topology_ = std::move(fresh);
}

bool Graph::has_edge(const Node& from, const Node& to) const {
  return boost::edge(from.vertex_, to.vertex_, topology_->list).second;
}

Status Graph::check_pairs(std::span<Node* const> from, std::span<Node* const> to, bool exist) const {
  assert(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == nullptr || to[i] == nullptr || from[i] == to[i]) return Status::kInvalidValue;
    if (from[i]->graph_ != this || to[i]->graph_ != this) return Status::kInvalidValue;
    if (has_edge(*from[i], *to[i]) != exist) return Status::kInvalidValue;
    for (std::size_t j = 0; j < i; ++j) {
      if (from[j] == from[i] && to[j] == to[i]) return Status::kInvalidValue;
    }
  }
  return Status::kSuccess;
}

Status Graph::add_edges(std::span<Node* const> from, std::span<Node* const> to) {
  if (const Status status = check_pairs(from, to, false); status != Status::kSuccess) return status;
  for (std::size_t i = 0; i < from.size(); ++i) boost::add_edge(from[i]->vertex_, to[i]->vertex_, topology_->list);
  return Status::kSuccess;
}

Status Graph::remove_edges(std::span<Node* const> from, std::span<Node* const> to) {
  if (const Status status = check_pairs(from, to, true); status != Status::kSuccess) return status;
  if (!from.empty() && has_memory_nodes()) return Status::kNotSupported;
  for (std::size_t i = 0; i < from.size(); ++i) boost::remove_edge(from[i]->vertex_, to[i]->vertex_, topology_->list);
  return Status::kSuccess;
}

std::vector<std::pair<Node*, Node*>> Graph::edges() const {
  std::vector<std::pair<Node*, Node*>> all;
  for (const auto& from : nodes_) {
    for (Node* to : dependents(*from)) all.emplace_back(from.get(), to);
  }
  return all;
}

std::vector<Node*> Graph::dependencies(const Node& node) const {
  std::vector<Node*> all;
  const auto [begin, end] = boost::in_edges(node.vertex_, topology_->list);
  objects_.visit();
  for (auto edge = begin; edge != end; ++edge) all.push_back(topology_->nodes[boost::source(*edge, topology_->list)]);
  objects_.visit(all.size());
  return all;
}

std::vector<Node*> Graph::dependents(const Node& node) const {
  std::vector<Node*> all;
  const auto [begin, end] = boost::out_edges(node.vertex_, topology_->list);
  objects_.visit();
  for (auto edge = begin; edge != end; ++edge) all.push_back(topology_->nodes[boost::target(*edge, topology_->list)]);
  objects_.visit(all.size());
  return all;
}

std::vector<Node*> Graph::roots() const {
  std::vector<Node*> all;
  for (const auto& node : nodes_) {
    if (boost::in_degree(node->vertex_, topology_->list) == 0) all.push_back(node.get());
  }
  return all;
}

bool Graph::acyclic() const {
  std::vector<Topology::List::vertex_descriptor> order;
  order.reserve(topology_->nodes.size());
  try {
    boost::topological_sort(topology_->list, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return false;
  }
  return true;
}

std::unique_ptr<Graph> Graph::clone(Node* parent) const {
  auto copy = std::make_unique<Graph>(objects_, space_, parent);
  copy->cloned_from_ = id_;
  copy->nodes_.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    Node& twin = copy->append(node->params_);
    twin.cloned_from_ = node->id_;
    if (node->child_) twin.child_ = node->child_->clone(&twin);
  }
  copy->topology_->list = topology_->list;
  copy->topology_->nodes.resize(topology_->nodes.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& twin = *copy->nodes_[i];
    twin.vertex_ = nodes_[i]->vertex_;
    copy->topology_->nodes[twin.vertex_] = &twin;
  }
  copy->user_references_ = user_references_;
  return copy;
}

Node* Graph::find_clone_of(ObjectId original) const {
  for (const auto& node : nodes_) {
    if (node->cloned_from_ == original && original != 0) return node.get();
  }
  return nullptr;
}

std::vector<NodeView> inspect(const Graph& graph, std::size_t most) {
  std::vector<NodeView> views;
  const auto nodes = graph.nodes().first(std::min(most, graph.nodes().size()));
  views.reserve(nodes.size());
  for (const auto& node : nodes) {
    NodeView view;
    view.type = node->type();
    view.params = &node->params();
    view.id = node->id();
    for (const Node* dependency : graph.dependencies(*node)) view.dependencies.push_back(dependency->index());
    std::ranges::sort(view.dependencies);
    if (node->child() != nullptr) view.children = inspect(*node->child());
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace model
