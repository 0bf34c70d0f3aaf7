// Fresh subject processes as forks of a server: children of the caller like any other, and none outlives its owner.
#include "verify/subject/fork_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "judging.h"
#include "verify/subject/process.h"
#include "verify/subject/process_runner.h"

namespace verify {
namespace {

using ::testing::HasSubstr;

constexpr double kPatience = 60;

ProcessOptions forked(const std::string& how) {
  ProcessOptions options{.command = {ODD_SUBJECT, how}};
  options.forks = true;
  return options;
}

// Two pipes and a place for errors, which a new process gets.
struct Ends {
  Ends() {
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    for (const int each : {in[0], in[1], out[0], out[1]}) close(each);
  }
  [[nodiscard]] pid_t process_of(ForkServer& server) const {
    const hip::Result<pid_t> made = server.new_process(in[0], out[1], STDERR_FILENO, kPatience);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? made.value() : -1;
  }
  std::array<int, 2> in{}, out{};
};

// Whether it ends; not every init waits for what it inherits.
bool ends_soon(pid_t process) {
  for (int i = 0; i < 2000; ++i) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(ForkServer, EachProcessIsAChildThatItsCallerWaitsFor) {
  ForkServer server({ODD_SUBJECT, "behaves"});
  const Ends ends;
  const pid_t one = ends.process_of(server), other = ends.process_of(server);
  ASSERT_GT(one, 0);
  ASSERT_GT(other, 0);
  EXPECT_NE(one, other);
  for (const pid_t each : {one, other}) {
    EXPECT_EQ(waitpid(each, nullptr, WNOHANG), 0) << "it runs, and is a child of this process";
    ASSERT_EQ(kill(each, SIGKILL), 0);
    int status = 0;
    EXPECT_EQ(waitpid(each, &status, 0), each);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
}

TEST(ForkServer, ProgramsRunInItsProcessesAndADeathIsReplaced) {
  ProcessRunner behaves(forked("behaves"));
  ASSERT_TRUE(behaves.start());
  EXPECT_EQ(behaves.hello().release, "0.0");
  EXPECT_GT(ForkServer::shared({ODD_SUBJECT, "behaves"})->pid(), 0) << "the process is a fork";
  const pid_t first = behaves.process();
  EXPECT_EQ(behaves.run(parsed(kExample), {}).observation.death, std::nullopt);
  behaves.start_afresh();
  EXPECT_EQ(behaves.run(parsed(kExample), {}).observation.death, std::nullopt);
  EXPECT_NE(behaves.process(), first);
  ProcessRunner dies(forked("segv"));
  for (int i = 0; i < 2; ++i) {
    const Observation seen = dies.run(parsed(kExample), {}).observation;
    ASSERT_TRUE(seen.death);
    EXPECT_THAT(seen.death->text(), HasSubstr("killed by signal 11"));
    EXPECT_THAT(seen.notes.fault, HasSubstr("odd subject: segv")) << "its standard error is that of the process";
  }
}

TEST(ForkServer, AServerThatCannotStartSaysWhyAndLeavesTheProcessToItsCommand) {
  ForkServer refuses({ODD_SUBJECT, "refuses"});
  const Ends ends;
  const hip::Result<pid_t> made = refuses.new_process(ends.in[0], ends.out[1], STDERR_FILENO, kPatience);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "there is no GPU in here");
  ProcessRunner runner(forked("refuses"));
  EXPECT_TRUE(runner.start()) << "started without a server";
}

TEST(ForkServer, AServerThatWasKilledIsStartedAgain) {
  ForkServer server({ODD_SUBJECT, "behaves"});
  const Ends ends;
  const pid_t one = ends.process_of(server);
  kill(server.pid(), SIGKILL);
  EXPECT_FALSE(server.new_process(ends.in[0], ends.out[1], STDERR_FILENO, kPatience));
  const pid_t other = ends.process_of(server);
  for (const pid_t each : {one, other}) {
    ASSERT_GT(each, 0);
    kill(each, SIGKILL);
    EXPECT_EQ(waitpid(each, nullptr, 0), each);
  }
}

TEST(ForkServer, TheServerAndItsProcessesEndWithTheirOwner) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    ForkServer server({ODD_SUBJECT, "behaves"});
    const Ends ends;
    const pid_t made[] = {ends.process_of(server), server.pid()};
    _exit(write(told[1], made, sizeof made) == sizeof made ? 0 : 1);
  }
  pid_t made[2] = {-1, -1};
  ASSERT_EQ(read(told[0], made, sizeof made), static_cast<ssize_t>(sizeof made));
  int status = 1;
  ASSERT_EQ(waitpid(owner, &status, 0), owner);
  EXPECT_EQ(status, 0);
  for (const pid_t each : made) {
    ASSERT_GT(each, 0);
    EXPECT_TRUE(ends_soon(each)) << each;
    EXPECT_EQ(waitpid(each, nullptr, WNOHANG), -1) << "this process has not become its parent";
  }
  for (const int each : told) close(each);
}

TEST(ForkServer, AForkOfItsOwnerStartsAServerOfItsOwn) {
  ForkServer server({ODD_SUBJECT, "behaves"});
  const Ends ends;
  const pid_t mine = ends.process_of(server);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t before = server.pid();
    const pid_t its = ends.process_of(server);
    const bool own = its > 0 && server.pid() != before && waitpid(its, nullptr, WNOHANG) == 0;
    kill(its, SIGKILL);
    _exit(own && waitpid(its, nullptr, 0) == its ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(waitpid(mine, nullptr, WNOHANG), 0) << "the child has not ended the parent's process";
  kill(mine, SIGKILL);
  EXPECT_EQ(waitpid(mine, nullptr, 0), mine);
}

}  // namespace
}  // namespace verify
