#include "verify/quirks/event.h"

#include <algorithm>

namespace verify {

namespace {

// The names of the releases, in their order.
constexpr std::string_view kReleaseWords =
#define RELEASE(major, minor, full) #major "." #minor " "
#define NVIDIA_RELEASE(major, minor, driver) "nvidia-" #major "." #minor " "
#include "hip/releases/releases.inc"
#undef NVIDIA_RELEASE
#undef RELEASE
    ;

struct AttributeText {
  std::string_view name, words;
};
constexpr std::array<AttributeText, kAttributes> kTexts = {{
#define ATTRIBUTE(name, words) {#name, words},
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
}};

}  // namespace

std::string_view attribute_name(Attribute attribute) {
  return kTexts[static_cast<std::size_t>(attribute)].name;
}

std::optional<Attribute> find_attribute(std::string_view name) {
  for (std::size_t i = 0; i < kAttributes; ++i) {
    if (kTexts[i].name == name) return static_cast<Attribute>(i);
  }
  return {};
}

std::optional<std::int64_t> find_word(Attribute attribute, std::string_view word) {
  std::string_view words = kTexts[static_cast<std::size_t>(attribute)].words;
  for (std::int64_t number = 0; !words.empty(); ++number) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return number;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return {};
}

}  // namespace verify
