// `hgcheck replay`, `shrink` and `check`: programs from files.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/finding.h"
#include "fuzz/isolate.h"
#include "fuzz/kernel_text.h"
#include "fuzz/tally.h"
#include "fuzz/worker.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include "verify/execute/death.h"
#include "verify/execute/library_place.h"
#include "verify/program/blocks.h"
#include "verify/program/escaped_work.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"

namespace fuzz {

namespace {

constexpr double kRunsAReplay = 6;       // program time-outs that one judgement may take
constexpr double kShrinkBudget = 600;    // long, because a person asked for this shrink
constexpr std::uint64_t kSchedules = 4;  // number of orders that a replay tries
constexpr double kTakesLong = 5;         // seconds of all of them

struct Judged {
  verify::Judgement judgement;
  verify::JudgeOptions checks;
};

// Seconds for one judgement in a process that this one forks.
double replay_timeout(const Setup& setup) {
  return kRunsAReplay * setup.options().program_timeout;
}

// The judgement of the first of a few schedules that does not agree, else of the last. The checks that need many runs
// choose their schedules themselves, so they are made once. A subject process that dies only sometimes gets several
// runs to do so, unless its program takes long.
Judged judge_all(Setup& setup, const verify::Program& program) {
  Judged judged;
  const double timeout = replay_timeout(setup);
  const std::uint64_t begun = steady_ns();
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    judged.checks = seed == 1 ? all_checks(seed) : verify::JudgeOptions{.schedule_seed = seed};
    judged.judgement = judge_isolated(setup, program, judged.checks, timeout);
    if (judged.judgement.verdict != verify::VerdictKind::kAgree) return judged;
  }
  if (!setup.contained() || seconds_since(begun) > kTakesLong) return judged;
  judged.checks = {.tries = verify::kRateRuns};
  judged.judgement = judge_isolated(setup, program, judged.checks, timeout * verify::kRateRuns);
  return judged;
}

int status_of(verify::VerdictKind kind) {
  switch (kind) {
    case verify::VerdictKind::kAgree:
    case verify::VerdictKind::kKnownQuirk:
      return kAgreed;
    case verify::VerdictKind::kDiverge:
      return kDiverged;
    case verify::VerdictKind::kUnsupported:
      return kCannotRun;
    case verify::VerdictKind::kDiscarded:
      return kUsage;
    case verify::VerdictKind::kPoisoned:
    case verify::VerdictKind::kHarnessError:
      break;
  }
  return kHarness;
}

void print_judgement(const verify::Judgement& judgement) {
  std::cout << verdict_name(judgement.verdict);
  if (!judgement.reason.empty()) std::cout << ": " << judgement.reason;
  std::cout << "\n";
  for (const verify::PropertyId id : judgement.broken) {
    const verify::Property& property = verify::property(id);
    std::cout << fmt::format("breaks {} {}: {}\n", property.name, property.title, property.sentence);
  }
  for (const verify::Violation& v : judgement.violations) {
    std::cout << fmt::format("  {} {}\n    expected {}\n    observed {}\n", verify::property(v.property).name, v.where,
                             v.expected, v.observed);
  }
  for (const verify::Difference& d : judgement.differences) {
    std::cout << fmt::format("  {} at '{}'\n    expected {}\n    observed {}\n", d.where, d.command, d.expected,
                             d.observed);
  }
}

using Notes = std::vector<std::string>;

nlohmann::ordered_json judgement_json(const ReplayCommand& command, const verify::Program& program,
                                      const verify::Judgement& judgement, const Notes& notes) {
  nlohmann::ordered_json json = {{"program", command.files.front()},
                                 {"subject", command.setup.subject},
                                 {"baseline", command.setup.baseline},
                                 {"fault", command.setup.fault},
                                 {"commands", verify::counted_commands(program)},
                                 {"verdict", verdict_name(judgement.verdict)},
                                 {"reason", judgement.reason},
                                 {"steps", judgement.steps},
                                 {"notes", notes}};
  json["properties"] = nlohmann::ordered_json::array();
  for (const verify::PropertyId id : judgement.broken) json["properties"].push_back(verify::property(id).name);
  json["differences"] = nlohmann::ordered_json::array();
  for (const verify::Difference& d : judgement.differences) {
    json["differences"].push_back(
        {{"where", d.where}, {"command", d.command}, {"expected", d.expected}, {"observed", d.observed}});
  }
  return json;
}

// A divergence is worse than every other status.
int worse(int one, int other) {
  return one == kDiverged || other == kDiverged ? kDiverged : std::max(one, other);
}

// The report of replayed programs, in the form of a campaign's.
class ReplayReport {
 public:
  ReplayReport(const Setup& setup, const std::string& version)
      : setup_(setup), result_(empty_result(setup, version)), started_ns_(steady_ns()) {}

