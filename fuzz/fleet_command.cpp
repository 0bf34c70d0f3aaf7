// `hgcheck fleet slurm`: writes the script of an array of Slurm jobs, one job for each shard of a campaign, and submits
// it. Every mistake that can be seen before the jobs run is refused here. docs/fleet.md tells the rest.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/fleet.h"
#include "fuzz/shell_words.h"
#include "verify/subject/subject.h"

namespace fuzz {

namespace fs = std::filesystem;

namespace {

constexpr unsigned kSignalSeconds = 180;  // before the end of a task's time; at least Slurm's minute of inaccuracy
constexpr unsigned kMostRestarts = 20;    // after a task was killed; Slurm itself restarts lost and preempted tasks

// {0}: options of sbatch; {1}: the command of a task; {2}: kMostRestarts.
constexpr const char* kScript = R"(#!/bin/sh
{0}
# Written by `hgcheck fleet slurm`. Each task judges one shard of the campaign; docs/fleet.md explains it.
trap 'kill -TERM "$task"' TERM USR1
{1} &
task=$!
wait "$task"
status=$?
# A signal ends `wait` early.
while kill -0 "$task" 2>/dev/null; do
  wait "$task"
  status=$?
done
case $status in
  132 | 134 | 135 | 136 | 137 | 139)  # it crashed, or was killed because the memory was full
    if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {2} ]; then scontrol requeue "$SLURM_JOB_ID"; fi
    ;;
esac
exit "$status"
)";

// In double quotes, where the node's shell replaces variables only.
std::string with_variables(const std::string& text) {
  std::string word = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`') word += '\\';
    word += c;
  }
  return word + "\"";
}

std::string command_of_task(const FleetCommand& command, const std::string& program) {
  std::string text = fmt::format("{} fleet-task \"$SLURM_ARRAY_TASK_ID/{}\" {} {}", shell_word(program),
                                 command.task.campaign.campaign.shards, shell_word(command.task.output),
                                 with_variables(command.task.local));
  for (const std::string& argument : command.passed_on) text += " " + shell_word(argument);
  return text;
}

std::string script_of(const FleetCommand& command, const std::string& program) {
  const CampaignOptions& campaign = command.task.campaign.campaign;
  std::vector<std::string> options = {
      "--job-name=hgcheck",
      fmt::format("--array=1-{}", campaign.shards),
      "--nodes=1",
      "--ntasks=1",
      fmt::format("--cpus-per-task={}", campaign.jobs),
      fmt::format("--time={:.0f}", std::ceil(command.task.hours * 60)),
      fmt::format("--signal=B:USR1@{}", kSignalSeconds),
      "--requeue",
      "--open-mode=append",
      "--output=" + command.task.output + "/task-%a.log",
  };
  if (!command.gres.empty()) options.push_back("--gres=" + command.gres);
  options.insert(options.end(), command.sbatch.begin(), command.sbatch.end());
  std::string lines;
  for (const std::string& option : options) lines += "#SBATCH " + shell_word(option) + "\n";
  lines.pop_back();
  return fmt::format(kScript, lines, command_of_task(command, program), kMostRestarts);
}

// One more than the last index of an array that Slurm takes; 0 when no Slurm answers.
std::uint64_t max_array_size() {
  const std::unique_ptr<FILE, int (*)(FILE*)> config(popen("scontrol show config 2>/dev/null", "re"), pclose);
  constexpr std::string_view kName = "MaxArraySize";
  std::array<char, 4096> line{};
  while (config && std::fgets(line.data(), line.size(), config.get()) != nullptr) {
    const std::string_view text(line.data());
    const std::size_t digit = text.find_first_of("0123456789");
    std::uint64_t size = 0;
    if (!text.starts_with(kName) || digit == std::string_view::npos) continue;
    std::from_chars(text.data() + digit, text.data() + text.size(), size);
    return size;
  }
  return 0;
}

hip::Status check_size(const FleetCommand& command) {
  const std::uint64_t size = max_array_size(), tasks = command.task.campaign.campaign.shards;
  if (size == 0 && command.dry_run) return {};  // on a machine outside the cluster
  if (size == 0) {
    return hip::Error{1,
                      "'scontrol show config' does not answer: run this on a machine that has Slurm's commands and "
                      "whose slurmctld runs, or look at the script with --dry-run"};
  }
  if (tasks < size) return {};
  return hip::Error{1, fmt::format("{} tasks are more than Slurm takes in one array, {} (MaxArraySize - 1): give fewer "
                                   "--jobs-per-node and more --jobs",
                                   tasks, size - 1)};
}

// The checks of what a node would refuse. Gives a task of a GPU subject its GPU.
hip::Status check_task(FleetCommand& command) {
  CampaignCommand& campaign = command.task.campaign;
  if (hip::Status prepared = prepare(campaign); !prepared) return prepared;
  const SetupOptions& setup = campaign.campaign.setup;
  bool on_gpu = false;
  for (const auto& [option, text] : {std::pair{"--subject", setup.subject}, {"--baseline", setup.baseline}}) {
    const hip::Result<verify::SubjectName> name = verify::parse_subject(text);
    if (!name) return hip::Error{1, fmt::format("{}: {}", option, name.error().message)};
    on_gpu = on_gpu || verify::is_hardware(name.value().runtime);
  }
  if (hip::Result<const Fault*> fault = fault_named(setup.fault); !fault) return fault.error();
  if (on_gpu && command.gres.empty()) command.gres = "gpu:1";
  if (command.gres.empty() || campaign.campaign.jobs == 1) return {};
  return hip::Error{1,
                    "--jobs: one process works on a GPU: leave --jobs out, and give --jobs-per-node the number of GPUs "
                    "of a node"};
}

}  // namespace

int run(FleetCommand command) {
  CampaignOptions& campaign = command.task.campaign.campaign;
  campaign.shards = std::uint64_t{command.nodes} * command.jobs_per_node;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) command.task.output = fs::absolute(command.task.output, error).lexically_normal().string();
  if (error) return complain(fmt::format("no path of this program or of the output folder: {}", error.message()));
  for (const auto& check : {check_task, +[](FleetCommand& c) { return check_size(c); }}) {
    if (const hip::Status checked = check(command); !checked) return complain(checked.error().message);
  }
  const std::string script = script_of(command, program.string());
  const std::string path = (fs::path(command.task.output) / "fleet.sh").string();
  const std::string submit = "sbatch " + shell_word(path);
  if (command.dry_run) {
    std::cout << script << "\n$ " << submit << "\n";
    return kAgreed;
  }
  hip::Status ready = usable_folder("--output", command.task.output);
  if (ready) ready = usable_folder("--shared-corpus", campaign.shared_corpus);
  if (ready) ready = claim_fleet_folder(command.task.output, campaign);
  if (ready) ready = write_text(path, script);
  if (!ready) return complain(ready.error().message);
  if (std::system(submit.c_str()) != 0) return complain("sbatch took no jobs: it says why above");
  std::cout << fmt::format("{} tasks write to {}; squeue --name hgcheck shows them\n", campaign.shards,
                           command.task.output);
  return kAgreed;
}

}  // namespace fuzz
