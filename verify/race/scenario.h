// race::Scenario: a row of a table: a system, the calls of threads on it, and the conditions that must hold.
//
// A plan is data: calls before the threads start, calls of each thread, calls when all have ended. Dropping a call
// changes no other call, so plans are shrunk by dropping; a call that has nothing to work on does nothing. The same
// rows run under every schedule (explore.h) and on real threads (stress.h): a world knows neither runner nor schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/race/failure.h"

namespace verify::race {

struct Call {
  std::uint8_t verb = 0;  // index in Scenario::verbs
  std::int32_t argument = 0;
  bool operator==(const Call&) const = default;
};

struct Plan {
  std::vector<Call> before;
  std::vector<std::vector<Call>> threads;
  std::vector<Call> after;
  bool operator==(const Plan&) const = default;
};

inline constexpr std::size_t kMaxClientThreads = 3;  // of a plan
inline constexpr std::int32_t kMaxArgument = 999;    // of a call; the smallest is 0, and a scenario accepts every value

struct Verb {
  std::string_view name;
  bool argument = false;
};

// Receives a world's reports of broken properties. In an exploration, a report ends the schedule.
class Referee {
 public:
  virtual void broken(FailureKind kind, const char* property, std::string message) = 0;

 protected:
  ~Referee() = default;
};

// One thing under test, made anew for every run.
class World {
 public:
  virtual ~World() = default;
  // Called on the thread of that number, or 0 before and after the threads. The sequential model checks the answer.
  virtual std::int64_t call(unsigned thread, const Call& call) = 0;
  // Called with one thread again: tears down, and checks the conditions that must hold then.
  virtual void finish() {}
};

// The answers that a system may give when calls come one after another.
class SequentialModel {
 public:
  virtual ~SequentialModel() = default;
  [[nodiscard]] virtual std::unique_ptr<SequentialModel> clone() const = 0;
  // Whether the call may give that answer now. If so, the model has made the call.
  virtual bool accepts(unsigned thread, const Call& call, std::int64_t answer) = 0;
};

struct NamedPlan {
  std::string_view name;  // "two threads"
  Plan plan;
};

struct Scenario {
  std::string_view name;    // "stream-cache"
  std::string_view system;  // "stream cache"
  std::string_view summary;
  std::vector<Verb> verbs;
  std::vector<NamedPlan> plans;
  // Makes a world with the implementation that the fault names, or with the real one.
  std::function<std::unique_ptr<World>(Referee&, std::string_view fault)> make;
  std::function<std::unique_ptr<SequentialModel>()> model{};  // null: no history is checked
  std::string_view property = "C5";                           // broken by a history that is not linearizable
  std::vector<std::string_view> faults{};                     // faults that show in this scenario
  std::function<bool(const Plan&)> valid{};                   // null: every plan is valid
};

[[nodiscard]] const std::vector<Scenario>& scenarios();
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

// "acquire 1", or "clear".
[[nodiscard]] std::string print_call(const Scenario& scenario, const Call& call);

// One call of a history, with when it began and ended in the order of all beginnings and ends.
struct Invocation {
  unsigned thread = 0;
  Call call;
  std::int64_t answer = 0;
  std::uint32_t begin = 0, end = 0;
};
// Whether the model accepts the calls in some order that keeps the order of calls which did not overlap (Wing and
// Gong's search).
[[nodiscard]] bool linearizable(std::span<const Invocation> history, const SequentialModel& model);

// The property that a failure breaks in a scenario, where the failure itself names none.
[[nodiscard]] std::string_view property_of(const Scenario& scenario, const Failure& failure);

}  // namespace verify::race
