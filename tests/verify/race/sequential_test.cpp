// Each system of a scenario with one caller: for any sequence of calls it gives the answers of its sequential model,
// and its world finds nothing broken and nothing left.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "verify/race/scenario.h"

namespace race_test {
namespace {

using namespace verify::race;

struct FirstWord final : Referee {
  void broken(FailureKind, const char* property, std::string message) override {
    if (text.empty()) text = std::string(property) + ": " + message;
  }
  std::string text;
};

std::vector<std::int32_t> arguments_of(const Scenario& scenario) {
  if (scenario.name == "trace-cache") return {111, 112, 119, 121, 122, 211, 212, 221, 311, 1, 2};
  if (scenario.name == "stabiliser") return {0, 1, 2, 10, 11};
  return {0, 1, 2};
}

Call draw(const Scenario& scenario, std::mt19937& random) {
  Call call{static_cast<std::uint8_t>(random() % scenario.verbs.size())};
  // The last two verbs, which may take a system down or empty it, are drawn less often.
  if (call.verb + 2U >= scenario.verbs.size() && random() % 4 != 0) call.verb = 0;
  const std::vector<std::int32_t> arguments = arguments_of(scenario);
  if (scenario.verbs[call.verb].argument) call.argument = arguments[random() % arguments.size()];
  return call;
}

class Sequential : public testing::TestWithParam<std::string_view> {};

TEST_P(Sequential, OneCallerGetsTheAnswersOfTheModel) {
  const Scenario& scenario = *find_scenario(GetParam());
  std::mt19937 random(20261120);
  for (int round = 0; round < 400; ++round) {
    FirstWord referee;
    std::unique_ptr<World> world = scenario.make(referee, "");
    const std::unique_ptr<SequentialModel> model = scenario.model();
    std::string text;
    for (int i = 0; i < 12; ++i) {
      const Call call = draw(scenario, random);
      const unsigned thread = static_cast<unsigned>(random() % 2);
      const std::int64_t answer = world->call(thread, call);
      text += print_call(scenario, call) + " by " + std::to_string(thread) + " = " + std::to_string(answer) + "\n";
      ASSERT_TRUE(model->accepts(thread, call, answer)) << text;
    }
    world->finish();
    world.reset();
    ASSERT_EQ(referee.text, "") << text;
  }
}

std::vector<std::string_view> with_a_model() {
  std::vector<std::string_view> names;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.model) names.push_back(scenario.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Sequential, testing::ValuesIn(with_a_model()), [](const auto& test) {
  std::string name(test.param);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace race_test
