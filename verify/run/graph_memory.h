// verify::GraphMemory: the memory that the graphs of a run allocate.
//
// An allocation node has a different address in every graph that is recorded with it, so a new recording has a new
// address. Each graph and executable graph keeps these addresses in its table. The table of the program's buffers, from
// which records are made and moves are found, shows the addresses of the object that a command works on (show_as_in)
// or, for the program's own calls, of the launch that allocated (show_live). The runtime chooses them: no observation.
#pragma once

#include <map>

#include "verify/execute/objects.h"
#include "verify/execute/placement.h"

namespace verify {

class GraphMemory {
 public:
  GraphMemory(StrategyContext& context, BufferMemory& memory) : context_(context), memory_(memory) {}

  // Notes that a node that allocates `buffer` was added.
  void added(Id buffer, std::uint64_t bytes, hip::DeviceAddress address);
  // Notes that a capture made such a node. The captured graph has its memory at `address` once the capture has ended.
  void captured(Id buffer, std::uint64_t bytes, hip::DeviceAddress address);
  hip::Status free_captured(Id buffer, hipStream_t stream);
  void show_as_in(const hip::AddressTable& addresses);
  void show_live();

  void launched(const ExecObject& exec);
  // Whether the executable graph frees another graph's memory where that memory was before: a strategy has recorded the
  // allocating graph again, which gives it another address.
  [[nodiscard]] bool frees_where_it_was(const ExecObject& exec) const;
  [[nodiscard]] bool has(Id buffer) const { return buffers_.contains(buffer); }
  // Where a launch allocated the buffer; 0: it is not allocated now.
  [[nodiscard]] hip::DeviceAddress live(Id buffer) const { return buffers_.at(buffer).live; }
  // The bytes that launches allocated and nothing has freed since.
  [[nodiscard]] std::uint64_t live_bytes() const;
  hip::Status free(Id buffer);
  hip::Status free_async(Id buffer, hipStream_t stream);
  // Frees the memory that the program has not freed at its end.
  hip::Status free_everything();

 private:
  struct Buffer {
    std::uint64_t bytes = 0;
    hip::DeviceAddress live = 0;      // 0: not allocated now
    hip::DeviceAddress captured = 0;  // the address in the last capture, running or ended
  };
  StrategyContext& context_;
  BufferMemory& memory_;
  std::map<Id, Buffer> buffers_;
};

}  // namespace verify
