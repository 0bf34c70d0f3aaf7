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
    {PropertyId::kC1, "C1", "key",
     "A cached handle is returned only for the key it would have been created with, with its device current, and only "
     "when idle and free of error."},
    {PropertyId::kC2, "C2", "one owner", "No handle or allocation is ever held by two owners, or freed while held."},
    {PropertyId::kC3, "C3", "retry",
     "A transient failure is retried later: a flag that says 'done' is set after success, never before."},
    {PropertyId::kC4, "C4", "teardown",
     "Destruction drains first: no callback runs on freed state, errors are reported, nothing is freed twice."},
    {PropertyId::kC5, "C5", "linearizable", "Every history of a cache is equal to some sequential one of its model."},
    {PropertyId::kC6, "C6", "unanimous",
     "Across ranks, either all hit the trace cache or all record; never a mix that could deadlock a collective."},
    {PropertyId::kS1, "S1", "stream order",
     "Work and stream-ordered frees on a stream happen in order; the default stream synchronises for real."},
    {PropertyId::kS2, "S2", "current stream", "The current stream belongs to its thread."},
    {PropertyId::kS3, "S3", "scratch buffer",
     "Growing keeps the old buffer when the new one cannot be had; moving leaves the source empty and usable; results "
     "are readable after exactly the synchronisation that is needed."},
    {PropertyId::kS4, "S4", "stabiliser",
     "Stable addresses are invisible: inputs copied in, outputs copied back, aliasing and donated buffers included, "
     "and "
     "every persistent buffer is freed once."},
    {PropertyId::kP1, "P1", "ownership",
     "Parameters are copied when a call returns: the caller may free, reuse or poison everything it passed in."},
    {PropertyId::kP2, "P2", "isolation", "A setter on an executable graph changes that executable graph alone."},
    {PropertyId::kP4, "P4", "atomic failure", "A call that fails says so and changes nothing that can be observed."},
    {PropertyId::kP5, "P5", "order", "Every dependency edge is honoured in every legal schedule."},
    {PropertyId::kP6, "P6", "replay equals eager",
     "Replaying a captured stream observes the same as running its operations eagerly; nothing runs while captured."},
    {PropertyId::kP7, "P7", "capture states",
     "Capture follows its state machine: what is invalid is refused and invalidates, and leaves no trace behind."},
    {PropertyId::kP8, "P8", "no leak, no use after free",
     "Every handle, allocation and byte is released exactly once, and many cycles hold no more than two do."},
    {PropertyId::kP10, "P10", "cost", "Each operation ends, and its cost grows no faster than stated."},
    {PropertyId::kP11, "P11", "bad input",
     "Every invalid argument gives its documented error and leaves state unchanged; nothing crashes, hangs or recurses "
     "without bound."},
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
