#include "verify/export/freeze.h"

namespace verify {
namespace {

constexpr std::uint64_t kFrozenBase = 0x700000000000;

bool freeze(ArgumentValue& value, const FieldSpec& field) {
  if (value.kind != ArgumentValue::Kind::kAddressBits) return false;
  value.kind = ArgumentValue::Kind::kNumber;
  value.number = kFrozenBase + (std::uint64_t{value.ref.buffer} << 32) + static_cast<std::uint64_t>(value.ref.offset);
  if (field.size < 8) value.number &= (std::uint64_t{1} << (8 * field.size)) - 1;
  value.ref = {};
  return true;
}

bool freeze(NodeParams& params) {
  auto* kernel = std::get_if<KernelParams>(&params);
  bool found = false;
  for (std::size_t i = 0; kernel != nullptr && i < kernel->arguments.size(); ++i) {
    found = freeze(kernel->arguments[i], kernel->kernel->fields[i]) || found;
  }
  return found;
}

}  // namespace

bool freeze_addresses(Program& program) {
  bool found = false;
  for (Step& step : program.steps) {
    if (auto* add = std::get_if<AddNode>(&step.command)) found = freeze(add->params) || found;
    if (auto* set = std::get_if<SetNode>(&step.command)) found = freeze(set->params) || found;
    if (auto* work = std::get_if<Enqueue>(&step.command)) found = freeze(work->params) || found;
  }
  return found;
}

}  // namespace verify
