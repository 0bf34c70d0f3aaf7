#include "verify/subject/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/releases/releases.h"
#include "verify/execute/layered_platform.h"
#include "verify/execute/library_platform.h"
#include "verify/execute/model_platform.h"
#include "verify/execute/patcher_library.h"
#include "verify/run/executor.h"
#include "verify/subject/installation.h"

namespace verify {

bool is_hardware(std::string_view runtime) {
  return runtime == "nvidia" || runtime == "rocm";
}

namespace {

constexpr std::string_view kLibrary = "lib=";
constexpr std::string_view kCommand = "cmd=";
constexpr std::string_view kPatcherLibrary = ":lib=";

// While one process runs programs, one spare gets its context and one has it already: two divergences may follow each
// other, and each takes a new process.
constexpr std::size_t kSparesOnGpus = 2;

constexpr int kMostSystemDevices = 2;

bool is_installed(std::string_view runtime) {
  return is_hardware(runtime) || runtime == "rocm-soft" || runtime.starts_with("rocm-soft@");
}

// The names of the strategies, `prefix` before each, those before `first` left out.
std::string strategy_names(std::string_view prefix, std::size_t first = 0) {
  std::string names;
  for (std::size_t i = first; i < kStrategyKinds.size(); ++i)
    names += fmt::format("{}{}{}", i == first ? "" : ", ", prefix, strategy_name(kStrategyKinds[i]));
  return names;
}

hip::Result<std::vector<std::string>> command_of(const std::string& runtime) {
  if (!runtime.starts_with(kCommand)) return subject_command(runtime);
  return std::vector<std::string>{"/bin/sh", "-c", "exec " + runtime.substr(kCommand.size())};
}

hip::Result<std::unique_ptr<Platform>> open_platform(const std::string& runtime) {
  if (runtime == "model") return std::unique_ptr<Platform>(std::make_unique<ModelPlatform>());
  hip::Result<std::unique_ptr<LibraryPlatform>> library = LibraryPlatform::open(runtime.substr(kLibrary.size()));
  if (!library) return library.error();
  return std::unique_ptr<Platform>(std::move(library).value());
}

}  // namespace

std::string SubjectName::text() const {
  return fmt::format("{}:{}", runtime, patcher.empty() ? std::string(strategy_name(strategy)) : "lib=" + patcher);
}

hip::Result<SubjectName> parse_subject(std::string_view text) {
  SubjectName name;
  const std::size_t colon = text.rfind(':');
  const std::optional<StrategyKind> strategy =
      colon == std::string_view::npos ? std::nullopt : find_strategy(text.substr(colon + 1));
  if (strategy) name.strategy = *strategy;
  name.runtime = std::string(strategy ? text.substr(0, colon) : text);
  const std::size_t library = strategy ? std::string_view::npos : text.rfind(kPatcherLibrary);
  if (library != std::string_view::npos) {
    name.patcher = std::string(text.substr(library + kPatcherLibrary.size()));
    name.runtime = std::string(text.substr(0, library));
    if (name.patcher.empty()) return hip::Error{hipErrorInvalidValue, fmt::format("'{}' names no library", text)};
  }
  if (name.runtime == "model" || is_installed(name.runtime)) return name;
  for (const std::string_view prefix : {kLibrary, kCommand}) {
    if (name.runtime.starts_with(prefix) && name.runtime.size() > prefix.size()) return name;
  }
  for (const std::string_view runtime : {"model:", "nvidia:", "rocm:", "rocm-soft:"}) {
    if (!name.runtime.starts_with(runtime)) continue;
    return hip::Error{hipErrorInvalidValue, fmt::format("'{}' is not a strategy; there are {} and lib=PATH",
                                                        name.runtime.substr(runtime.size()), strategy_names(""))};
  }
  return hip::Error{
      hipErrorInvalidValue,
      fmt::format("'{}' is not a runtime of this build; 'hgcheck subjects' lists what can be run", name.runtime)};
}

hip::Result<std::unique_ptr<Subject>> Subject::make(const SubjectName& name, const SubjectOptions& options) {
  const bool process = is_installed(name.runtime) || name.runtime.starts_with(kCommand);
  if (options.patchers && (process || name.strategy != StrategyKind::kPatch)) {
    return hip::Error{
        hipErrorInvalidValue,
        fmt::format("a fault of the patcher needs the strategy patch on model or lib=PATH, not {}", name.text())};
  }
  if (options.parts && process) {
    return hip::Error{hipErrorInvalidValue,
                      fmt::format("a fault of a system needs model or lib=PATH, not {}", name.text())};
  }
  if (options.patchers && !name.patcher.empty()) {
    return hip::Error{hipErrorInvalidValue, "a fault of the patcher and a patcher of one's own exclude each other"};
  }
  LoadedLibrary library{options.patchers.value_or(graph_patcher_factory()), {}};
  // A library is loaded here even for a subject process, so that an unusable library is reported before any work. Not
  // for a command: the machine that it reaches may have the library where this machine has not.
  if (!name.patcher.empty() && !name.runtime.starts_with(kCommand)) {
    hip::Result<LoadedLibrary> loaded = load_library(name.patcher);
    if (!loaded) return loaded.error();
    library = std::move(loaded).value();
  }
  std::unique_ptr<Subject> subject(new Subject(name));
  subject->takes_commands_ = library.strategy != nullptr;
  if (process) {
    hip::Result<std::vector<std::string>> command = command_of(name.runtime);
    if (!command) return command.error();
    ProcessOptions process_options{std::move(command).value(), name.strategy, {.program = options.program_timeout}};
    process_options.patcher = name.patcher;
    process_options.layer = options.layer_name;
    process_options.own_devices = is_hardware(name.runtime);
    process_options.forks = is_soft(name.runtime);
    process_options.spares = is_hardware(name.runtime) ? kSparesOnGpus : 0;
    auto runner = std::make_unique<ProcessRunner>(std::move(process_options));
    subject->process_ = runner.get();
    subject->runner_ = std::move(runner);
    return subject;
  }
  hip::Result<std::unique_ptr<Platform>> platform = open_platform(name.runtime);
  if (!platform) return platform.error();
  subject->platform_ = std::move(platform).value();
  Platform* platform_of_runs = subject->platform_.get();
  if (options.layer) {
    subject->layered_ = std::make_unique<LayeredPlatform>(*subject->platform_, options.layer());
    platform_of_runs = subject->layered_.get();
  }
  auto executor = library.strategy ? std::make_unique<Executor>(*platform_of_runs, library.strategy())
                                   : std::make_unique<Executor>(*platform_of_runs, name.strategy, library.patchers);
  if (options.parts) executor->use(*options.parts);
  subject->runner_ = std::move(executor);
  return subject;
}

hip::Status Subject::start() {
  if (process_ == nullptr) return {};
  if (hip::Status status = process_->start(); !status) return status;
  release_ = hip::release_name_of(process_->hello().runtime);
  devices_ = process_->hello().devices;
  return {};
}

bool Subject::starts_slowly() const {
  return is_hardware(name_.runtime);
}

int Subject::system_devices() const {
  // The model and the software gfx942 have as many as a program asks for.
  if (name_.runtime == "model" || name_.runtime.starts_with("rocm-soft")) return kMostSystemDevices;
  return std::clamp(devices_, 1, kMostSystemDevices);
}

std::vector<SubjectListing> list_subjects() {
  std::vector<SubjectListing> listings = {
      {"model:patch", "the host model, patched in place by hip::GraphPatcher (the default)", ""},
      {"model:rebuild", "the host model, recorded again at every change (the default baseline)", ""},
      {"model:update", "the host model, through hipGraphExecUpdate", ""},
      {"model:stabilise", "the host model, with buffers copied to addresses that never move, and back", ""},
      {"model:remap", "the host model, the memory of buffers mapped under addresses that never change", ""},
      {"model:careful", "the host model, patched but where a release of AMD's runtime is known to do that wrong", ""},
      {"model:command-buffer", "the host model, each executable graph launched as a hip::CommandBuffer", ""}};
  const std::string also = fmt::format(" (also {})", strategy_names(":", 1));
  const auto list = [&](const std::string& runtime, const std::string& description) {
    const hip::Result<std::vector<std::string>> command = subject_command(runtime);
    listings.push_back({runtime + ":patch", description + also, command ? std::string() : command.error().message});
  };
  list("rocm", "AMD's runtime on a GPU of this machine");
  list("nvidia", "HIP over CUDA on the NVIDIA GPUs of this machine");
  for (const std::string_view release : hip::kAmdReleaseNames) {
    list(fmt::format("rocm-soft@{}", release), fmt::format("AMD's runtime {} on the software gfx942", release));
  }
  listings.push_back({"lib=PATH:patch", "any HIP runtime library, loaded into the worker processes" + also, ""});
  listings.push_back(
      {"RUNTIME:lib=PATH", "somebody's own patcher on any of them (docs/check-your-own-patcher.md)", ""});
  listings.push_back({"cmd=COMMAND:patch", "a subject process, also over ssh or srun" + also, ""});
  return listings;
}

}  // namespace verify
