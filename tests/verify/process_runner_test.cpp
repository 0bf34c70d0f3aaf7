// Subject processes that crash, hang, close their pipe or send garbage: observations of a program, never the end of a
// run.
#include "verify/subject/process_runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "judging.h"
#include "verify/generate/generator.h"
#include "verify/program/state_devices.h"
#include "verify/subject/subject.h"

namespace verify {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

ProcessOptions odd(std::vector<std::string> arguments, double timeout = 20) {
  ProcessOptions options{.command = std::move(arguments)};
  options.command.insert(options.command.begin(), ODD_SUBJECT);
  options.timeouts.program = timeout;
  return options;
}

std::string fresh_path(const std::string& name) {
  const std::string path = ::testing::TempDir() + name + std::to_string(getpid());
  std::filesystem::remove(path);
  return path;
}

std::string death_of(const Observation& observation) {
  return observation.death ? observation.death->text() : "";
}
std::string death_of(ProcessRunner& runner, const Program& program = parsed(kExample)) {
  return death_of(runner.run(program, {}).observation);
}
std::string death_of(const std::vector<std::string>& arguments, double timeout = 20) {
  ProcessRunner runner(odd(arguments, timeout));
  return death_of(runner);
}

// Whether `work`, done in a forked process, succeeds.
template <class Work>
bool succeeds_in_a_fork(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status == 0;
}

// Returns the arguments of the process from `option` on, or nothing.
std::string asked_for(const std::string& option, pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  std::string line{std::istreambuf_iterator<char>(file), {}};
  std::replace(line.begin(), line.end(), '\0', ' ');
  const std::size_t at = line.find(option);
  return at == std::string::npos ? "" : line.substr(at, line.find_last_not_of(' ') + 1 - at);
}

TEST(ProcessRunner, ACrashIsTheDeathOfTheProgramThatMadeIt) {
  EXPECT_THAT(death_of({"segv"}), HasSubstr("killed by signal 11"));
  EXPECT_EQ(death_of({"exit"}), "exit status 3");
}

TEST(ProcessRunner, ADyingSubjectSaysAtWhichStepItWas) {
  ProcessRunner runner(odd({"throe"}));
  const Observation observation = runner.run(parsed(kExample), {}).observation;
  EXPECT_THAT(death_of(observation), HasSubstr("killed by signal 11"));
  EXPECT_EQ(observation.death_step, 2U);
}

TEST(ProcessRunner, AHangIsADeathAfterTheTimeout) {
  EXPECT_THAT(death_of({"hang"}, 0.2), HasSubstr("hung"));
}

TEST(ProcessRunner, GarbageIsADeathThatShowsIt) {
  EXPECT_THAT(death_of({"garbage"}), HasSubstr("what is this?"));
  EXPECT_THAT(death_of({"nonsense"}), HasSubstr("sorry"));
}

TEST(ProcessRunner, AnAnswerCutShortIsADeath) {
  EXPECT_NE(death_of({"halves"}), "");
  EXPECT_NE(death_of({"closes"}), "");
}

TEST(ProcessRunner, AfterADeathTheNextProgramRunsInANewProcess) {
  ProcessRunner runner(odd({"segv", fresh_path("died")}));
  EXPECT_NE(death_of(runner), "");
  const Observation again = runner.run(parsed(kExample), {}).observation;
  EXPECT_EQ(death_of(again), "");
  EXPECT_EQ(again.harness_error, "");
  EXPECT_EQ(runner.starts(), 2U);
}

TEST(ProcessRunner, ASubjectKilledFromOutsideIsStartedAgain) {
  ProcessRunner runner(odd({"behaves"}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(death_of(runner), "");
    kill(runner.process(), SIGKILL);
    EXPECT_THAT(death_of(runner), HasSubstr("killed by signal 9"));
  }
  EXPECT_EQ(death_of(runner), "");
}

TEST(ProcessRunner, AProcessIsReplacedAfterSoManyRuns) {
  ProcessOptions options = odd({"behaves"});
  options.runs_a_process = 3;
  ProcessRunner runner(options);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.starts(), 4U);
}

TEST(ProcessRunner, AFreshProcessIsOneThatHasRunNothing) {
  ProcessRunner runner(odd({"behaves"}));
  ASSERT_TRUE(runner.start());
  const pid_t first = runner.process();
  runner.start_afresh();
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.process(), first);
  runner.start_afresh();
  EXPECT_EQ(runner.process(), -1);
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.starts(), 2U);
}

