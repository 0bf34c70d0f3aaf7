// Taking packets; the contract is in the header.
#include "hip/agent/queue.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "hip/agent/machine.h"
#include "hip/agent/threads.h"
#include "model/gfx942/wave.h"

namespace agent {
namespace {

constexpr u64 kPacketBytes = 64;
constexpr u64 kForever = ~u64{0};
constexpr std::string_view kOwnKernels = "__amd_";  // of AMD's runtime
constexpr u32 kWindow = 8;                          // packets that a seed may reorder at a time
constexpr std::chrono::microseconds kSpin{20};
constexpr u64 kStepInstructions = u64{1} << 16;  // of a kernel in one step

u32 type_of(u16 header) {
  return header >> HSA_PACKET_HEADER_TYPE & 0xff;
}
bool has_barrier(u16 header) {
  return (header >> HSA_PACKET_HEADER_BARRIER & 1) != 0;
}

u16 header_of(const std::byte* packet) {
  u16 header = 0;
  std::memcpy(&header, packet, sizeof(header));
  return header;
}

u64 ring_offset() {
  return round_up(sizeof(amd_queue_v2_t), kPage);
}

}  // namespace

u64 Queue::memory_bytes(u32 packets) {
  return ring_offset() + packets * kPacketBytes;
}

Queue::Queue(Machine& machine, const QueueRequest& request, u64 memory, SignalSlot* doorbell)
    : machine_(machine),
      request_(request),
      shared_(pointer_to<amd_queue_v2_t>(memory)),
      ring_(pointer_to<std::byte>(memory + ring_offset())),
      doorbell_(doorbell),
      view_(machine.map(), machine.signals(), request.agent),
      schedule_(machine.schedule(), request.index) {
  std::memset(static_cast<void*>(shared_), 0, sizeof(*shared_));
  for (u32 i = 0; i < request.packets; ++i) {
    const u16 invalid = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
    std::memcpy(ring_ + i * kPacketBytes, &invalid, sizeof(invalid));
  }
  hsa_queue_t& q = shared_->hsa_queue;
  q.type = request.type;
  q.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  q.base_address = ring_;
  q.doorbell_signal = doorbell->handle();
  q.size = request.packets;
  q.id = request.index;
  shared_->group_segment_aperture_base_hi = gfx942::kSharedAperture;
  shared_->private_segment_aperture_base_hi = gfx942::kPrivateAperture;
  shared_->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_v2_t, read_dispatch_id);
  shared_->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
  doorbell->amd.queue_ptr = shared_;
  doorbell->queue = this;
  if (machine_.stepper().on()) machine_.stepper().add(this);
  wake();
}

Queue::~Queue() {
  rest();
  if (machine_.stepper().on()) machine_.stepper().remove(this);
}

void Queue::rest() {
  stop_.store(true, std::memory_order_seq_cst);
  bell_.knock();
  machine_.signals().wake_all();
  if (thread_.joinable()) thread_.join();
}

void Queue::wake() {
  stop_.store(false, std::memory_order_seq_cst);
  if (!machine_.stepper().on()) thread_ = start_thread([this] { run(); });
}

void Queue::ring(u64 index) {
  u64 known = rung_.load(std::memory_order_relaxed);
  if (machine_.signature().on()) note_up_to(known, index);
  while (known < index + 1 && !rung_.compare_exchange_weak(known, index + 1, std::memory_order_seq_cst)) {}
  bell_.knock();
}

// Before the packets may be taken, because their slots are used again after that. Each packet is noted at most once.
void Queue::note_up_to(u64 known, u64 index) {
  u64 noted = noted_.load();
  while (noted <= index && !noted_.compare_exchange_weak(noted, index + 1)) {}
  for (u64 at = std::max(known, noted); at <= index; ++at) {
    if (type_of(header_at(at)) != HSA_PACKET_TYPE_INVALID) note(at);
  }
}

