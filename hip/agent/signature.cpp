// Noting events and reading features; the contract is in the header.
#include "hip/agent/signature.h"

#include <bit>
#include <limits>

#include "hip/agent/threads.h"

namespace agent {
namespace {

// A mixture of all numbers, in their order (the finalizer of splitmix64).
u64 mixed(std::initializer_list<u64> numbers) {
  u64 hash = 0;
  for (const u64 number : numbers) {
    hash += number + 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

}  // namespace

u64 hash_of(std::string_view text) {
  u64 hash = text.size();
  for (const char c : text) hash = mixed({hash, static_cast<unsigned char>(c)});
  return hash;
}

u64 size_class(u64 size) {
  return static_cast<u64>(std::bit_width(size));
}

void Signature::begin() {
  const hip::sync::LockGuard lock(mutex_);
  if (!counts_) counts_ = std::make_unique<std::array<u16, kFeatures>>();
  counts_->fill(0);
  threads_.clear();
  queues_.clear();
  last_queue_ = 0;
  on_.store(true, std::memory_order_relaxed);
}

void Signature::count(Past& past, u64 kind, u64 details) {
  u16& number = (*counts_)[mixed({kind, details}) % kFeatures];
  if (number != std::numeric_limits<u16>::max()) ++number;
  for (const u64 hash : {mixed({past.last, kind, 2}), mixed({past.before, past.last, kind, 3})}) {
    u16& met = (*counts_)[hash % kFeatures];
    if (met == 0) met = 1;
  }
  past = {kind, past.last};
}

void Signature::note(Event event, u64 kind, u64 details) {
  if (!on() || on_agents_thread) return;
  const hip::sync::LockGuard lock(mutex_);
  count(threads_[hip::sync::this_thread_id()], mixed({static_cast<u64>(event), kind}), details);
}

void Signature::note_packet(u64 queue, u64 kind, u64 details) {
  if (!on() || on_agents_thread) return;
  const hip::sync::LockGuard lock(mutex_);
  const u64 packet = mixed({static_cast<u64>(Event::kPacket), kind});
  const bool is_new = !queues_.contains(queue), is_other = queue != last_queue_;
  count(threads_[hip::sync::this_thread_id()], mixed({packet, u64{is_new}, u64{is_other}}), 0);
  count(queues_[queue], packet, details);
  last_queue_ = queue;
}

std::size_t Signature::read(u16* features, std::size_t size) {
  const hip::sync::LockGuard lock(mutex_);
  on_.store(false, std::memory_order_relaxed);
  std::array<bool, kFeatures> met{};
  for (std::size_t i = 0; counts_ && i < kFeatures; ++i) {
    if ((*counts_)[i] != 0) met[mixed({i, size_class((*counts_)[i])}) % kFeatures] = true;
  }
  std::size_t number = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    if (!met[i]) continue;
    if (number < size) features[number] = static_cast<u16>(i);
    ++number;
  }
  return number;
}

}  // namespace agent
