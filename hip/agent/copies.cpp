// The threads that copy; the contract is in the header.
#include "hip/agent/copies.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "hip/agent/machine.h"
#include "hip/agent/threads.h"

namespace agent {
namespace {

constexpr u64 kForever = ~u64{0};
constexpr u64 kWho = u64{1} << 32;
constexpr u64 kPiece = u64{1} << 20;  // copied between two checks that the memory is still there

bool met(const CopyWork& work) {
  return std::ranges::all_of(work.dependencies,
                             [](SignalSlot* s) { return s->value().load(std::memory_order_seq_cst) < 1; });
}

}  // namespace

Engine::Engine(AddressMap& map, Signals& signals, Faults& faults, const Schedule& schedule, Stepper& stepper, u32 agent,
               u64 index)
    : signals_(signals),
      stepper_(stepper),
      faults_(faults),
      view_(map, signals, agent),
      schedule_(schedule, kWho + index),
      handle_(Machine::agent_handle(agent)) {
  if (stepper_.on()) stepper_.add(this);
  wake();
}

Engine::~Engine() {
  rest();
  if (stepper_.on()) stepper_.remove(this);
  for (const CopyWork& work : work_) {
    for (SignalSlot* s : work.dependencies) s->waiters.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void Engine::rest() {
  stop_.store(true, std::memory_order_seq_cst);
  signals_.waiters_door().knock();
  if (thread_.joinable()) thread_.join();
}

void Engine::wake() {
  stop_.store(false, std::memory_order_seq_cst);
  if (!stepper_.on()) thread_ = start_thread([this] { run(); });
}

void Engine::add(CopyWork work) {
  for (SignalSlot* s : work.dependencies) s->waiters.fetch_add(1, std::memory_order_seq_cst);
  pending_.fetch_add(1, std::memory_order_relaxed);
  {
    const hip::sync::LockGuard lock(mutex_);
    work_.push_back(std::move(work));
  }
  signals_.waiters_door().knock();
  signals_.drivers_door().knock();
}

bool Engine::take(CopyWork& work) {
  const hip::sync::LockGuard lock(mutex_);
  std::vector<std::list<CopyWork>::iterator> ready;
  for (auto it = work_.begin(); it != work_.end(); ++it) {
    if (!met(*it)) continue;
    ready.push_back(it);
    if (!schedule_.on()) break;
  }
  if (ready.empty()) return false;
  schedule_.begin(done_.load(std::memory_order_relaxed));
  const auto chosen = ready[schedule_.choose(static_cast<u32>(ready.size()))];
  work = std::move(*chosen);
  work_.erase(chosen);
  return true;
}

bool Engine::ready() {
  if (present_) return true;
  const hip::sync::LockGuard lock(mutex_);
  return std::ranges::any_of(work_, met);
}

Actor::Stepped Engine::step() {
  if (present_) {
    complete();
    return {.ended = true, .tell = {}};
  }
  CopyWork work;
  if (!take(work)) return {};
  present_ = std::move(work);
  begin();
  if (!fault_) return {};
  return {.ended = false, .tell = [&faults = faults_, fault = *std::exchange(fault_, std::nullopt)] {
            faults.raise(fault, nullptr, nullptr, nullptr);
          }};
}

void Engine::run() {
  u64 knocks = signals_.waiters_door().knocks();
  while (!stop_.load(std::memory_order_seq_cst)) {
    CopyWork work;
    if (!take(work)) {
      signals_.waiters_door().wait(knocks, busy() ? kLookAgain : kForever);
      continue;
    }
    present_ = std::move(work);
    schedule_.delay(stop_);
    begin();
    if (fault_) faults_.raise(*fault_, nullptr, nullptr, nullptr);
    fault_.reset();
    schedule_.delay(stop_);
    complete();
  }
}

void Engine::begin() {
  for (SignalSlot* s : present_->dependencies) s->waiters.fetch_sub(1, std::memory_order_seq_cst);
  start_ = Machine::now();
  carry_out(*present_);
}

void Engine::complete() {
  SignalSlot* const completion = present_->completion;
  present_.reset();
  done_.fetch_add(1, std::memory_order_relaxed);
  pending_.fetch_sub(1, std::memory_order_relaxed);
  if (completion == nullptr) return;
  completion->set_times(start_, Machine::now());
  signals_.subtract(*completion, 1);
}

void Engine::carry_out(const CopyWork& work) {
  const CopyShape& s = work.shape;
  DeviceFault fault;
  const Visit visit(view_);
  for (u64 z = 0; z < s.depth && fault.text.empty(); ++z) {
    for (u64 y = 0; y < s.height && fault.text.empty(); ++y) {
      copy_row(work.to + z * s.to_slice + y * s.to_row, work.from + z * s.from_slice + y * s.from_row, s.width, fault);
    }
  }
  if (!fault.text.empty()) fault_ = std::move(fault);
}

void Engine::copy_row(u64 to, u64 from, u64 bytes, DeviceFault& fault) {
  for (u64 done = 0; done < bytes && !stop_.load(std::memory_order_relaxed);) {
    const u64 piece = std::min(kPiece, bytes - done);
    // The source is checked again: it may have been freed before the destination was checked.
    const bool readable = view_.reach(from + done, piece, false).bytes != nullptr;
    const bool writable = readable && view_.reach(to + done, piece, true).bytes != nullptr;
    if (!writable || view_.reach(from + done, piece, false).bytes == nullptr) {
      const u64 address = (readable ? to : from) + done;
      char text[160];
      std::snprintf(text, sizeof(text), "a copy of %llu bytes from 0x%llx to 0x%llx: %s of %llu bytes at 0x%llx: ",
                    static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(from),
                    static_cast<unsigned long long>(to), readable ? "write" : "read",
                    static_cast<unsigned long long>(piece), static_cast<unsigned long long>(address));
      fault.text = text + view_.explain(address, piece, readable);
      fault.status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
      fault.memory = true;
      fault.address = address;
      fault.agent = handle_;
      return;
    }
    std::memmove(pointer_to(to + done), pointer_to(from + done), piece);
    done += piece;
  }
}

}  // namespace agent
