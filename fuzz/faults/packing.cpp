// F05 and F06: patchers that build argument blocks or tables of their own.
//
// F05. The author believed: an argument is a word, so a list of words is a packed argument block. The mistake: sizes
// and alignments decide the offsets of arguments. Small arguments are read past their end, large arguments are cut off
// after a word, and all later arguments are in the wrong place. A4. (Where the block comes out shorter than the
// kernel's, the runtime refuses it, and the graph is recorded again.)
//
// F06. The author believed: no kernel has more arguments than the tables of pointers have entries. The tables are
// arrays of 64 entries where a kernel was recorded through kernelParams, and of 16 where it was recorded through
// `extra`. The mistake: fused kernels have more arguments, and pointers behind the last entry stay unchanged. A2.
#include <algorithm>
#include <array>
#include <cstring>

#include "fuzz/faults/flat_patcher.h"
#include "hip/kernel_parameters.h"

namespace fuzz {

namespace {

class WordPacker final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    const auto* kernel = std::get_if<hip::KernelRecord>(&record);
    if (kernel == nullptr) return FlatPatcher::set(node, record);
    hip::NodeRecord packed = pack(*kernel);
    return FlatPatcher::set(node, packed);
  }

  static hip::KernelRecord pack(const hip::KernelRecord& kernel) {
    std::vector<std::byte> values = kernel.arguments;
    values.resize(values.size() + sizeof(std::uint64_t));  // the last argument can be read as a word, too
    hip::KernelRecord packed = kernel;
    packed.slots.clear();
    packed.arguments.assign(kernel.slots.size() * sizeof(std::uint64_t), std::byte{0});
    for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
      std::memcpy(packed.arguments.data() + i * sizeof(std::uint64_t), values.data() + kernel.slots[i].offset,
                  sizeof(std::uint64_t));
    }
    return packed;
  }
};

class FixedTables final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  static constexpr std::size_t kMaxParams = 64;
  static constexpr std::size_t kMaxExtra = 16;

  // Tells which relocations of a kernel lie in the arguments that fit into the table.
  template <std::size_t kEntries>
  class Table {
   public:
    explicit Table(const hip::KernelRecord& kernel) {
      count_ = std::min(kernel.slots.size(), kEntries);
      std::copy_n(kernel.slots.begin(), count_, slots_.begin());
    }
    [[nodiscard]] bool holds(std::uint32_t offset) const {
      return std::any_of(slots_.begin(), slots_.begin() + count_, [offset](const hip::ArgumentSlot& slot) {
        return offset >= slot.offset && offset - slot.offset < slot.size;
      });
    }

   private:
    std::array<hip::ArgumentSlot, kEntries> slots_{};
    std::ptrdiff_t count_ = 0;
  };

  [[nodiscard]] Rewrite rewrite(hip::NodeIndex node, std::span<const hip::Move> moves,
                                hip::NodeRecord& record) const override {
    const auto* kernel = std::get_if<hip::KernelRecord>(&record);
    if (kernel == nullptr) return FlatPatcher::rewrite(node, moves, record);
    if (kernel->slots.empty() && !kernel->arguments.empty()) return Rewrite::kUnknown;
    return kernel->style == hip::ArgumentStyle::kParams
               ? rewrite_listed(node, moves, Table<kMaxParams>(*kernel), record)
               : rewrite_listed(node, moves, Table<kMaxExtra>(*kernel), record);
  }

  template <class Listed>
  [[nodiscard]] Rewrite rewrite_listed(hip::NodeIndex node, std::span<const hip::Move> moves, const Listed& listed,
                                       hip::NodeRecord& record) const {
    Rewrite result = Rewrite::kUnchanged;
    for (const hip::Relocation& relocation : nodes()[node].relocations) {
      const hip::Move* move = move_of(moves, relocation.buffer);
      if (move == nullptr || !listed.holds(relocation.offset)) continue;
      hip::write_address(record, relocation, move->to);
      result = Rewrite::kChanged;
    }
    return result;
  }
};

}  // namespace

std::vector<Fault> packing_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<WordPacker>("F05", "packs every argument as 8 bytes", {kA4}),
          patcher_fault<FixedTables>("F06", "stops at a fixed number of arguments", {kA2})};
}

}  // namespace fuzz
