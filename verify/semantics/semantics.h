// docs/semantics.md: for every function of graphs and of stream capture that HIP's header declares, whether the model
// has it, whether generated programs call it, where its rules come from and which findings are about it; the states in
// which an operation can meet its object; and the errors for which releases answer another status.
//
// All of it is computed: from the header, the groups in hip/api/functions.inc, the model's table, programs that are
// run, the rows of documented errors and the catalogue of quirks. A function of the header without a group is a flaw,
// and so is a function that no test and no row names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace verify {

struct SemanticsInput {
  std::filesystem::path header;  // hip_runtime_api.h
  std::filesystem::path tests;   // the folder of the tests' sources
  std::size_t programs = 400;    // generated programs for each strategy
};

struct SemanticsPage {
  std::string text;
  std::vector<std::string> flaws;  // functions that are not classified or not pinned, for people
};

[[nodiscard]] SemanticsPage semantics_page(const SemanticsInput& input);

// The functions of graphs, stream capture, user objects and stream memory operations that a header declares, in its
// order.
[[nodiscard]] std::vector<std::string> graph_functions_of(const std::string& header);

}  // namespace verify
