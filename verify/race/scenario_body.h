// race::ScenarioBody: a plan of a scenario in the form that a runner explores.
#pragma once

#include <string>

#include "verify/race/explore.h"
#include "verify/race/scenario.h"

namespace verify::race {

class ScenarioBody final : public Body, public Referee {
 public:
  // The scenario has to outlive this object.
  ScenarioBody(const Scenario& scenario, std::string fault, Plan plan);

  void run(ScheduleRunner& runner) override;
  void broken(FailureKind kind, const char* property, std::string message) override;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void client(World& world, unsigned thread, const std::vector<Call>& calls);
  [[nodiscard]] std::size_t begins(unsigned thread, const Call& call);
  void ends(std::size_t at, std::int64_t answer);
  void judge_history();

  const Scenario& scenario_;
  const std::string fault_;
  const Plan plan_;
  std::unique_ptr<SequentialModel> model_;
  ScheduleRunner* runner_ = nullptr;
  std::vector<Invocation> history_;
  std::uint32_t clock_ = 0;  // counts beginnings and ends of calls
};

}  // namespace verify::race
