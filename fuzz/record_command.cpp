// `hgcheck record`: runs a command with libhgrecorder.so preloaded, and turns its logs into programs.
//
// The command's standard streams, environment (but for LD_PRELOAD) and status are its own. However the command ends,
// the log up to then is turned into programs, one for each process that called HIP. The programs are replayed on the
// model, and the bytes that the command read back are compared with the bytes that the replay reads.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/kernel_text.h"
#include "fuzz/recorded_program.h"
#include "hip/recorder/hash.h"
#include "verify/execute/code_objects.h"
#include "verify/execute/death.h"
#include "verify/generate/environments.h"
#include "verify/program/text.h"
#include "verify/subject/process.h"
#include "verify/subject/subject.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libhgrecorder.so";
constexpr std::string_view kCodePrefix = "code.";  // of the names of files with code objects
constexpr std::size_t kMaxReasons = 20;            // reasons that are printed one by one

// The folder in which the library logs: the library writes its log next to the path from which it was loaded.
class LogFolder {
 public:
  LogFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "hgcheck-record-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  ~LogFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_all(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Ignores SIGINT while it lives: the command answers Ctrl-C, and hgcheck still needs the log that it wrote. Made before
// the command's process, so that there is no moment at which Ctrl-C ends only hgcheck.
class DeafToInterrupts {
 public:
  DeafToInterrupts() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &before_);
  }
  DeafToInterrupts(const DeafToInterrupts&) = delete;
  DeafToInterrupts& operator=(const DeafToInterrupts&) = delete;
  ~DeafToInterrupts() { give_back(); }
  // Restores the earlier action; the child process does so before it becomes the command.
  void give_back() const { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

hip::Result<int> run_watched(const std::vector<std::string>& command, const std::string& library) {
  std::vector<std::string> copies = command;
  std::vector<char*> argv;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const char* const before = std::getenv("LD_PRELOAD");  // the entries that it has already are kept
  const std::string preload = before == nullptr || *before == '\0' ? library : library + ":" + before;
  const DeafToInterrupts deaf;
  const pid_t child = fork();
  if (child < 0) return hip::Error{1, fmt::format("no process: {}", std::strerror(errno))};
  if (child == 0) {
    deaf.give_back();
    setenv("LD_PRELOAD", preload.c_str(), 1);
    execvp(argv[0], argv.data());
    const std::string text = fmt::format("hgcheck: {}: {}\n", command[0], std::strerror(errno));
    static_cast<void>(verify::write_all(STDERR_FILENO, text));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

// The path of the program of process `number`, from 0: "out.program", "out-2.program".
std::string numbered(const std::string& path, std::size_t number) {
  if (number == 0) return path;
  const fs::path whole(path);
  return (whole.parent_path() / fmt::format("{}-{}{}", whole.stem().string(), number + 1, whole.extension().string()))
      .string();
}

// The reads of the replay that differ from the command's.
hip::Result<std::vector<std::string>> replay_differences(const RecordedProgram& recorded) {
  const auto parsed = verify::parse_program(recorded.text);
  if (const auto* error = std::get_if<verify::ParseError>(&parsed)) return hip::Error{1, error->text("the program")};
  const auto& program = std::get<verify::Program>(parsed);
  const auto model = verify::Subject::make({"model", verify::StrategyKind::kRebuild});
  if (!model) return model.error();
  const verify::Observation observation = [&] {
    const KernelTextToErrors text;
    return model.value()->runner().run(program, {}).observation;
  }();
  if (!observation.harness_error.empty()) return hip::Error{1, observation.harness_error};
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto expected = recorded.reads.find(program.steps[i].line);
    if (expected == recorded.reads.end()) continue;
    const RecordedBytes& seen = expected->second;
    const auto read = std::ranges::find_if(observation.reads, [&](const verify::BytesSeen& bytes) {
      return bytes.step == i && bytes.buffer == seen.buffer && bytes.bytes.size() >= seen.offset + seen.bytes;
    });
    const bool same = read != observation.reads.end() &&
                      hip::recorder::hash_of(std::span(read->bytes).subspan(seen.offset, seen.bytes)) == seen.hash;
    if (!same)
      differences.push_back(
          fmt::format("line {}: {} bytes from b{}+{}", expected->first, seen.bytes, seen.buffer, seen.offset));
  }
  return differences;
}

void tell_what_is_missing(const RecordedProgram& program, const std::string& path) {
  std::size_t told = 0;
  for (const auto& [why, count] : program.not_recorded) {
    if (told++ == kMaxReasons) {
      std::cerr << fmt::format("hgcheck: {}: and {} more reasons, beside the commands\n", path,
                               program.not_recorded.size() - kMaxReasons);
      break;
    }
    std::cerr << fmt::format("hgcheck: {}: not recorded: {} (x{})\n", path, why, count);
  }
}

// Reads the code objects that the recorder kept (code.HASH), so that their kernels are known.
void know_code_objects(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCodePrefix)) continue;
    const std::string elf = read_all(entry.path());
    const hip::Status read =
        verify::read_code_object(name.substr(kCodePrefix.size()), std::as_bytes(std::span(elf.data(), elf.size())));
    if (!read) std::cerr << fmt::format("hgcheck: a code object cannot be read: {}\n", read.error().message);
  }
}

