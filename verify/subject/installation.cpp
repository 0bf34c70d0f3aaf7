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
constexpr const char* kFolderMark = "hgcheck-folder";

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

hip::Error missing(const fs::path& path, std::string_view remedy) {
  return {kMissing, fmt::format("{} is missing; remedy: {}", path.string(), remedy)};
}

struct Places {
  fs::path programs, agent, capsule;
  std::string_view capsule_remedy, build_remedy;
};

// A folder that tools/pack made has the mark at its top and all that it brings beside this program. Every other program
// belongs to a build, whose folders CMake names.
Places find_places() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  if (!error && there(folder / kFolderMark)) {
    constexpr std::string_view kPack = "a folder that './dev pack --with-capsule' made";
    return {folder / "bin", folder / "lib/agent", folder / "capsule", kPack, kPack};
  }
  return {HGCHECK_BIN_DIR, HGCHECK_AGENT_DIR, HGCHECK_CAPSULE_DIR, "./dev setup fetches it (docs/capsule.md)",
          "./dev build makes it once the capsule is there"};
}

const Places& places() {
  static const Places found = find_places();
  return found;
}

fs::path subject_program(std::string_view release) {
  return places().programs / fmt::format("hgcheck-subject-{}", release);
}

// The runtime's own library: libamdhip64.so.7 of release 7.2.
std::string library_name(std::string_view release) {
  return fmt::format("libamdhip64.so.{}", release.substr(0, release.find('.')));
}

hip::Result<std::vector<std::string>> soft_command(std::string_view release) {
  const fs::path libraries = places().capsule / release / kLibraries;
  const fs::path& agent = places().agent;
  for (const fs::path& needed : {libraries / kLoader, libraries / library_name(release)}) {
    if (!there(needed)) return missing(needed, places().capsule_remedy);
  }
  for (const fs::path& needed : {agent / "libhsa-runtime64.so.1", subject_program(release)}) {
    if (!there(needed)) return missing(needed, places().build_remedy);
  }
  return std::vector<std::string>{
      (libraries / kLoader).string(),    "--library-path", agent.string() + ":" + libraries.string(),
      subject_program(release).string(), "--library",      (libraries / library_name(release)).string()};
}

hip::Result<std::vector<std::string>> hardware_command() {
  const fs::path program = places().programs / "hgcheck-subject";
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
