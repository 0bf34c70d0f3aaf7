#include "fuzz/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr std::uintmax_t kMaxProgramBytes = 64 << 20;

std::string why() {
  return std::strerror(errno);
}

}  // namespace

hip::Result<verify::Program> load_program(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return hip::Error{1, fmt::format("{} is a folder; name a .program file", path)};
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxProgramBytes)
    return hip::Error{1, fmt::format("{} has {} bytes; a program has at most {}", path, size, kMaxProgramBytes)};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    return hip::Error{1,
                      fmt::format("{} cannot be read: {} (remedy: name a .program file that is there)", path, why())};
  std::variant<verify::Program, verify::ParseError> parsed = verify::parse_program(text.str());
  if (const auto* failure = std::get_if<verify::ParseError>(&parsed)) return hip::Error{1, failure->text(path)};
  verify::Program program = std::get<verify::Program>(std::move(parsed));
  if (const std::optional<verify::Invalid> invalid = verify::validate(program)) {
    return hip::Error{1, fmt::format("{}:{}: '{}' may not stand here: {}", path, invalid->line,
                                     verify::print_command(program.steps[invalid->step].command), invalid->reason)};
  }
  return program;
}

hip::Status write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) return hip::Error{1, "standard output cannot be written"};
    return {};
  }
  const std::string temporary = path + ".new";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return hip::Error{1, fmt::format("{} cannot be written: {}; name another file", path, why())};
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) return hip::Error{1, fmt::format("{} cannot be written: {}; name another file", path, error.message())};
  return {};
}

hip::Status writable(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return {};
  const std::string probe = path + ".new";
  errno = 0;
  {
    std::ofstream file(probe, std::ios::app);
    if (!file)
      return hip::Error{1, fmt::format("{}: {} cannot be written: {}; name another file", option, path, why())};
  }
  std::error_code ignored;
  std::filesystem::remove(probe, ignored);
  return {};
}

hip::Status usable_folder(const std::string& option, const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    return hip::Error{1, fmt::format("{}: {} cannot be used as a folder{}{}; name another one", option, path,
                                     error ? ": " : "", error ? error.message() : "")};
  }
  const std::filesystem::path probe = std::filesystem::path(path) / fmt::format(".hgcheck-{}", getpid());
  errno = 0;
  {
    std::ofstream file(probe);
    if (!file)
      return hip::Error{1,
                        fmt::format("{}: nothing can be written in {}: {}; name another folder", option, path, why())};
  }
  std::filesystem::remove(probe, error);
  return {};
}

}  // namespace fuzz