  void add(const std::string& file, const verify::Program& program, const verify::Judgement& judgement,
           const Notes& notes) {
    for (const std::string& note : notes) result_.messages.push_back(fmt::format("{}: {}", file, note));
    counter_.add(program, judgement, board_);
    add_steps(result_.steps, judgement.steps);
    if (judgement.verdict == verify::VerdictKind::kDiverge) {
      const std::uint64_t commands = verify::counted_commands(program);
      verify::Finding finding = make_finding(setup_, program, judgement, count_, commands);
      finding.cause = cause_of(judgement);
      finding.program_path = file;
      finding.replay = fmt::format("hgcheck replay {}{}", file, setup_.options().arguments());
      result_.findings.push_back(std::move(finding));
    } else if (judgement.verdict == verify::VerdictKind::kKnownQuirk) {
      ++result_.quirks[judgement.reason];
    } else if (judgement.verdict != verify::VerdictKind::kAgree) {
      ++result_.reasons[fmt::format("{}: {}", verdict_name(judgement.verdict), judgement.reason)];
    }
    ++count_;
  }
  [[nodiscard]] hip::Status write(const std::string& folder) {
    const Board* const board = &board_;
    sum_boards({&board, 1}, result_);
    describe_triples(result_.triples);
    result_.seconds = static_cast<double>(steady_ns() - started_ns_) / 1e9;
    return reports::write_report(result_, folder);
  }

 private:
  const Setup& setup_;
  verify::CampaignResult result_;
  Board board_{};
  ProgramCounter counter_;
  std::uint64_t started_ns_, count_ = 0;
};

// Prints every command and how it ended on the subject, in a process of its own. Of the later rounds of a block, prints
// the commands that ended in another way than in the first round.
void print_observation(Setup& setup, const verify::Program& program) {
  std::cout << std::flush;
  verify::LibraryPlace::share();
  const pid_t child = fork();
  if (child == 0) {
    const verify::RunResult result = [&] {
      const KernelTextToErrors text;
      return setup.subject().run(program, verify::RunOptions{});
    }();
    for (std::size_t i = 0; i < result.observation.statuses.size(); ++i) {
      const verify::StepStatus& status = result.observation.statuses[i];
      const std::size_t first = verify::in_first_round(program, i);
      if (first != i && status.code == result.observation.statuses[first].code) continue;
      std::cout << fmt::format("{:>4}  {:<60} {}\n", i + 1, verify::print_command(program.steps[i].command),
                               hip::status_name(status.code));
    }
    const verify::Observation& observation = result.observation;
    std::cout << fmt::format("{} HIP calls, {} patches, {} recorded again, {} injected failures\n", observation.calls,
                             observation.patches, observation.fallbacks, observation.failures_fired);
    if (!observation.steps.empty()) std::cout << reports::steps_in_words(observation.steps) << "\n";
    if (!observation.notes.fault.empty()) std::cout << "fault: " << observation.notes.fault << "\n";
    if (observation.death) {
      std::cout << fmt::format("the subject ends at command {}: {}\n", observation.death_step + 1,
                               observation.death->text());
    }
    std::cout << std::flush;
    _exit(0);
  }
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && status != 0) {
    std::cout << "the trace ends here: " << verify::death_of(status).text() << verify::LibraryPlace::text() << "\n";
  }
}

}  // namespace

