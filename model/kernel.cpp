// Checked access to memory; the contract is in the header.
#include "model/kernel.h"

#include <algorithm>
#include <utility>

namespace model {

void MemoryAccess::log(const Walk& walk) {
  if (log_ != nullptr) (walk.write ? log_->writes : log_->reads).add(walk.begin, walk.next - walk.begin);
}

void MemoryAccess::finish() {
  for (std::size_t i = 0; i < used_; ++i) log(walks_[i]);
  used_ = turn_ = oldest_ = 0;
}

void MemoryAccess::fail(Status status, std::string why) {
  if (!failure_) failure_ = Failure{status, std::move(why)};
}

MemoryAccess::Stretch MemoryAccess::reach(Address address, std::size_t size, bool write) {
  if (bad_ || size == 0) return {};
  BadAccess why;
  std::byte* bytes = space_.access(address, size, write, who_, &why, device_);
  if (bytes == nullptr) {
    bad_ = why;
    return {};
  }
  const Allocation* found = space_.find(address);
  if (found == nullptr) return {bytes, address, address + size, 0};
  // An access to mapped memory may go on into the next mapping, whose bytes lie behind.
  return {found->bytes, found->base, std::max(found->base + found->size, address + size), found->id};
}

void MemoryAccess::touched(Address begin, std::size_t size, bool write) {
  if (log_ != nullptr) (write ? log_->writes : log_->reads).add(begin, size);
}

void MemoryAccess::begin_walk(const Walk& walk) {
  if (used_ < kWalks) {
    walks_[used_++] = walk;
    turn_ = 0;
    return;
  }
  log(walks_[oldest_]);
  walks_[oldest_] = walk;
  oldest_ = (oldest_ + 1) % kWalks;
}

std::byte* MemoryAccess::access_elsewhere(Address address, std::size_t size, bool write) {
  if (bad_ || size == 0) return nullptr;
  for (std::size_t i = 0; i < used_; ++i) {
    Walk& walk = walks_[i];
    if (write != walk.write || address < walk.begin || address > walk.next || size > walk.limit - address) continue;
    walk.next = std::max(walk.next, address + size);
    turn_ = i + 1 == used_ ? 0 : i + 1;
    return walk.bytes + (address - walk.begin);
  }
  BadAccess why;
  std::byte* bytes = space_.access(address, size, write, who_, &why, device_);
  if (bytes == nullptr) {
    bad_ = why;
    finish();
    return nullptr;
  }
  const Allocation* found = space_.find(address);  // null: memory of the host; its extent is unknown
  const Address end = address + size;
  begin_walk({address, end, found != nullptr ? std::max(found->base + found->size, end) : end, bytes, write});
  return bytes;
}

}  // namespace model