TEST(ProcessRunner, ProgramsWithAnotherNumberOfDevicesHaveAProcessOfTheirOwnThatStays) {
  ProcessRunner runner(odd({"behaves", fresh_path("devices")}));  // or it takes the next argument for its file
  const Program one = parsed(kExample),
                two = parsed(
                    "hgcheck-program 1\nplacement arena\ngraph g0\nkernel g0.n0 count_only n=0 a=0 b=0 device=1\n");
  ASSERT_EQ(devices_needed(two), 2U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(death_of(runner, one), "");
    EXPECT_EQ(death_of(runner, two), "");
  }
  EXPECT_EQ(runner.starts(), 2U);
  EXPECT_EQ(asked_for("--devices", runner.process(1)), "");
  EXPECT_EQ(asked_for("--devices", runner.process(2)), "--devices 2");
  runner.start_afresh();
  EXPECT_EQ(runner.process(1), -1);
  EXPECT_EQ(runner.process(2), -1);
}

TEST(ProcessRunner, ProgramsWithOtherVariablesRunInOtherProcessesAndTheOldestEnds) {
  ProcessRunner runner(odd({"behaves"}));
  const auto with = [](int value) {
    Program program = parsed(kExample);
    program.setting.environment = {{"A", std::to_string(value)}, {"B", "x"}};
    return program;
  };
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(asked_for("--environment", runner.process()), "");
  for (int value = 1; value <= 4; ++value) EXPECT_EQ(death_of(runner, with(value)), "");
  EXPECT_EQ(asked_for("--environment", runner.process(1, with(3).setting.environment)),
            "--environment A=3 --environment B=x");
  EXPECT_EQ(runner.starts(), 5U);
  for (int value = 1; value <= 4; ++value) EXPECT_EQ(death_of(runner, with(value)), "");
  EXPECT_EQ(runner.starts(), 5U) << "each is still there";
  EXPECT_EQ(death_of(runner, with(5)), "");
  EXPECT_EQ(death_of(runner, with(2)), "");
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.starts(), 6U);
  EXPECT_EQ(death_of(runner, with(1)), "");
  EXPECT_EQ(runner.starts(), 7U) << "the oldest was gone";
}

TEST(ProcessRunner, ASubjectWithTheMachinesDevicesRunsAllProgramsInOneProcess) {
  ProcessOptions options = odd({"behaves"});
  options.own_devices = true;
  ProcessRunner runner(options);
  for (const char* device : {"0", "1"}) {
    const Program program =
        parsed(fmt::format("hgcheck-program 1\nplacement arena\ngraph g0\nkernel g0.n0 count_only n=0 a=0 b=0 "
                           "device={}\n",
                           device));
    EXPECT_EQ(death_of(runner, program), "");
  }
  EXPECT_EQ(runner.starts(), 1U);
}

TEST(ProcessRunner, ASpareThatIsThereAlreadyReplacesAProcessThatDied) {
  ProcessOptions options = odd({"behaves"});
  options.spares = 2;
  ProcessRunner runner(options);
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.starts(), 3U);
  for (std::uint64_t died = 1; died <= 4; ++died) {
    kill(runner.process(), SIGKILL);
    EXPECT_THAT(death_of(runner), HasSubstr("killed by signal 9"));
    EXPECT_EQ(death_of(runner), "");
    EXPECT_EQ(runner.starts(), 3 + died);  // one spare more, which waits
  }
  const pid_t last = runner.process();
  runner.start_afresh();
  EXPECT_EQ(death_of(runner), "");
  EXPECT_NE(runner.process(), last);
  EXPECT_EQ(runner.starts(), 8U);
}

TEST(ProcessRunner, AForkedProcessTakesNoSpareOfItsParent) {
  ProcessOptions options = odd({"behaves"});
  options.spares = 1;
  ProcessRunner runner(options);
  EXPECT_EQ(death_of(runner), "");
  EXPECT_TRUE(succeeds_in_a_fork([&runner] {
    const bool good = death_of(runner).empty();
    runner.start_afresh();
    return good && death_of(runner).empty();
  }));
  runner.start_afresh();  // a spare that the child had taken would be gone now
  EXPECT_EQ(death_of(runner), "");
}

