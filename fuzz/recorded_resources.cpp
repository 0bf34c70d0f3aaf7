#include "fuzz/recorded_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fuzz {

std::string RecordedResources::pool_of(std::uint64_t handle) const {
  const std::string pool = pools_.of(handle);
  if (handle != 0 && pool.empty()) out_.text.note("memory from a memory pool that was not recorded");
  return pool.empty() ? "" : " pool=" + pool;
}

void RecordedResources::pool(LogWords& words) {
  const std::string what = words.word();
  const std::uint64_t handle = words.number();
  const std::string known = pools_.of(handle);
  if (what == "new") return out_.text.say("pool " + pools_.add(handle));
  if (what == "default") return known.empty() ? out_.text.say("pool " + pools_.add(handle) + " default") : void();
  if (known.empty()) return out_.text.note("a call for a memory pool that was not recorded");
  if (what == "destroy") {
    pools_.forget(handle);
    return out_.text.say("destroy " + known);
  }
  if (what == "trim") return out_.text.say(fmt::format("pool_trim {} {}", known, words.number()));
  if (what != "attribute") return out_.text.say(fmt::format("pool_{} {}", what, known));
  static constexpr std::array kAttributes = {
      "follow_events", "opportunistic", "internal_dependencies", "release_threshold", "reserved", "reserved_high",
      "used",          "used_high"};  // in the order of HIP's numbers, from 1
  const std::uint64_t which = words.number();
  if (which == 0 || which > kAttributes.size()) return out_.text.note("an attribute of a memory pool");
  out_.text.say(fmt::format("pool_attribute {} {}={}", known, kAttributes.at(which - 1), words.number()));
}

void RecordedResources::object(LogWords& words) {
  const std::string what = words.word();
  const std::uint64_t handle = words.number();
  if (what == "new") {
    if (words.number() != 1) return out_.text.note("a user object with several references");
    return out_.text.say("userobject " + user_objects_.add(handle));
  }
  const std::string object = user_objects_.of(handle);
  const std::uint64_t graph = words.number(), count = words.number();
  const std::string holder = out_.objects.graphs.of(graph);
  if (object.empty() || (graph != 0 && holder.empty()))
    return out_.text.note("a reference to a user object that was not recorded");
  if (without_.contains(holder)) return out_.text.note("user objects of a graph that is set, updated or a child");
  if (what == "retain") holders_.insert(holder);
  const std::string text =
      what + " " + object + (graph == 0 ? "" : " " + holder) + (what == "retain" && words.number() == 1 ? " move" : "");
  for (std::uint64_t i = 0; i < count; ++i) out_.text.say(text);
}

}  // namespace fuzz
