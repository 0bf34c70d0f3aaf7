// Threads that build graphs, each its own, on the host model: a node keeps the parameters that its own thread gave it.
//
// A lock guards the model's runtime, as in the model's drop-in library.
#include <array>
#include <map>
#include <optional>

#include "hip/sync/sync.h"
#include "model/runtime.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum NodeVerb : std::uint8_t { kAddNode, kSetNode, kAskNode };

constexpr std::int64_t kNoNode = -1;

// Each thread has one graph. set() and ask() are about the node that the thread added last.
class GraphNodes {
 public:
  virtual ~GraphNodes() = default;
  virtual void add(unsigned thread, std::int32_t value) = 0;
  virtual void set(unsigned thread, std::int32_t value) = 0;
  virtual std::int64_t ask(unsigned thread) = 0;  // kNoNode before the first add()
};

// Host nodes; the value is an index into `values_`, whose address is the host function's data.
class ModelNodes final : public GraphNodes {
 public:
  ModelNodes() {
    for (model::Graph*& graph : graphs_) graph = &runtime_.create_graph();
  }
  void add(unsigned thread, std::int32_t value) override {
    const hip::sync::LockGuard lock(mutex_);
    (void)graphs_.at(thread)->add(host_node(value), {}, &last_.at(thread));
  }
  void set(unsigned thread, std::int32_t value) override {
    const hip::sync::LockGuard lock(mutex_);
    if (last_.at(thread) != nullptr) (void)graphs_.at(thread)->set_params(*last_.at(thread), host_node(value));
  }
  std::int64_t ask(unsigned thread) override {
    const hip::sync::LockGuard lock(mutex_);
    if (last_.at(thread) == nullptr) return kNoNode;
    return static_cast<const char*>(std::get<model::HostParams>(last_.at(thread)->params()).user_data) - values_.data();
  }

 private:
  model::NodeParams host_node(std::int32_t value) {
    return model::HostParams{[](void*) {}, &values_.at(static_cast<std::size_t>(value))};
  }

  hip::sync::Mutex mutex_;
  model::Runtime runtime_;  // guarded by mutex_
  std::array<model::Graph*, kMaxClientThreads> graphs_{};
  std::array<model::Node*, kMaxClientThreads> last_{};  // each used by its thread only
  std::array<char, kMaxArgument + 1> values_{};         // never read
};

// U20: the runtime finds a node's parameters by the node's number, and counts the numbers outside the lock.
class CountsOutsideLock final : public GraphNodes {
 public:
  void add(unsigned thread, std::int32_t value) override {
    const int number = ++numbers_.write();
    last_.at(thread) = number;
    const hip::sync::LockGuard lock(mutex_);
    values_.write()[number] = value;
  }
  void set(unsigned thread, std::int32_t value) override {
    const hip::sync::LockGuard lock(mutex_);
    if (last_.at(thread)) values_.write()[*last_.at(thread)] = value;
  }
  std::int64_t ask(unsigned thread) override {
    const hip::sync::LockGuard lock(mutex_);
    return last_.at(thread) ? values_.read().at(*last_.at(thread)) : kNoNode;
  }

 private:
  hip::sync::Cell<int> numbers_;
  hip::sync::Mutex mutex_;
  hip::sync::Cell<std::map<int, std::int32_t>> values_;       // by number; guarded by mutex_
  std::array<std::optional<int>, kMaxClientThreads> last_{};  // each used by its thread only
};

class NodesWorld final : public World {
 public:
  explicit NodesWorld(std::unique_ptr<GraphNodes> nodes) : nodes_(std::move(nodes)) {}

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kAskNode) return nodes_->ask(thread);
    if (call.verb == kAddNode) {
      nodes_->add(thread, call.argument);
    } else {
      nodes_->set(thread, call.argument);
    }
    return 0;
  }

 private:
  std::unique_ptr<GraphNodes> nodes_;
};

class OwnValues final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override { return std::make_unique<OwnValues>(*this); }

  bool accepts(unsigned thread, const Call& call, std::int64_t answer) override {
    std::int64_t& value = values_.at(thread);
    if (call.verb == kAskNode) return answer == value;
    if (call.verb == kAddNode || value != kNoNode) value = call.argument;
    return answer == 0;
  }

 private:
  std::array<std::int64_t, kMaxClientThreads> values_ = {kNoNode, kNoNode, kNoNode};
};

}  // namespace

Scenario graph_nodes_scenario() {
  const auto add = [](std::int32_t value) { return Call{kAddNode, value}; };
  const auto set = [](std::int32_t value) { return Call{kSetNode, value}; };
  const Call ask{kAskNode};
  return {
      .name = "graph-nodes",
      .system = "runtime",
      .summary = "add, set and ask nodes of graphs, each thread its own graph, on the host model",
      .verbs = {{"add", true}, {"set", true}, {"ask"}},
      .plans = {{"two threads", {{}, {{add(1), ask}, {add(2), ask}}, {}}},
                {"setters", {{add(7)}, {{set(1), add(2), set(3), ask}, {add(4), set(5), ask}}, {ask}}},
                {"three threads", {{}, {{add(1), ask}, {add(2), ask}, {add(3), ask}}, {}}}},
      .make = [](Referee&, std::string_view fault) -> std::unique_ptr<World> {
        if (fault == "U20") return std::make_unique<NodesWorld>(std::make_unique<CountsOutsideLock>());
        return std::make_unique<NodesWorld>(std::make_unique<ModelNodes>());
      },
      .model = [] { return std::make_unique<OwnValues>(); },
      .property = "P2",
      .faults = {"U20"},
  };
}

}  // namespace verify::race
