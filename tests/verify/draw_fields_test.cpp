// Commands drawn from the fields that they declare: each command of a topic is drawn, is valid, and names existing
// objects.
#include "verify/generate/draw_fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <tuple>

#include "programs.h"
#include "verify/program/each_command.h"

namespace verify {
namespace {

constexpr int kDraws = 3000;

// Two of everything that a command may name.
constexpr std::string_view kEverything = R"(buffer b0 256
buffer b1 256
stream s1
event v0
pool p0
graph g0
kernel g0.n0 inplace_u32 data=b0 n=4 k=1
kernel g0.n1 inplace_u32 data=b0 n=4 k=1 after=n0
clone g1 g0
instantiate e0 g0
userobject u0
retain u0 g1
module m0
)";

State after(std::string_view text) {
  State state;
  for (const Step& step : program_of(text).steps) {
    EXPECT_FALSE(state.check(step.command)) << *state.check(step.command);
    state.apply(step.command);
  }
  return state;
}

constexpr Topic kTopics[] = {Topic::kBytes, Topic::kQueries,     Topic::kAttributes, Topic::kObjects,
                             Topic::kPools, Topic::kGraphMemory, Topic::kCaptures,   Topic::kForbidden};

// The places in Command of the commands that are drawn by their fields, of one topic.
std::set<std::size_t> commands_of(Topic topic) {
  std::set<std::size_t> places;
  for_each_declared([&]<class C>(std::type_identity<C>) {
    constexpr Drawn drawn = C::spec().drawn;
    if (drawn.by_fields && drawn.topic == topic) places.insert(Command(C{}).index());
  });
  return places;
}

NextNames names_behind(std::string_view text) {
  NextNames names;
  for (const Step& step : program_of(text).steps) names.use(step.command);
  return names;
}

TEST(DrawFields, EachTopicDrawsEachOfItsCommandsAndNoOther) {
  const State state = after(kEverything);
  RandomChoices choices(rc::Random(1));
  for (const Topic topic : kTopics) {
    std::set<std::size_t> seen;
    for (int i = 0; i < kDraws; ++i) {
      const std::optional<Command> command = draw_by_fields(choices, state, names_behind(kEverything), topic);
      if (command) seen.insert(command->index());
    }
    EXPECT_EQ(seen, commands_of(topic)) << static_cast<int>(topic);
  }
}

TEST(DrawFields, EveryCommandThatIsDrawnMayStand) {
  const State state = after(kEverything);
  RandomChoices choices(rc::Random(2));
  for (int i = 0; i < kDraws; ++i) {
    const std::optional<Command> command =
        draw_by_fields(choices, state, names_behind(kEverything), kTopics[choices.below(std::size(kTopics))]);
    if (command) EXPECT_FALSE(state.check(*command)) << print_command(*command);
  }
}

TEST(DrawFields, EveryCommandHasAWeight) {
  for_each_declared([]<class C>(std::type_identity<C>) {
    constexpr Drawn drawn = C::spec().drawn;
    EXPECT_EQ(drawn.by_fields, drawn.weight > 0);
  });
}

TEST(DrawFields, WhereNothingIsThereNothingIsDrawnThatNamesSomething) {
  RandomChoices choices(rc::Random(3));
  for (const Topic topic : {Topic::kBytes, Topic::kQueries, Topic::kAttributes}) {
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(draw_by_fields(choices, {}, {}, topic));
  }
}

TEST(DrawFields, TheSameChoicesGiveTheSameCommands) {
  const State state = after(kEverything);
  RandomChoices first(rc::Random(4)), second(rc::Random(4));
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(draw_by_fields(first, state, {}, Topic::kQueries), draw_by_fields(second, state, {}, Topic::kQueries));
  }
}

TEST(NextNames, StandBehindWhateverACommandMakes) {
  const NextNames names = names_behind(kEverything);
  EXPECT_EQ(std::tuple(names.buffer, names.graph, names.exec, names.stream, names.event, names.pool, names.object),
            std::tuple(2U, 2U, 1U, 2U, 1U, 1U, 1U));
}

TEST(NextNames, CountTheMemoryOfAnAllocationNode) {
  EXPECT_EQ(names_behind("graph g0\nalloc g0.n0 b7 256\n").buffer, 8U);
}

}  // namespace
}  // namespace verify
