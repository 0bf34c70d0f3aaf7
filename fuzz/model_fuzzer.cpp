// libFuzzer target: programs as text, changed by a mutator that knows their structure. The patched model is judged by
// the rebuilt model.
//
// Holds: the subject agrees with its baseline on every program. Inputs are programs in their text form, so its corpus
// can be used with `hgcheck campaign --corpus`, and the reverse. Bytes that are no program are replaced by a generated
// program. A divergence prints the program and aborts.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/finding.h"
#include "verify/generate/mutate.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace {

constexpr std::uint32_t kGeneratedSize = 24;

fuzz::Setup& setup() {
  static const std::unique_ptr<fuzz::Setup> kept = [] {
    hip::Result<std::unique_ptr<fuzz::Setup>> made = fuzz::Setup::make({});
    if (!made) std::abort();
    return std::move(made).value();
  }();
  return *kept;
}

verify::GeneratorOptions options() {
  verify::GeneratorOptions made;
  made.size = kGeneratedSize;
  return made;
}

// The program that the bytes spell; for other bytes a program that is generated from them.
verify::Program program_in(const std::uint8_t* data, std::size_t size) {
  auto parsed = verify::parse_program({reinterpret_cast<const char*>(data), size});
  if (auto* program = std::get_if<verify::Program>(&parsed)) return verify::repair_program(*program, options());
  verify::ByteChoices choices({data, size});
  return verify::generate_program(choices, options());
}

// The text of `program`, or of as many of its first commands as there is room for.
std::size_t write(verify::Program program, std::uint8_t* data, std::size_t room) {
  std::string text = verify::print_program(program);
  while (text.size() > room && !program.steps.empty()) {
    program.steps.resize(program.steps.size() / 2);
    text = verify::print_program(program);
  }
  const std::size_t size = std::min(text.size(), room);
  std::memcpy(data, text.data(), size);
  return size;
}

std::size_t mutate(const verify::Program& base, const verify::Program& other, unsigned seed, std::uint8_t* out,
                   std::size_t room) {
  verify::RandomChoices choices{rc::Random(seed)};
  return write(verify::mutate_program(base, other, choices, options()), out, room);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  const verify::Program base = program_in(data, size);
  return mutate(base, base, seed, data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  return mutate(program_in(data1, size1), program_in(data2, size2), seed, out, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const verify::Program program = program_in(data, size);
  if (verify::validate(program)) std::abort();
  const verify::Judgement judgement = setup().judge().judge(program, fuzz::campaign_checks(size));
  if (judgement.verdict != verify::VerdictKind::kDiverge && judgement.verdict != verify::VerdictKind::kHarnessError)
    return 0;
  std::fprintf(stderr, "%s: %s\n%s", fuzz::cause_of(judgement).c_str(), judgement.reason.c_str(),
               verify::print_program(program).c_str());
  std::abort();
}
