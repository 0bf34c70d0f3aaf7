// Allocation, placement and the legality of accesses; the contract is in the header.
#include "model/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "model/virtual_memory.h"

namespace model {
namespace {

constexpr std::size_t kLargeBytes = std::size_t{1} << 20;

std::size_t aligned_up(std::size_t size, std::size_t alignment = kAlignment) {
  return (size + alignment - 1) / alignment * alignment;
}

std::byte* aligned_bytes(std::byte* raw) {
  return reinterpret_cast<std::byte*>(aligned_up(reinterpret_cast<std::uintptr_t>(raw)));
}

bool overflows(Address address, std::size_t size) {
  return size > std::numeric_limits<Address>::max() - address;
}

std::string hex(Address address) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[address & 15]);
    address >>= 4;
  } while (address != 0);
  return "0x" + text;
}

}  // namespace

void FreeBacking::operator()(std::byte* raw) const {
  if (mapped == 0) {
    std::free(raw);
  } else {
    munmap(raw, mapped);
  }
}

AddressSpace::AddressSpace(const AddressSpaceOptions& options) : options_(options) {}

void AddressSpace::reset(const AddressSpaceOptions& options) {
  options_ = options;
  live_.clear();
  backing_.clear();
  freed_.clear();
  reserved_.clear();
  mapped_high_.clear();
  placements_.clear();
  live_bytes_ = 0;
  kept_bytes_ = 0;
  last_id_ = 0;
}

void AddressSpace::place_next(Address address) {
  assert(!options_.identity && "with identity the backing decides");
  placements_.push_back(address);
}

bool AddressSpace::is_free(Address base, std::size_t size) const {
  if (overflows(base, size)) return false;
  const auto next = std::upper_bound(live_.begin(), live_.end(), base,
                                     [](Address address, const Allocation& a) { return address < a.base; });
  if (next != live_.end() && next->base < base + size) return false;
  if (next != live_.begin() && std::prev(next)->contains(base)) return false;
  const auto overlaps = [&](const auto& range) { return range.base < base + size && base < range.base + range.size; };
  if (virtual_ != nullptr && std::ranges::any_of(virtual_->ranges(), overlaps)) return false;
  return std::ranges::none_of(reserved_, overlaps, &Reserved::allocation);
}

std::vector<std::pair<Address, Address>> AddressSpace::taken() const {
  std::vector<std::pair<Address, Address>> ranges;
  for (const Allocation& allocation : live_) ranges.emplace_back(allocation.base, allocation.base + allocation.size);
  for (const Reserved& reserved : reserved_) {
    ranges.emplace_back(reserved.allocation.base, reserved.allocation.base + reserved.allocation.size);
  }
  if (virtual_ != nullptr) {
    for (const AddressRange& range : virtual_->ranges()) ranges.emplace_back(range.base, range.base + range.size);
  }
  std::ranges::sort(ranges);
  return ranges;
}

std::optional<Address> AddressSpace::first_fit(std::size_t size, Address from, std::size_t alignment) const {
  const Address window_end = options_.device_base + options_.device_bytes;
  Address candidate = aligned_up(from, alignment);
  const auto skip = [&](Address begin, Address end) {  // false: there is room before the range
    if (end <= candidate) return true;
    if (begin >= candidate && begin - candidate >= size) return false;
    candidate = aligned_up(end, alignment);
    return true;
  };
  if (reserved_.empty() && (virtual_ == nullptr || virtual_->ranges().empty())) {
    for (const Allocation& allocation : live_) {
      if (!skip(allocation.base, allocation.base + allocation.size)) break;
    }
  } else {
    for (const auto& [begin, end] : taken()) {
      if (!skip(begin, end)) break;
    }
  }
  if (candidate > window_end || window_end - candidate < size) return std::nullopt;
  return candidate;
}

