// The command line as scripts use it: exit statuses, messages, files, and the files that are left after a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "command_line.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> programs_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".program") found.push_back(entry.path().string());
  }
  return found;
}

// Waits for a campaign to have written a finding; false when it takes absurdly long.
bool wait_for_program(const std::string& folder) {
  for (int i = 0; i < 3000; ++i) {
    if (!programs_in(folder).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

nlohmann::json load_json(const std::string& path) {
  return nlohmann::json::parse(read_file(path));
}

using Campaign = InAFolder;
using Shrink = InAFolder;

// ---- the corpus

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, AgreesWithEveryStrategy) {
  for (const char* strategy : {"patch", "update", "rebuild"}) {
    const Outcome outcome = hgcheck({"replay", GetParam(), "--subject", std::string("model:") + strategy});
    EXPECT_EQ(outcome.status, 0) << strategy << "\n" << outcome.output;
  }
}
#ifdef HGCHECK_HGMODEL
// libhgmodel.so behind dlopen, with addresses of its own: the path that any other HIP runtime takes. It cannot be told
// the size of its devices.
TEST_P(Corpus, AgreesOnARuntimeLibraryThatChoosesItsOwnAddresses) {
  for (const char* strategy : {"patch", "update", "rebuild"}) {
    const Outcome outcome =
        hgcheck({"replay", GetParam(), "--subject", std::string("lib=" HGCHECK_HGMODEL ":") + strategy});
    const bool states_size = read_file(GetParam()).find("\ndevice_memory ") != std::string::npos;
    EXPECT_EQ(outcome.status, states_size ? 125 : 0) << strategy << "\n" << outcome.output;
    if (states_size) EXPECT_THAT(outcome.output, HasSubstr("unsupported: devices of a stated size"));
  }
}

TEST_F(Campaign, RunsOnARuntimeLibrary) {
  const Outcome outcome = hgcheck(
      {"campaign", "--programs", "300", "--subject", "lib=" HGCHECK_HGMODEL ":patch", "--json", folder / "r.json"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  // It has one device.
  const auto verdicts = load_json(folder / "r.json").at("verdicts");
  const int agreed = verdicts.at("agree").get<int>();
  EXPECT_EQ(agreed + verdicts.at("unsupported").get<int>(), 300);
  EXPECT_GT(agreed, 250);
}
#endif

INSTANTIATE_TEST_SUITE_P(Programs, Corpus, testing::ValuesIn(programs_in(HGCHECK_CORPUS)), [](const auto& test) {
  std::string name = fs::path(test.param).stem().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

// ---- campaigns

TEST_F(Campaign, FindsNothingOnTheModelAndSaysWhatItTried) {
  const Outcome outcome =
      hgcheck({"campaign", "--programs", "500", "--json", folder / "result.json", "--report", folder / "report"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const nlohmann::json json = load_json(folder / "result.json");
  EXPECT_EQ(json.at("programs"), 500);
  EXPECT_EQ(json.at("verdicts").at("agree"), 500);
  EXPECT_TRUE(json.at("findings").empty());
  for (const char* id : {"A1", "A2", "A3", "A4", "A5", "A6", "P1", "P2", "P3", "P4"}) {
    EXPECT_GT(json.at("properties").at(id).at("exercised").get<std::uint64_t>(), 0U) << id;
    EXPECT_EQ(json.at("properties").at(id).at("violated"), 0) << id;
  }
  for (const char* name : {"index.html", "report.json", "junit.xml"})
    EXPECT_TRUE(fs::exists(folder / ("report/" + std::string(name))));
  EXPECT_TRUE(json.at("messages").empty()) << json.at("messages");
  EXPECT_GT(json.at("judge_us").get<double>(), 0);
  EXPECT_NE(read_file(folder / "report/index.html").find("class=\"verdict good\""), std::string::npos);
}

TEST_F(Campaign, PrintsAtMostTwentyLines) {
  const std::vector<std::string> campaign = {"campaign", "--programs",     "300", "--jobs", "1",
                                             "--report", folder / "report"};
  const auto lines = [&campaign](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = campaign;
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string text = hgcheck(arguments).output;
    EXPECT_THAT(text, HasSubstr("programs/s"));
    EXPECT_THAT(text, HasSubstr("\nreport: "));
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_LE(lines({}), 20);
  EXPECT_LE(lines({"--compare", folder / "report/report.json"}), 20);
  EXPECT_LE(lines({"--fault", "F08"}), 20);
  EXPECT_GT(lines({"--verbose"}), 20) << "300 programs leave pairs that were never generated";
  const std::vector<std::string> db = {"--subject", std::string("model:lib=") + HGCHECK_PATCHER,
                                       "--db",      folder / "memory.db",
                                       "--compare", folder / "report/report.json"};
  EXPECT_LE(lines(db), 20) << "a patcher with many findings";
  EXPECT_GT(load_json(folder / "report/report.json").at("findings").size(), 4U) << "more than the terminal shows";
}

TEST_F(Campaign, CountsWhatTheStepsOfCommandBuffersDid) {
  const std::vector<std::string> arguments = {"campaign", "--programs", "60", "--json", folder / "r.json"};
  const auto steps_of = [&](const std::string& subject, int status = 0) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--subject", subject});
    const Outcome outcome = hgcheck(all);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_EQ(outcome.output.find("steps of command buffers: ") != std::string::npos, subject != "model:patch")
        << outcome.output;
    return load_json(folder / "r.json").at("steps");
  };
  EXPECT_TRUE(steps_of("model:patch").empty());
  const nlohmann::json own = steps_of("model:command-buffer");
  for (const char* way : {"launched", "set", "setter calls", "recorded"}) EXPECT_GT(own.value(way, 0), 0) << way;
  const nlohmann::json refusing = steps_of("model:lib=" REFUSING_COMMANDS, 3);
  EXPECT_GT(refusing.at("refused"), 60);
  EXPECT_EQ(refusing.size(), 2) << refusing;
  EXPECT_EQ(refusing.at("refused: it refuses every step"), refusing.at("refused"));
}

TEST_F(Campaign, AReplaySaysWhereALibraryEndedTheProcessAndThatARefusedStepWasNotJudged) {
  std::ofstream(folder / "one.program") << "hgcheck-program 1\nbuffer b0 64\ngraph g0\n"
                                           "memset g0.n0 dst=b0+0 value=1 width=8\n"
                                           "instantiate e0 g0\nlaunch e0 s0\n";
  const auto replay = [&](const char* library) {
    return hgcheck({"replay", folder / "one.program", "--subject", std::string("model:lib=") + library});
  };
  const Outcome aborting = replay(ABORTING_COMMANDS), refusing = replay(REFUSING_COMMANDS);
  EXPECT_EQ(aborting.status, 1);
  EXPECT_NE(aborting.output.find("(Aborted) in hgcommands_update, command 0\n"), std::string::npos) << aborting.output;
  EXPECT_EQ(refusing.status, 3);
  EXPECT_NE(refusing.output.find("; refused: it refuses every step ("), std::string::npos) << refusing.output;
  EXPECT_NE(refusing.output.find("\nnothing was judged: the library refused every step\n"), std::string::npos)
      << refusing.output;
}

TEST_F(Campaign, ALibraryThatEndsTheProcessOfItsRanksIsAFindingWithItsSchedule) {
  for (const char* library : {ABORTING_COMMANDS, LEAVING_COMMANDS, RECURSING_COMMANDS}) {
    const Outcome outcome = hgcheck({"race", "--library", library});
    EXPECT_EQ(outcome.status, 1) << library << ": " << outcome.output;
    EXPECT_NE(outcome.output.find("P11 the library ended the process\nshown by the schedule: no preemption\n"),
              std::string::npos)
        << library << ": " << outcome.output;
  }
}

TEST_F(Campaign, TheSameSeedGivesTheSameProgramsWhateverJobsAndShards) {
  const auto coverage = [&](std::vector<std::string> extra) {
    std::vector<std::string> arguments = {"campaign", "--programs", "301",    "--seed",
                                          "11",       "--quiet",    "--json", folder / "r.json"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    EXPECT_EQ(hgcheck(arguments).status, 0);
    return load_json(folder / "r.json").at("coverage").get<std::map<std::string, std::uint64_t>>();
  };
  const auto one = coverage({"--jobs", "1"});
  EXPECT_EQ(one, coverage({"--jobs", "3"}));
  std::map<std::string, std::uint64_t> sum;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    for (const auto& [feature, count] : coverage({"--shard", shard, "--jobs", "2"})) sum[feature] += count;
  }
  EXPECT_EQ(one, sum);
}

TEST_F(Campaign, ACorpusIsBegunFromAndAddedTo) {
  const auto run = [&] {
    const Outcome outcome = hgcheck({"campaign", "--programs", "400", "--seed", "3", "--jobs", "1", "--corpus",
                                     folder / "corpus", "--quiet", "--json", folder / "r.json"});
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return load_json(folder / "r.json").at("commands").get<std::uint64_t>();
  };
  const auto entries = [&] {
    std::size_t count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "corpus")) {
      EXPECT_EQ(entry.path().extension(), ".program") << entry.path();
      EXPECT_EQ(hgcheck({"check", entry.path().string()}).status, 0) << entry.path();
      ++count;
    }
    return count;
  };
  const std::uint64_t without = run();
  EXPECT_GT(entries(), 10U);
  const std::uint64_t with = run();
  EXPECT_NE(with, without) << "mutants of the corpus were to take the place of every second program";
}

TEST_F(Campaign, ACorpusWithAFileThatIsNoProgramIsRefusedByName) {
  fs::create_directory(folder / "corpus");
  std::ofstream(folder / "corpus/odd.program") << "no program\n";
  const Outcome outcome = hgcheck({"campaign", "--programs", "5", "--corpus", folder / "corpus"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("odd.program:1:"));
}

// The commands in all programs of the second of two tasks.
std::uint64_t commands_of_second_task(const std::string& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"campaign", "--programs", "600", "--seed", "3",   "--jobs",
                                        "1",        "--shard",    "2/2", "--json", folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = hgcheck(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return load_json(folder).at("commands").get<std::uint64_t>();
}

TEST_F(Campaign, ATaskMutatesTheProgramsThatAnotherTaskShares) {
  const std::string corpus = folder / "shared", json = folder / "r.json";
  const std::uint64_t alone = commands_of_second_task(json);
  EXPECT_EQ(hgcheck({"campaign", "--programs", "600", "--seed", "3", "--jobs", "1", "--shard", "1/2", "--shared-corpus",
                     corpus})
                .status,
            0);
  const auto entries = [&] { return std::distance(fs::directory_iterator(corpus), fs::directory_iterator()); };
  const auto of_first = entries();
  EXPECT_GT(of_first, 10);
  for (const fs::directory_entry& entry : fs::directory_iterator(corpus)) {
    EXPECT_EQ(entry.path().extension(), ".program") << entry.path();
    EXPECT_EQ(hgcheck({"check", entry.path().string()}).status, 0) << entry.path();
  }
  EXPECT_NE(commands_of_second_task(json, {"--shared-corpus", corpus}), alone);
  EXPECT_LT(entries() - of_first, of_first) << "the second task was to write only what the first had not met";
  EXPECT_EQ(commands_of_second_task(json), alone);
}

TEST_F(Campaign, AFileOfASharedCorpusThatIsNoProgramIsNamedOnceAndPassedOver) {
  const fs::path corpus = folder / "shared";
  fs::create_directory(corpus);
  std::ofstream(corpus / "odd.program") << "no program\n";
  std::ofstream(corpus / "0123456789abcdef.program") << read_file(HGCHECK_CORPUS "/empty-graphs.program");
  std::ofstream(corpus / "notes.txt") << "no program either\n";
  std::ofstream(corpus / ".half") << "on its way\n";
  const Outcome outcome =
      hgcheck({"campaign", "--programs", "40", "--jobs", "2", "--shared-corpus", corpus, "--json", folder / "r.json"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto messages = load_json(folder / "r.json").at("messages").get<std::vector<std::string>>();
  EXPECT_THAT(messages, testing::UnorderedElementsAre(HasSubstr("odd.program:1:"), HasSubstr("notes.txt"),
                                                      HasSubstr("0123456789abcdef.program is not what its name says")));
}

TEST_F(Campaign, ASharedCorpusThatCannotBeAFolderIsRefusedBeforeAnythingRuns) {
  std::ofstream(folder / "file") << "no folder\n";
  const Outcome outcome = hgcheck({"campaign", "--programs", "5", "--shared-corpus", folder / "file"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--shared-corpus: "));
  EXPECT_THAT(outcome.output, HasSubstr("name another one"));
}

TEST_F(Campaign, AGuideNeedsASharedCorpus) {
  const Outcome outcome = hgcheck({"campaign", "--programs", "5", "--guide-runtime"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--shared-corpus"));
}

// Their indices do not tell their programs. A campaign without findings fills the corpus, so that the first mutants
// meet the patcher's faults as early as other programs do.
TEST_F(Campaign, FindingsWithASharedCorpusAreFilesThatReplay) {
  ASSERT_EQ(
      hgcheck({"campaign", "--programs", "400", "--seed", "2", "--jobs", "1", "--shared-corpus", folder / "shared"})
          .status,
      0);
  const std::string subject = std::string("model:lib=") + HGCHECK_PATCHER;
  const Outcome outcome =
      hgcheck({"campaign", "--subject", subject, "--programs", "300", "--seed", "2", "--jobs", "1", "--shared-corpus",
               folder / "shared", "--report", folder / "report", "--json", folder / "r.json"});
  ASSERT_EQ(outcome.status, 1) << outcome.output;
  const nlohmann::json findings = load_json(folder / "r.json").at("findings");
  std::size_t of_mutants = 0;
  for (const nlohmann::json& finding : findings) {
    const std::string program = finding.at("program").get<std::string>();
    EXPECT_EQ(hgcheck({"replay", program, "--subject", subject}).status, 1) << program;
    EXPECT_THAT(finding.at("summary").get<std::string>(), testing::Not(HasSubstr("did not show again"))) << program;
    const std::string id = finding.at("id").get<std::string>();
    of_mutants += std::stoul(id.substr(id.find('-') + 1)) % 2;
  }
  EXPECT_GT(of_mutants, 0U) << "of " << findings.size();
}

TEST_F(Campaign, AFindingIsAFileThatReplays) {
  const Outcome outcome = hgcheck(
      {"campaign", "--fault", "F01", "--seconds", "60", "--report", folder / "report", "--json", folder / "r.json"});
  ASSERT_EQ(outcome.status, 1) << outcome.output;
  const nlohmann::json finding = load_json(folder / "r.json").at("findings").at(0);
  EXPECT_EQ(finding.at("property"), "A1");
  EXPECT_LE(finding.at("commands").get<int>(), 12);
  const std::string program = finding.at("program").get<std::string>();
  EXPECT_EQ(hgcheck({"check", program}).status, 0);
  EXPECT_EQ(hgcheck({"replay", program, "--fault", "F01"}).status, 1);
  EXPECT_EQ(hgcheck({"replay", program}).status, 0) << "the real patcher does it right";
  const Outcome traced = hgcheck({"replay", program, "--fault", "F01", "--trace", "--json", folder / "replay.json"});
  EXPECT_THAT(traced.output, HasSubstr("  patch "));
  EXPECT_EQ(load_json(folder / "replay.json").at("verdict"), "diverge");
}

TEST_F(Campaign, AReplayOfSeveralProgramsWritesOneReport) {
  const std::string good = HGCHECK_CORPUS "/escaped-work.program";
  const std::string bad = HGCHECK_CORPUS "/swap-and-cycle.program";
  const Outcome outcome = hgcheck({"replay", bad, good, "--fault", "F04", "--report", folder / "report"});
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  const nlohmann::json report = load_json(folder / "report/report.json");
  EXPECT_EQ(report.at("verdicts").at("agree"), 1);
  EXPECT_EQ(report.at("verdicts").at("diverge"), 1);
  EXPECT_EQ(report.at("findings").at(0).at("program"), bad);
  for (const char* name : {"index.html", "junit.xml", "report.sarif", "summary.md"})
    EXPECT_TRUE(fs::exists(fs::path(folder / "report") / name)) << name;
  EXPECT_THAT(report.at("messages").dump(), HasSubstr("escaped-work.program: line 10 'on s2 memset"));
  EXPECT_EQ(hgcheck({"replay", bad, good, "--json", folder / "x.json"}).status, 2) << "a verdict of several programs";
}

TEST_F(Campaign, AKnownCauseThatIsAcceptedDoesNotFail) {
  const Outcome found = hgcheck({"campaign", "--fault", "F08", "--programs", "300", "--jobs", "1", "--property", "A5"});
  ASSERT_EQ(found.status, 1) << found.output;
  const std::string causes = write_file(folder / "causes",
                                        "# known\nA5 g#.n# copy\nA5 g#.n#/n# copy\nA5 g#.n#/n#/n# copy\n"
                                        "A5 g#.n#/n#/n#/n# copy\nA5 g#.n#[#] copy\nA5 g#/n# copy\n");
  const Outcome accepted = hgcheck(
      {"campaign", "--fault", "F08", "--programs", "300", "--jobs", "1", "--property", "A5", "--accept", causes});
  EXPECT_EQ(accepted.status, 0) << accepted.output;
  EXPECT_THAT(accepted.output, HasSubstr("accepted: A5 g#.n# copy"));
}

TEST_F(Campaign, WhenInterruptedItWritesWhatItFoundAndSaysSo) {
  Process process(
      {"campaign", "--fault", "F13", "--seconds", "120", "--report", folder / "report", "--property", "P3"});
  const bool found = wait_for_program(folder / "report");
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  ASSERT_TRUE(found);
  // The fault may have been found and shrunk just before the signal came.
  EXPECT_THAT(outcome.status, testing::AnyOf(130, 1)) << outcome.output;
  const nlohmann::json json = load_json(folder / "report/report.json");
  EXPECT_FALSE(json.at("findings").empty());
  std::uint64_t verdicts = 0;
  for (const auto& [verdict, count] : json.at("verdicts").items()) verdicts += count.get<std::uint64_t>();
  EXPECT_EQ(json.at("programs").get<std::uint64_t>(), verdicts) << "whatever its workers were at";
  for (const std::string& program : programs_in(folder / "report")) EXPECT_EQ(hgcheck({"check", program}).status, 0);
}

// As timeout(1) sends it: to the command, and to its group.
TEST_F(Campaign, ASignalThatComesTwiceAtOnceIsOneAndTheReportIsWritten) {
  Process process({"campaign", "--fault", "F13", "--seconds", "120", "--report", folder / "report"});
  const bool found = wait_for_program(folder / "report");
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // else the two are one for the kernel
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  ASSERT_TRUE(found);
  EXPECT_THAT(outcome.status, testing::AnyOf(130, 1)) << outcome.output;
  EXPECT_GT(load_json(folder / "report/report.json").at("programs").get<int>(), 0);
}

TEST_F(Campaign, WhenKilledItHasWrittenWhatItFound) {
  Process process({"campaign", "--fault", "F13", "--seconds", "120", "--report", folder / "report"});
  const bool found = wait_for_program(folder / "report");
  process.signal(SIGKILL);
  static_cast<void>(process.wait());
  ASSERT_TRUE(found);
  const std::vector<std::string> programs = programs_in(folder / "report");
  ASSERT_FALSE(programs.empty());
  for (const std::string& program : programs) EXPECT_EQ(hgcheck({"check", program}).status, 0) << program;
}

TEST_F(Shrink, MakesAProgramOfAnyOriginShortAndLeavesItDiverging) {
  const std::string program = (fs::path(HGCHECK_CORPUS) / "mlp-8-layers.program").string();
  const Outcome shrunk = hgcheck({"shrink", program, "--fault", "F09", "-o", folder / "none.program"});
  EXPECT_EQ(shrunk.status, 0) << "the MLP has no children: " << shrunk.output;
  const std::string children = (fs::path(HGCHECK_CORPUS) / "children-in-children.program").string();
  const Outcome found = hgcheck({"shrink", children, "--fault", "F09", "-o", folder / "small.program"});
  ASSERT_EQ(found.status, 1) << found.output;
  EXPECT_EQ(hgcheck({"replay", folder / "small.program", "--fault", "F09"}).status, 1);
  EXPECT_LT(read_file(folder / "small.program").size(), read_file(children).size());
}

#ifdef HGCHECK_HGMODEL
// The subject's processes count themselves. From number $1 on, every third one dies at its first program.
TEST_F(Shrink, AndReplayFindADeathThatDoesNotComeEveryTime) {
  const std::string script = folder / "subject.sh", program = folder / "small.program";
  std::ofstream(program) << "hgcheck-program 1\nbuffer b0 64\ngraph g0\n";
  std::ofstream(script) << "echo >> $0.$1; n=$(wc -l < $0.$1)\n"
                        << "[ $n -ge $1 ] && [ $((n % 3)) = 2 ] && exec " HGCHECK_ODD_SUBJECT " segv\n"
                        << "exec " HGCHECK_SUBJECT " --library " HGCHECK_HGMODEL "\n";
  for (const auto& [command, first] : {std::pair{"replay", "8"}, {"shrink", "2"}}) {
    const std::string subject = "cmd=sh " + script + " " + first + ":patch";
    const Outcome found = hgcheck({command, program, "--subject", subject});
    EXPECT_EQ(found.status, 1) << command << ": " << found.output;
  }
}
#endif

}  // namespace
