// Memory pools and user objects, from the lines of a log to commands.
//
// The language sets and updates no graph that holds user objects. Where a program does so, the graph is recorded
// without them, and a note says so. Only the second conversion of a log knows which graphs these are: the first one
// finds it out.
#pragma once

#include <set>
#include <string>

#include "fuzz/recorded_text.h"

namespace fuzz {

class RecordedResources {
 public:
  using Graphs = std::set<std::string>;

  // `without_objects`: graphs whose user objects are left out.
  RecordedResources(Recording& out, Graphs without_objects) : out_(out), without_(std::move(without_objects)) {}
  // A line that begins with "pool" or "object", from its second word on.
  void line(const std::string& verb, LogWords& words) { verb == "pool" ? pool(words) : object(words); }
  // " pool=p0" for the pool of captured memory, or nothing.
  [[nodiscard]] std::string pool_of(std::uint64_t handle) const;
  // A command sets or updates this graph, or makes it a child.
  void changes(const std::string& graph) {
    if (holders_.contains(graph)) found_.insert(graph);
  }
  [[nodiscard]] const Graphs& found_changed() const { return found_; }

 private:
  void pool(LogWords& words);
  void object(LogWords& words);

  Recording& out_;
  const Graphs without_;
  Graphs holders_, found_;
  RecordedNames pools_{'p'}, user_objects_{'u'};
};

}  // namespace fuzz
