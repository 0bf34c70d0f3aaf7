// Start and stop of the machine, and its queues; the contract is in the header.
#include "hip/agent/machine.h"

#include <algorithm>
#include <cstdlib>

namespace agent {
namespace {

constexpr u64 kDefaultBudget = u64{1} << 32;
// A real gfx942 has 304, of which a quarter would do as well: AMD's copy and fill kernels start a workgroup for each
// compute unit whatever the size of the copy, and here workgroups run one after another.
constexpr u32 kDefaultComputeUnits = 8;
constexpr u32 kMaxComputeUnits = 304;

// A function of the runtime that one of our threads calls may end the process or shut the machine down. That thread is
// still in use then, so its owner (the queue, engine or handlers object) stays until the process is gone.
template <class T>
void end_thread(std::unique_ptr<T>& owner) {
  if (owner != nullptr && owner->runs_here()) static_cast<void>(owner.release());
  owner.reset();
}

// Runs when the library is unloaded or the process ends without hsa_shut_down: no thread may be left then.
struct AtExit {
  ~AtExit() { Machine::get().stop_for_good(); }
};
const AtExit at_exit;

constexpr std::chrono::milliseconds kSettleLimit{500};
constexpr std::chrono::microseconds kSettleNap{50};

// Lets settle() run before the destructors of the static objects made so far: exit calls the last registered function
// first.
void settle_before_exit() {
  static_cast<void>(std::atexit([] { Machine::get().settle(); }));
}

}  // namespace

hgagent_options default_options() {
  hgagent_options options{};
  options.size = sizeof(options);
  options.agents = 1;
  options.max_delay_us = 200;
  options.instruction_budget = kDefaultBudget;
  options.compute_units = kDefaultComputeUnits;
  options.device_memory_bytes = kDeviceMemoryBytes;
  return options;
}

Machine& Machine::get() {
  static Machine& machine = *new Machine;
  return machine;
}

u64 Machine::now() {
  return static_cast<u64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

Machine::Machine() : options_(default_options()) {
  budget_.store(options_.instruction_budget, std::memory_order_relaxed);
  device_memory_.store(options_.device_memory_bytes, std::memory_order_relaxed);
}

int Machine::configure(const hgagent_options& options) {
  const hip::sync::LockGuard lock(options_mutex_);
  if (options.size != sizeof(hgagent_options)) return 1;
  if (options.agents < 1 || options.agents > HGAGENT_MAX_AGENTS) return 2;
  if (options.quarantine > 1) return 5;
  if (options.instruction_budget == 0) return 6;
  if (options.compute_units < 1 || options.compute_units > kMaxComputeUnits) return 7;
  if (options.tell_of_faults > 1) return 8;
  if (options.device_memory_bytes == 0 || options.device_memory_bytes > kDeviceMemoryBytes) return 9;
  if (options.stepped > 1) return 15;
  if (running()) {
    if (options.agents != options_.agents) return 2;
    if (options.quarantine != options_.quarantine) return 5;
    if (options.compute_units != options_.compute_units) return 7;
    if (options.stepped != options_.stepped) return 15;
  }
  options_ = options;
  schedule_.configure(options.schedule_seed, options.max_delay_us, options.max_delays);
  stepper_.begin_schedule();
  faults_.tell_always(options.tell_of_faults != 0);
  budget_.store(options.instruction_budget, std::memory_order_relaxed);
  device_memory_.store(options.device_memory_bytes, std::memory_order_relaxed);
  const u64 counts[] = {options.fail_allocation, options.fail_queue, options.fail_signal, options.fail_code_object};
  for (std::size_t i = 0; i < std::size(counts); ++i) until_failure_[i].store(counts[i], std::memory_order_relaxed);
  return 0;
}

bool Machine::must_fail(Call call) {
  hip::sync::Atomic<u64>& left = until_failure_[static_cast<std::size_t>(call)];
  u64 value = left.load(std::memory_order_relaxed);
  while (value != 0 && !left.compare_exchange_weak(value, value - 1, std::memory_order_relaxed)) {}
  if (value != 1) return false;
  failed_calls_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

u64 Machine::allocated(u32 agent) const {
  return allocated_[agent].load(std::memory_order_relaxed) + (running() ? virtual_memory_->bytes(agent) : 0);
}

u64 Machine::counter(u32 which) {
  // A count that the machine does not change is no reason for it to run on: verify/run asks for it at each command.
  if (running() && which != HGAGENT_FAILED_CALLS) stepper_.settle();
  const hip::sync::LockGuard life(life_mutex_);
  const bool alive = running();
  switch (which) {
    case HGAGENT_ALLOCATIONS:
      return allocations_.load(std::memory_order_relaxed);
    case HGAGENT_ALLOCATED_BYTES: {
      u64 bytes = 0;
      for (const auto& a : allocated_) bytes += a.load(std::memory_order_relaxed);
      return bytes;
    }
    case HGAGENT_SIGNALS:
      return signals_.live();
    case HGAGENT_QUEUES: {
      const hip::sync::LockGuard lock(queues_mutex_);
      return queues_.size();
    }
    case HGAGENT_EXECUTABLES:
      return alive ? code_->live() : 0;
    case HGAGENT_LOCKS:
      return map_.locked_count();
    case HGAGENT_RESERVATIONS:
      return alive ? virtual_memory_->reservations() : 0;
    case HGAGENT_MEMORY_HANDLES:
      return alive ? virtual_memory_->handles() : 0;
    case HGAGENT_THREADS: {
      const hip::sync::LockGuard queues(queues_mutex_);
      const hip::sync::LockGuard engines(engines_mutex_);
      return (stepper_.on() ? 0 : queues_.size() + engines_.size()) + (handlers_ != nullptr ? 1 : 0);
    }
    case HGAGENT_DISPATCHES:
      return dispatches_.load(std::memory_order_relaxed);
    case HGAGENT_INSTRUCTIONS:
      return instructions_.load(std::memory_order_relaxed);
    case HGAGENT_COPIES: {
      const hip::sync::LockGuard lock(engines_mutex_);
      u64 copies = 0;
      for (const auto& [key, engine] : engines_) copies += engine->done();
      return copies;
    }
    case HGAGENT_FAULTS:
      return faults_.count();
    case HGAGENT_DECODED_OBJECTS:
      return Code::decoded();
    case HGAGENT_FAILED_CALLS:
      return failed_calls_.load(std::memory_order_relaxed);
    default:
      return 0;
  }
}

void Machine::count_dispatch(u64 instructions) {
  dispatches_.fetch_add(1, std::memory_order_relaxed);
  instructions_.fetch_add(instructions, std::memory_order_relaxed);
}

void Machine::count_allocation(u32 agent, i64 number, i64 bytes) {
  allocations_.fetch_add(static_cast<u64>(number), std::memory_order_relaxed);
  allocated_[agent].fetch_add(static_cast<u64>(bytes), std::memory_order_relaxed);
}

bool Machine::agent_of(hsa_agent_t handle, u32& agent) const {
  if (handle.handle < kAgentHandles || handle.handle > kAgentHandles + options_.agents) return false;
  agent = static_cast<u32>(handle.handle - kAgentHandles);
  return true;
}

hsa_status_t Machine::init() {
  const hip::sync::LockGuard lock(life_mutex_);
  if (references_++ == 0) start();
  static hip::sync::OnceFlag once;
  hip::sync::call_once(once, settle_before_exit);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Machine::shut_down() {
  const hip::sync::LockGuard lock(life_mutex_);
  if (references_ == 0) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (--references_ == 0) stop();
  return HSA_STATUS_SUCCESS;
}

bool Machine::settled() {
  const hip::sync::LockGuard life(life_mutex_);
  if (!running() || handlers_->runs_here()) return true;
  {
    const hip::sync::LockGuard lock(queues_mutex_);
    for (const auto& [handle, queue] : queues_) {
      if (queue->runs_here()) return true;
      if (!queue->idle()) return false;
    }
  }
  {
    const hip::sync::LockGuard lock(engines_mutex_);
    for (const auto& [key, engine] : engines_) {
      if (engine->runs_here()) return true;
      if (engine->busy()) return false;
    }
  }
  return handlers_->settled();
}

void Machine::settle() {
  const auto deadline = std::chrono::steady_clock::now() + kSettleLimit;
  while (!settled() && std::chrono::steady_clock::now() < deadline) {
    if (!stepper_.on() || !stepper_.step(true)) hip::sync::sleep_for(kSettleNap);
  }
}

bool Machine::rest() {
  settle();
  if (!settled()) return false;
  const hip::sync::LockGuard life(life_mutex_);
  if (!running() || std::exchange(rests_, true)) return true;
  handlers_->rest();
  for (auto& [handle, queue] : queues_) queue->rest();
  for (auto& [key, engine] : engines_) engine->rest();
  return true;
}

void Machine::wake() {
  const hip::sync::LockGuard life(life_mutex_);
  if (!running() || !std::exchange(rests_, false)) return;
  for (auto& [handle, queue] : queues_) queue->wake();
  for (auto& [key, engine] : engines_) engine->wake();
  handlers_->wake();
}

void Machine::stop_for_good() {
  const hip::sync::LockGuard lock(life_mutex_);
  references_ = 0;
  if (running()) stop();
}

void Machine::start() {
  faults_.reset();
  next_queue_ = 0;
  signals_.announce();
  const bool quarantine = options_.quarantine != 0;
  for (u32 i = 0; i <= options_.agents; ++i) heaps_.push_back(std::make_unique<Heap>(map_, quarantine));
  virtual_memory_ = std::make_unique<VirtualMemory>(map_);
  shared_memory_ = std::make_unique<SharedMemory>(map_);
  code_ = std::make_unique<Code>(map_, heaps_);
  stepper_.turn(options_.stepped != 0);
  handlers_ = std::make_shared<Handlers>(signals_, schedule_, stepper_);
  stepper_.serve(handlers_);
  dispatches_.store(0, std::memory_order_relaxed);
  instructions_.store(0, std::memory_order_relaxed);
  running_.store(true, std::memory_order_release);
}

void Machine::stop() {
  running_.store(false, std::memory_order_release);
  // Handlers first: they call into a runtime that is going away. Then the queues and engines, which may still signal.
  stepper_.serve(nullptr);
  if (handlers_->runs_here()) {
    static_cast<void>(new std::shared_ptr<Handlers>(handlers_));  // see end_thread
  } else {
    handlers_->stop();
  }
  handlers_.reset();
  {
    const hip::sync::LockGuard lock(queues_mutex_);
    for (auto& [handle, queue] : queues_) {
      signals_.destroy(queue->doorbell());
      end_thread(queue);
    }
    queues_.clear();
  }
  {
    const hip::sync::LockGuard lock(engines_mutex_);
    for (auto& [key, engine] : engines_) end_thread(engine);
    engines_.clear();
  }
  code_.reset();
  virtual_memory_.reset();
  shared_memory_.reset();
  map_.forget_all();
  heaps_.clear();
  allocations_.store(0, std::memory_order_relaxed);
  for (auto& a : allocated_) a.store(0, std::memory_order_relaxed);
}

bool Machine::host_may_touch(u64 address, u64 bytes) {
  Range range;
  if (map_.find(address, &range)) return range.holds(address, bytes);
  return std::ranges::none_of(heaps_, [&](const auto& heap) { return heap->owns(address); });
}

Engine& Machine::engine(u32 agent, u32 number) {
  const u32 key = agent * kEngines + number % kEngines;
  const hip::sync::LockGuard lock(engines_mutex_);
  std::unique_ptr<Engine>& engine = engines_[key];
  if (engine == nullptr) engine = std::make_unique<Engine>(map_, signals_, faults_, schedule_, stepper_, agent, key);
  return *engine;
}

bool Machine::engine_busy(u32 agent, u32 number) {
  const hip::sync::LockGuard lock(engines_mutex_);
  const auto it = engines_.find(agent * kEngines + number % kEngines);
  return it != engines_.end() && it->second->busy();
}

hsa_status_t Machine::create_queue(QueueRequest request, hsa_queue_t** queue) {
  if (must_fail(Call::kQueue)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const u64 bytes = Queue::memory_bytes(request.packets);
  const u64 memory = heap(kHostAgent).allocate(bytes);
  if (memory == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  Range range;
  range.base = memory;
  range.size = bytes;
  range.kind = Kind::kQueue;
  range.readers = ~AgentSet{0};
  range.writers = ~AgentSet{0};
  map_.insert(range);
  // Registered once more: the runtime has made more static objects since hsa_init.
  static hip::sync::OnceFlag once;
  hip::sync::call_once(once, settle_before_exit);
  const hip::sync::LockGuard lock(queues_mutex_);
  request.index = next_queue_++;
  auto made = std::make_unique<Queue>(*this, request, memory, signals_.create(0));
  *queue = made->handle();
  queues_[*queue] = std::move(made);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Machine::destroy_queue(hsa_queue_t* queue) {
  std::unique_ptr<Queue> dying;
  {
    const hip::sync::LockGuard lock(queues_mutex_);
    const auto it = queues_.find(queue);
    if (it == queues_.end()) return HSA_STATUS_ERROR_INVALID_QUEUE;
    dying = std::move(it->second);
    queues_.erase(it);
  }
  const u64 memory = dying->memory();
  const u64 bytes = Queue::memory_bytes(dying->packets());
  SignalSlot* doorbell = dying->doorbell();
  doorbell->queue = nullptr;
  end_thread(dying);
  signals_.destroy(doorbell);
  map_.erase(memory, Kind::kQueue);
  heap(kHostAgent).release(memory, bytes);
  return HSA_STATUS_SUCCESS;
}

bool Machine::known_queue(const hsa_queue_t* queue) {
  const hip::sync::LockGuard lock(queues_mutex_);
  return queues_.contains(queue);
}

}  // namespace agent
