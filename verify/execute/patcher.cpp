#include "verify/execute/patcher.h"

namespace verify {

namespace {

class RealPatcher final : public ExecPatcher {
 public:
  explicit RealPatcher(hip::GraphPatcher patcher) : patcher_(std::move(patcher)) {}
  hip::PatchResult patch(std::span<const hip::Move> moves) override { return patcher_.patch(moves); }
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    patcher_.replace(node, std::move(record), std::move(relocations));
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    patcher_.replace_all(recording, addresses);
  }

 private:
  hip::GraphPatcher patcher_;
};

}  // namespace

PatcherFactory graph_patcher_factory() {
  return [](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
    if (target.exec == nullptr) {
      return std::make_unique<RealPatcher>(
          hip::GraphPatcher::of_graph(target.api, target.recording, target.graph, target.addresses));
    }
    return std::make_unique<RealPatcher>(
        hip::GraphPatcher::of_exec(target.api, target.recording, target.graph, target.exec, target.addresses));
  };
}

}  // namespace verify
