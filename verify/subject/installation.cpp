#include "verify/subject/installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hip/releases/releases.h"

namespace verify {

namespace {

namespace fs = std::filesystem;

constexpr int kMissing = 1;
constexpr std::string_view kSoft = "rocm-soft";
constexpr const char* kLibraries = "usr/lib/x86_64-linux-gnu";
constexpr const char* kLoader = "ld-linux-x86-64.so.2";
constexpr const char* kDriver = "/dev/kfd";

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

hip::Error missing(const fs::path& path, std::string_view remedy) {
  return {kMissing, fmt::format("{} is missing; remedy: {}", path.string(), remedy)};
}

fs::path subject_program(std::string_view release) {
  return fs::path(HGCHECK_BIN_DIR) / fmt::format("hgcheck-subject-{}", release);
}

// The runtime's own library: libamdhip64.so.7 of release 7.2.
std::string library_name(std::string_view release) {
  return fmt::format("libamdhip64.so.{}", release.substr(0, release.find('.')));
}

hip::Result<std::vector<std::string>> soft_command(std::string_view release) {
  const fs::path libraries = fs::path(HGCHECK_CAPSULE_DIR) / release / kLibraries;
  const fs::path agent = HGCHECK_AGENT_DIR;
  constexpr std::string_view kSetup = "./dev setup fetches it (docs/capsule.md)";
  for (const fs::path& needed : {libraries / kLoader, libraries / library_name(release)}) {
    if (!there(needed)) return missing(needed, kSetup);
  }
  for (const fs::path& needed : {agent / "libhsa-runtime64.so.1", subject_program(release)}) {
    if (!there(needed)) return missing(needed, "./dev build makes it once the capsule is there");
  }
  return std::vector<std::string>{
      (libraries / kLoader).string(),    "--library-path", agent.string() + ":" + libraries.string(),
      subject_program(release).string(), "--library",      (libraries / library_name(release)).string()};
}

hip::Result<std::vector<std::string>> hardware_command() {
  const fs::path program = fs::path(HGCHECK_BIN_DIR) / "hgcheck-subject";
  if (!there(kDriver)) {
    return missing(kDriver, "a machine with an AMD GPU and its driver; --subject rocm-soft needs none");
  }
  if (!there(program)) return missing(program, "./dev build");
  std::string library = "libamdhip64.so";
  for (const char* folder : {"/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"}) {
    const fs::path candidate = fs::path(folder) / library;
    if (!there(candidate)) continue;
    library = candidate.string();
    break;
  }
  return std::vector<std::string>{program.string(), "--library", library};
}

}  // namespace

hip::Result<std::vector<std::string>> subject_command(std::string_view runtime) {
  if (runtime == "rocm") return hardware_command();
  if (runtime == kSoft) return soft_command(hip::kReleaseNames.front());
  const std::string_view release = runtime.substr(std::min(runtime.size(), kSoft.size() + 1));
  if (runtime.starts_with(kSoft) && hip::find_release(release)) {
    return soft_command(release);
  }
  return hip::Error{kMissing, fmt::format("there is no runtime '{}': rocm-soft has the releases {}", runtime,
                                          fmt::join(hip::kReleaseNames, ", "))};
}

}  // namespace verify
