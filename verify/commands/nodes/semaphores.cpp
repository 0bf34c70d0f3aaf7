#include "verify/commands/nodes/semaphores.h"

#include <fmt/format.h>

namespace verify {

void parse_semaphore_keys(Attributes& attributes, SemaphoreParams& params) {
  Token rest;
  if (!attributes.take("sem", rest)) return attributes.missing("sem");
  Line& line = attributes.line();
  while (true) {
    const std::size_t comma = rest.text.find(',');
    const Token one = rest.part(0, comma);
    const std::size_t colon = one.text.find(':');
    if (colon == std::string_view::npos) return line.fail(one.column, "a semaphore has a value: sem=0:150");
    const std::uint64_t semaphore = parse_number(line, one.part(0, colon), kMaxSemaphores - 1, "a semaphore");
    params.list.push_back(
        {static_cast<Id>(semaphore), parse_number(line, one.part(colon + 1), kAnyNumber, "the value")});
    if (comma == std::string_view::npos) return;
    rest = rest.part(comma + 1);
  }
}

std::string print_semaphores(const SemaphoreParams& params) {
  std::string text;
  for (const SemaphoreValue& each : params.list) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", each.semaphore, each.value);
  }
  return text;
}

void simplify_semaphores(const SemaphoreParams& params, bool signals,
                         const std::function<void(const SemaphoreParams&)>& emit) {
  for (std::size_t i = 0; i < params.list.size() && params.list.size() > 1; ++i) {
    SemaphoreParams fewer = params;
    fewer.list.erase(fewer.list.begin() + static_cast<std::ptrdiff_t>(i));
    emit(fewer);
  }
  for (std::size_t i = 0; i < params.list.size(); ++i) {
    SemaphoreParams changed = params;
    for (const std::uint64_t value : smaller_values(params.list[i].value, signals ? kSemaphoreStart : 0)) {
      changed.list[i].value = value;
      emit(changed);
    }
  }
}

}  // namespace verify