std::optional<Address> AddressSpace::choose(std::size_t size) {
  if (placements_.empty()) return first_fit(size, options_.device_base);
  const Address wanted = placements_.front();
  placements_.pop_front();
  if (!is_free(wanted, size)) return std::nullopt;
  return wanted;
}

// Reservations stay away from allocations, as the address ranges of real drivers do. A caller that gives allocations
// the addresses that they have in another address space (place_next) must not find a reservation at one of them.
std::optional<Address> AddressSpace::choose_for_reservation(std::size_t size) {
  if (!placements_.empty()) return choose(size);
  const std::optional<Address> base = first_fit(size, options_.device_base + options_.device_bytes / 2);
  return base ? base : first_fit(size, options_.device_base);
}

std::optional<Address> AddressSpace::choose_for_range(std::size_t size, std::size_t alignment, Address wish) {
  if (!placements_.empty()) {
    const std::optional<Address> placed = choose(size);
    return placed && *placed % alignment == 0 ? placed : std::nullopt;
  }
  const bool in_window = wish >= options_.device_base && wish - options_.device_base < options_.device_bytes &&
                         size <= options_.device_bytes - (wish - options_.device_base);
  if (in_window && wish % alignment == 0 && is_free(wish, size)) return wish;
  // Ranges keep away from reservations, too: a caller that records graphs more often has more of those.
  const Address begin = options_.device_base + options_.device_bytes / 4 * 3;
  const std::optional<Address> base = first_fit(size, begin, alignment);
  return base ? base : first_fit(size, options_.device_base, alignment);
}

// Large memory comes from mmap: pages that nobody touches cost nothing. calloc may clear each of them.
AddressSpace::Backing AddressSpace::zeros(std::size_t bytes) {
  if (bytes < kLargeBytes) return Backing(static_cast<std::byte*>(std::calloc(1, bytes)));
  void* const raw = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(raw), FreeBacking{bytes}};
}

void AddressSpace::renew(const Backing& backing, std::size_t size) const {
  const std::size_t mapped = backing.get_deleter().mapped;
  const bool zero = options_.fresh == std::byte{0};
  if (zero && mapped != 0 && madvise(backing.get(), mapped, MADV_DONTNEED) == 0) return;  // new pages are zero
  std::memset(aligned_bytes(backing.get()), static_cast<int>(options_.fresh), size);
}

// With identity a kept backing of the same size is used again, so that freed addresses come back promptly.
AddressSpace::Backing AddressSpace::take_backing(std::size_t size) {
  if (options_.identity) {
    for (Freed& freed : freed_) {
      if (freed.kept == nullptr || aligned_up(freed.allocation.size) != aligned_up(size)) continue;
      Backing again = std::move(freed.kept);
      kept_bytes_ -= aligned_up(freed.allocation.size);
      renew(again, size);
      return again;
    }
  }
  Backing backing = zeros(aligned_up(size) + kAlignment);
  if (backing != nullptr && options_.fresh != std::byte{0}) {
    std::memset(aligned_bytes(backing.get()), static_cast<int>(options_.fresh), size);
  }
  return backing;
}

Status AddressSpace::allocate(std::size_t size, MemoryKind kind, int device, Address* out) {
  if (size == 0) return Status::kInvalidValue;
  if (size > options_.capacity || live_bytes_ > options_.capacity - size) return Status::kOutOfMemory;
  Allocation allocation;
  allocation.size = size;
  allocation.kind = kind;
  allocation.device = device;
  if (!options_.identity) {
    const std::optional<Address> base = choose(size);
    if (!base) return Status::kOutOfMemory;
    allocation.base = *base;
  }
  Backing backing = take_backing(size);
  if (backing == nullptr) return Status::kOutOfMemory;
  allocation.bytes = aligned_bytes(backing.get());
  if (options_.identity) allocation.base = reinterpret_cast<Address>(allocation.bytes);
  allocation.id = ++last_id_;
  insert(allocation, std::move(backing));
  *out = allocation.base;
  return Status::kSuccess;
}

