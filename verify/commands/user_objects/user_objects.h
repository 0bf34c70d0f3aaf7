// The family of commands about user objects: resources of the program that graphs keep alive.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// A resource of the program that graphs keep alive (hipUserObjectCreate); its function counts its runs.
struct DeclareUserObject {
  Id object = 0;
  static constexpr auto spec() {
    return describe_command(
        "userobject",
        "A user object (`hipUserObjectCreate`). The objects whose functions ran in a command are an "
        "observation.",
        drawn(Topic::kObjects, 4), kNoDeviation, NameField{&DeclareUserObject::object, 'u', kIsNew});
  }
  bool operator==(const DeclareUserObject&) const = default;
};
// A graph takes a reference of its own, or, with `move`, the program's reference.
struct RetainUserObject {
  Id object = 0;
  Id graph = 0;
  bool move = false;
  static constexpr auto spec() {
    return describe_command(
        "retain",
        "A graph takes a reference of its own, or (`move`) the program's. A graph that holds user objects, "
        "and its executables, are not patched, set or updated, and are no child graphs.",
        drawn(Topic::kObjects, 5), kDescribedByFields, NameField{&RetainUserObject::object, 'u', kNotCovered},
        NameField{&RetainUserObject::graph, 'g', meets("retain into", Leaves::kNothing)},
        FlagKey{"move", &RetainUserObject::move, {}});
  }
  bool operator==(const RetainUserObject&) const = default;
};
inline constexpr std::uint32_t kReferencesBeyond = 1U << 20;  // more than any program has
// Releases one of the program's references, or one of a graph's references, or more references than there are. AMD's
// public test Unit_hipUserObj_Negative_Test wants such a call to succeed and to release none.
struct ReleaseUserObject {
  Id object = 0;
  std::optional<Id> graph;
  bool beyond = false;
  static constexpr auto spec() {
    return describe_command("release",
                            "The program, or the graph, gives a reference back. `beyond` asks for more references "
                            "than there are: HIP accepts the call and releases none.",
                            drawn(Topic::kObjects, 4), kDescribedByFields,
                            NameField{&ReleaseUserObject::object, 'u', kNotCovered},
                            OptionalNameField{&ReleaseUserObject::graph, 'g', meets("release from", Leaves::kNothing)},
                            FlagKey{"beyond", &ReleaseUserObject::beyond, "release of more than there is", "beyond"});
  }
  bool operator==(const ReleaseUserObject&) const = default;
};

using UserObjectsCommands = CommandList<DeclareUserObject, RetainUserObject, ReleaseUserObject>;

}  // namespace verify
