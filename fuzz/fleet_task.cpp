// `hgcheck fleet-task`: one shard of a fleet's campaign, with its database on the node's disk and a copy of it in the
// output folder. Slurm starts it again after the loss of a node; it goes on from the copy.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/fleet.h"
#include "fuzz/shared_copy.h"

namespace fuzz {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCampaign = "campaign";

std::string line_of(const CampaignOptions& options) {
  return fmt::format("{} in {} shards", text_of(identity_of(options)), options.shards);
}

// The seconds of judging in all runs of the task so far.
hip::Result<std::int64_t> seconds_so_far(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::int64_t{0};
  hip::Result<SqlDatabase> database = open_memory(path);
  if (!database) return database.error();
  return database.value().number("SELECT max(seconds) FROM sessions");
}

// Says once that copies fail, not at each try.
auto copying(SharedCopy& copy) {
  return [&copy, failing = false](CampaignMemory& memory) mutable {
    hip::Status renewed = copy.renew(memory);
    if (!renewed && !failing) std::cerr << "hgcheck: " << renewed.error().message << "\n";
    failing = !renewed;
    if (copy.taken_from_us()) std::raise(SIGTERM);  // ends the campaign as an interrupt does
    return renewed;
  };
}

int run_copied(FleetTask task, SharedCopy& copy) {
  CampaignOptions& options = task.campaign.campaign;
  if (const hip::Status taken = copy.take_over(); !taken) return complain(taken.error().message);
  options.db = copy.database();
  if (options.programs == 0) {
    const hip::Result<std::int64_t> spent = seconds_so_far(options.db);
    if (!spent) return complain(spent.error().message);
    options.seconds = task.hours * 3600 - kFleetEndSeconds - static_cast<double>(spent.value());
    if (options.seconds <= 0) {
      std::cout << fmt::format("task {}: its {} hours are over\n", options.shard, task.hours);
      return kAgreed;
    }
  }
  options.copy = copying(copy);
  return run(std::move(task.campaign));
}

}  // namespace

hip::Status check_fleet_folder(const fs::path& folder, const CampaignOptions& options) {
  std::ifstream file(folder / kCampaign);
  std::string line;
  if (std::getline(file, line) && line == line_of(options)) return {};
  return hip::Error{1, fmt::format("--output: {} belongs to another campaign: {}, not {}; name another folder",
                                   folder.string(), line.empty() ? "none" : line, line_of(options))};
}

hip::Status claim_fleet_folder(const fs::path& folder, const CampaignOptions& options) {
  std::error_code error;
  if (fs::exists(folder / kCampaign, error)) return check_fleet_folder(folder, options);
  return write_text((folder / kCampaign).string(), line_of(options) + "\n");
}

int run(FleetTask task) {
  const CampaignOptions& options = task.campaign.campaign;
  const fs::path folder = fs::path(task.output) / fmt::format("task-{}", options.shard);
  for (const hip::Status& status : {check_fleet_folder(task.output, options), usable_folder("--output", folder)}) {
    if (!status) return complain(status.error().message);
  }
  std::string local = (fs::path(task.local) / fmt::format("hgcheck-task-{}-XXXXXX", options.shard)).string();
  if (mkdtemp(local.data()) == nullptr) {
    return complain(
        fmt::format("--local: no folder can be made in {}: {}; name another folder", task.local, std::strerror(errno)));
  }
  task.campaign.campaign.report = folder.string();
  task.campaign.quiet = task.campaign.every_cause = true;
  SharedCopy copy(folder, local);
  const int status = run_copied(std::move(task), copy);
  std::error_code ignored;
  if (!copy.failed()) {
    fs::remove_all(local, ignored);
  } else {
    std::cerr << fmt::format("hgcheck: the last copy failed; the database is {}\n", copy.database());
  }
  return status;
}

}  // namespace fuzz
