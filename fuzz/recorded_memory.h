// Memory, from the lines of a log to commands.
//
// - Memory of hipMallocAsync is a buffer; memory that a graph or a capture allocates is one from its node on.
// - A capture allows no `buffer`, `write`, `free` and `read`. There, a buffer is declared at the beginning, and its end
//   comes when no capture is open. A `host` line of the log becomes a write that is dropped and noted. Copies of the
//   host become copies that wait, to and from pageable memory of their own.
// - A variable of device code is a buffer from the first call on that names it, by its symbol or its address.
// - The language wants a memset of all of what a graph allocates before anything else names it. Where the log has none,
//   one is added behind the allocation, and a note says so. Only the second conversion of a log knows where: the first
//   one finds it out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/recorded_captures.h"
#include "fuzz/recorded_resources.h"

namespace fuzz {

class RecordedMemory {
 public:
  using Buffers = std::set<std::uint32_t>;

  // `unfilled`: buffers that need a memset.
  RecordedMemory(Recording& out, RecordedCaptures& captures, const RecordedResources& resources, Buffers unfilled)
      : out_(out), captures_(captures), resources_(resources), unfilled_(std::move(unfilled)) {}

  // A line that begins with this verb, from its second word on.
  void line(const std::string& verb, LogWords& words);
  // The memory of an allocation node; "alloc graph" has told of it.
  [[nodiscard]] const RecordedObjects::Buffer* of_node(std::uint64_t address) const;
  // The memset that has to stand behind the allocation of a buffer, or an empty word.
  [[nodiscard]] Work fill_of(const RecordedObjects::Buffer& buffer);
  // Looks at work that a graph gets.
  void used_by(const Work& work);
  [[nodiscard]] const Buffers& found_unfilled() const { return found_unfilled_; }

 private:
  void place(std::uint64_t address, const RecordedObjects::Buffer& buffer);
  std::string declare(const std::string& kind, std::uint64_t address, std::uint64_t bytes, bool of_graph = false,
                      std::uint64_t room = 0);
  void allocate(LogWords& words);
  void variable(LogWords& words);
  void allocate_async(LogWords& words);
  void free(LogWords& words, bool async);
  void adopt(LogWords& words);
  void copied(LogWords& words);
  void copied3d(LogWords& words);
  std::uint32_t end_of_host(std::uint64_t bytes);
  void copied_to_device(std::uint64_t to, std::uint64_t bytes, const std::string& stream, const std::string& data);
  void copied_to_host(std::uint64_t from, std::uint64_t bytes, const std::string& stream, std::uint64_t hash);
  void written(std::uint64_t address, std::uint64_t bytes, const std::string& data);
  [[nodiscard]] std::vector<std::string> write(std::uint32_t buffer, std::uint64_t offset, const std::string& data,
                                               bool whole);

  Recording& out_;
  RecordedCaptures& captures_;
  const RecordedResources& resources_;
  const Buffers unfilled_;
  Buffers found_unfilled_;
  std::map<std::uint32_t, std::uint64_t> fresh_;         // what graphs allocate and nothing has named yet -> its bytes
  std::map<std::uint64_t, std::uint32_t> ends_of_host_;  // by their bytes
  std::map<std::string, std::uint32_t> variables_;       // by how the language names them
  std::uint32_t next_ = 0;
};

}  // namespace fuzz
