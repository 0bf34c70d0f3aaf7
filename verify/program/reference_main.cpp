// hgcheck-reference: prints docs/commands.md, or compares a file with it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "verify/program/reference.h"

int main(int argc, char** argv) {
  CLI::App app("Prints the reference page of the program language as Markdown.");
  std::string compare;
  app.add_option("--compare", compare, "exit with 1 where FILE is another page")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  const std::string page = verify::print_reference();
  if (compare.empty()) {
    std::cout << page;
    return 0;
  }
  std::ifstream file(compare, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str() == page) return 0;
  fmt::print(stderr, "{} is not the page that the commands make\n  remedy: build/bin/hgcheck-reference > {}\n", compare,
             compare);
  return 1;
}
