#include "fuzz/faults/catalogue.h"

#include <algorithm>

#include "fuzz/faults/patchers.h"

namespace fuzz {

std::span<const Fault> faults() {
  using enum verify::PropertyId;
  static const std::vector<Fault> kFaults = {
      {"F01", "patcher", "scans kernelParams for values equal to an old address", {kA1}, scans_kernel_params()},
      {"F02",
       "patcher",
       "scans packed argument blocks word by word and matches raw values",
       {kA1},
       scans_packed_blocks()},
      {"F03", "patcher", "matches exact bases only: slices stay stale", {kA2}, matches_exact_bases()},
      {"F04", "patcher", "applies moves one after another: swaps and cycles chain", {kA3}, moves_one_after_another()},
      {"F05", "patcher", "packs every argument as 8 bytes", {kA4}, packs_eight_bytes_each()},
      {"F06", "patcher", "stops at a fixed number of arguments", {kA2}, holds_few_arguments()},
      {"F07", "patcher", "re-issues 2D and 3D copies as 1D", {kA5}, flattens_copies()},
      {"F08", "patcher", "sends every patched copy as device-to-device", {kA5}, sends_device_to_device()},
      {"F09", "patcher", "skips child graphs", {kA2}, skips_child_graphs()},
      {"F13",
       "patcher",
       "updates the graph's definition and not the executable graph",
       {kP3},
       patches_the_definition()},
      {"F14", "patcher", "keeps the caller's argument buffer instead of a copy", {kP1}, borrows_arguments()},
      {"F15", "patcher", "returns success when a setter half-way failed", {kP4}, swallows_errors()},
  };
  return kFaults;
}

const Fault* find_fault(std::string_view id) {
  const std::span<const Fault> all = faults();
  const auto found = std::find_if(all.begin(), all.end(), [id](const Fault& fault) { return fault.id == id; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fuzz
