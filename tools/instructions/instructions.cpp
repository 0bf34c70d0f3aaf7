// hgcheck-instructions FILE-OR-FOLDER...: the instructions of code objects that the software gfx942 does not know.
//
// Folders are read with all folders inside; links inside of them are not followed, so that no file is counted twice.
// Ends with 0 when all are known, with 1 when some are not, with 2 when nothing for gfx942 was found or something could
// not be read.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "model/gfx942/instruction_count.h"

namespace {

namespace fs = std::filesystem;

void fail(const fs::path& path, const std::string& why, gfx942::InstructionCount& count) {
  std::fprintf(stderr, "%s: %s\n", path.c_str(), why.c_str());
  count.errors.push_back(why);
}

// All bytes of a file; none when it cannot be read to its end.
std::optional<std::vector<std::byte>> bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return std::nullopt;
  std::vector<std::byte> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file || static_cast<std::uintmax_t>(file.gcount()) != size) return std::nullopt;
  return bytes;
}

void count_file(const fs::path& path, gfx942::InstructionCount& count) {
  const std::optional<std::vector<std::byte>> bytes = bytes_of(path);
  if (!bytes) return fail(path, "cannot be read", count);
  const std::size_t errors = count.errors.size();
  gfx942::count_instructions(*bytes, count);
  for (std::size_t i = errors; i < count.errors.size(); ++i) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), count.errors[i].c_str());
  }
}

// Counts the files of a folder, and adds the folders in it to `folders`.
void count_folder(const fs::path& path, std::vector<fs::path>& folders, gfx942::InstructionCount& count) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  while (!error && entries != fs::directory_iterator()) {
    std::error_code unknown;
    const fs::file_status status = entries->symlink_status(unknown);
    if (unknown) fail(entries->path(), unknown.message(), count);
    if (fs::is_directory(status)) folders.push_back(entries->path());
    if (fs::is_regular_file(status)) count_file(entries->path(), count);
    entries.increment(error);
  }
  if (error) fail(path, error.message(), count);
}

void count_path(const fs::path& path, gfx942::InstructionCount& count) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status)) return count_file(path, count);
  if (!fs::is_directory(status)) return fail(path, error ? error.message() : "is neither a file nor a folder", count);
  for (std::vector<fs::path> folders{path}; !folders.empty();) {
    const fs::path next = folders.back();
    folders.pop_back();
    count_folder(next, folders, count);
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