void AddressSpace::insert(const Allocation& allocation, Backing backing) {
  const auto at = std::upper_bound(live_.begin(), live_.end(), allocation.base,
                                   [](Address address, const Allocation& a) { return address < a.base; });
  backing_.insert(backing_.begin() + (at - live_.begin()), std::move(backing));
  live_.insert(at, allocation);
  live_bytes_ += allocation.size;
}

Status AddressSpace::adopt(std::byte* bytes, std::size_t size, MemoryKind kind, int device) {
  Allocation allocation;
  allocation.base = reinterpret_cast<Address>(bytes);
  if (bytes == nullptr || size == 0) return Status::kInvalidValue;
  if (!is_free(allocation.base, size)) return Status::kHostMemoryAlreadyRegistered;
  allocation.size = size;
  allocation.kind = kind;
  allocation.device = device;
  allocation.bytes = bytes;
  allocation.adopted = true;
  allocation.id = ++last_id_;
  insert(allocation, nullptr);
  return Status::kSuccess;
}

void AddressSpace::forget_oldest_freed() {
  if (freed_.front().kept != nullptr) kept_bytes_ -= aligned_up(freed_.front().allocation.size);
  freed_.pop_front();
}

void AddressSpace::remember(const Allocation& allocation, Backing backing) {
  Freed freed{allocation, nullptr};
  freed.allocation.bytes = nullptr;
  if (allocation.adopted) return;  // the memory still belongs to the calling process
  if (options_.identity && allocation.mapped && backing == nullptr) return;  // the reservation still has the backing
  if (options_.identity && allocation.size <= kMaxKeptBytes) {
    freed.kept = std::move(backing);
    kept_bytes_ += aligned_up(allocation.size);
  } else if (options_.identity) {
    return;  // the addresses go back to the process; the model forgets them
  }
  freed_.push_back(std::move(freed));
  while (freed_.size() > kMaxFreed || kept_bytes_ > kMaxKeptBytes) forget_oldest_freed();
}

Status AddressSpace::release(Address base) {
  const Allocation* found = find_own(base);
  if (found == nullptr || found->base != base) return Status::kInvalidValue;
  const auto index = found - live_.data();
  remember(*found, std::move(backing_[static_cast<std::size_t>(index)]));
  live_bytes_ -= found->size;
  live_.erase(live_.begin() + index);
  backing_.erase(backing_.begin() + index);
  return Status::kSuccess;
}

Status AddressSpace::pin(Address base, std::size_t size) {
  const Allocation* found = find_own(base);
  if (found == nullptr || found->base != base || found->size != size) return Status::kInvalidValue;
  if (found->registered) return Status::kHostMemoryAlreadyRegistered;
  if (found->kind != MemoryKind::kPageable) return Status::kInvalidValue;
  Allocation& allocation = live_[static_cast<std::size_t>(found - live_.data())];
  allocation.kind = MemoryKind::kPinned;
  allocation.registered = true;
  return Status::kSuccess;
}

Status AddressSpace::unpin(Address base) {
  const Allocation* found = find_own(base);
  if (found == nullptr || found->base != base || !found->registered) return Status::kHostMemoryNotRegistered;
  Allocation& allocation = live_[static_cast<std::size_t>(found - live_.data())];
  allocation.kind = MemoryKind::kPageable;
  allocation.registered = false;
  return Status::kSuccess;
}

Status AddressSpace::reserve(std::size_t size, int device, std::shared_ptr<Reservation>* out) {
  if (size == 0) return Status::kInvalidValue;
  if (size > options_.capacity) return Status::kOutOfMemory;
  Reserved reserved;
  Allocation& range = reserved.allocation;
  range.size = size;
  range.device = device;
  range.mapped = true;
  if (!options_.identity) {
    const std::optional<Address> base = choose_for_reservation(size);
    if (!base) return Status::kOutOfMemory;
    range.base = *base;
  }
  reserved.backing = take_backing(size);
  if (reserved.backing == nullptr) return Status::kOutOfMemory;
  range.bytes = aligned_bytes(reserved.backing.get());
  if (options_.identity) range.base = reinterpret_cast<Address>(range.bytes);
  *out = std::make_shared<Reservation>(*this, range.base, size, device);
  reserved.owner = out->get();
  const auto at = std::upper_bound(reserved_.begin(), reserved_.end(), range.base,
                                   [](Address base, const Reserved& r) { return base < r.allocation.base; });
  reserved_.insert(at, std::move(reserved));
  return Status::kSuccess;
}

