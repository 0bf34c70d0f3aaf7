// The text and the rules of batches; the contract is in the header. The comparisons are those of HIP's header
// (hipStreamWaitValue32). A 32-bit value is compared with 32 bits.
#include "verify/commands/nodes/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace verify {
namespace {

constexpr std::array<std::string_view, 4> kComparisons = {"geq", "eq", "and", "nor"};

// Takes the part of `rest` before the next separator.
Token part_of(Token& rest, char separator) {
  const std::size_t end = rest.text.find(separator);
  const Token part = rest.part(0, end);
  rest = end == std::string_view::npos ? rest.part(rest.text.size()) : rest.part(end + 1);
  return part;
}

WaitComparison parse_comparison(Line& line, Token token) {
  const auto* const found = std::find(kComparisons.begin(), kComparisons.end(), token.text);
  if (found != kComparisons.end()) return static_cast<WaitComparison>(found - kComparisons.begin());
  line.fail(token.column, "a wait compares by geq, eq, and or nor: wait32:b0+0:geq:7");
  return WaitComparison::kAtLeast;
}

MemoryOperation parse_operation(Line& line, Token rest) {
  MemoryOperation operation;
  const Token word = part_of(rest, ':');
  operation.waits = word.text.starts_with("wait");
  operation.bytes = word.text.ends_with("64") ? 8 : 4;
  if (word.text != "write32" && word.text != "write64" && word.text != "wait32" && word.text != "wait64") {
    line.fail(word.column, "an operation is write32:b0+0:7, write64, wait32:b0+0:geq:7 or wait64");
    return operation;
  }
  operation.ref = parse_ref(line, part_of(rest, ':'));
  if (operation.waits) operation.comparison = parse_comparison(line, part_of(rest, ':'));
  operation.value = parse_number(line, rest, operation.bytes == 8 ? kAnyNumber : 0xffffffffU, "the value");
  return operation;
}

bool is_of_same_word(const MemoryOperation& a, const MemoryOperation& b) {
  return a.ref == b.ref && a.bytes == b.bytes;
}

}  // namespace

void parse_batch_keys(Attributes& attributes, BatchParams& batch) {
  Token rest;
  if (!attributes.take("do", rest)) return attributes.missing("do");
  if (rest.text.ends_with(',')) return attributes.line().fail(rest.column, "an operation is missing behind the comma");
  do {
    batch.operations.push_back(parse_operation(attributes.line(), part_of(rest, ',')));
  } while (!rest.text.empty());
}

std::string print_batch(const BatchParams& batch) {
  std::string text;
  for (const MemoryOperation& operation : batch.operations) {
    text += fmt::format("{}{}{}:{}:", text.empty() ? "" : ",", operation.waits ? "wait" : "write", operation.bytes * 8,
                        print_ref(operation.ref));
    if (operation.waits) text += fmt::format("{}:", kComparisons[static_cast<std::size_t>(operation.comparison)]);
    text += fmt::format("{}", operation.value);
  }
  return text;
}

void simplify_batch(const BatchParams& batch, const std::function<void(const BatchParams&)>& emit) {
  const std::size_t count = batch.operations.size();
  for (std::size_t i = 0; i < count && count > 1; ++i) {
    BatchParams fewer = batch;
    const MemoryOperation gone = batch.operations[i];
    fewer.operations.erase(fewer.operations.begin() + static_cast<std::ptrdiff_t>(i));
    // No write, no wait for it.
    if (!gone.waits)
      std::erase_if(fewer.operations, [&](const auto& o) { return o.waits && is_of_same_word(o, gone); });
    if (!fewer.operations.empty()) emit(fewer);
  }
  for (std::size_t i = 0; i < count; ++i) {
    BatchParams changed = batch;
    MemoryOperation& operation = changed.operations[i];
    for (const std::uint64_t value : smaller_values(operation.value, 0)) {
      operation.value = value;
      emit(changed);
    }
    changed = batch;
    for (const BufferRef& ref : simpler_refs(batch.operations[i].ref)) {
      for (MemoryOperation& each : changed.operations) {
        if (is_of_same_word(each, batch.operations[i])) each.ref = ref;
      }
      emit(changed);
      changed = batch;
    }
  }
}

std::vector<std::string> batch_feature_names() {
  return {"write of 32 bits", "write of 64 bits", "wait for a value"};
}

void count_batch_features(const BatchParams& batch, const CountFeature& add) {
  for (const MemoryOperation& operation : batch.operations) {
    add(operation.waits ? "wait for a value" : operation.bytes == 8 ? "write of 64 bits" : "write of 32 bits");
  }
}

}  // namespace verify
