// The setup of a command that runs programs: a subject, a baseline, and a fault that may be switched on in the subject.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/faults/catalogue.h"
#include "hip/result/result.h"
#include "verify/generate/generator.h"
#include "verify/oracle/judge.h"
#include "verify/quirks/known_quirks.h"
#include "verify/subject/subject.h"

namespace fuzz {

struct SetupOptions {
  std::string subject = "model:patch";
  std::string baseline = "model:rebuild";
  std::string fault;            // a fault of the catalogue, or empty
  bool no_quirks = false;       // the known quirks of a release are reported like any finding
  double program_timeout = 10;  // seconds for one run in a subject process
  // Variables "NAME=VALUE" of a campaign's programs, and whether others are drawn. A finding's program states its own.
  std::vector<std::string> environment;
  bool draw_environment = false;
  // Replaces the real patcher, for patchers that are not in the catalogue of faults; empty: the real one.
  verify::PatcherFactory patchers;

  // " --subject S --fault F" without the options that have their default values.
  [[nodiscard]] std::string arguments() const;
};

// Null for an empty name. An error names the remedy.
[[nodiscard]] hip::Result<const Fault*> fault_named(const std::string& id);

// One program in so many may meet known quirks.
inline constexpr std::uint64_t kMeetQuirksEvery = 10;

class Setup {
 public:
  // An error names the option, the mistake in its value and the possible values.
  static hip::Result<std::unique_ptr<Setup>> make(const SetupOptions& options);

  [[nodiscard]] verify::Judge& judge() { return judge_; }
  [[nodiscard]] verify::Runner& subject() { return subject_->runner(); }
  [[nodiscard]] const SetupOptions& options() const { return options_; }
  // The subject's release: "7.2", or empty where it has none.
  [[nodiscard]] const std::string& release() const { return subject_->release(); }
  [[nodiscard]] verify::StrategyKind strategy() const { return subject_->name().strategy; }
  // Whether a program that diverged may have damaged a runtime for the later programs in this process.
  [[nodiscard]] bool fragile() const { return subject_->fragile() || baseline_->fragile(); }
  // Whether a crash or a hang of the subject stays in a process of the subject's own.
  [[nodiscard]] bool contained() const { return subject_->runner().contained(); }
  // Whether a fresh process of the subject costs as much as many programs.
  [[nodiscard]] bool starts_slowly() const { return subject_->starts_slowly(); }
  // The generator options for the campaign's program `index`. Most programs avoid the known quirks of the subject's
  // release, so that the behaviour behind them is tested.
  [[nodiscard]] verify::GeneratorOptions generator(std::uint32_t size, std::uint64_t seed, std::uint64_t index) const;

 private:
  Setup(SetupOptions options, std::unique_ptr<verify::Subject> subject, std::unique_ptr<verify::Subject> baseline)
      : options_(std::move(options)),
        subject_(std::move(subject)),
        baseline_(std::move(baseline)),
        judge_(subject_->runner(), baseline_->runner()) {}
  void know_quirks();
  hip::Status read_environment();

  SetupOptions options_;
  std::array<verify::KnownQuirks, 2> known_;  // of the subject, of the baseline
  verify::Environments environments_;
  std::unique_ptr<verify::Subject> subject_;
  std::unique_ptr<verify::Subject> baseline_;
  verify::Judge judge_;
};

}  // namespace fuzz
