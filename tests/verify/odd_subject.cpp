// A subject process that misbehaves in one way, named by its first argument. Real runtimes have been seen to do the
// same.
//
// As a fork server (its last two arguments) it forks subjects that do the same.
//
// Greets properly (unless the greeting is the odd part) and misbehaves at the first program. With a second argument,
// the path of a file, it misbehaves only while that file does not exist, and makes the file: once in its life.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "verify/subject/fork_server.h"
#include "verify/subject/process.h"
#include "verify/subject/protocol.h"

namespace {

void say(const std::string& body) {
  if (!verify::write_all(STDOUT_FILENO, verify::frame(body))) _exit(0);
}

std::string next_request() {
  static verify::FrameReader reader;
  std::string body;
  char buffer[4096];
  while (reader.next(body) != verify::FrameReader::State::kFrame) {
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n <= 0) _exit(0);
    reader.append(buffer, static_cast<std::size_t>(n));
  }
  return body;
}

bool once_more(const char* path) {
  if (path == nullptr) return true;
  if (access(path, F_OK) == 0) return false;
  std::ofstream(path) << "done\n";
  return true;
}

void misbehave(const std::string& how) {
  if (how == "garbage") static_cast<void>(verify::write_all(STDOUT_FILENO, "what is this?\n"));
  if (how == "halves") static_cast<void>(verify::write_all(STDOUT_FILENO, verify::frame("cut short").substr(0, 15)));
  if (how == "nonsense") say(verify::encode_sorry("no trace"));
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "exit") _exit(3);
  if (how == "halves" || how == "closes") close(STDOUT_FILENO);
  if (how == "throe") {
    unsigned char out[verify::kThroeFrame];
    const std::size_t size = verify::throe_frame({2, SIGSEGV}, out);
    static_cast<void>(verify::write_all(STDOUT_FILENO, {reinterpret_cast<const char*>(out), size}));
    std::raise(SIGSEGV);
  }
  while (how == "hang" || how == "closes") pause();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would end the process with a status instead
  const std::string how = argc > 1 ? argv[1] : "";
  if (argc > 2 && std::string(argv[argc - 2]) == verify::kForkServerOption) {
    const int socket = std::atoi(argv[argc - 1]);
    if (how == "refuses") {
      verify::refuse_to_fork(socket, "there is no GPU in here");
      return 1;
    }
    if (!verify::serve_forks(socket)) return 0;
    argc -= 2;
  }
  const char* const path = argc > 2 && argv[2][0] != '-' ? argv[2] : nullptr;  // an option is for a real subject
  if (how == "sorry") say(verify::encode_sorry("there is no GPU in here"));
  if (how == "mute") _exit(4);
  verify::Hello hello;
  if (how == "later") hello.protocol = verify::kProtocol + 1;
  hello.release = "0.0";
  std::fprintf(stderr, "odd subject: %s\n", how.c_str());
  say(verify::encode_hello(hello));
  while (true) {
    static_cast<void>(next_request());
    if (once_more(path)) misbehave(how);
    say(verify::encode_result({}));
  }
}
