// `hgcheck race`, and race files that are given to other commands: both start hgcheck-race (fuzz/race), which stands
// beside this program. Only hgcheck-race is compiled for the exploration of schedules.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "fuzz/commands.h"

namespace fuzz {

// Whether the second line that is no comment begins with "race".
bool is_race_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string word;
  bool header = false;
  while (file >> word) {
    if (word.front() == '#') {
      std::getline(file, word);
      continue;
    }
    if (header) return word == "race";
    if (word != "hgcheck-program" || !(file >> word) || word != "1") return false;
    header = true;
  }
  return false;
}

int run_race_program(const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "hgcheck-race").string();
  std::vector<char*> argv;
  std::string name = program;
  argv.push_back(name.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::cout << std::flush;
  if (!error) execv(program.c_str(), argv.data());
  std::cerr << fmt::format(
      "hgcheck: {} cannot be started: {}\n  remedy: ./dev build hgcheck-race (needs HIP's headers)\n", program,
      error ? error.message() : std::strerror(errno));
  return kUsage;
}

}  // namespace fuzz
