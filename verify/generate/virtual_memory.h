// Generator of mapped memory: ranges of addresses, physical memory, and views that all other parts of the generator use
// like buffers. Internal to verify/generate.
//
// Such programs do as frameworks do: memory under the views of a graph that exists is unmapped, other memory is mapped
// there, and the graph is launched again. Besides, one memory is mapped at two places, devices lose and get rights,
// handles are released while their memory is mapped, and ranges are given back and reserved again.
#pragma once

#include "verify/generate/stream_memory.h"

namespace verify {

class VirtualMemoryDraft : protected StreamMemoryDraft {
 protected:
  using StreamMemoryDraft::StreamMemoryDraft;

  // One or two ranges, each with one memory, its mapping, and one or two views.
  void declare_mapped_memory();
  void mapped_memory();
  // Mostly maps memory and gives rights as a launch of `exec` needs them.
  void reach_views(Id exec);
  virtual void launch_exec(Id exec) = 0;

 private:
  // A mapping, and where it begins.
  struct Place {
    Id range = 0;
    std::uint32_t page = 0;
    MappingState mapping;
  };
  void map_during_capture() final;
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] std::vector<Id> views() const;
  [[nodiscard]] bool uses(const GraphState& graph, Id range) const;
  [[nodiscard]] Id other_device(Id device) const { return device == 0 ? 1 : 0; }
  // Waits for work on the mapping; false: that is not possible, as a stream captures.
  bool wait_for(const Place& place);
  std::optional<Id> reserve();
  std::optional<Id> create(Id device, std::uint32_t pages);
  // A memory of so many pages for a range of the device: one that is there or a new one.
  std::optional<Id> memory_for(Id device, std::uint32_t pages, std::optional<Id> but_not);
  std::optional<std::uint32_t> room(Id range, std::uint32_t pages);
  // Maps the memory at a place that is free, and gives rights to it.
  bool map_somewhere(Id range, Id memory);
  void give_rights(Id range, std::uint32_t page);
  void view(Id range);
  [[nodiscard]] std::vector<Place> used(std::vector<Place> all) const;
  void remap();
  void alias();
  void change_right();
  void change_handles();
  void extend();
  void use_view();
  void give_range_back();
  [[nodiscard]] std::vector<Id> users_of(Id range) const;
  // Launches an executable graph that names a view of the range, or sets one of its nodes.
  void launch_user(Id range);
  void set_user(Id range);
  void map_missing(const BufferState& view);
  void give_missing(const BufferState& view, Id device);
};

}  // namespace verify
