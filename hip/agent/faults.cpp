// Keeping and telling faults; the contract is in the header.
#include "hip/agent/faults.h"

#include <cstdio>
#include <set>

namespace agent {

void Faults::raise(const DeviceFault& fault, void (*callback)(hsa_status_t, hsa_queue_t*, void*), hsa_queue_t* queue,
                   void* data) {
  hsa_amd_system_event_callback_t handler = nullptr;
  void* handler_data = nullptr;
  bool fresh = false;
  {
    const hip::sync::LockGuard lock(mutex_);
    fresh = fault.text != last_;
    last_ = fault.text;
    handler = handler_;
    handler_data = handler_data_;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  if (fresh) std::fprintf(stderr, "hgagent: %s\n", fault.text.c_str());
  if (handler == nullptr && !tell_always_.load(std::memory_order_relaxed)) return;
  if (fault.memory && handler != nullptr) {
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault.agent = fault.agent;
    event.memory_fault.virtual_address = fault.address;
    event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
    if (handler(&event, handler_data) == HSA_STATUS_SUCCESS) return;
  }
  if (callback != nullptr) callback(fault.status, queue, data);
}

std::string Faults::last() const {
  const hip::sync::LockGuard lock(mutex_);
  return last_;
}

hsa_status_t Faults::set_event_handler(hsa_amd_system_event_callback_t handler, void* data) {
  const hip::sync::LockGuard lock(mutex_);
  if (handler_ != nullptr && handler != nullptr) return HSA_STATUS_ERROR;
  handler_ = handler;
  handler_data_ = data;
  return HSA_STATUS_SUCCESS;
}

void Faults::reset() {
  const hip::sync::LockGuard lock(mutex_);
  last_.clear();
  handler_ = nullptr;
  handler_data_ = nullptr;
  count_.store(0, std::memory_order_relaxed);
}

hsa_status_t unsupported(const char* name, hsa_status_t status) {
  static hip::sync::Mutex mutex;
  static std::set<std::string> said;
  const hip::sync::LockGuard lock(mutex);
  if (said.insert(name).second) std::fprintf(stderr, "hgagent: %s is not supported by this agent\n", name);
  return status;
}

}  // namespace agent
