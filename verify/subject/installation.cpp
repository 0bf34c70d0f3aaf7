#include "verify/subject/installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

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

bool is_amd(std::string_view release) {
  const std::optional<hip::Release> found = hip::find_release(release);
  return found && !hip::is_nvidia(*found);
}

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

hip::Error missing(const fs::path& path, std::string_view remedy) {
  return {kMissing, fmt::format("{} is missing; remedy: {}", path.string(), remedy)};
}

struct Places {
  fs::path programs, libraries, agent, capsule;
  std::string_view capsule_remedy, build_remedy;
};

// A folder that tools/pack made has the mark at its top, and its other parts lie beside this program. Every other
// program belongs to a build, and CMake names the folders of the build.
Places find_places() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  if (!error && there(folder / kFolderMark)) {
    constexpr std::string_view kPack = "a folder that './dev pack --with-capsule' made";
    return {folder / "bin", folder / "lib", folder / "lib/agent", folder / "capsule", kPack, kPack};
  }
  return {HGCHECK_BIN_DIR,
          fs::path(HGCHECK_BIN_DIR).parent_path() / "lib",
          HGCHECK_AGENT_DIR,
          HGCHECK_CAPSULE_DIR,
          "./dev setup fetches it (docs/capsule.md)",
          "./dev build makes it once the capsule is there"};
}

const Places& places() {
  static const Places found = find_places();
  return found;
}

fs::path subject_program(std::string_view release) {
  return places().programs / fmt::format("hgcheck-subject-{}", release);
}

// The name of the runtime's own library: libamdhip64.so.7 for release 7.2.
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

constexpr const char* kNvidiaLibrary = "libhip-nvidia.so";
constexpr const char* kNvidiaDriver = "/proc/driver/nvidia/version";
constexpr int kOldestNvidiaDriver = 550;  // the first with CUDA 12.4 (CUDA Toolkit release notes, table of drivers)

// A machine numbers its GPUs from 0; a container may have been given any of them.
bool has_nvidia_device() {
  constexpr int kMostDevices = 16;
  for (int i = 0; i < kMostDevices; ++i) {
    if (there(fmt::format("/dev/nvidia{}", i))) return true;
  }
  return false;
}

// Returns 580 for "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build"; no value where
// the file is missing or has no such line, as in some containers.
std::optional<int> nvidia_driver() {
  std::ifstream file(kNvidiaDriver);
  for (std::string word; file >> word;) {
    int major = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), major);
    if (error == std::errc() && end != word.data() + word.size() && *end == '.') return major;
  }
  return {};
}

hip::Result<std::vector<std::string>> nvidia_command() {
  if (!has_nvidia_device())
    return missing("/dev/nvidia0", "a machine with an NVIDIA GPU and its driver; --subject rocm-soft needs none");
  if (const std::optional<int> driver = nvidia_driver(); driver && *driver < kOldestNvidiaDriver) {
    return hip::Error{kMissing, fmt::format("the NVIDIA driver {} is too old for CUDA 12.4; remedy: driver {} or later",
                                            *driver, kOldestNvidiaDriver)};
  }
  const fs::path program = places().programs / "hgcheck-subject", library = places().libraries / kNvidiaLibrary;
  for (const fs::path& needed : {program, library}) {
    if (!there(needed)) return missing(needed, "./dev build with CUDA's headers (docs/real-gpu.md)");
  }
  return std::vector<std::string>{program.string(), "--library", library.string()};
}

}  // namespace

bool is_soft(std::string_view runtime) {
  return runtime.starts_with(kSoft);
}

hip::Result<std::vector<std::string>> subject_command(std::string_view runtime) {
  if (runtime == "rocm") return hardware_command();
  if (runtime == "nvidia") return nvidia_command();
  if (runtime == kSoft) return soft_command(hip::kReleaseNames.front());
  const std::string_view release = runtime.substr(std::min(runtime.size(), kSoft.size() + 1));
  if (is_soft(runtime) && is_amd(release)) {
    return soft_command(release);
  }
  return hip::Error{kMissing, fmt::format("there is no runtime '{}': rocm-soft has the releases {}", runtime,
                                          fmt::join(hip::kAmdReleaseNames, ", "))};
}

}  // namespace verify
