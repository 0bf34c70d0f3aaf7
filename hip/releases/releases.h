// hip::Release: the releases of AMD's and of NVIDIA's runtimes that are known, and sets of them. releases.inc lists
// them. A release of AMD's is named "7.2"; one of NVIDIA's, which is HIP over CUDA, "nvidia-13.0".
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hip {

enum class Release : std::uint8_t {
#define RELEASE(major, minor, full) k##major##_##minor,
#define NVIDIA_RELEASE(major, minor, driver) kNvidia##major##_##minor,
#include "hip/releases/releases.inc"
#undef NVIDIA_RELEASE
#undef RELEASE
};

// As "7.2" or "nvidia-13.0", in the order of the enumerators: AMD's come first, and the first of all is the reference.
inline constexpr std::array kReleaseNames = {
#define RELEASE(major, minor, full) std::string_view(#major "." #minor),
#define NVIDIA_RELEASE(major, minor, driver) std::string_view("nvidia-" #major "." #minor),
#include "hip/releases/releases.inc"
#undef NVIDIA_RELEASE
#undef RELEASE
};
inline constexpr std::array kAmdReleaseNames = {
#define RELEASE(major, minor, full) std::string_view(#major "." #minor),
#include "hip/releases/releases.inc"
#undef RELEASE
};

[[nodiscard]] constexpr std::string_view name_of(Release release) {
  return kReleaseNames[static_cast<std::size_t>(release)];
}

[[nodiscard]] constexpr bool is_nvidia(Release release) {
  return static_cast<std::size_t>(release) >= kAmdReleaseNames.size();
}

// The release named "7.2", say; nothing for one that is not listed.
[[nodiscard]] constexpr std::optional<Release> find_release(std::string_view name) {
  for (std::size_t i = 0; i < kReleaseNames.size(); ++i) {
    if (kReleaseNames[i] == name) return static_cast<Release>(i);
  }
  return {};
}

// Whether a number that a runtime answers for its version is one of CUDA's (1000 * major + 10 * minor: 13000), which
// HIP passes on for NVIDIA, and no HIP_VERSION of AMD's (10,000,000 * major + 100,000 * minor + patch). Other runtimes
// answer small numbers: chipStar's, for one, answers 1.
[[nodiscard]] constexpr bool is_cuda_version(int version) {
  constexpr int kFirst = 1'000, kEnd = 1'000'000;
  return version >= kFirst && version < kEnd;
}

// The name ("7.2", "nvidia-13.0") of the release with this version number (hip::version_of_release), listed or not.
[[nodiscard]] inline std::string release_name_of(int runtime_version) {
  if (is_cuda_version(runtime_version)) {
    constexpr int kMajor = 1'000, kMinor = 10;
    return "nvidia-" + std::to_string(runtime_version / kMajor) + "." +
           std::to_string(runtime_version % kMajor / kMinor);
  }
  constexpr int kMajor = 10'000'000, kMinor = 100'000;  // as HIP_VERSION is made
  return std::to_string(runtime_version / kMajor) + "." + std::to_string(runtime_version % kMajor / kMinor);
}

class ReleaseSet {
 public:
  constexpr ReleaseSet() = default;
  constexpr ReleaseSet(std::initializer_list<Release> releases) {
    for (const Release release : releases) bits_ |= bit(release);
  }
  [[nodiscard]] constexpr bool has(Release release) const { return (bits_ & bit(release)) != 0; }
  // A release that is not listed is in no set.
  [[nodiscard]] constexpr bool has(std::string_view name) const {
    const std::optional<Release> release = find_release(name);
    return release && has(*release);
  }
  [[nodiscard]] constexpr bool has_nvidia() const { return (bits_ & ~kAmdBits) != 0; }
  [[nodiscard]] constexpr bool has_amd() const { return (bits_ & kAmdBits) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  // "7.2 6.4".
  [[nodiscard]] std::string names() const {
    std::string names;
    for (std::size_t i = 0; i < kReleaseNames.size(); ++i) {
      if (!has(static_cast<Release>(i))) continue;
      names.append(names.empty() ? "" : " ").append(kReleaseNames[i]);
    }
    return names;
  }

 private:
  static_assert(kReleaseNames.size() <= 32, "a bit a release");
  static constexpr std::uint32_t bit(Release release) { return std::uint32_t{1} << static_cast<unsigned>(release); }
  static constexpr std::uint32_t kAmdBits = (std::uint32_t{1} << kAmdReleaseNames.size()) - 1;  // AMD's come first
  std::uint32_t bits_ = 0;
};

}  // namespace hip
