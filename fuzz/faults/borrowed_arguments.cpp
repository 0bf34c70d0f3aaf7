// F14: a patcher that keeps the caller's argument buffer instead of a copy.
//
// The author believed: argument blocks are large and the recording is there anyway, so a reference to its bytes
// is enough. The mistake: the caller owns the recording and may overwrite or free it once the patcher is made. From
// then on every patch sends the bytes that are there now. P1, or P11 where HIP refuses them.
//
// replace() and replace_all() make copies, because they are given values.
#include <utility>

#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class BorrowingPatcher final : public FlatPatcher {
 public:
  explicit BorrowingPatcher(const verify::PatchTarget& target) : FlatPatcher(target) {
    for (const hip::RecordedNode& node : target.recording.nodes()) {
      const auto* kernel = std::get_if<hip::KernelRecord>(&node.record);
      borrowed_.push_back(kernel == nullptr ? nullptr : &kernel->arguments);
    }
  }

  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    FlatPatcher::replace(node, std::move(record), std::move(relocations));
    borrowed_[node] = nullptr;
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    FlatPatcher::replace_all(recording, addresses);
    borrowed_.assign(borrowed_.size(), nullptr);
  }

 private:
  [[nodiscard]] hip::NodeRecord current(hip::NodeIndex node) const override {
    hip::NodeRecord record = FlatPatcher::current(node);
    if (borrowed_[node] == nullptr) return record;
    std::get<hip::KernelRecord>(record).arguments = *borrowed_[node];
    for (const hip::Relocation& relocation : nodes()[node].relocations) {
      hip::write_address(record, relocation, addresses()[relocation.buffer]);
    }
    return record;
  }

  std::vector<const std::vector<std::byte>*> borrowed_;  // the caller's argument blocks; null: this patcher's own
};

}  // namespace

std::vector<Fault> borrowed_arguments_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<BorrowingPatcher>("F14", "keeps the caller's argument buffer instead of a copy", {kP1, kP11})};
}

}  // namespace fuzz
