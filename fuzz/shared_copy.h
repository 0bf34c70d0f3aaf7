// fuzz::SharedCopy: a copy of a campaign's database in a folder that other machines see, for a campaign that goes on
// there when its own machine is lost.
//
// The copy is whole at any moment: it is written beside and renamed. One run of the campaign writes it. A run that
// begins takes the copy over. An earlier run may still work on a machine that nobody reaches; it finds out before its
// next copy and ends.
// Not checked: an earlier run that is between that check and its renaming. It puts back its own copy for a moment; the
// findings that this copy lacks are of programs that it does not call settled, so they are judged again.
#pragma once

#include <filesystem>
#include <string>

#include "fuzz/campaign_memory.h"

namespace fuzz {

class SharedCopy {
 public:
  // `folder` is the shared one; `local` is a folder of this run alone, on a disk of this machine.
  SharedCopy(std::filesystem::path folder, std::filesystem::path local);

  [[nodiscard]] std::string database() const { return (local_ / kName).string(); }
  // Makes this run the writer of the copy, and fetches the last copy if there is one.
  [[nodiscard]] hip::Status take_over();
  [[nodiscard]] hip::Status renew(CampaignMemory& memory);
  // Whether a later run has taken the copy over.
  [[nodiscard]] bool taken_from_us() const { return taken_from_us_; }
  // Whether the last call of renew() failed although the copy is still this run's.
  [[nodiscard]] bool failed() const { return failed_ && !taken_from_us_; }

 private:
  static constexpr const char* kName = "campaign.db";
  [[nodiscard]] hip::Status copy(CampaignMemory& memory);
  [[nodiscard]] hip::Status check_owner();
  [[nodiscard]] hip::Status cannot_unless_taken(const std::filesystem::path& path, const std::string& why);

  std::filesystem::path folder_, local_;
  std::string run_;  // names this run among those of the campaign
  bool taken_from_us_ = false, failed_ = false;
};

}  // namespace fuzz
