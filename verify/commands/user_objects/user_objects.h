// The family of commands about user objects: resources of the program that graphs keep alive.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// A resource of the program that graphs keep alive (hipUserObjectCreate); its function counts itself.
struct DeclareUserObject {
  Id object = 0;
  bool operator==(const DeclareUserObject&) const = default;
};
// A graph takes a reference of its own, or (move) the program's.
struct RetainUserObject {
  Id object = 0;
  Id graph = 0;
  bool move = false;
  bool operator==(const RetainUserObject&) const = default;
};
// Of the program's references, or of a graph's.
struct ReleaseUserObject {
  Id object = 0;
  std::optional<Id> graph;
  bool operator==(const ReleaseUserObject&) const = default;
};

using UserObjectsCommands = CommandList<DeclareUserObject, RetainUserObject, ReleaseUserObject>;

}  // namespace verify
