// Strategies: how an executable graph is brought to new addresses and new parameters.
//
//   rebuild  records a fresh graph and instantiates it: the reference for the other strategies
//   patch    changes the executable graph in place through an ExecPatcher; setters are HIP's exec setters
//   update   records a fresh graph and hands it to hipGraphExecUpdate, for setters too
//   careful  patches, except where the runtime's release is known to do that wrong: there it records again
//   command-buffer  launches each executable graph as a hip::CommandBuffer that knows the release
//   stabilise  records each graph once for buffers that never move (hip/address_stabilizer) and copies the program's
//            buffers there before each launch and back after it
//   remap    records each graph once for each of two sets of addresses, and maps the memory of the program's buffers
//            there before each launch (hip/remapped_buffers)
//
// Every operation either succeeds or reports an error and leaves its object as it was, so that it can be tried again.
// A strategy keeps nothing about an operation in its members: while one thread is in a call of HIP, another thread may
// use the same strategy.
#pragma once

#include <memory>
#include <optional>
#include <span>
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
  bool in_place = true;                      // false: the executable graph was not patched in place
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
  // The node of the new recording to be reported, where exactly one node differs. No value where the numbers of nodes
  // differ or no node differs. `any_node`: several nodes differ, or one inside a child, and any may be reported.
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
  // Returns the node in the form in which it is added to a graph (so far `graph`) or set: `node` itself, perhaps with
  // another function or another kind of copy.
  virtual hip::RecordedNode as_added(StrategyContext& context, const hip::Recording& graph, hip::RecordedNode node);
  // `node` has the addresses of context.addresses; the object has the same addresses for the buffers it names.
  virtual hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                          const hip::RecordedNode& node) = 0;
  virtual hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                          const hip::RecordedNode& node) = 0;
  virtual UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) = 0;
  // Instantiates a graph of the program in exec's form. `said`: as for verify::instantiate().
  virtual hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                                  std::string* said);
  // Records the executable graph again, for changes that no patch can make.
  virtual hip::Status record_again(StrategyContext& context, ExecObject& exec);
  // Switches a node on or off (hipGraphNodeSetEnabled) and returns the answer of hipGraphNodeGetEnabled.
  virtual hip::Result<unsigned> enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on);
  // Whether the program's buffers of device memory have to be mapped (verify/execute/placement.h).
  [[nodiscard]] virtual bool maps_memory() const { return false; }
  // Called with the stream's device current.
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
