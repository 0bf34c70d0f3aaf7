// F03 and F04: patchers that know where the pointers are, and decide by the values of the pointers.
//
// F03. The author believed: an argument is a buffer, so a pointer that has to change equals the base of its buffer
// (the caller derives any other value, and has to change it). The mistake: slices and end pointers are pointers into
// the buffer too, and they keep their old addresses. A2.
//
// F04. The author believed: a patcher carries out a list of moves one move after another. The mistake: when buffer a
// moves to the old place of buffer b, the move of b takes the pointers to a along. Swaps, cycles and chains come out
// wrong. The moves of one patch happen all at once. A3.
#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class ExactBases final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] Rewrite rewrite(hip::NodeIndex node, std::span<const hip::Move> moves,
                                hip::NodeRecord& record) const override {
    Rewrite result = Rewrite::kUnchanged;
    for (const hip::Relocation& field : nodes()[node].relocations) {
      const hip::Move* move = move_of(moves, field.buffer);
      if (move == nullptr || address_in(record, field) != move->from) continue;
      hip::write_address(record, {field.field, field.offset, field.buffer, 0}, move->to);
      result = Rewrite::kChanged;
    }
    return result;
  }
};

class OneAfterAnother final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] Rewrite rewrite(hip::NodeIndex node, std::span<const hip::Move> moves,
                                hip::NodeRecord& record) const override {
    Rewrite result = Rewrite::kUnchanged;
    for (const hip::Move& move : moves) {
      for (const hip::Relocation& field : nodes()[node].relocations) {
        const hip::DeviceAddress base = address_in(record, field) - static_cast<hip::DeviceAddress>(field.addend);
        if (base != move.from) continue;
        hip::write_address(record, field, move.to);
        result = Rewrite::kChanged;
      }
    }
    return result;
  }
};

}  // namespace

std::vector<Fault> address_match_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<ExactBases>("F03", "matches exact bases only: slices stay stale", {kA2}),
          patcher_fault<OneAfterAnother>("F04", "applies moves one after another: swaps and cycles chain", {kA3})};
}

}  // namespace fuzz
