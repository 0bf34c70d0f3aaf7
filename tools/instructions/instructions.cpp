// hgcheck-instructions FILE-OR-FOLDER...: the instructions of code objects that the software gfx942 does not know.
//
// Ends with 0 when all are known, with 1 when some are not, with 2 when nothing for gfx942 was found or something could
// not be read.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/gfx942/instruction_count.h"

namespace {

void count_file(const std::filesystem::path& path, gfx942::InstructionCount& count) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t errors = count.errors.size();
  if (!file && text.empty()) count.errors.emplace_back("cannot be read");
  gfx942::count_instructions(std::as_bytes(std::span(text)), count);
  for (std::size_t i = errors; i < count.errors.size(); ++i) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), count.errors[i].c_str());
  }
}

void count_path(const std::filesystem::path& path, gfx942::InstructionCount& count) {
  if (!std::filesystem::is_directory(path)) return count_file(path, count);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) count_file(entry.path(), count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: hgcheck-instructions FILE-OR-FOLDER...\n", stderr);
    return 2;
  }
  gfx942::InstructionCount count;
  for (int i = 1; i < argc; ++i) count_path(argv[i], count);
  std::fputs(gfx942::describe(count).c_str(), stdout);
  if (!count.errors.empty() || count.code_objects == 0) return 2;
  return count.unknown.empty() ? 0 : 1;
}
