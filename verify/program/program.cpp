// Copying, comparing and destroying programs; the contract is in the header.
#include "verify/program/program.h"

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

}  // namespace verify
