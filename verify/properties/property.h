// The properties that hgcheck holds programs against: one file each in this folder, opening with its sentence.
//
// A detector looks at evidence of one kind and reports the broken property, the place and the expected value. A finding
// is named after the first property in the order of PropertyId that it breaks.
#pragma once

#include <span>
#include <string_view>

#include "verify/execute/observation.h"

namespace verify {

struct Property {
  PropertyId id;
  std::string_view name;   // "A1"
  std::string_view title;  // "only pointers"
  std::string_view sentence;
};

// In the order of PropertyId.
[[nodiscard]] std::span<const Property> properties();
[[nodiscard]] const Property& property(PropertyId id);
[[nodiscard]] const Property* find_property(std::string_view name);

}  // namespace verify
