// Copying, comparing and destroying programs, and their foreign kernels; the contract is in the header.
#include "verify/program/program.h"

#include <algorithm>

namespace verify {

bool Step::operator==(const Step& other) const {
  return command == other.command && repeat == other.repeat;
}

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;
bool Program::operator==(const Program&) const = default;

std::vector<const KernelSpec*> foreign_kernels_of(const Command& command) {
  const NodeParams* params = nullptr;
  if (const auto* add = std::get_if<AddNode>(&command)) params = &add->params;
  if (const auto* set = std::get_if<SetNode>(&command)) params = &set->params;
  if (const auto* enqueue = std::get_if<Enqueue>(&command)) params = &enqueue->params;
  const auto* kernel = params == nullptr ? nullptr : std::get_if<KernelParams>(params);
  if (kernel == nullptr || kernel->kernel == nullptr || kernel->kernel->object == nullptr) return {};
  return {kernel->kernel};
}

std::vector<const KernelSpec*> foreign_kernels_of(const Program& program) {
  std::vector<const KernelSpec*> kernels;
  for (const Step& step : program.steps) {
    for (const KernelSpec* kernel : foreign_kernels_of(step.command)) {
      if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
    }
  }
  return kernels;
}

std::vector<const CodeObject*> code_objects_of(const Program& program) {
  std::vector<const CodeObject*> objects;
  const auto add = [&objects](const CodeObject* object) {
    if (std::ranges::find(objects, object) == objects.end()) objects.push_back(object);
  };
  for (const Step& step : program.steps) {
    for (const KernelSpec* kernel : foreign_kernels_of(step.command)) add(kernel->object);
    const auto* buffer = std::get_if<DeclareBuffer>(&step.command);
    if (buffer != nullptr && buffer->variable) add(buffer->variable->object);
  }
  return objects;
}

}  // namespace verify