TEST(ProcessRunner, ASubjectThatCannotStartIsAnErrorThatQuotesIt) {
  const auto failure = [](std::vector<std::string> command) {
    ProcessRunner runner({std::move(command), StrategyKind::kPatch, {20, 20}});
    const hip::Status status = runner.start();
    return status ? std::string() : status.error().message;
  };
  EXPECT_THAT(failure({"/no/such/subject"}), HasSubstr("No such file"));
  EXPECT_THAT(failure({ODD_SUBJECT, "sorry"}), HasSubstr("no GPU in here"));
  EXPECT_THAT(failure({ODD_SUBJECT, "mute"}), HasSubstr("exit status 4"));
  EXPECT_THAT(failure({ODD_SUBJECT, "later"}), HasSubstr("version"));
  ProcessRunner runner(odd({"sorry"}));
  EXPECT_THAT(runner.run(parsed(kExample), {}).observation.harness_error, HasSubstr("no GPU in here"));
}

TEST(ProcessRunner, AForkedProcessHasASubjectOfItsOwn) {
  ProcessRunner runner(odd({"behaves"}));
  ASSERT_TRUE(runner.start());
  const pid_t parents = runner.process();
  EXPECT_TRUE(succeeds_in_a_fork([&runner, parents] {
    const bool good = death_of(runner).empty() && runner.process() != parents;
    runner.start_afresh();
    return good;
  }));
  EXPECT_EQ(death_of(runner), "");
  EXPECT_EQ(runner.process(), parents);
}

TEST(Judge, AReproducibleCrashBreaksP11) {
  Bench bench;
  ProcessRunner always(odd({"segv"}));
  const Judgement crash = Judge(always, bench.baseline).judge(parsed(kExample), {});
  EXPECT_EQ(crash.verdict, VerdictKind::kDiverge) << described(crash);
  EXPECT_EQ(broken_names(crash), "P11");
  ASSERT_EQ(crash.differences.size(), 1U);
  EXPECT_EQ(crash.differences[0].place, Difference::Place::kProcess);
}

// The model as a runner that only pretends to be in a process: the observations of its first `bad_` runs are wrong.
class Contaminated final : public Runner {
 public:
  // `unsupported`: the reason for which the runner says that it could not run a program to its end; empty: it could.
  explicit Contaminated(int bad, std::string unsupported = {})
      : bad_(bad), unsupported_(std::move(unsupported)), executor_(platform_, StrategyKind::kPatch) {}
  using Runner::run;
  RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override {
    RunResult result = executor_.run(program, options, script);
    if (bad_-- > 0) result.observation.reads.clear();
    result.observation.unsupported = unsupported_;
    return result;
  }
  [[nodiscard]] bool contained() const override { return true; }
  void start_afresh() override { ++starts_; }
  [[nodiscard]] int starts() const { return starts_; }

 private:
  int bad_, starts_ = 0;
  std::string unsupported_;
  ModelPlatform platform_;
  Executor executor_;
};

TEST(Judge, ADivergenceThatAFreshProcessDoesNotShowIsPoisonedAndNoFinding) {
  Bench bench;
  Contaminated once(1), always(1000);
  EXPECT_EQ(Judge(once, bench.baseline).judge(parsed(kExample), {}).verdict, VerdictKind::kPoisoned);
  EXPECT_EQ(once.starts(), kConfirmations);
  Contaminated believed(1);
  JudgeOptions at_once;
  at_once.confirm = false;
  EXPECT_EQ(Judge(believed, bench.baseline).judge(parsed(kExample), at_once).verdict, VerdictKind::kDiverge);
  EXPECT_EQ(believed.starts(), 0);
  EXPECT_EQ(Judge(always, bench.baseline).judge(parsed(kExample), {}).verdict, VerdictKind::kDiverge);
}

// The model as a runner that cannot run a program but for the first time.
class OnlyOnce final : public Runner {
 public:
  using Runner::run;
  RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override {
    if (runs_++ == 0) return executor_.run(program, options, script);
    RunResult result;
    result.observation.harness_error = "no name is that large";
    return result;
  }

