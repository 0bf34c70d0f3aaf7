// Strategies: how an executable graph is brought to new addresses and new parameters.
//
//   rebuild  records a fresh graph and instantiates it: the reference for the other strategies
//   patch    changes the executable graph in place through an ExecPatcher; setters are HIP's exec setters
//   update   records a fresh graph and hands it to hipGraphExecUpdate, for setters too
//   careful  patches where the runtime's release is known to do that right, and records again where it does not
//   command-buffer  launches each as a hip::CommandBuffer that knows the release
//   stabilise  records it once for buffers that never move (hip/address_stabilizer) and copies the program's buffers
//            there and back around each launch
//
// Every operation either succeeds or reports an error and leaves its object as it was, so that it can be tried again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "hip/flatten.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/runner.h"

namespace verify {

struct PatchOutcome {
  hip::Status status;
  hip::PatchReport report;
  std::optional<hip::PatchFailure> failure;  // the patcher's reason when it did not patch
  bool in_place = true;                      // false: the executable graph itself is where it was
};

struct UpdateStatus {
  int code = 0;    // hipError_t
  int result = 0;  // hipGraphExecUpdateResult
  hipGraphNode_t error_node = nullptr;
};

// The documented result of hipGraphExecUpdate for a pair of recordings (verify/program/update_outcome.cpp).
struct DocumentedUpdate {
  int code = 0;
  int result = 0;
  // The node of the new recording that is to be reported: where one node alone differs. None where the numbers of nodes
  // differ, or nothing does; `any_node` where several differ or one inside a child does, and any may be reported.
  std::optional<hip::NodeIndex> node;
  bool any_node = false;
};
[[nodiscard]] DocumentedUpdate documented_update(const hip::Recording& from, const hip::Recording& to);

class Strategy {
 public:
  virtual ~Strategy() = default;

  // `moves` may be empty. On success the object has the addresses in context.addresses.
  virtual PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) = 0;
  virtual PatchOutcome patch(StrategyContext& context, GraphObject& graph, std::span<const hip::Move> moves) = 0;
  // The node as it is to be added to a graph (so far `graph`), or set: the same, perhaps through another function or by
  // another kind.
  virtual hip::RecordedNode as_added(StrategyContext& context, const hip::Recording& graph, hip::RecordedNode node);
  // `node` is relocated at context.addresses; the buffers it names are there in the object as well.
  virtual hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                          const hip::RecordedNode& node) = 0;
  virtual hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                          const hip::RecordedNode& node) = 0;
  virtual UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) = 0;
  // From a graph of the program's, in exec's form. `said`: as verify::instantiate's.
  virtual hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                                  std::string* said);
  // Records the executable graph again, for changes that no patch can make.
  virtual hip::Status record_again(StrategyContext& context, ExecObject& exec);
  // Switches a node on or off (hipGraphNodeSetEnabled) and returns the answer of hipGraphNodeGetEnabled.
  virtual hip::Result<unsigned> enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on);
  // The stream's device is current.
  virtual hip::Status launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream);
};

// A strategy for executable graphs. Another strategy handles graphs that are not instantiated.
class StrategyForExecs : public Strategy {
 public:
  using Strategy::patch;
  using Strategy::set;
  PatchOutcome patch(StrategyContext& context, GraphObject& graph, std::span<const hip::Move> moves) final {
    return for_graphs_->patch(context, graph, moves);
  }
  hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                  const hip::RecordedNode& node) final {
    return for_graphs_->set(context, graph, index, node);
  }
  hip::RecordedNode as_added(StrategyContext& context, const hip::Recording& graph, hip::RecordedNode node) final {
    return for_graphs_->as_added(context, graph, std::move(node));
  }

 protected:
  explicit StrategyForExecs(std::unique_ptr<Strategy> for_graphs) : for_graphs_(std::move(for_graphs)) {}
  [[nodiscard]] Strategy& for_graphs() { return *for_graphs_; }

 private:
  std::unique_ptr<Strategy> for_graphs_;
};

[[nodiscard]] std::unique_ptr<Strategy> make_strategy(StrategyKind kind);

}  // namespace verify
