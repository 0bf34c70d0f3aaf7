// F01 and F02: patchers that find pointers by looking at values.
//
// The authors believed: a patcher need not be told which arguments are pointers, because no value but a pointer into a
// buffer of the graph falls into the range of that buffer. They are careful about everything else: slices and end
// pointers are found, structs are searched word by word, and for a word that two buffers could own (one past the end of
// the first is the base of the second) they do not guess: the graph is recorded again.
//
// The mistake: a scalar may have any value. A scalar that equals an address inside a moved buffer is changed, too. A1.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "fuzz/faults/flat_patcher.h"
#include "hip/kernel_parameters.h"

namespace fuzz {

namespace {

constexpr std::size_t kWord = sizeof(hip::DeviceAddress);

class ScanningPatcher : public FlatPatcher {
 public:
  explicit ScanningPatcher(const verify::PatchTarget& target)
      : FlatPatcher(target), bytes_(target.buffer_bytes.begin(), target.buffer_bytes.end()) {}

 protected:
  // A buffer of the graph: its address before and after the moves (equal for a buffer that stays).
  struct Range {
    hip::DeviceAddress from = 0, to = 0;
    std::uint64_t bytes = 0;
    hip::DeviceAddress reach = 0;  // the highest end of this one and all before it: freed buffers may overlap
  };
  using Ranges = std::vector<Range>;  // by `from`

  // Moves every word of the block that looks like an address.
  [[nodiscard]] virtual Rewrite scan(hip::KernelRecord& kernel, const Ranges& ranges) const = 0;

  static Rewrite carry_word(std::byte* word, const Ranges& ranges) {
    hip::DeviceAddress value = 0;
    std::memcpy(&value, word, kWord);
    const Rewrite result = carry(value, ranges);
    std::memcpy(word, &value, kWord);
    return result;
  }
  static Rewrite worse(Rewrite a, Rewrite b) { return std::max(a, b); }

 private:
  void begin(std::span<const hip::Move> moves) override { ranges_ = ranges_under(moves); }

  [[nodiscard]] Rewrite rewrite(hip::NodeIndex, std::span<const hip::Move>, hip::NodeRecord& record) const override {
    if (!ranges_) return Rewrite::kUnknown;
    if (auto* kernel = std::get_if<hip::KernelRecord>(&record)) return scan(*kernel, *ranges_);
    if (auto* copy = std::get_if<hip::CopyRecord>(&record)) {
      const Rewrite dst = carry_pointer(copy->params.dstPtr.ptr, *ranges_);
      return worse(dst, carry_pointer(copy->params.srcPtr.ptr, *ranges_));
    }
    if (auto* memset = std::get_if<hip::MemsetRecord>(&record)) return carry_pointer(memset->params.dst, *ranges_);
    return Rewrite::kUnchanged;
  }

  // The buffers that the graph's nodes name. Nothing when the size of one is unknown: it is newer than this patcher.
  [[nodiscard]] std::optional<Ranges> ranges_under(std::span<const hip::Move> moves) const {
    std::vector<bool> named(addresses().size());
    for (const HeldNode& node : nodes()) {
      for (const hip::Relocation& relocation : node.relocations) named[relocation.buffer] = true;
    }
    std::vector<hip::DeviceAddress> to(addresses().begin(), addresses().end());
    for (const hip::Move& move : moves) to[move.buffer] = move.to;
    Ranges ranges;
    for (hip::BufferIndex b = 0; b < named.size(); ++b) {
      if (!named[b]) continue;
      if (bytes_[b] == 0) return std::nullopt;
      ranges.push_back({addresses()[b], to[b], bytes_[b], 0});
    }
    std::ranges::sort(ranges, {}, &Range::from);
    hip::DeviceAddress reach = 0;
    for (Range& range : ranges) range.reach = reach = std::max(reach, range.from + range.bytes);
    return ranges;
  }

  static Rewrite carry(hip::DeviceAddress& value, const Ranges& ranges) {
    std::optional<hip::DeviceAddress> carried;
    auto range = std::upper_bound(ranges.begin(), ranges.end(), value,
                                  [](hip::DeviceAddress address, const Range& r) { return address < r.from; });
    while (range != ranges.begin() && std::prev(range)->reach >= value) {
      --range;
      if (value - range->from > range->bytes) continue;
      const hip::DeviceAddress there = value - range->from + range->to;
      if (carried && *carried != there) return Rewrite::kUnknown;
      carried = there;
    }
    if (!carried || *carried == value) return Rewrite::kUnchanged;
    value = *carried;
    return Rewrite::kChanged;
  }
  static Rewrite carry_pointer(void*& pointer, const Ranges& ranges) {
    hip::DeviceAddress value = reinterpret_cast<std::uintptr_t>(pointer);
    const Rewrite result = carry(value, ranges);
    pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(value));
    return result;
  }

  std::vector<std::uint64_t> bytes_;
  std::optional<Ranges> ranges_;  // of the present patch; nothing: they cannot be determined
};

// F01: scans argument by argument, as `kernelParams` lists them, and passes them that way.
class KernelParamsScanner final : public ScanningPatcher {
  using ScanningPatcher::ScanningPatcher;

  [[nodiscard]] Rewrite scan(hip::KernelRecord& kernel, const Ranges& ranges) const override {
    if (kernel.slots.empty() && !kernel.arguments.empty()) return Rewrite::kUnknown;
    Rewrite result = Rewrite::kUnchanged;
    for (const hip::ArgumentSlot& slot : kernel.slots) {
      for (std::uint32_t at = 0; at + kWord <= slot.size; at += kWord) {
        result = worse(result, carry_word(kernel.arguments.data() + slot.offset + at, ranges));
      }
    }
    kernel.style = hip::ArgumentStyle::kParams;
    return result;
  }
  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    auto* kernel = std::get_if<hip::KernelRecord>(&record);
    if (kernel == nullptr) return FlatPatcher::set(node, record);
    const hip::KernelParameters params(*kernel, hip::ArgumentStyle::kParams);
    return exec() != nullptr ? api().hipGraphExecKernelNodeSetParams(exec(), node, params.get())
                             : api().hipGraphKernelNodeSetParams(node, params.get());
  }
};

// F02: scans the packed block, word by word.
class PackedBlockScanner final : public ScanningPatcher {
  using ScanningPatcher::ScanningPatcher;

  [[nodiscard]] Rewrite scan(hip::KernelRecord& kernel, const Ranges& ranges) const override {
    Rewrite result = Rewrite::kUnchanged;
    for (std::size_t at = 0; at + kWord <= kernel.arguments.size(); at += kWord) {
      result = worse(result, carry_word(kernel.arguments.data() + at, ranges));
    }
    return result;
  }
};

}  // namespace

std::vector<Fault> value_scan_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<KernelParamsScanner>("F01", "scans kernelParams for values equal to an old address", {kA1}),
          patcher_fault<PackedBlockScanner>("F02", "scans packed argument blocks word by word and matches raw values",
                                            {kA1})};
}

}  // namespace fuzz
