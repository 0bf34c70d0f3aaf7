// verify::UserObjects: a program's user objects, whose functions count themselves; and what hipGraphDebugDotPrint
// wrote.
//
// Which objects went while a command ran is an observation. Each function has to run exactly once (P8): finish() gives
// back what the program still holds and says what did not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "hip/result/result.h"
#include "hip/sync/sync.h"
#include "verify/execute/objects.h"
#include "verify/program/program.h"

namespace verify {

class UserObjects {
 public:
  explicit UserObjects(Machine& machine) : machine_(machine) {}
  UserObjects(const UserObjects&) = delete;
  UserObjects& operator=(const UserObjects&) = delete;

  [[nodiscard]] hip::Status perform(const DeclareUserObject& c);
  [[nodiscard]] hip::Status perform(const RetainUserObject& c, GraphObject* graph);
  [[nodiscard]] hip::Status perform(const ReleaseUserObject& c, GraphObject* graph);

  [[nodiscard]] bool any() const { return !objects_.empty(); }
  // " u0 went" for each function that ran since the last call, or nothing.
  [[nodiscard]] std::string gone();
  // Releases what the program holds; what is wrong with how often functions ran, when all graphs are gone, or nothing.
  // A function that has not run half a second later must not run any more.
  [[nodiscard]] std::string finish();

 private:
  struct Object {
    hipUserObject_t handle = nullptr;
    std::uint32_t held = 0;  // by the program
    hip::sync::Atomic<std::uint32_t> runs{0};
    std::uint32_t told = 0;
  };
  void wait_for_late_functions();

  Machine& machine_;
  std::map<Id, Object> objects_;
};

// Nodes and edges of a graph as Graphviz text, in words.
[[nodiscard]] hip::Result<std::string> count_dot(Machine& machine, hipGraph_t graph);

}  // namespace verify
