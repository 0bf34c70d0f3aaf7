// The patch table: which node stands for which command. Nested command buffers become child graphs, or are flattened
// into their parent; within a child graph all is flattened.
#pragma once

#include <algorithm>
#include <vector>

#include "reviewed_parameters.h"

namespace reviewed {

template <class Decisions>
class Plan {
 public:
  explicit Plan(const std::vector<const hgcommands_command*>& commands) {
    static_cast<void>(lay(commands, {}, leaves_, {.nested = false, .flat = false}));
  }
  [[nodiscard]] const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  struct Where {
    bool nested;  // in a nested command buffer
    bool flat;    // every nested command buffer is flattened
  };

  // Appends the leaves of the commands, which come behind `entry`. Returns the leaves that no other one comes behind.
  Ends lay(const std::vector<const hgcommands_command*>& commands, const Ends& entry, std::vector<Leaf>& leaves,
           Where where) {
    const size_t first = leaves.size();
    std::vector<Ends> ends;
    std::vector<bool> last(commands.size(), true);
    for (const hgcommands_command* command : commands) {
      const Ends behind = Decisions::behind(command->node, ends, entry, {first, leaves.size()});
      for (size_t i = 0; i < command->node.dependency_count; ++i) last[command->node.dependencies[i]] = false;
      ends.push_back(lay_one(*command, behind, leaves, where));
    }
    Ends all;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (last[i]) all.insert(all.end(), ends[i].begin(), ends[i].end());
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return commands.empty() ? Decisions::ends_of_nothing(entry) : all;
  }
  Ends lay_one(const hgcommands_command& command, const Ends& behind, std::vector<Leaf>& leaves, Where where) {
    const bool nested = command.node.kind == HGPATCHER_CHILD;
    if (nested && (where.flat || Decisions::flattens(command)))
      return lay(nested_of(command), behind, leaves, {.nested = true, .flat = where.flat});
    Leaf leaf{&command, behind, where.nested, {}};
    if (nested) static_cast<void>(lay(nested_of(command), {}, leaf.inner, {.nested = true, .flat = true}));
    leaves.push_back(std::move(leaf));
    return {leaves.size() - 1};
  }
  static std::vector<const hgcommands_command*> nested_of(const hgcommands_command& command) {
    std::vector<const hgcommands_command*> nested;
    for (size_t i = 0; i < command.nested_count; ++i) nested.push_back(&command.nested[i]);
    return nested;
  }

  std::vector<Leaf> leaves_;
};

}  // namespace reviewed
