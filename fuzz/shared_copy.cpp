#include "fuzz/shared_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "fuzz/files.h"

namespace fuzz {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOwner = "owner";
constexpr const char* kBeside = ".new-";

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

hip::Error cannot(const char* doing, const fs::path& path, const std::string& why) {
  return {1, fmt::format("{} cannot be {}: {} (remedy: see that the folder is there, can be written and has space)",
                         path.string(), doing, why)};
}

// Returns when the file's bytes are on the disk.
bool sync(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = fsync(fd) == 0;
  return close(fd) == 0 && synced;
}

}  // namespace

SharedCopy::SharedCopy(fs::path folder, fs::path local)
    : folder_(std::move(folder)), local_(std::move(local)), run_(host() + "-" + local_.filename().string()) {}

hip::Status SharedCopy::take_over() {
  if (hip::Status owned = write_text((folder_ / kOwner).string(), run_); !owned) return owned;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.path().filename().string().starts_with(std::string(kName) + kBeside)) continue;
    std::error_code ignored;  // a killed run's file; a living run finds out when it renames
    fs::remove(entry.path(), ignored);
  }
  if (error) return cannot("read", folder_, error.message());
  if (!fs::exists(folder_ / kName, error)) return {};
  fs::copy_file(folder_ / kName, database(), error);
  if (error) return cannot("fetched", folder_ / kName, error.message());
  return {};
}

hip::Status SharedCopy::check_owner() {
  std::ifstream file(folder_ / kOwner);
  std::ostringstream owner;
  owner << file.rdbuf();
  if (!file) return cannot("read", folder_ / kOwner, "no owner is named");
  taken_from_us_ = owner.str() != run_;
  if (!taken_from_us_) return {};
  return hip::Error{1, fmt::format("{} is now written by a later run of this task, {}: this run ends",
                                   (folder_ / kName).string(), owner.str())};
}

hip::Status SharedCopy::copy(CampaignMemory& memory) {
  if (hip::Status owned = check_owner(); !owned) return owned;
  // SQLite's locks do not hold in the shared folder, so SQLite writes on the local disk.
  const fs::path here = local_ / "copy.db";
  const fs::path beside = folder_ / (std::string(kName) + kBeside + run_);
  std::error_code error;
  fs::remove(here, error);
  if (error) return cannot("removed", here, error.message());
  if (hip::Status copied = memory.copy_to(here.string()); !copied) return copied;
  fs::copy_file(here, beside, fs::copy_options::overwrite_existing, error);
  if (error) return cannot_unless_taken(beside, error.message());
  if (!sync(beside)) return cannot_unless_taken(beside, "fsync failed");
  fs::rename(beside, folder_ / kName, error);
  if (error) return cannot_unless_taken(folder_ / kName, error.message());
  return {};
}

// A later run that took over meanwhile has removed the file.
hip::Status SharedCopy::cannot_unless_taken(const fs::path& path, const std::string& why) {
  hip::Status owned = check_owner();
  return taken_from_us_ ? owned : hip::Status(cannot("written", path, why));
}

hip::Status SharedCopy::renew(CampaignMemory& memory) {
  hip::Status copied = copy(memory);
  failed_ = !copied;
  return copied;
}

}  // namespace fuzz
