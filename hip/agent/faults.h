// Faults of the device: kept, printed once, and reported to the runtime above.
//
// A fault is reported as HSA defines it. Memory faults go to the handler of system events if there is one (the runtime
// of HIP 6.4 registers none); other faults, and memory faults without such a handler, go to the error callback of the
// queue. A runtime without a handler of system events ends the process in its queue callback, so the callback is not
// called there (unless tell_of_faults asks for it): the packets of a queue that failed are completed without being
// executed, and only hgagent_last_fault tells of the fault. See docs/agent.md.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <string>

#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

struct DeviceFault {
  std::string text;
  hsa_status_t status = HSA_STATUS_ERROR_EXCEPTION;
  bool memory = false;
  u64 address = 0;
  hsa_agent_t agent{0};
};

class Faults {
 public:
  // Keeps the fault and prints it; then tells the runtime. `callback` may be null.
  void raise(const DeviceFault& fault, void (*callback)(hsa_status_t, hsa_queue_t*, void*), hsa_queue_t* queue,
             void* data);
  [[nodiscard]] std::string last() const;
  [[nodiscard]] u64 count() const { return count_.load(std::memory_order_relaxed); }
  hsa_status_t set_event_handler(hsa_amd_system_event_callback_t handler, void* data);
  // Whether queue callbacks are called even without a handler of system events.
  void tell_always(bool always) { tell_always_.store(always, std::memory_order_relaxed); }
  // For a new start of the machine: no handler, no faults.
  void reset();

 private:
  mutable hip::sync::Mutex mutex_;
  std::string last_;
  hsa_amd_system_event_callback_t handler_ = nullptr;
  void* handler_data_ = nullptr;
  hip::sync::Atomic<u64> count_{0};
  hip::sync::Atomic<bool> tell_always_{false};
};

// Says on standard error, once for each `name`, that a function is not supported.
hsa_status_t unsupported(const char* name, hsa_status_t status);

}  // namespace agent
