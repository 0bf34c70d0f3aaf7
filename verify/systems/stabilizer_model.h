// The sequential model of hip::AddressStabilizer: the promises of an address stabiliser.
//
// The model has no persistent buffers: a step changes the caller's memory as the command would if it ran on that memory
// directly, where the step writes, and nowhere else. The model also says when a command is recorded: the first time,
// after release(), after a failed recording, and when the command's own addresses must change: buffers overlap in
// another way, slices of a group are aligned otherwise, or a group of overlapping buffers is longer than every earlier
// group of the same name (its lowest index). Nothing else allocates.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace verify {

struct StabilizerModel {
  struct Buffer {
    std::size_t at = 0, bytes = 0;
    bool in = false, out = false;  // copied to the command, and back
    [[nodiscard]] bool meets(const Buffer& other) const {
      return bytes != 0 && other.bytes != 0 && at < other.at + other.bytes && other.at < at + bytes;
    }
  };
  // The place of a command's own buffer: its group, how often the group's memory was replaced, and the offset in it.
  struct Place {
    int group = -1;
    int age = 0;
    std::size_t offset = 0;
    bool operator==(const Place&) const = default;
  };
  struct Command {
    std::map<int, std::pair<std::size_t, int>> groups;  // length and age, by lowest index
    std::optional<std::vector<Place>> recorded_for;
    bool certain = true;  // false: a failure has made the allocations unknown
  };
  std::map<int, Command> commands;

  // The group of each buffer: its lowest index. Overlap counts from buffer to buffer (it is transitive).
  [[nodiscard]] static std::vector<int> groups_of(const std::vector<Buffer>& buffers) {
    std::vector<int> group(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) group[i] = static_cast<int>(i);
    for (std::size_t round = 0; round < buffers.size(); ++round) {
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        for (std::size_t j = 0; j < buffers.size(); ++j) {
          if (buffers[i].meets(buffers[j])) group[i] = std::min(group[i], group[j]);
        }
      }
    }
    return group;
  }

  // The places of the command's own buffers at a step with `buffers`. Allocations begin at multiples of `alignment`.
  [[nodiscard]] static std::vector<Place> place(Command& command, const std::vector<Buffer>& buffers,
                                                std::size_t alignment, bool* grows) {
    const std::vector<int> group = groups_of(buffers);
    std::vector<Place> places(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].bytes == 0) continue;
      std::size_t begin = buffers[i].at, end = 0;
      for (std::size_t j = 0; j < buffers.size(); ++j) {
        if (group[j] == group[i] && buffers[j].bytes != 0) begin = std::min(begin, buffers[j].at);
      }
      bool slices = false;
      for (std::size_t j = 0; j < buffers.size(); ++j) {
        if (group[j] != group[i] || buffers[j].bytes == 0) continue;
        end = std::max(end, buffers[j].at + buffers[j].bytes);
        slices = slices || buffers[j].at != begin;
      }
      const std::size_t before = slices ? begin % alignment : 0;
      auto& [length, age] = command.groups[group[i]];
      if (before + end - begin > length) length = before + end - begin, ++age, *grows = true;
      places[i] = {group[i], age, before + buffers[i].at - begin};
    }
    return places;
  }
};

}  // namespace verify
