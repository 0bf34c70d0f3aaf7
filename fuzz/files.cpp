#include "fuzz/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>

#include "fuzz/shell_words.h"
#include "hip/recorder/hash.h"
#include "verify/execute/code_objects.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr std::uintmax_t kMaxProgramBytes = 64 << 20;

std::string why() {
  return std::strerror(errno);
}

std::filesystem::path code_object_path(const std::string& program, const std::string& id) {
  return std::filesystem::path(program).parent_path() / (id + ".co");
}

// An error in a code object names its file. The parser of the program reports a code object that is missing.
hip::Status load_code_objects(const std::string& program, const std::string& text) {
  for (const std::string& id : verify::code_objects_named_in(text)) {
    const std::filesystem::path path = code_object_path(program, id);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const std::string elf = bytes.str();
    const auto span = std::as_bytes(std::span(elf.data(), elf.size()));
    if (!file || fmt::format("{:016x}", hip::recorder::hash_of(span)) != id) {
      return hip::Error{1, fmt::format("{} is not the code object that its name says (remedy: take the one that was "
                                       "recorded with {})",
                                       path.string(), program)};
    }
    const hip::Status read = verify::read_code_object(id, span);
    if (!read) return hip::Error{1, fmt::format("{}: {}", path.string(), read.error().message)};
  }
  return {};
}

}  // namespace

hip::Status write_code_objects(const std::string& path, const std::string& text) {
  if (path == "-") return {};
  for (const std::string& id : verify::code_objects_named_in(text)) {
    const verify::CodeObject* object = verify::find_code_object(id);
    const std::filesystem::path target = code_object_path(path, id);
    std::error_code error;
    if (object == nullptr || std::filesystem::exists(target, error)) continue;
    const std::string bytes(reinterpret_cast<const char*>(object->elf.data()), object->elf.size());
    if (hip::Status written = write_text(target.string(), bytes); !written) return written;
  }
  return {};
}

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
  if (const hip::Status loaded = load_code_objects(path, text.str()); !loaded) return loaded.error();
  std::variant<verify::Program, verify::ParseError> parsed = verify::parse_program(text.str());
  if (const auto* failure = std::get_if<verify::ParseError>(&parsed)) return hip::Error{1, failure->text(path)};
  verify::Program program = std::get<verify::Program>(std::move(parsed));
  if (const std::optional<verify::Invalid> invalid = verify::validate(program)) {
    return hip::Error{1, fmt::format("{}:{}: '{}' may not stand here: {}", path, invalid->line,
                                     verify::print_command(program.steps[invalid->step].command), invalid->reason)};
  }
  return program;
}

std::string this_program() {
  namespace fs = std::filesystem;
  constexpr const char* kName = "hgcheck";
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return kName;
  const fs::path near = self.lexically_relative(fs::current_path(error));
  if (!near.empty() && *near.begin() != "..") return shell_word((near.has_parent_path() ? near : "." / near).string());
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path found = fs::path(folder) / kName;
    if (access(found.c_str(), X_OK) != 0) continue;  // the first that a shell finds decides
    if (fs::equivalent(found, self, error)) return kName;
    break;
  }
  return shell_word(self.string());
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