Reservation::~Reservation() {
  space_.unreserve(base_);
}

// Live memory of the range stays until it is freed, and keeps its bytes. With identity a freed allocation may have used
// the backing. The freed range is remembered, so the backing is kept: the caller's heap must not reuse its addresses.
void AddressSpace::unreserve(Address base) {
  const auto found =
      std::ranges::find_if(reserved_, [base](const Reserved& reserved) { return reserved.allocation.base == base; });
  if (found == reserved_.end()) return;  // the address space was reset since
  if (const Allocation* live = find_own(base); live != nullptr && live->mapped) {
    backing_[static_cast<std::size_t>(live - live_.data())] = std::move(found->backing);
  } else if (options_.identity) {
    remember(found->allocation, std::move(found->backing));
  }
  reserved_.erase(found);
}

Status AddressSpace::map(const Reservation& reservation) {
  const Reserved* reserved = reserved_at(reservation.base());
  assert(reserved != nullptr);
  Allocation allocation = reserved->allocation;
  if (find(allocation.base) != nullptr) return Status::kInvalidValue;
  if (live_bytes_ > options_.capacity || allocation.size > options_.capacity - live_bytes_) return Status::kOutOfMemory;
  renew(reserved->backing, allocation.size);
  allocation.id = ++last_id_;
  allocation.of_stream = reservation.of_stream;
  insert(allocation, nullptr);
  std::size_t& high = mapped_high_[allocation.device];
  high = std::max(high, mapped_bytes(allocation.device));
  return Status::kSuccess;
}

const AddressSpace::Reserved* AddressSpace::reserved_at(Address address) const {
  for (const Reserved& reserved : reserved_) {
    if (reserved.allocation.contains(address)) return &reserved;
  }
  return nullptr;
}

Reservation* AddressSpace::find_reservation(Address address) const {
  const Reserved* reserved = reserved_at(address);
  return reserved == nullptr ? nullptr : reserved->owner;
}

const Allocation* AddressSpace::find_or_promised(Address address) const {
  if (const Allocation* live = find(address)) return live;
  if (reserved_.empty()) return nullptr;
  const Reserved* reserved = reserved_at(address);
  return reserved == nullptr ? nullptr : &reserved->allocation;
}

std::size_t AddressSpace::mapped_bytes(int device) const {
  std::size_t bytes = 0;
  for (const Allocation& allocation : live_) {
    if (allocation.mapped && !allocation.of_stream && allocation.device == device) bytes += allocation.size;
  }
  return bytes;
}

std::size_t AddressSpace::mapped_high(int device) const {
  const auto found = mapped_high_.find(device);
  return found == mapped_high_.end() ? 0 : found->second;
}

std::size_t AddressSpace::room_behind(Address address) const {
  const Allocation* found = find_or_promised(address);
  if (found == nullptr) return 0;
  if (found->physical == 0) return found->size - (address - found->base);
  const AddressRange& range = *virtual_->range_at(address);
  return range.size - (address - range.base);
}

bool AddressSpace::in_a_range(Address address) const {
  return virtual_ != nullptr && virtual_->range_at(address) != nullptr;
}

const Allocation* AddressSpace::find(Address address) const {
  const Allocation* own = find_own(address);
  return own != nullptr || virtual_ == nullptr ? own : virtual_->find(address);
}