 private:
  int runs_ = 0;
  ModelPlatform platform_;
  Executor executor_{platform_, StrategyKind::kPatch};
};

TEST(Judge, AFurtherRunThatTheHarnessCannotMakeIsNoDivergence) {
  Bench bench;
  OnlyOnce subject;
  JudgeOptions options;
  options.every_order = true;
  const Judgement judgement = Judge(subject, bench.baseline).judge(parsed(kExample), options);
  EXPECT_EQ(judgement.verdict, VerdictKind::kHarnessError) << described(judgement);
  EXPECT_EQ(judgement.reason, "a further run: no name is that large");
}

// The model as a runner that pretends to be in a process, which dies in the runs of which `dies` is true (from 0), and
// answers without reads in run `wrong`.
class Mortal final : public Runner {
 public:
  explicit Mortal(std::function<bool(int run)> dies, Death death = {Death::Kind::kSignal, SIGSEGV}, int wrong = -1)
      : dies_(std::move(dies)), death_(std::move(death)), wrong_(wrong), executor_(platform_, StrategyKind::kPatch) {}
  using Runner::run;
  RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override {
    RunResult result = executor_.run(program, options, script);
    if (runs_ == wrong_) result.observation.reads.clear();
    if (dies_(runs_++)) result.observation.death = death_;
    return result;
  }
  [[nodiscard]] bool contained() const override { return true; }
  [[nodiscard]] int runs() const { return runs_; }

 private:
  std::function<bool(int run)> dies_;
  Death death_;
  int wrong_, runs_ = 0;
  ModelPlatform platform_;
  Executor executor_;
};

