// Shared by the tests of the command line: hgcheck processes, and a folder for their files.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct Outcome {
  int status = -1;
  std::string output;  // both streams
};

// A folder of the test's own, gone when it ends.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hgcheck-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (std::filesystem::path(path_) / name).string();
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A hgcheck process; its output goes to a file so that it never blocks.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) : output_(folder_ / "output") {
    arguments.insert(arguments.begin(), HGCHECK_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    setpgid(0, 0);
    if (std::freopen(output_.c_str(), "w", stdout) == nullptr || dup2(1, 2) < 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  void signal(int number) const { kill(pid_, number); }
  [[nodiscard]] Outcome wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(output_)};
  }

 private:
  Folder folder_;
  std::string output_;
  pid_t pid_ = -1;
};

inline Outcome hgcheck(std::vector<std::string> arguments) {
  return Process(std::move(arguments)).wait();
}

inline std::string write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

// A test with a folder.
struct InAFolder : testing::Test {
  const Folder folder;
};
