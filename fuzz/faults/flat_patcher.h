// fuzz::FlatPatcher: the correct common part of the faulty patchers: a flat list of nodes, one setter call for each
// node that changes, and the old parameters restored when a setter fails.
//
// It keeps copies of the nodes' parameters at the current addresses. A patch first computes the new parameters of each
// node (rewrite), then calls the setters (apply), then keeps the result. So a refusal changes nothing, and a patch in
// which no node changes makes no call. Each defect overrides one step. Opaque nodes and child graphs that hold a moved
// buffer are refused with kRecordAgain.
//
// It trusts the moves that it is given. It is slow on purpose: every patch examines every node.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fuzz/faults/lists.h"

namespace fuzz {

// One top-level node.
struct HeldNode {
  hipGraphNode_t handle = nullptr;
  hip::NodeRecord record;  // at the current addresses
  std::vector<hip::Relocation> relocations;
};

enum class Rewrite : std::uint8_t {
  kUnchanged,
  kChanged,
  kUnknown,  // the node's new parameters cannot be computed: the graph has to be recorded again
};

class FlatPatcher : public verify::ExecPatcher {
 public:
  explicit FlatPatcher(const verify::PatchTarget& target);

  hip::PatchResult patch(std::span<const hip::Move> moves) final;
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override;
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override;

 protected:
  struct Step {
    hip::NodeIndex node = 0;
    hip::NodeRecord before, after;
  };

  // Whether `node` cannot be patched under these moves (all of which change something, here and below).
  [[nodiscard]] virtual bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const;
  // Called once in each patch, before its first node, to prepare data for all nodes. Here: does nothing.
  virtual void begin(std::span<const hip::Move>) {}
  // Applies the moves to `record`, a copy of the node's record. Here: by relocation, which is correct.
  [[nodiscard]] virtual Rewrite rewrite(hip::NodeIndex node, std::span<const hip::Move> moves,
                                        hip::NodeRecord& record) const;
  // The node's present parameters, which are restored when a patch fails.
  [[nodiscard]] virtual hip::NodeRecord current(hip::NodeIndex node) const { return nodes_[node].record; }
  // One setter call: on the executable graph, or on the graph's definition if that is the target.
  [[nodiscard]] virtual hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const;
  // Calls the setters. Here: restores the changed nodes when a setter fails.
  [[nodiscard]] virtual hip::PatchResult apply(std::vector<Step>& steps);

  [[nodiscard]] const hip::Api& api() const { return api_; }
  [[nodiscard]] hipGraphExec_t exec() const { return exec_; }
  [[nodiscard]] std::span<const HeldNode> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const hip::DeviceAddress> addresses() const { return addresses_; }

 private:
  [[nodiscard]] bool put_back(std::vector<Step>& steps, std::size_t failed) const;

  hip::Api api_;
  hipGraphExec_t exec_;  // null: the definition is patched
  hip::AddressTable addresses_;
  std::vector<HeldNode> nodes_;
  bool usable_ = true;
};

template <class Patcher>
[[nodiscard]] Fault patcher_fault(std::string_view id, std::string_view summary,
                                  std::vector<verify::PropertyId> properties) {
  return {.id = id,
          .system = "patcher",
          .summary = summary,
          .properties = std::move(properties),
          .patchers = [](const verify::PatchTarget& target) { return std::make_unique<Patcher>(target); }};
}

// The move of `buffer`, or null.
[[nodiscard]] const hip::Move* move_of(std::span<const hip::Move> moves, hip::BufferIndex buffer);
// Whether an opaque node, here or in a child graph at any depth, may hold a moved buffer.
[[nodiscard]] bool hides_moved_buffer(const hip::NodeRecord& record, std::span<const hip::Move> moves);
// The address that the field of `relocation` holds.
[[nodiscard]] hip::DeviceAddress address_in(const hip::NodeRecord& record, const hip::Relocation& relocation);
// Sets the parameters of one node in `exec`, or, if `exec` is null, in the node's graph.
[[nodiscard]] hipError_t set_node(const hip::Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                  hip::NodeRecord& record);

}  // namespace fuzz
