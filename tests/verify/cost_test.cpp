// P10: costs are counted the same each time, fitted rightly, and held against their bounds.
#include "verify/properties/cost.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>

#include "judging.h"
#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/generate/wide.h"

namespace verify {
namespace {

Program cost_program(std::size_t which) {
  return parsed(cost_programs()[which].text);
}

std::vector<Observation> run_narrowed(const Program& program, std::size_t sizes = std::size(kCostSizes)) {
  Bench bench;
  std::vector<Observation> observations;
  for (const std::uint32_t size : std::span(kCostSizes).first(sizes)) {
    const RunOptions options{.poison = false, .inspect = false, .isolation = false, .costs = true};
    const Program narrow = narrowed(program, size);
    if (observations.empty()) static_cast<void>(bench.subject.run(narrow, options));
    observations.push_back(bench.subject.run(narrow, options).observation);
  }
  return observations;
}

TEST(Cost, TheExponentOfAPowerIsThePower) {
  const std::uint64_t sizes[] = {16, 64, 256};
  const std::uint64_t squares[] = {256, 4096, 65536}, lines[] = {48, 192, 768}, few[] = {3, 3, 3};
  EXPECT_NEAR(*fitted_exponent(sizes, squares), 2, 1e-9);
  EXPECT_NEAR(*fitted_exponent(sizes, lines), 1, 1e-9);
  EXPECT_FALSE(fitted_exponent(sizes, few));
}

TEST(Cost, WhatJumpsOnceIsNoGrowth) {
  const Program program = parsed("hgcheck-program 1\ngraph g0\ndestroy g0\n");
  const std::uint32_t sizes[] = {64, 256, 1024};
  const auto exponent_of = [&](const std::vector<std::uint64_t>& bytes) {
    std::vector<Observation> observations(3);
    for (std::size_t i = 0; i < 3; ++i) {
      observations[i].costs.resize(2);
      observations[i].statuses.resize(2);
      observations[i].costs[1].bytes = bytes[i];
    }
    for (const CostMeasurement& cost : fit_costs(program, sizes, observations)) {
      if (cost.measure == "bytes") return cost.exponent;
    }
    return -1.0;
  };
  EXPECT_NEAR(exponent_of({64, 256, 1024}), 1, 1e-9);
  EXPECT_NEAR(exponent_of({4096, 65536, 1048576}), 2, 1e-9);
  EXPECT_EQ(exponent_of({0, 896, 896}), 0) << "a table that was made once";
  EXPECT_EQ(exponent_of({896, 0, 896}), 0);
}

TEST(Cost, EveryProgramIsValidAndWideEnough) {
  for (const CostProgram& each : cost_programs()) {
    const Program program = parsed(each.text);
    EXPECT_FALSE(validate(program)) << each.name;
    EXPECT_GE(widest_fan(program), kLeastCostFan) << each.name;
    for (const std::uint32_t size : kCostSizes) EXPECT_FALSE(validate(narrowed(program, size))) << each.name;
  }
}

TEST(Cost, OfEachOperationGrowsNoFasterThanStatedOnTheModel) {
  std::set<std::string> measured;
  for (std::size_t i = 0; i < cost_programs().size(); ++i) {
    const Program program = cost_program(i);
    for (const CostMeasurement& cost : fit_costs(program, kCostSizes, run_narrowed(program))) {
      EXPECT_LE(cost.exponent, cost.bound + kCostTolerance) << cost.operation << " " << cost.measure;
      measured.insert(cost.operation);
    }
  }
  EXPECT_EQ(measured, (std::set<std::string>{"patch", "update", "instantiate", "launch", "sync", "destroy"}));
}

TEST(Cost, WideProgramsAreValidAtEveryWidthAndFreeOfRaces) {
  Bench bench;
  for (std::uint64_t i = 0; i < 200; ++i) {
    RandomChoices choices = campaign_choices(5, i);
    const Program program = wide_program(choices);
    EXPECT_FALSE(validate(program)) << print_program(program);
    EXPECT_EQ(parsed(print_program(program)), program);
    EXPECT_EQ(widest_fan(program), kWideFan);
    EXPECT_FALSE(validate(narrowed(program, kCostSizes[0])));
    EXPECT_EQ(bench.subject.run(narrowed(program, 64), {}).observation.notes.races, 0U) << print_program(program);
  }
}

TEST(Cost, OfWhatWideProgramsDoGrowsNoFasterThanStatedAndAllOfItIsMeasured) {
  std::map<std::string, int> measured;
  for (std::uint64_t i = 0; i < 12; ++i) {
    RandomChoices choices = campaign_choices(5, i);
    const Program program = wide_program(choices);
    for (const CostMeasurement& cost : fit_costs(program, {kCostSizes, 4}, run_narrowed(program, 4))) {
      EXPECT_LE(cost.exponent, cost.bound + kCostTolerance) << cost.operation << " " << cost.measure;
      ++measured[cost.operation];
    }
  }
  for (const char* operation : {"patch", "update", "instantiate", "launch", "sync", "clone", "destroy"}) {
    EXPECT_GT(measured[operation], 0) << operation;
  }
}

TEST(Cost, IsTheSameInEveryRun) {
  const Program program = cost_program(1);
  const auto first = fit_costs(program, kCostSizes, run_narrowed(program));
  const auto second = fit_costs(program, kCostSizes, run_narrowed(program));
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].values, second[i].values) << first[i].measure;
}

TEST(Cost, IsNotCountedUnlessAskedFor) {
  EXPECT_TRUE(Bench().subject.run(narrowed(cost_program(0), 16), {}).observation.costs.empty());
}

TEST(Cost, OfAPatchThatChangesNothingIsNoCallWhateverTheSize) {
  const Program program = cost_program(0);
  for (const Observation& observation : run_narrowed(program)) EXPECT_EQ(observation.costs[4].calls, 0U);
}

}  // namespace
}  // namespace verify
