// P10 cost: each operation ends, and its cost grows no faster than stated: a patch linear in the relocations that
// changed, an update, an instantiation, a launch, a clone and a destruction linear in the nodes.
//
// Counts, never times (verify/properties/cost.h lists the counts). Not seen: work that neither allocates nor visits a
// node of the model nor calls HIP, on a runtime that is not the model; work that other threads do.
#include <algorithm>
#include <cmath>

#include "verify/program/text.h"
#include "verify/properties/cost.h"

namespace verify {

namespace {

constexpr std::uint64_t kSmallest = 8;  // counts that never exceed it are constant

std::uint64_t measured(const StepCost& cost, std::string_view measure) {
  if (measure == "calls") return cost.calls;
  if (measure == "allocations") return cost.allocations;
  return measure == "bytes" ? cost.bytes : cost.steps;
}

}  // namespace

std::span<const CostBound> cost_bounds() {
  static constexpr std::string_view kPerNode = "linear in the nodes";
  static constexpr std::string_view kPerRelocation = "linear in the relocations that changed";
  static const std::vector<CostBound> kBounds = [] {
    std::vector<CostBound> bounds;
    for (const std::string_view operation : {"patch", "update", "instantiate", "launch", "clone", "destroy"}) {
      for (const std::string_view measure : {"calls", "allocations", "bytes", "steps"}) {
        bounds.push_back({operation, measure, 1, operation == "patch" ? kPerRelocation : kPerNode});
        if (operation != "instantiate" || measure != "bytes") continue;
        bounds.back().exponent = 2;
        bounds.back().because = "a runtime may keep which node comes before which: the model does";
      }
    }
    bounds.push_back({"sync", "steps", 1, "what the launches before it left to run, linear in their nodes"});
    return bounds;
  }();
  return kBounds;
}

std::span<const CostProgram> cost_programs() {
  static constexpr CostProgram kPrograms[] = {
      {"patch",
       "hgcheck-program 1\nplacement arena\nbuffer b0 32768\ngraph g0\n"
       "kernel g0.n0 inplace_u32 data=b0+0 n=1 k=1 fan=4096\ninstantiate e0 g0\npatch e0\nmove b0\npatch e0\n"},
      {"update",
       "hgcheck-program 1\nplacement arena\nbuffer b0 32768\ngraph g0\n"
       "memset g0.n0 dst=b0+0 value=1 element=4 width=1 fan=4096\ninstantiate e0 g0\nupdate e0 g0\n"},
      {"launch",
       "hgcheck-program 1\nplacement arena\nbuffer b0 32768\ngraph g0\n"
       "kernel g0.n0 inplace_u32 data=b0+0 n=1 k=1 fan=4096\nempty g0.n1 after=n0\ninstantiate e0 g0\nlaunch e0 s0\n"
       "sync device\nlaunch e0 s0\nsync device\ndestroy e0\ndestroy g0\n"},
  };
  return kPrograms;
}

std::uint32_t widest_fan(const Program& program) {
  std::uint32_t widest = 1;
  for (const Step& step : program.steps) {
    if (const auto* node = std::get_if<AddNode>(&step.command)) widest = std::max(widest, node->fan);
  }
  return widest;
}

Program narrowed(const Program& program, std::uint32_t width) {
  Program narrow = program;
  for (Step& step : narrow.steps) {
    if (auto* node = std::get_if<AddNode>(&step.command)) node->fan = std::min(node->fan, width);
  }
  return narrow;
}

std::optional<double> fitted_exponent(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> values) {
  if (sizes.size() < 3 || sizes.size() != values.size()) return {};
  if (*std::ranges::max_element(values) <= kSmallest) return {};
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double lx = std::log(static_cast<double>(sizes[i]));
    const double ly = std::log(static_cast<double>(std::max<std::uint64_t>(values[i], 1)));
    x += lx;
    y += ly;
    xx += lx * lx;
    xy += lx * ly;
  }
  const auto n = static_cast<double>(sizes.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

// The exponent of the fit, or the exponent between two neighbours where that is less: a single jump (a table that a
// runtime makes, and a count of 0 before it) is no growth.
static double steady_exponent(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> values) {
  const std::optional<double> fit = fitted_exponent(sizes, values);
  double exponent = fit.value_or(0);
  for (std::size_t i = 1; fit && i < sizes.size(); ++i) {
    const double times = static_cast<double>(std::max<std::uint64_t>(values[i], 1)) /
                         static_cast<double>(std::max<std::uint64_t>(values[i - 1], 1));
    exponent = std::min(exponent,
                        std::log(times) / std::log(static_cast<double>(sizes[i]) / static_cast<double>(sizes[i - 1])));
  }
  return std::max(exponent, 0.0);
}

std::vector<CostMeasurement> fit_costs(const Program& program, std::span<const std::uint32_t> sizes,
                                       std::span<const Observation> observations) {
  std::vector<CostMeasurement> measurements;
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const std::string word(command_word(program.steps[step].command));
    const auto succeeded = [step](const Observation& observation) {
      return step < observation.costs.size() && observation.statuses[step].code == 0;
    };
    if (!std::ranges::all_of(observations, succeeded)) continue;
    // A patch or an update that records again has the bound of an instantiation.
    const bool instantiated =
        std::ranges::any_of(observations, [&](const Observation& t) { return t.costs[step].instantiations != 0; });
    const bool bounded = std::ranges::find(cost_bounds(), word, &CostBound::operation) != cost_bounds().end();
    const std::string_view operation = instantiated && bounded ? std::string_view("instantiate") : word;
    for (const CostBound& bound : cost_bounds()) {
      if (bound.operation != operation) continue;
      CostMeasurement m{word, std::string(bound.measure), step, {sizes.begin(), sizes.end()}, {}, 0, bound.exponent};
      for (const Observation& observation : observations)
        m.values.push_back(measured(observation.costs[step], bound.measure));
      // The largest sizes say most: constants weigh on the small ones.
      const std::size_t from = m.sizes.size() > 3 ? m.sizes.size() - 3 : 0;
      const std::span<const std::uint64_t> all_sizes(m.sizes), all_values(m.values);
      m.exponent = steady_exponent(all_sizes.subspan(from), all_values.subspan(from));
      measurements.push_back(std::move(m));
    }
  }
  return measurements;
}

}  // namespace verify
