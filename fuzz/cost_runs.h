// fuzz::CostRuns: the cost of operations (P10), measured once for each campaign in a process of its own.
//
// The fixed programs come first, then the drawn programs. The measurements of all of them count; the report's table
// shows the fixed programs.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/campaign.h"
#include "fuzz/child.h"

namespace fuzz {

// The program with index `which`, from 0: a fixed program, or one that is drawn from the campaign's seed.
[[nodiscard]] verify::Program cost_program(std::uint64_t seed, std::uint64_t which);

class CostRuns {
 public:
  // The arguments outlive this object. Measurements and messages go into the result.
  CostRuns(const CampaignOptions& options, Setup& setup, verify::CampaignResult& result)
      : options_(options), setup_(setup), result_(result) {}

  // Starts the process, which calls `before` first. Starts none if an earlier session or another shard measures.
  void start(const std::function<void()>& before);
  [[nodiscard]] bool was_started() const { return asked_; }
  [[nodiscard]] Child& child() { return child_; }
  // Handles a line of the process; calls `broke` with the index of a program that breaks P10, and the cause.
  void take(const nlohmann::json& line, const std::function<void(std::uint64_t, const std::string&)>& broke);
  // Ends the process when it is no longer waited for.
  void watch(bool stopping);
  // Adds this session's measurements to the counts of P10.
  void add_to(verify::CampaignResult& result) const;

 private:
  [[nodiscard]] std::uint64_t drawn() const;
  [[noreturn]] void measure(int fd) const;

  const CampaignOptions& options_;
  Setup& setup_;
  verify::CampaignResult& result_;
  Child child_;
  bool asked_ = false;
  std::uint64_t measured_ = 0, exercised_ = 0, violated_ = 0;  // programs; operations by measure
};

}  // namespace fuzz