const Allocation* AddressSpace::find_own(Address address) const {
  auto next = std::upper_bound(live_.begin(), live_.end(), address,
                               [](Address wanted, const Allocation& a) { return wanted < a.base; });
  if (next == live_.begin()) return nullptr;
  --next;
  return next->contains(address) ? &*next : nullptr;
}

const Allocation* AddressSpace::find_freed(Address address) const {
  for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
    // A live allocation may use the backing again. If it is smaller, the addresses behind it still count as freed.
    if (freed->allocation.contains(address)) return &freed->allocation;
  }
  return nullptr;
}

bool AddressSpace::is_foreign_host(Address address) const {
  if (!options_.unknown_is_host || address < kFirstHostAddress) return false;
  const bool ours = !options_.identity && address - options_.device_base < options_.device_bytes;
  return !ours && find(address) == nullptr && find_freed(address) == nullptr && reserved_at(address) == nullptr &&
         !in_a_range(address);
}

void AddressSpace::explain(Address address, std::size_t size, bool write, BadAccess* why) const {
  if (why == nullptr) return;
  *why = {};
  why->address = address, why->size = size, why->write = write;
  if (const Allocation* live = find(address)) {
    why->allocation = *live;
    why->overrun = size > live->size - (address - live->base);
  } else if (const Allocation* freed = find_freed(address)) {
    why->allocation = *freed;
    why->freed = true;
  }
  if (why->allocation) why->allocation->bytes = nullptr;
}

std::byte* AddressSpace::access(Address address, std::size_t size, bool write, Accessor who, BadAccess* why,
                                int device) const {
  if (size == 0) return nullptr;
  if (const Allocation* found = find_own(address)) {
    const std::size_t offset = address - found->base;
    const bool reachable = (who != Accessor::kKernel || found->kind != MemoryKind::kPageable) &&
                           (who != Accessor::kHost || found->kind != MemoryKind::kDevice);
    if (reachable && size <= found->size - offset) return found->bytes + offset;
  } else if (in_a_range(address)) {
    return virtual_->access(address, size, write, who, device, why);
  } else if (who != Accessor::kKernel && !overflows(address, size) && is_foreign_host(address)) {
    return reinterpret_cast<std::byte*>(address);
  }
  explain(address, size, write, why);
  return nullptr;
}

std::byte* AddressSpace::view(Address address, std::size_t size) const {
  return access(address, size, true, Accessor::kHost);
}

std::byte* AddressSpace::peek(Address address, std::size_t size) const {
  const Allocation* found = find_own(address);
  if (found == nullptr && virtual_ != nullptr) return virtual_->peek(address, size);
  if (found == nullptr || size > found->size - (address - found->base)) return nullptr;
  return found->bytes + (address - found->base);
}

static std::string of_denial(const BadAccess& bad) {
  const std::string device = "device " + std::to_string(bad.device);
  if (bad.denial == Denial::kUnmapped) return "nothing is mapped";
  return bad.denial == Denial::kNoAccess ? "no access for " + device : "read-only for " + device;
}

std::string describe(const BadAccess& bad) {
  return std::string(bad.write ? "write" : "read") + " of " + std::to_string(bad.size) + " bytes at " +
         hex(bad.address) + ": " + describe_owner(bad);
}

std::string describe_owner(const BadAccess& bad) {
  if (!bad.allocation) return "no allocation";
  const Allocation& of = *bad.allocation;
  const std::string owner = of.id == 0 ? "a reserved range" : "allocation " + std::to_string(of.id);
  const std::string text = std::to_string(bad.address - of.base) + " bytes into " + owner + " (" +
                           std::to_string(of.size) + " bytes at " + hex(of.base);
  if (bad.denial != Denial::kNone) return text + (bad.overrun ? ", overrun, behind it: " : ", ") + of_denial(bad) + ")";
  if (bad.freed) return text + ", freed)";
  return text + (bad.overrun ? ", overrun)" : ", out of this accessor's reach)");
}

}  // namespace model
