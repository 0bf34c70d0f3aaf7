// TinyPatcher: a patcher of a page, right but slow, with places to break it.
//
// It sets every touched top-level node through HIP's exec setters, and says that the graph has to be recorded again
// where a child graph or an opaque node is touched. Tests derive from it and break one thing; a run with the unbroken
// one is the baseline that such a test differs from.
// Does not roll back: a setter that fails leaves the patch half done, and it says so (kUnusable).
#pragma once

#include <memory>
#include <vector>

#include "verify/execute/patcher.h"

namespace verify {

class TinyPatcher : public ExecPatcher {
 public:
  explicit TinyPatcher(const PatchTarget& target);

  hip::PatchResult patch(std::span<const hip::Move> moves) override;
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override;
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override;

 protected:
  // ---- functions that a faulty patcher overrides

  // Called once before the nodes are set, with `places` still the old ones.
  virtual void begin_patch(std::span<const hip::Move>) {}
  [[nodiscard]] virtual bool needs_setting(const hip::RecordedNode& node, std::span<const hip::Move> moves) const;
  [[nodiscard]] virtual bool gives_up_on(const hip::RecordedNode& node, std::span<const hip::Move> moves) const;
  // The parameters that a node is given.
  [[nodiscard]] virtual hip::NodeRecord record_for(hip::NodeIndex node, std::span<const hip::Move> moves,
                                                   const hip::AddressTable& addresses) const;
  virtual hipError_t set(hip::NodeIndex node, hip::NodeRecord& record);

  const hip::Api& table;
  hip::Recording recording;
  hip::RecordedGraph handles;
  hipGraphExec_t executable;
  hip::AddressTable places;
};

// Sets a node of the executable graph, or of the graph if `exec` is null.
[[nodiscard]] hipError_t set_node(const hip::Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                  hip::NodeRecord& record);

template <class Patcher>
[[nodiscard]] PatcherFactory factory_of() {
  return [](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> { return std::make_unique<Patcher>(target); };
}

}  // namespace verify
