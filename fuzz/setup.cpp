#include "fuzz/setup.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuzz {

static hip::Result<std::unique_ptr<verify::Subject>> make_subject(const char* option, const std::string& text,
                                                                  const verify::SubjectOptions& options) {
  const hip::Result<verify::SubjectName> name = verify::parse_subject(text);
  if (!name) return hip::Error{name.error().code, fmt::format("{}: {}", option, name.error().message)};
  hip::Result<std::unique_ptr<verify::Subject>> subject = verify::Subject::make(name.value(), options);
  if (!subject) return hip::Error{subject.error().code, fmt::format("{}: {}", option, subject.error().message)};
  // Started here once, so that a subject that cannot run is reported before any work; workers start their own.
  if (const hip::Status started = subject.value()->start(); !started) {
    return hip::Error{started.error().code, fmt::format("{}: {}", option, started.error().message)};
  }
  subject.value()->runner().start_afresh();
  return subject;
}

hip::Result<const Fault*> fault_named(const std::string& id) {
  const Fault* fault = find_fault(id);
  if (id.empty() || fault != nullptr) return fault;
  const auto races = race_faults();
  const auto race = std::ranges::find(races, id, &RaceFault::id);
  if (race == races.end()) {
    return hip::Error{1, fmt::format("--fault: there is no fault '{}'; 'hgcheck faults' lists them", id)};
  }
  return hip::Error{1, fmt::format("--fault: '{0}' needs threads: hgcheck race --scenario {1} --fault {0}", race->id,
                                   race->scenario)};
}

hip::Result<std::unique_ptr<Setup>> Setup::make(const SetupOptions& options) {
  verify::SubjectOptions subject_options;
  subject_options.program_timeout = options.program_timeout;
  if (options.patchers) subject_options.patchers = options.patchers;
  if (!options.fault.empty()) {
    const hip::Result<const Fault*> named = fault_named(options.fault);
    if (!named) return named.error();
    const Fault* fault = named.value();
    if (fault->patchers) subject_options.patchers = fault->patchers;
    subject_options.layer = fault->layer;
    if (fault->layer) subject_options.layer_name = fault->id;
    subject_options.parts = fault->parts;
  }
  hip::Result<std::unique_ptr<verify::Subject>> subject = make_subject("--subject", options.subject, subject_options);
  if (!subject) return subject.error();
  verify::SubjectOptions baseline_options;
  baseline_options.program_timeout = options.program_timeout;
  hip::Result<std::unique_ptr<verify::Subject>> baseline =
      make_subject("--baseline", options.baseline, baseline_options);
  if (!baseline) return baseline.error();
  if (baseline.value()->name().strategy == verify::StrategyKind::kRemap) {
    return hip::Error{hipErrorInvalidValue,
                      fmt::format("--baseline {}: a baseline has its subject's addresses, and remap chooses its own; "
                                  "give it as --subject",
                                  options.baseline)};
  }
  std::unique_ptr<Setup> setup(new Setup(options, std::move(subject).value(), std::move(baseline).value()));
  setup->know_quirks();
  if (const hip::Status read = setup->read_environment(); !read) return read.error();
  return setup;
}

hip::Status Setup::read_environment() {
  for (const std::string& text : options_.environment) {
    std::string error;
    const auto variable = verify::parse_variable(text, &error);
    if (!variable) return hip::Error{1, "--environment: " + error};
    if (!environments_.stated.insert(*variable).second) {
      return hip::Error{1, fmt::format("--environment: {} has two values", variable->first)};
    }
  }
  if ((!environments_.stated.empty() || options_.draw_environment) && !contained()) {
    return hip::Error{1, fmt::format("--environment and --draw-environment: '{}' runs in this process, which has read "
                                     "its variables; use a subject with a process of its own, such as rocm-soft",
                                     options_.subject)};
  }
  if (!options_.draw_environment) return {};
  const bool nvidia = release().starts_with("nvidia");
  environments_.drawn_from = nvidia ? verify::DrawnFrom::kNvidia : verify::DrawnFrom::kAmd;
  return {};
}

void Setup::know_quirks() {
  const auto known = [](const verify::Subject& subject) {
    verify::KnownQuirks known{verify::QuirkSet(subject.release()), {subject.name().strategy}};
    if (subject.takes_commands()) known.ways = verify::ways_of_commands();
    return known;
  };
  known_ = {known(*subject_), known(*baseline_)};
  if (options_.no_quirks) known_ = {};
  judge_.know(known_[0]);
  judge_.know_of_baseline(known_[1]);
}

verify::GeneratorOptions Setup::generator(std::uint32_t size, std::uint64_t seed, std::uint64_t index) const {
  verify::GeneratorOptions options;
  options.size = size;
  options.system_devices = subject_->system_devices();
  options.environments = environments_;
  if (subject_->name().strategy == verify::StrategyKind::kRemap) {
    options.placement = verify::Placement::kNative;  // in an arena nothing is remapped
    // With several devices AMD's releases fault or crash on mapped memory in ways that no quirk tells yet, and whether
    // other runtimes do better is not known.
    options.several_devices = subject_->name().runtime == "model";
  }
  // A fault of a system shows only in scenarios of that system.
  if (const Fault* fault = find_fault(options_.fault); fault != nullptr && fault->scenarios) {
    options.systems_every = 1;
    options.system = fault->scenarios;
  }
  const auto none = [](const verify::KnownQuirks& known) { return known.quirks.empty(); };
  if (std::ranges::all_of(known_, none) || index % kMeetQuirksEvery == 0) return options;
  options.avoid = [this, environment = verify::campaign_environment(environments_, seed, index)](
                      const verify::State& state, const verify::Command& command, verify::Id thread) {
    return std::ranges::any_of(
        known_, [&](const verify::KnownQuirks& known) { return known.triggered(state, command, thread, environment); });
  };
  return options;
}

std::string SetupOptions::arguments() const {
  const SetupOptions defaults;
  std::string text;
  if (subject != defaults.subject) text += " --subject " + subject;
  if (baseline != defaults.baseline) text += " --baseline " + baseline;
  if (!fault.empty()) text += " --fault " + fault;
  if (no_quirks) text += " --no-quirks";
  return text;
}

}  // namespace fuzz