TEST(Judge, ADeathThatDoesNotComeEveryTimeIsAFindingWithItsRate) {
  Bench bench;
  Mortal third([](int run) { return run % 3 == 0; });  // dies in run 0, in neither confirmation, then in 3, 6 and 9
  const Judgement judgement = Judge(third, bench.baseline).judge(parsed(kExample), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_TRUE(judgement.sometimes);
  EXPECT_EQ(broken_names(judgement), "P11");
  ASSERT_EQ(judgement.differences.size(), 1U);
  EXPECT_THAT(judgement.differences[0].observed, HasSubstr("signal 11"));
  EXPECT_THAT(judgement.differences[0].observed, EndsWith(", in 3 of 8 runs"));
  EXPECT_EQ(third.runs(), 1 + kConfirmations + static_cast<int>(kRateRuns));
}

TEST(Judge, ADeathThatNeverComesAgainIsPoisoned) {
  Bench bench;
  Mortal once([](int run) { return run == 0; });
  EXPECT_EQ(Judge(once, bench.baseline).judge(parsed(kExample), {}).verdict, VerdictKind::kPoisoned);
}

TEST(Judge, ADeathOfAFurtherRunIsTriedSeveralTimes) {
  Bench bench;
  Mortal again([](int run) { return run == 1 || run == 4; }), once([](int run) { return run == 1; });
  const Judgement judgement = Judge(again, bench.baseline).judge(parsed(kExample), {.every_order = true});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_TRUE(judgement.sometimes);
  EXPECT_EQ(Judge(once, bench.baseline).judge(parsed(kExample), {.every_order = true}).verdict, VerdictKind::kPoisoned);
  EXPECT_EQ(once.runs(), 2 + static_cast<int>(kRateRuns));
}

TEST(Judge, AHangOrAKillOfAFurtherRunIsTriedOnce) {
  Bench bench;
  for (const Death& death : {Death{Death::Kind::kHung}, Death{Death::Kind::kSignal, SIGKILL}}) {
    Mortal once([](int run) { return run == 1; }, death);
    EXPECT_EQ(Judge(once, bench.baseline).judge(parsed(kExample), {.every_order = true}).verdict,
              VerdictKind::kPoisoned);
    EXPECT_EQ(once.runs(), 3) << death.text();
  }
}

TEST(Judge, AnotherDivergenceThatFollowsADeathDoesNotCountAsADeath) {
  Bench bench;
  Mortal later([](int run) { return run == 1; }, {Death::Kind::kSignal, SIGSEGV}, 3);
  const Judgement judgement = Judge(later, bench.baseline).judge(parsed(kExample), {.every_order = true});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_FALSE(judgement.sometimes);
}

TEST(Judge, ADeathOfAVariantThatDoesNotComeEveryTimeIsNotBlamedOnTheCallersArguments) {
  Bench bench;
  Mortal again([](int run) { return run == 1 || run == 3; });
  const Judgement judgement = Judge(again, bench.baseline).judge(parsed(kExample), {.however_built = true});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_TRUE(judgement.sometimes);
  EXPECT_THAT(judgement.broken, Contains(PropertyId::kP9));
  EXPECT_THAT(judgement.broken, Not(Contains(PropertyId::kP1)));
}

TEST(Judge, SeveralTriesFindADeathThatTheFirstRunDoesNotShow) {
  Bench bench;
  const auto late = [](int run) { return run == 5; };
  Mortal one(late), several(late), never([](int) { return false; });
  EXPECT_TRUE(in_agreement(Judge(one, bench.baseline).judge(parsed(kExample), {.confirm = false})));
  const Judgement found = Judge(several, bench.baseline).judge(parsed(kExample), {.tries = 8, .confirm = false});
  EXPECT_EQ(found.verdict, VerdictKind::kDiverge);
  EXPECT_TRUE(found.sometimes);
  EXPECT_EQ(several.runs(), 6);
  EXPECT_TRUE(in_agreement(Judge(never, bench.baseline).judge(parsed(kExample), {.tries = 8})));
  EXPECT_EQ(never.runs(), 8);
}

// A process on a GPU takes half a second to start, and on one GPU one program in twenty wants a second device.
TEST(Judge, AProgramThatTheSubjectCannotRunStartsNoFreshProcess) {
  Bench bench;
  Contaminated lacking(1000, "2 devices");
  const Judgement judgement = Judge(lacking, bench.baseline).judge(parsed(kExample), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kUnsupported);
  EXPECT_EQ(judgement.reason, "2 devices");
  EXPECT_EQ(lacking.starts(), 0);
}

#ifdef HGMODEL_LIBRARY
std::unique_ptr<Subject> model_behind_a_pipe(const std::string& strategy, const std::string& library) {
  const auto name = parse_subject("cmd=" + std::string(SUBJECT) + " --library " + library + ":" + strategy);
  EXPECT_TRUE(name.ok());
  auto subject = Subject::make(name.value());
  EXPECT_TRUE(subject.ok());
  return std::move(subject).value();
}

TEST(SubjectProcess, TheModelBehindAPipeIsTheModel) {
  Bench bench;
  GeneratorOptions options;  // the memory of the model's devices has no stated size
  options.avoid = [](const State&, const Command& command, Id) { return command_word(command) == "device_memory"; };
  for (const char* strategy : {"patch", "rebuild", "update"}) {
    const auto subject = model_behind_a_pipe(strategy, HGMODEL_LIBRARY);
    Judge judge(subject->runner(), bench.baseline);
    for (std::uint64_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(in_agreement(judge.judge(campaign_program(11, i, options), {}))) << strategy << " " << i;
    }
  }
}

TEST(SubjectProcess, ARuntimeThatPrintsToStandardOutputBreaksNothing) {
  Bench bench;
  const auto subject = model_behind_a_pipe("patch", CHATTY_LIBRARY);
  EXPECT_TRUE(in_agreement(Judge(subject->runner(), bench.baseline).judge(parsed(kExample), {})));
}

TEST(SubjectProcess, ARuntimeThatIsMissingIsNamedInTheError) {
  const auto subject = model_behind_a_pipe("patch", "/no/such/libamdhip64.so");
  const hip::Status started = subject->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/no/such/libamdhip64.so"));
}

TEST(SubjectProcess, ARequestThatIsNoProgramIsAnsweredWithWhatIsWrong) {
  ProcessRunner runner({{SUBJECT, "--library", HGMODEL_LIBRARY}, StrategyKind::kPatch, {20, 20}});
  EXPECT_THAT(runner.run(program_of("launch e0 s0\n"), {}).observation.harness_error, HasSubstr("not valid"));
  EXPECT_EQ(runner.run(parsed(kExample), {}).observation.harness_error, "");
}
#endif

}  // namespace
}  // namespace verify