int run(const ReplayCommand& command) {
  const bool several = command.files.size() > 1;
  if (is_race_file(command.files.front())) {
    if (several || !command.report.empty()) return complain("a race file is replayed by itself, without --report");
    std::vector<std::string> arguments = {"replay", command.files.front()};
    if (!command.json.empty()) arguments.insert(arguments.end(), {"--json", command.json});
    return run_race_program(arguments);
  }
  if (several && !command.json.empty()) return complain("--json is for one program; --report is for several");
  std::vector<verify::Program> programs;
  for (const std::string& file : command.files) {
    hip::Result<verify::Program> program = load_program(file);
    if (!program) return complain(program.error().message);
    programs.push_back(std::move(program).value());
  }
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(command.setup);
  if (!setup) return complain(setup.error().message);
  if (const hip::Status status = writable("--json", command.json); !status) return complain(status.error().message);
  if (!command.report.empty()) {
    if (const hip::Status usable = usable_folder("--report", command.report); !usable)
      return complain(usable.error().message);
  }
  ReplayReport report(*setup.value(), command.version);
  int status = kAgreed;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (several) std::cout << command.files[i] << ":\n";
    if (command.trace) print_observation(*setup.value(), programs[i]);
    const verify::Judgement judgement = judge_all(*setup.value(), programs[i]).judgement;
    const Notes notes = verify::escaped_work(programs[i]);
    print_judgement(judgement);
    for (const std::string& note : notes) std::cout << "note: " << note << "\n";
    report.add(command.files[i], programs[i], judgement, notes);
    status = worse(status, status_of(judgement.verdict));
    if (!command.trace && reports::gives_reasons(judgement.steps))
      std::cout << reports::steps_in_words(judgement.steps) << "\n";
    if (reports::refused_every_step(judgement.steps) && status_of(judgement.verdict) == kAgreed) {
      std::cout << "nothing was judged: the library refused every step\n";
      status = worse(status, kHarness);
    }
    if (command.json.empty()) continue;
    const nlohmann::ordered_json json = judgement_json(command, programs[i], judgement, notes);
    const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (const hip::Status written = write_text(command.json, text); !written) return complain(written.error().message);
  }
  if (command.report.empty()) return status;
  const hip::Status written = report.write(command.report);
  return written ? status : complain(written.error().message);
}

int run(const ShrinkCommand& command) {
  const hip::Result<verify::Program> program = load_program(command.file);
  if (!program) return complain(program.error().message);
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(command.setup);
  if (!setup) return complain(setup.error().message);
  if (const hip::Status status = writable("-o", command.output); !status) return complain(status.error().message);
  const Judged judged = judge_all(*setup.value(), program.value());
  if (judged.judgement.verdict != verify::VerdictKind::kDiverge) {
    std::cerr << fmt::format("hgcheck: {} does not diverge ({}): there is nothing to shrink\n", command.file,
                             verdict_name(judged.judgement.verdict));
    return status_of(judged.judgement.verdict);
  }
  const Shrunk shrunk =
      shrink_finding(*setup.value(), program.value(), judged.checks, replay_timeout(*setup.value()), kShrinkBudget);
  if (!shrunk.reproduced) {
    std::cerr << fmt::format("hgcheck: {} diverged once, and then not again: there is nothing to shrink\n",
                             command.file);
    return kHarness;
  }
  const std::string text = verify::print_program(shrunk.program);
  const std::string output = command.output.empty() ? "-" : command.output;
  for (const auto& write : {write_text, write_code_objects}) {
    if (const hip::Status status = write(output, text); !status) return complain(status.error().message);
  }
  std::cerr << fmt::format("hgcheck: {} commands of {}, breaks {}\n", verify::counted_commands(shrunk.program),
                           verify::counted_commands(program.value()),
                           verify::property(shrunk.judgement.broken.front()).name);
  return kDiverged;
}

int check(const std::string& file) {
  if (is_race_file(file)) return run_race_program({"check", file});
  const hip::Result<verify::Program> program = load_program(file);
  if (!program) return complain(program.error().message);
  std::cout << fmt::format("{}: {} commands, valid\n", file, program.value().steps.size());
  return kAgreed;
}

}  // namespace fuzz