void Queue::note(u64 index) {
  const u16 header = header_at(index);
  const u64 kind = u64{type_of(header)} << 1 | u64{has_barrier(header)};
  if (type_of(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
    return machine_.signature().note_packet(request_.index, kind, 0);
  const auto& packet = *reinterpret_cast<const hsa_kernel_dispatch_packet_t*>(packet_at(index));
  const FoundKernel found = machine_.code().kernel_at(packet.kernel_object);
  const std::string_view name = found.kernel == nullptr ? "" : std::string_view(found.kernel->name);
  const u64 hash = hash_of(name);
  const u64 own = name.starts_with(kOwnKernels) ? hash << 9 : 0;
  const u64 items = u64{packet.grid_size_x} * packet.grid_size_y * packet.grid_size_z;
  machine_.signature().note_packet(request_.index, own | u64{packet.completion_signal.handle != 0} << 8 | kind,
                                   hash << 8 | size_class(items));
}

bool Queue::idle() const {
  const u64 done = std::atomic_ref<u64>(const_cast<u64&>(shared_->read_dispatch_id)).load(std::memory_order_acquire);
  return done >= rung_.load(std::memory_order_seq_cst);
}

std::byte* Queue::packet_at(u64 index) const {
  return ring_ + index % shared_->hsa_queue.size * kPacketBytes;
}

u16 Queue::header_at(u64 index) const {
  return std::atomic_ref<u16>(*reinterpret_cast<u16*>(packet_at(index))).load(std::memory_order_acquire);
}

bool Queue::has_packet() const {
  return index_ < rung_.load(std::memory_order_seq_cst) && type_of(header_at(index_)) != HSA_PACKET_TYPE_INVALID;
}

bool Queue::wait_for_packet() {
  const auto spin_end = std::chrono::steady_clock::now() + kSpin;
  u64 knocks = bell_.knocks();
  while (!stop_.load(std::memory_order_seq_cst)) {
    if (has_packet()) return true;
    if (std::chrono::steady_clock::now() < spin_end) {
      hip::sync::yield();
      continue;
    }
    // The doorbell may be rung before another thread has completed this packet; that thread rings it later.
    bell_.wait(knocks, kForever);
  }
  return false;
}

void Queue::wait_for_signals() {
  if (released()) return;
  const auto spin_end = std::chrono::steady_clock::now() + kSpin;
  while (!released() && std::chrono::steady_clock::now() < spin_end) hip::sync::yield();
  const std::vector<SignalSlot*> slots = awaited();
  for (SignalSlot* s : slots) s->waiters.fetch_add(1, std::memory_order_seq_cst);
  Doorway& door = machine_.signals().waiters_door();
  u64 knocks = door.knocks();
  while (!released() && !stop_.load(std::memory_order_seq_cst)) door.wait(knocks, kLookAgain);
  for (SignalSlot* s : slots) s->waiters.fetch_sub(1, std::memory_order_seq_cst);
}

void Queue::run() {
  while (!stop_.load(std::memory_order_seq_cst)) {
    switch (phase_) {
      case Phase::kPick:
        if (left_ == 0 && !wait_for_packet()) return;
        pick();
        schedule_.delay(stop_);
        start_ = Machine::now();
        break;
      case Phase::kAct:
        wait_for_signals();
        if (!stop_.load(std::memory_order_relaxed)) act();
        if (to_tell_) std::exchange(to_tell_, nullptr)();
        break;
      case Phase::kComplete:
        schedule_.delay(stop_);
        if (!stop_.load(std::memory_order_relaxed)) complete();
        break;
    }
  }
}

bool Queue::ready() {
  return phase_ == Phase::kPick ? left_ > 0 || has_packet() : phase_ == Phase::kComplete || released();
}

Actor::Stepped Queue::step() {
  if (phase_ == Phase::kComplete) {
    complete();
    return {.ended = true, .tell = {}};
  }
  if (phase_ == Phase::kPick) pick();
  if (released()) act();
  return {.ended = false, .tell = std::exchange(to_tell_, nullptr)};
}

void Queue::pick() {
  if (left_ == 0) {
    schedule_.begin(index_);
    count_ = left_ = unordered_from(index_);
    taken_ = 0;
  }
  u32 choice = schedule_.choose(left_);
  u32 offset = 0;
  while ((taken_ >> offset & 1) != 0 || choice-- > 0) ++offset;
  taken_ |= u64{1} << offset;
  at_ = index_ + offset;
  std::memcpy(packet_, packet_at(at_), kPacketBytes);
  and_signal_ = reinterpret_cast<const hsa_barrier_and_packet_t*>(packet_)->dep_signal;
  start_ = Machine::now();
  phase_ = Phase::kAct;
}

u32 Queue::unordered_from(u64 index) const {
  if (!machine_.schedule().on() || type_of(header_at(index)) != HSA_PACKET_TYPE_KERNEL_DISPATCH) return 1;
  const u64 end = std::min(rung_.load(std::memory_order_seq_cst), index + kWindow);
  u32 count = 1;
  while (index + count < end) {
    const u16 header = header_at(index + count);
    if (type_of(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH || has_barrier(header)) break;
    ++count;
  }
  return count;
}

void Queue::retire(u64 index) {
  std::atomic_ref<u16>(*reinterpret_cast<u16*>(packet_at(index)))
      .store(HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE, std::memory_order_release);
  std::atomic_ref<u64>(const_cast<u64&>(shared_->read_dispatch_id)).store(index + 1, std::memory_order_release);
}

bool Queue::released() {
  if (failed_) return true;
  const auto type = type_of(header_of(packet_));
  const auto* barrier = reinterpret_cast<const hsa_barrier_and_packet_t*>(packet_);
  // A negative value means that the awaited work failed: it ends the wait as well.
  const auto done = [](const hsa_signal_t& s) {
    return s.handle == 0 || slot_of(s)->value().load(std::memory_order_seq_cst) < 1;
  };
  const auto awaits = [](const hsa_signal_t& s) { return s.handle != 0; };
  if (type == HSA_PACKET_TYPE_BARRIER_AND) {
    // Each signal must have been seen once: the runtime may use it for later work before the others are done.
    for (const hsa_signal_t*& next = and_signal_; next != std::end(barrier->dep_signal); ++next) {
      if (!done(*next)) return false;
    }
    return true;
  }
  if (type == HSA_PACKET_TYPE_BARRIER_OR) {
    return std::ranges::none_of(barrier->dep_signal, awaits) ||
           std::ranges::any_of(barrier->dep_signal, [&](const hsa_signal_t& s) { return awaits(s) && done(s); });
  }
  const hsa_amd_barrier_value_packet_t* value = barrier_value();
  if (value == nullptr || value->signal.handle == 0) return true;
  return condition_holds(static_cast<hsa_signal_condition_t>(value->cond),
                         slot_of(value->signal)->value().load(std::memory_order_seq_cst) & value->mask, value->value);
}

const hsa_amd_barrier_value_packet_t* Queue::barrier_value() const {
  const auto* value = reinterpret_cast<const hsa_amd_barrier_value_packet_t*>(packet_);
  const bool is = type_of(header_of(packet_)) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
                  value->header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE &&
                  value->cond <= HSA_SIGNAL_CONDITION_GTE;
  return is ? value : nullptr;
}

std::vector<SignalSlot*> Queue::awaited() const {
  std::vector<SignalSlot*> slots;
  const auto type = type_of(header_of(packet_));
  if (type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR) {
    for (const hsa_signal_t& s : reinterpret_cast<const hsa_barrier_and_packet_t*>(packet_)->dep_signal) {
      if (s.handle != 0) slots.push_back(slot_of(s));
    }
  } else if (const auto* value = barrier_value(); value != nullptr && value->signal.handle != 0) {
    slots.push_back(slot_of(value->signal));
  }
  return slots;
}

void Queue::act() {
  const auto type = type_of(header_of(packet_));
  if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
    if (!failed_ && !launch_ && !start_launch()) {
      phase_ = Phase::kComplete;
      return;
    }
    if (!failed_) {
      std::optional<gfx942::Outcome> outcome;
      {
        const Visit visit(view_);
        outcome = launch_->advance(machine_.stepper().on() ? kStepInstructions : ~u64{0});
      }
      if (!outcome) return;
      end_launch(*outcome);
    }
  } else if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR && barrier_value() == nullptr) {
    DeviceFault fault;
    fault.text = "a packet of type " + std::to_string(type) + ", which this agent does not know";
    fault.status = HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    fail(fault);
  }
  phase_ = Phase::kComplete;
}

bool Queue::start_launch() {
  const auto& packet = *reinterpret_cast<const hsa_kernel_dispatch_packet_t*>(packet_);
  found_ = machine_.code().kernel_at(packet.kernel_object);
  if (found_.kernel == nullptr) {
    DeviceFault fault;
    fault.text =
        "a dispatch of a kernel that is not loaded: there is no descriptor at " + std::to_string(packet.kernel_object);
    fail(fault);
    return false;
  }
  dispatch_ = {};
  dispatch_.kernel = found_.kernel;
  dispatch_.grid = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  dispatch_.workgroup = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  dispatch_.kernarg_address = address_of(packet.kernarg_address);
  dispatch_.packet_address = address_of(packet_at(at_));
  dispatch_.queue_address = address_of(shared_);
  dispatch_.dispatch_id = at_;
  dispatch_.group_bytes = packet.group_segment_size;
  dispatch_.private_bytes = packet.private_segment_size;
  limits_.instructions = machine_.instruction_budget();
  // A cooperative launch may fill every compute unit, and all its workgroups wait for each other.
  limits_.resident_waves = std::max(limits_.resident_waves, machine_.compute_units() * kWavesPerComputeUnit);
  limits_.stop = &stop_;
  launch_.emplace(*found_.program, dispatch_, view_, limits_);
  return true;
}

void Queue::end_launch(const gfx942::Outcome& outcome) {
  launch_.reset();
  found_ = {};
  if (const auto* finished = std::get_if<gfx942::Finished>(&outcome)) {
    limits_.clock += finished->instructions;
    return machine_.count_dispatch(finished->instructions);
  }
  const auto& why = std::get<gfx942::Fault>(outcome);
  if (stop_.load(std::memory_order_relaxed)) return;
  DeviceFault fault;
  fault.text = why.text;
  fault.memory = why.kind == gfx942::FaultKind::kMemory;
  fault.address = why.address;
  fault.agent = Machine::agent_handle(request_.agent);
  switch (why.kind) {
    case gfx942::FaultKind::kMemory:
      fault.status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
      break;
    case gfx942::FaultKind::kMisaligned:
      fault.status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
      break;
    case gfx942::FaultKind::kUnknown:
      fault.status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
      break;
    default:
      fault.status = HSA_STATUS_ERROR_EXCEPTION;
  }
  fail(fault);
}

void Queue::complete() {
  phase_ = Phase::kPick;
  const hsa_signal_t signal = completion();
  if (signal.handle != 0) {
    SignalSlot& slot = *slot_of(signal);
    slot.set_times(start_, Machine::now());
    machine_.signals().subtract(slot, 1);
  }
  if (--left_ > 0) return;
  for (u32 i = 0; i < count_; ++i) retire(index_ + i);
  index_ += count_;
  count_ = 0;
}

hsa_signal_t Queue::completion() const {
  switch (type_of(header_of(packet_))) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
      return reinterpret_cast<const hsa_kernel_dispatch_packet_t*>(packet_)->completion_signal;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
      return reinterpret_cast<const hsa_barrier_and_packet_t*>(packet_)->completion_signal;
    default:
      return barrier_value() != nullptr ? barrier_value()->completion_signal : hsa_signal_t{0};
  }
}

void Queue::fail(const DeviceFault& fault) {
  failed_ = true;
  // By value: what is told may end this queue.
  to_tell_ = [&faults = machine_.faults(), fault, callback = request_.callback, queue = &shared_->hsa_queue,
              data = request_.data] { faults.raise(fault, callback, queue, data); };
}

}  // namespace agent