int write_program(const RecordedProgram& program, const std::string& path) {
  for (const auto& write : {write_text, write_code_objects}) {
    if (const hip::Status written = write(path, program.text); !written) return complain(written.error().message);
  }
  tell_what_is_missing(program, path);
  std::cout << fmt::format("{}: {} commands, {} reads of what the command read back\n", path, program.commands,
                           program.reads.size());
  const hip::Result<std::vector<std::string>> differences = replay_differences(program);
  if (!differences) return complain(fmt::format("{}: {}", path, differences.error().message));
  if (differences.value().empty()) {
    std::cout << fmt::format("{}: replayed on the model, all {} reads hold the same bytes\n", path,
                             program.reads.size());
    return kAgreed;
  }
  for (const std::string& difference : differences.value()) {
    std::cout << fmt::format("{}: replayed on the model, other bytes: {}\n", path, difference);
  }
  if (!program.not_recorded.empty()) std::cout << path << ": what was not recorded may be why\n";
  return kDiverged;
}

// The settings of the runtime that the command has from this process. A variable that looks like one and that programs
// do not state, because it names devices, logs or is unknown, goes to `left_out`.
verify::Environment runtime_settings(std::vector<std::string>& left_out) {
  constexpr std::string_view kPrefixes[] = {"AMD_", "CUDA_", "DEBUG_CLR_", "DEBUG_HIP_",
                                            "GPU_", "HIP_",  "HSA_",       "ROC_"};
  verify::Environment settings;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    const auto begins = [text](std::string_view prefix) { return text.starts_with(prefix); };
    const auto variable = verify::parse_variable(text);
    if (variable && verify::is_runtime_setting(variable->first)) {
      settings.insert(*variable);
    } else if (std::ranges::any_of(kPrefixes, begins)) {
      left_out.push_back(fmt::format("it had the variable {}, which is not kept", text.substr(0, text.find('='))));
    }
  }
  return settings;
}

}  // namespace

int run(const RecordCommand& command) {
  if (const hip::Status status = writable("-o", command.output); !status) return complain(status.error().message);
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = self.parent_path().parent_path() / "lib" / kLibrary;
  if (!fs::exists(library, error)) {
    return complain(
        fmt::format("{} is not there\n  remedy: ./dev build hgrecorder (needs HIP's headers)", library.string()));
  }
  const LogFolder folder;
  if (folder.path().empty()) return complain("no folder for the log: make the temporary folder writable");
  fs::create_symlink(library, folder.path() / kLibrary, error);
  if (error) return complain(fmt::format("no link in {}: {}", folder.path().string(), error.message()));

  const hip::Result<int> status = run_watched(command.command, (folder.path() / kLibrary).string());
  if (!status) return complain(status.error().message);
  const bool well = WIFEXITED(status.value()) && WEXITSTATUS(status.value()) == 0;
  const std::string how = well ? "exit status 0" : verify::death_of(status.value()).text();
  if (!well) std::cerr << fmt::format("hgcheck: the command ended with {}: what it did until then is recorded\n", how);

  std::vector<fs::path> logs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path(), error)) {
    if (entry.path().filename().string().starts_with("log.")) logs.push_back(entry.path());
  }
  if (logs.empty()) {
    return complain(
        "no call of HIP was seen: the command has to load libamdhip64.so and call its functions by name (programs that "
        "look them up by dlsym, and those with a dynamic loader that ignores LD_PRELOAD, cannot be recorded)");
  }
  std::ranges::sort(logs, [](const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return std::pair(fs::last_write_time(a, ignored), a) < std::pair(fs::last_write_time(b, ignored), b);
  });
  know_code_objects(folder.path());
  std::string words;
  for (const std::string& word : command.command) words += (words.empty() ? "" : " ") + word;
  std::ranges::replace(words, '\n', ' ');
  std::vector<std::string> header = {fmt::format("recorded by hgcheck {} from: {}", command.version, words),
                                     "it ended with " + how};
  const verify::Environment settings = runtime_settings(header);
  int worst = kAgreed;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const RecordedProgram program = program_of_log(read_all(logs[i]), header, settings);
    worst = std::max(worst, write_program(program, numbered(command.output, i)));
  }
  return worst;
}

}  // namespace fuzz
