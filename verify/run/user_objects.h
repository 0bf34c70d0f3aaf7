// verify::UserObjects: the user objects of a program; their functions count their own runs.
//
// The objects that went while a command ran are an observation. Each function has to run exactly once (P8): finish()
// releases the references that the program still holds and reports a function that did not.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hip/sync/sync.h"
#include "verify/execute/objects.h"
#include "verify/program/program.h"

namespace verify {

class UserObjects {
 public:
  struct Object {
    hipUserObject_t handle = nullptr;
    std::uint32_t held = 0;  // references of the program's own
    hip::sync::Atomic<std::uint32_t> runs{0};
    std::uint32_t told = 0;
  };

  explicit UserObjects(StrategyContext& context) : context_(context) {}
  UserObjects(const UserObjects&) = delete;
  UserObjects& operator=(const UserObjects&) = delete;

  // The objects stay where they are: their functions refer to them.
  Object& add(Id id) { return objects_[id]; }
  void forget(Id id) { objects_.erase(id); }
  // Null: there is no such object.
  [[nodiscard]] Object* find(Id id);

  [[nodiscard]] bool any() const { return !objects_.empty(); }
  // " u0 went" for each function that ran since the last call, or nothing.
  [[nodiscard]] std::string gone();
  // Releases the program's references, when all graphs are gone. Returns an error of the release or a wrong number of
  // runs of a function, or nothing. A function that has not run half a second later must not run any more.
  [[nodiscard]] std::string finish();

 private:
  void wait_for_late_functions();

  StrategyContext& context_;
  std::map<Id, Object> objects_;
};

}  // namespace verify
