// Generator of stream-ordered memory and its pools, and of plain memory. Internal to verify/generate.
//
// Such programs test reuse: a busy stream frees memory, and the same stream or another stream allocates memory of the
// same size after it, with or without an event in between. The first owner's bytes are copied to another buffer before
// the free and read at the end, so that a runtime that gives the memory away too early shows (S1).
#pragma once

#include "verify/generate/streams.h"

namespace verify {

class StreamMemoryDraft : protected StreamsDraft {
 protected:
  using StreamsDraft::StreamsDraft;

  void stream_memory();
  // Memory of a capture: allocates and fills it, mostly copies it out, mostly frees it.
  void in_capture(Id stream) final;

 private:
  [[nodiscard]] std::vector<Id> there() const;
  [[nodiscard]] std::vector<Id> own_pools() const;
  [[nodiscard]] std::uint64_t size();
  // Whether the node of such a call on the stream is added by hand to the graph of the stream's capture.
  [[nodiscard]] bool by_hand(Id stream);
  bool give(Id stream, NodeParams params);
  // hipMallocAsync on the stream, or hipMalloc, of the next buffer.
  bool request(Id stream, std::uint64_t bytes, unsigned plain_percent);
  bool allocate(Id stream, std::uint64_t bytes, Id* buffer);
  void carry_out(Id stream, Id buffer);
  void order_streams(Id before, Id behind);
  void free(Id buffer, Id stream);
  void free_somehow(Id buffer);
  void reuse();
  void run_short();
  void beside_capture();
};

}  // namespace verify
