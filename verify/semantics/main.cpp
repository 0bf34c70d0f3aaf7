// hgcheck-semantics: writes docs/semantics.md, or reports its flaws.
//
//   hgcheck-semantics [--header FILE] [--tests FOLDER] [--compare FILE]
//
// The page goes to stdout; with --compare it is compared with a file instead. Status 1 when a function is not
// classified or not pinned, or when the file differs from the page.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "verify/semantics/semantics.h"

int main(int argc, char** argv) {
  CLI::App app("Writes docs/semantics.md");
  verify::SemanticsInput input{HGCHECK_HIP_HEADER, HGCHECK_TESTS};
  std::string compare;
  app.add_option("--header", input.header, "hip_runtime_api.h");
  app.add_option("--tests", input.tests, "The folder of the tests' sources");
  app.add_option("--compare", compare, "Hold the page against this file");
  CLI11_PARSE(app, argc, argv);
  const verify::SemanticsPage page = verify::semantics_page(input);
  for (const std::string& flaw : page.flaws) std::cerr << flaw << "\n";
  if (compare.empty()) {
    std::cout << page.text;
    return page.flaws.empty() ? 0 : 1;
  }
  std::ifstream file(compare);
  std::stringstream is;
  is << file.rdbuf();
  if (is.str() == page.text) return page.flaws.empty() ? 0 : 1;
  std::cerr << compare << " is out of date; remedy: build/bin/hgcheck-semantics > docs/semantics.md\n";
  return 1;
}
