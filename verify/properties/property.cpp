#include "verify/properties/property.h"

#include <array>

namespace verify {

namespace {

constexpr std::array<Property, kProperties> kAll = {{
    {PropertyId::kA1, "A1", "only pointers",
     "A patch changes the bytes of relocated pointers and no other byte, whatever the value of a scalar."},
    {PropertyId::kA2, "A2", "all pointers", "Every pointer into a moved buffer is patched, wherever it stands."},
    {PropertyId::kA3, "A3", "simultaneous",
     "A patch maps all buffers at once: swaps, cycles and reused addresses come out right."},
    {PropertyId::kA4, "A4", "sizes",
     "Arguments of any size and alignment pack at the offsets that the kernel's metadata states."},
    {PropertyId::kA5, "A5", "copies keep their shape",
     "A patched copy keeps direction, extent, pitch, offsets and kind."},
    {PropertyId::kA6, "A6", "minimal",
     "Only nodes with a changed relocation are touched, and a patch with no change makes no API call."},
    {PropertyId::kA7, "A7", "honest fallback",
     "Where the patcher cannot know it says so and the graph is recorded again; it never guesses or skips silently."},
    {PropertyId::kP1, "P1", "ownership",
     "Parameters are copied when a call returns: the caller may free, reuse or poison everything it passed in."},
    {PropertyId::kP2, "P2", "isolation", "A setter on an executable graph changes that executable graph alone."},
    {PropertyId::kP4, "P4", "atomic failure", "A call that fails says so and changes nothing that can be observed."},
    {PropertyId::kP5, "P5", "order", "Every dependency edge is honoured in every legal schedule."},
    {PropertyId::kP8, "P8", "no leak, no use after free",
     "Every handle, allocation and byte is released exactly once."},
    {PropertyId::kP11, "P11", "bad input", "Nothing crashes, hangs or recurses without bound."},
    {PropertyId::kP12, "P12", "visibility",
     "What a node writes is seen by the nodes ordered after it and by the host after synchronisation."},
    {PropertyId::kP9, "P9", "equal however built",
     "The same graph built in another order, style or nesting, or with redundant edges, observes the same."},
    {PropertyId::kP3, "P3", "update equals rebuild",
     "Launching after any mix of patches, setters and updates observes the same as a freshly recorded graph."},
}};

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
