// Programs that tests of the export write, and the reproducers of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "../programs.h"
#include "verify/export/reproducer.h"

// Returns the program. If it is not valid, the test fails and the program has no commands.
inline verify::Program program_for_export(const std::string& commands) {
  verify::Program program = verify::program_of("placement native\n" + commands);
  const std::string flaw = verify::flaw(program);
  EXPECT_EQ(flaw, "") << commands;
  return flaw.empty() ? program : verify::Program{};
}

inline verify::Reproducer reproducer_of(verify::Program program) {
  verify::Reproducer reproducer;
  reproducer.name = "sample";
  reproducer.statuses.resize(program.steps.size());
  reproducer.program = std::move(program);
  return reproducer;
}

// How often the text has the part.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
