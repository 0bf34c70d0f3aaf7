#include "verify/properties/property.h"

namespace verify {

namespace {

constexpr Property kAll[] = {
#define PROPERTY(name, title, sentence) {PropertyId::k##name, #name, title, sentence},
#include "verify/execute/properties.inc"
#undef PROPERTY
};

}  // namespace

std::span<const Property> properties() {
  return kAll;
}

const Property& property(PropertyId id) {
  return kAll[static_cast<std::size_t>(id)];
}

const Property* find_property(std::string_view name) {
  for (const Property& candidate : kAll) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace verify
