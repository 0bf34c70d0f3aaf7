// libFuzzer target: the generators of the campaign, driven by bytes, with the patched model judged by the rebuilt one.
//
// Holds: every program that bytes lead to is valid, and the subject agrees with its baseline. A divergence prints the
// program and aborts, so that libFuzzer keeps the bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/finding.h"
#include "verify/generate/generator.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

static fuzz::Setup& setup() {
  static const std::unique_ptr<fuzz::Setup> kept = [] {
    hip::Result<std::unique_ptr<fuzz::Setup>> made = fuzz::Setup::make({});
    if (!made) std::abort();
    return std::move(made).value();
  }();
  return *kept;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  verify::ByteChoices choices({data + 1, size - 1});
  verify::GeneratorOptions options;
  options.size = 12 + data[0] % 32;
  const verify::Program program = verify::generate_program(choices, options);
  if (verify::validate(program)) std::abort();
  const verify::Judgement judgement = setup().judge().judge(program, fuzz::campaign_checks(data[0]));
  if (judgement.verdict != verify::VerdictKind::kDiverge && judgement.verdict != verify::VerdictKind::kHarnessError)
    return 0;
  std::fprintf(stderr, "%s: %s\n%s", fuzz::cause_of(judgement).c_str(), judgement.reason.c_str(),
               verify::print_program(program).c_str());
  std::abort();
}
