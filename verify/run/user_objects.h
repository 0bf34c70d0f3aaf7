// verify::UserObjects: the user objects of a program; their functions count their own runs.
//
// The objects whose functions ran during a command are an observation. Each function has to run exactly once (P8):
// finish() releases the references that the program still holds and reports a function that did not run exactly once.
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
    std::uint32_t reported = 0;
  };

  explicit UserObjects(StrategyContext& context) : context_(context) {}
  UserObjects(const UserObjects&) = delete;
  UserObjects& operator=(const UserObjects&) = delete;

  // Objects do not move in memory: their functions refer to them.
  Object& add(Id id) { return objects_[id]; }
  void forget(Id id) { objects_.erase(id); }
  // Null: there is no such object.
  [[nodiscard]] Object* find(Id id);

  [[nodiscard]] bool any() const { return !objects_.empty(); }
  // " u0 went" for each function that ran since the last call, or nothing.
  [[nodiscard]] std::string gone();
  // Releases the program's references; all graphs have to be destroyed. Returns an error of the release, or a function
  // that did not run exactly once, or nothing. A function has to run within half a second, or must not run any more.
  [[nodiscard]] std::string finish();

 private:
  void wait_for_late_functions();

  StrategyContext& context_;
  std::map<Id, Object> objects_;
};

}  // namespace verify
