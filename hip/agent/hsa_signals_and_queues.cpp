// HSA's functions about signals, queues, and the start and end times of dispatches and copies.
#include <hsa/hsa_ext_amd.h>

#include <bit>

#include "hip/agent/machine.h"

using agent::Machine;
using agent::SignalSlot;
using agent::slot_of;

namespace {

std::atomic_ref<uint64_t> index_of(const volatile uint64_t& index) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(index));
}

amd_queue_v2_t* shared_of(const hsa_queue_t* queue) {
  return agent::pointer_to<amd_queue_v2_t>(agent::address_of(queue));
}

void store_and_ring(hsa_signal_t signal, hsa_signal_value_t value) {
  SignalSlot& slot = *slot_of(signal);
  Machine& machine = Machine::get();
  const bool rings = slot.queue != nullptr;
  if (rings) slot.queue->ring(static_cast<uint64_t>(value));
  machine.signals().store(slot, value);
  if (rings) machine.stepper().host_rings();
}

}  // namespace

extern "C" {

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t* list,
                               hsa_signal_t* signal) {
  return hsa_amd_signal_create(value, consumers, list, 0, signal);
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t /*consumers*/, const hsa_agent_t* /*list*/,
                                   uint64_t /*attributes*/, hsa_signal_t* signal) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (machine.must_fail(agent::Call::kSignal)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *signal = machine.signals().create(value)->handle();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Machine::get().signals().destroy(slot_of(signal));
  return HSA_STATUS_SUCCESS;
}

hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t signal) {
  Machine::get().stepper().host_looks();
  return slot_of(signal)->value().load(std::memory_order_acquire);
}

void hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  slot_of(signal)->value().store(value, std::memory_order_release);
}

void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  store_and_ring(signal, value);
}

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  store_and_ring(signal, value);
}

void hsa_signal_add_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  Machine::get().signals().subtract(*slot_of(signal), -value);
}

void hsa_signal_subtract_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  Machine::get().signals().subtract(*slot_of(signal), value);
}

hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                             hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t /*hint*/) {
  Machine& machine = Machine::get();
  SignalSlot& slot = *slot_of(signal);
  if (!machine.stepper().on()) return machine.signals().wait(slot, condition, value, timeout);
  hsa_signal_value_t seen = 0;
  const auto done = [&] {
    seen = slot.value().load(std::memory_order_seq_cst);
    return agent::condition_holds(condition, seen, value) || !machine.running();
  };
  machine.stepper().run_until(done, timeout);
  return seen;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler, void* arg) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal.handle == 0 || handler == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Machine::get().handlers().add(slot_of(signal), condition, value, handler, arg);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t** pointer) {
  if (pointer == nullptr || signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *pointer = &slot_of(signal)->amd.value;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data,
                              uint32_t /*private_bytes*/, uint32_t /*group_bytes*/, hsa_queue_t** queue) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  agent::QueueRequest request;
  if (!machine.agent_of(handle, request.agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (request.agent == agent::kHostAgent) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  if (queue == nullptr || !std::has_single_bit(size) || size > agent::Queue::kMaxPackets) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  request.packets = size < agent::Queue::kMinPackets ? agent::Queue::kMinPackets : size;
  request.type = type;
  request.callback = callback;
  request.data = data;
  return machine.create_queue(request, queue);
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Machine::get().destroy_queue(queue);
}

uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t* queue) {
  Machine::get().stepper().host_looks();
  return index_of(shared_of(queue)->read_dispatch_id).load(std::memory_order_acquire);
}

uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t* queue) {
  Machine::get().stepper().host_looks();
  return index_of(shared_of(queue)->read_dispatch_id).load(std::memory_order_acquire);
}

uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue_t* queue) {
  return index_of(shared_of(queue)->write_dispatch_id).load(std::memory_order_acquire);
}

uint64_t hsa_queue_add_write_index_screlease(const hsa_queue_t* queue, uint64_t value) {
  return index_of(shared_of(queue)->write_dispatch_id).fetch_add(value, std::memory_order_acq_rel);
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!Machine::get().known_queue(queue)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  // Threads of the host run the queues: any order among them is legal, so a priority changes nothing.
  return priority <= HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t /*count*/, const uint32_t* /*mask*/) {
  return Machine::get().known_queue(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int /*enable*/) {
  return Machine::get().known_queue(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool /*enable*/) {
  return HSA_STATUS_SUCCESS;  // times are always taken
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t /*agent*/, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
  if (time == nullptr || signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *time = {slot_of(signal)->start(), slot_of(signal)->end()};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* time) {
  if (time == nullptr || signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *time = {slot_of(signal)->start(), slot_of(signal)->end()};
  return HSA_STATUS_SUCCESS;
}
}
