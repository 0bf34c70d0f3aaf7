// Which findings count as one bug: those with the same property, node types, setters and first divergence.
//
// A campaign keeps one finding for each cause. One bug can have many causes, for example one for each buffer or status
// at which it shows. The common part of the shrunk programs names the bug, in the report and in a campaign's memory.
// Two bugs may share a name: only a person who reads both programs can tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/result.h"

namespace reports {

struct Bug {
  std::string property;
  std::vector<std::string> nodes;     // "kernel", in the order of the alphabet
  std::vector<std::string> setters;   // "patch": the commands that change a graph after it is made
  std::string divergence;             // "argument at #", or "-"
  std::vector<std::size_t> findings;  // indices; the fewest commands first
  std::uint64_t seen = 0;             // number of programs that showed one of the findings

  // "A2; kernel memcpy; patch; argument at #"
  [[nodiscard]] std::string name() const;
};

// The bug that a finding belongs to; `findings` stays empty.
[[nodiscard]] Bug bug_of(const verify::Finding& finding);

// All bugs of the findings, in the order in which the first finding of each was found.
[[nodiscard]] std::vector<Bug> bugs_of(const std::vector<verify::Finding>& findings);

// The text before the first parenthesis, with '#' for each number, because numbers differ from program to program.
[[nodiscard]] std::string without_numbers(std::string_view text);

}  // namespace reports
