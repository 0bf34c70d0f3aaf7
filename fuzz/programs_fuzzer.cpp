// libFuzzer target: the parser of programs, the printer and the validator, on any bytes.
//
// Holds: parsing never crashes; a parsed program prints to text that parses and prints to the same text; any program
// can be validated; a program without its invalid commands is valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/shrink/shrinker.h"

namespace {

// Validation applies every repetition of a move and every round of a block; a fuzzer would ask for millions.
constexpr std::uint64_t kMaxRepeatsInAll = 10000;

bool modest(const verify::Program& program) {
  std::uint64_t repeats = 0;
  for (const verify::Step& step : program.steps) repeats += step.repeat;
  return repeats <= kMaxRepeatsInAll;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::variant<verify::Program, verify::ParseError> parsed = verify::parse_program(text);
  if (const auto* error = std::get_if<verify::ParseError>(&parsed)) {
    if (error->line == 0 || error->column == 0 || error->message.empty()) std::abort();
    return 0;
  }
  const verify::Program& program = std::get<verify::Program>(parsed);
  const std::string printed = verify::print_program(program);
  std::variant<verify::Program, verify::ParseError> again = verify::parse_program(printed);
  if (!std::holds_alternative<verify::Program>(again)) std::abort();
  if (verify::print_program(std::get<verify::Program>(again)) != printed) std::abort();
  if (!modest(program)) return 0;
  static_cast<void>(verify::validate(program));
  if (verify::validate(verify::drop_invalid(program))) std::abort();
  return 0;
}
