// The signature of a stretch of time: small numbers that stand for what the runtime above did, as the agent saw it.
//
// An event is a packet or a call of HSA. It has a kind (of packet, its barrier bit, AMD's own kernels by name; of call,
// its status) and details (the name of a kernel, a size in powers of two). A feature is a hash of an event, its details
// and the power of two of their count, or of the kinds of two or three events that followed each other on one host
// thread or one queue. Two programs with equal signatures made the runtime do much the same.
//
// Nothing depends on addresses, handles, times or numbers of queues. Left out, because they depend on times: all that
// the agent's own threads do or call, waits and reads of signals, the choice of a copy engine, how many signals a
// packet or a copy waits for, and packets that another thread still writes when the doorbell rings. A runtime that asks
// whether earlier work is done may still do something else in another run of the same program: the caller compares two
// runs.
#pragma once

#include <hsa/hsa.h>

#include <array>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>

#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

enum class Event : u8 { kPacket, kAllocate, kFree, kCopy, kHostCopy, kLock, kUnlock, kReserve, kMap, kUnmap, kAccess };

class Signature {
 public:
  static constexpr std::size_t kFeatures = 65536;

  // Forgets everything, and notes events from here on.
  void begin();
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }
  // An event of the calling thread.
  void note(Event event, u64 kind, u64 details);
  // `queue` tells queues apart.
  void note_packet(u64 queue, u64 kind, u64 details);
  // The features, ascending: writes at most `size` of them and returns how many there are. Nothing is noted any more.
  [[nodiscard]] std::size_t read(u16* features, std::size_t size);

 private:
  struct Past {  // kinds of events
    u64 last = 0;
    u64 before = 0;
  };
  void count(Past& past, u64 kind, u64 details);

  hip::sync::Atomic<bool> on_{false};
  hip::sync::Mutex mutex_;
  std::map<hip::sync::ThreadId, Past> threads_;
  std::map<u64, Past> queues_;
  u64 last_queue_ = 0;
  std::unique_ptr<std::array<u16, kFeatures>> counts_;
};

// The same with every compiler and library.
[[nodiscard]] u64 hash_of(std::string_view text);
// The number of bits of a size.
[[nodiscard]] u64 size_class(u64 size);

}  // namespace agent
