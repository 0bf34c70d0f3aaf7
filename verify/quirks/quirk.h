// verify::Quirk: a documented deviation of some releases of a vendor's runtime from the model, as data.
//
// A quirk says which events may show it (triggers, in the words of attributes.inc), how it shows (effects), and the
// facts about it. A program whose first divergence is one of the effects, at or after an event that matches a trigger,
// ends there as KnownQuirk(id). A status shows at the very command that triggers; bytes, crashes and the rest may show
// later, or at another command of the same block of threads. Each quirk is a folder of verify/findings; tools/findings
// makes the catalogue of these folders. A test fails when a quirk no longer shows on a release that it names.
//
// Triggers: conditions that must all hold, each ATTRIBUTE OP VALUE without spaces (OP: = != < <= > >=; VALUE: a number
// or one of the attribute's words); alternatives are separated by ';'. An attribute that an event does not have matches
// nothing. Effects: any of "bytes topology host crash hang teardown", "status=NUMBER" (a hipError_t, of that command)
// and "later=NUMBER" (of a later one); "grows" where the runtime takes memory now and then while the program's cycles
// run (P8), less often than once a cycle, which generated programs do not avoid; "corrupts" as well where the runtime's
// own memory is damaged, so that later results in the same process mean nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hip/releases/releases.h"
#include "verify/program/program.h"
#include "verify/program/state.h"
#include "verify/quirks/event.h"

namespace verify {

// Whether the strategies `careful` and `command-buffer` avoid a quirk (hip/release_quirks.h). Where they do, the quirk
// explains nothing under them, and generated programs need not avoid it.
enum class GoneAround : std::uint8_t {
  kNever,
  kOnOneDevice,  // in programs of one device
  kAlways
};

struct Quirk {
  std::string_view id;       // the folder's name
  std::string_view title;    // one sentence: the defect
  hip::ReleaseSet releases;  // on which the finding's program shows it
  StrategyKind strategy;     // under which the finding's program shows it
  std::string_view triggers;
  std::string_view effects;
  std::string_view environment;  // "NAME=VALUE ...": shows only in programs that state these variables; or empty
  GoneAround gone_around;
  std::string_view documented;  // the behaviour in HIP's documentation, or CUDA's
  std::string_view happens;
  std::string_view evidence;  // why the defect is the runtime's and neither the model's nor the agent's
  std::string_view advice;    // the workaround
  std::string_view wide{};    // why its trigger matches so many programs; empty where it does not
};

[[nodiscard]] std::span<const Quirk> quirks();
// Whether the quirk shows only in the memory that the runtime holds.
[[nodiscard]] bool only_grows(const Quirk& quirk);

enum class Effect : std::uint8_t { kStatus, kBytes, kTopology, kHost, kCrash, kHang, kTeardown, kGrowth };

// The first difference of two runs of a program.
struct Divergence {
  std::size_t step = 0;  // the program's length: at its end
  Effect effect = Effect::kBytes;
  int status = 0;  // the subject's answer, for kStatus
  bool operator==(const Divergence&) const = default;
};

// The quirks of one release, compiled.
class QuirkSet {
 public:
  QuirkSet() = default;
  explicit QuirkSet(std::string_view release);
  QuirkSet(std::string_view release, std::span<const Quirk> catalogue);

  [[nodiscard]] bool empty() const { return compiled_.empty(); }
  // The quirk that `command` may show in `state`, or null; `thread`: as for any_event(). `environment`: the program's.
  [[nodiscard]] const Quirk* triggered(const State& state, const Command& command, Handling handling, Id thread,
                                       const Environment& environment = {}) const;
  // The quirk that explains how `program` first diverged, or null.
  [[nodiscard]] const Quirk* explain(const Program& program, Handling handling, const Divergence& divergence) const;
  // The quirks that a command of `program` may show.
  [[nodiscard]] std::set<const Quirk*> met_by(const Program& program, Handling handling) const;
  // Whether `program` holds a trigger of a quirk that corrupts its process.
  [[nodiscard]] bool corrupts(const Program& program, Handling handling) const;

 private:
  enum class Compare : std::uint8_t { kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };
  struct Condition {
    Attribute attribute;
    Compare compare;
    std::int64_t value;
    [[nodiscard]] bool holds(const Event& event) const;
  };
  using Trigger = std::vector<Condition>;
  struct Compiled {
    const Quirk* quirk = nullptr;
    std::vector<Trigger> triggers;
    bool corrupts = false;
    bool later = false;  // a status of a later command counts
    bool steered_around = true;
    Environment environment;  // as Quirk::environment
    [[nodiscard]] bool shows_in(const Environment& of_program) const;
    // Whether the quirk explains anything under the strategy.
    [[nodiscard]] bool counts(StrategyKind strategy, bool several_devices = false) const {
      if (strategy != StrategyKind::kCareful && strategy != StrategyKind::kCommandBuffer) return true;
      if (quirk->gone_around == GoneAround::kOnOneDevice) return several_devices;
      return quirk->gone_around == GoneAround::kNever;
    }
    [[nodiscard]] bool matches(const Event& event) const;
    // Whether the event may show the quirk under the strategy. No strategy goes around anything in a graph that frees
    // another graph's memory, because such a graph cannot be recorded again.
    [[nodiscard]] bool may_show(const Event& event, StrategyKind strategy, bool several_devices = false) const {
      return (counts(strategy, several_devices) || event[Attribute::k_frees_for_another] > 0) && matches(event);
    }
  };
  friend struct QuirkParser;
  std::vector<Compiled> compiled_;
};

// The first flaw in the text of a quirk's triggers and effects, or nothing.
[[nodiscard]] std::optional<std::string> flaw_of(const Quirk& quirk);

}  // namespace verify
