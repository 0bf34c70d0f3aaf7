// hip::Release: the releases of AMD's runtime that are known, and sets of them. releases.inc lists them.
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
#include "hip/releases/releases.inc"
#undef RELEASE
};

// As "7.2", in the order of the enumerators; the first is the reference.
inline constexpr std::array kReleaseNames = {
#define RELEASE(major, minor, full) std::string_view(#major "." #minor),
#include "hip/releases/releases.inc"
#undef RELEASE
};

[[nodiscard]] constexpr std::string_view name_of(Release release) {
  return kReleaseNames[static_cast<std::size_t>(release)];
}

// The release named "7.2", say; nothing for one that is not listed.
[[nodiscard]] constexpr std::optional<Release> find_release(std::string_view name) {
  for (std::size_t i = 0; i < kReleaseNames.size(); ++i) {
    if (kReleaseNames[i] == name) return static_cast<Release>(i);
  }
  return {};
}

// "7.2" of what hipRuntimeGetVersion answers, whether it is listed or not.
[[nodiscard]] inline std::string release_name_of(int runtime_version) {
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
  std::uint32_t bits_ = 0;
};

}  // namespace hip
