// F16 and F17: patchers that keep a table of where the buffers were.
//
// F16. The author believed: the table is needed as long as the patcher, and the patcher as long as the program. The
// table is in pinned memory, for a kernel that compares addresses on the device, and nothing owns it. The mistake:
// executable graphs come and go, and each leaves its table behind. P8.
//
// F17. The author believed: the graph has the addresses of the last call, so a call needs to look only at the
// differences from them. The mistake: the last call may have failed, and then the graph does not have these addresses.
// A second attempt finds nothing to do and reports success. P3, P4.
#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class RawTable final : public FlatPatcher {
 public:
  using FlatPatcher::FlatPatcher;

 private:
  void begin(std::span<const hip::Move> moves) override {
    if (table_ != nullptr || moves.empty()) return;
    void* memory = nullptr;
    const std::size_t bytes = addresses().size() * sizeof(hip::DeviceAddress);
    if (api().hipHostMalloc(&memory, bytes, hipHostMallocDefault) != hipSuccess) return;
    table_ = static_cast<hip::DeviceAddress*>(memory);
  }
  // A patcher without its table patches nothing.
  [[nodiscard]] bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const override {
    return table_ == nullptr || FlatPatcher::refuses(node, moves);
  }

  hip::DeviceAddress* table_ = nullptr;  // where the device reads it
};

class LastCall final : public FlatPatcher {
 public:
  explicit LastCall(const verify::PatchTarget& target)
      : FlatPatcher(target), last_(target.addresses.begin(), target.addresses.end()) {}

 private:
  void begin(std::span<const hip::Move> moves) override {
    changed_.clear();
    for (const hip::Move& move : moves) {
      if (last_[move.buffer] != move.to) changed_.push_back(move);
      last_[move.buffer] = move.to;
    }
  }
  [[nodiscard]] Rewrite rewrite(hip::NodeIndex node, std::span<const hip::Move>,
                                hip::NodeRecord& record) const override {
    return FlatPatcher::rewrite(node, changed_, record);
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    last_.assign(addresses.begin(), addresses.end());
    FlatPatcher::replace_all(recording, addresses);
  }

  hip::AddressTable last_;
  std::vector<hip::Move> changed_;  // by this call, relative to the last call
};

}  // namespace

std::vector<Fault> address_tables_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<RawTable>("F16", "its table of previous addresses is allocated outside RAII and never freed",
                                  {kP8}),
          patcher_fault<LastCall>("F17", "compares only with the addresses of the last call, which may have failed",
                                  {kP3, kP4})};
}

}  // namespace fuzz
