// verify::Quirk: a documented deviation of some releases of AMD's runtime from the model, as data.
//
// A quirk says which events may show it (triggers, in the words of attributes.inc), how it shows (effects), and what is
// known about it. A program whose first deviation is one of the effects, at or after an event that matches a trigger,
// ends there as KnownQuirk(id). A status shows at the very command that triggers; bytes, crashes and the rest may show
// later. Its program is tests/regressions/ID.program, its stand-alone source tests/findings/ID.hip; docs/findings.md
// tells the story. A test fails when a quirk no longer shows on a release that it names.
//
// Triggers: conditions that must all hold, each ATTRIBUTE OP VALUE without spaces (OP: = != < <= > >=; VALUE: a number
// or one of the attribute's words); alternatives are separated by ';'. An attribute that an event does not have matches
// nothing. Effects: any of "bytes topology host crash hang teardown", "status=NUMBER" (a hipError_t, of that command)
// and "later=NUMBER" (of a later one); "grows" where what the runtime holds grows with the program's cycles (P8), which
// generation does not steer around; "corrupts" as well where the runtime's own memory is damaged, so that what comes
// after in the same process means nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/program/program.h"
#include "verify/program/state.h"
#include "verify/quirks/event.h"

namespace verify {

struct Quirk {
  std::string_view id;        // "memset-2d-element-size"
  std::string_view title;     // one sentence: what goes wrong
  std::string_view releases;  // "7.2 6.4"
  std::string_view strategy;  // under which its regression program shows it
  std::string_view triggers;
  std::string_view effects;
  std::string_view expected;       // by the regression program, on the model
  std::string_view observed;       // and on the releases
  std::string_view documentation;  // what HIP's says
  std::string_view evidence;       // why it is the runtime's and neither the model's nor the agent's
  std::string_view importance;     // to a user
};

[[nodiscard]] std::span<const Quirk> quirks();
// Whether it shows in what the runtime holds and in nothing else.
[[nodiscard]] bool only_grows(const Quirk& quirk);
[[nodiscard]] bool shows_on(const Quirk& quirk, std::string_view release);
// Those that the strategies `careful` and `command-buffer` go around: the ids of hip/release_quirks.h, which a test
// holds them to. Under those they explain nothing, and no program steers around them.
[[nodiscard]] std::span<const std::string_view> gone_around();

enum class Effect : std::uint8_t { kStatus, kBytes, kTopology, kHost, kCrash, kHang, kTeardown, kGrowth };

// The first thing that two runs of a program differ in.
struct Deviation {
  std::size_t step = 0;  // the program's length: at its end
  Effect effect = Effect::kBytes;
  int status = 0;  // that the subject gave, of kStatus
  bool operator==(const Deviation&) const = default;
};

// The quirks of one release, compiled.
class QuirkSet {
 public:
  QuirkSet() = default;
  explicit QuirkSet(std::string_view release);
  QuirkSet(std::string_view release, std::span<const Quirk> catalogue);

  [[nodiscard]] bool empty() const { return compiled_.empty(); }
  // The quirk that `command` may show where `state` is, or null. `strategy`: as Event's.
  [[nodiscard]] const Quirk* triggered(const State& state, const Command& command, int strategy) const;
  // The quirk that explains how `program` first deviated, or null.
  [[nodiscard]] const Quirk* explain(const Program& program, int strategy, const Deviation& deviation) const;
  // Whether `program` holds a trigger of a quirk that corrupts its process.
  [[nodiscard]] bool corrupts(const Program& program, int strategy) const;

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
    bool gone_around = false;
    bool steered_around = true;
    bool on_one_device = false;  // that it is gone around
    [[nodiscard]] bool counts(int strategy, bool several_devices = false) const {
      if (strategy != kBeingCareful && strategy != kByCommandBuffer) return true;
      return !gone_around || (on_one_device && several_devices);
    }
    [[nodiscard]] bool matches(const Event& event) const;
  };
  friend struct QuirkParser;
  std::vector<Compiled> compiled_;
  std::string release_;
};

// What is wrong with the text of a quirk's triggers and effects, or nothing.
[[nodiscard]] std::optional<std::string> flaw_of(const Quirk& quirk);

}  // namespace verify
