#include "reports/report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "reports/html.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"
#include "reports/sarif.h"

namespace reports {
namespace {

namespace fs = std::filesystem;

// The number of hipErrorOperatingSystem, without including HIP's headers.
constexpr int kOperatingSystem = 304;
constexpr mode_t kFileMode = 0644;

hip::Error failure(std::string_view what, const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return hip::Error{kOperatingSystem, fmt::format("cannot {} '{}': {}; remedy: {}", what, path.string(),
                                                  std::generic_category().message(error),
                                                  is_full ? "free some space, or name another folder with --report"
                                                          : "name a folder that can be written with --report")};
}

// The errno of the first call that failed, or 0. The data is on the disk before the file gets its name.
int write_whole(const fs::path& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (file < 0) return errno;
  int error = 0;
  while (error == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && ::fsync(file) != 0 && errno != EINVAL) error = errno;  // EINVAL: the file system has no fsync
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

struct File {
  fs::path path;
  fs::path temporary;
};

// Removes the remaining temporary files in its destructor.
struct Temporaries {
  std::vector<File> files;
  Temporaries() = default;
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;
  ~Temporaries() {
    for (const File& file : files) {
      std::error_code ignored;  // the first error is the error to report
      fs::remove(file.temporary, ignored);
    }
  }
};

using NamedText = std::pair<const char*, std::string>;

hip::Status write_files(std::span<const NamedText> texts, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure("make the report folder", folder, error.value());
  Temporaries temporaries;
  for (const auto& [name, text] : texts) {
    const fs::path temporary = folder / fmt::format(".{}.{}", name, ::getpid());
    temporaries.files.push_back({folder / name, temporary});
    if (const int failed = write_whole(temporary, text); failed != 0) return failure("write", folder / name, failed);
  }
  for (const File& file : temporaries.files) {
    fs::rename(file.temporary, file.path, error);
    if (error) return failure("write", file.path, error.value());
  }
  return {};
}

}  // namespace

hip::Status write_report(const verify::CampaignResult& result, const fs::path& folder,
                         const verify::CampaignResult* earlier) {
  std::error_code ignored;  // a missing folder has no races.html
  const bool has_races = fs::exists(folder / "races.html", ignored);
  const NamedText texts[] = {{"index.html", to_html(result, earlier, has_races)},
                             {"report.json", to_json(result).dump(2) + "\n"},
                             {"junit.xml", to_junit(result)},
                             {"report.sarif", to_sarif(result).dump(2) + "\n"},
                             {"summary.md", to_markdown(result)}};
  return write_files(texts, folder);
}

hip::Status write_report(const BenchmarkResult& result, const fs::path& folder, const BenchmarkResult* earlier,
                         fs::path& page) {
  // The name comes out of a file, so only the last part of a path in it is used.
  const fs::path program = fs::path(result.program).filename();
  const std::string name = (program.empty() ? "benchmarks" : program.string()) + ".html";
  page = folder / name;
  const NamedText text{name.c_str(), to_html(result, earlier)};
  return write_files({&text, 1}, folder);
}

hip::Status write_report(const verify::RaceResult& result, const fs::path& folder) {
  const NamedText page{"races.html", to_html(result)};
  return write_files({&page, 1}, folder);
}

}  // namespace reports
