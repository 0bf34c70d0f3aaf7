// Keeps the last few answers of the map until its generation changes; the contract is in the header.
#include "hip/agent/view.h"

namespace agent {

View::View(AddressMap& map, Signals& signals, u32 agent) : map_(map), signals_(signals), agent_(agent) {
  map_.add_visitor(&visitor_);
}

View::~View() {
  map_.remove_visitor(&visitor_);
}

void View::enter() {
  visitor_.seen.store(map_.generation(), std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void View::leave() {
  visitor_.seen.store(0, std::memory_order_seq_cst);
}

gfx942::Extent View::reach(u64 address, std::size_t size, bool write) {
  if (const u64 now = map_.generation(); now != generation_) {
    generation_ = now;
    visitor_.seen.store(now, std::memory_order_seq_cst);
    for (Known& k : known_) k = {};
  }
  for (const Known& k : known_) {
    if (address >= k.begin && address < k.end && size <= k.end - address && (!write || k.writable)) {
      return {pointer_to<std::byte>(k.begin), k.begin, k.end};
    }
  }
  Range range;
  if (!map_.find_access(address, size, agent_, write, &range)) return {};
  if (range.kind == Kind::kSignals) {
    // Answers for one slot only and is not remembered, so that every access to a mailbox is seen.
    const u64 slot = range.base + (address - range.base) / sizeof(SignalSlot) * sizeof(SignalSlot);
    const u64 mailbox = slot + offsetof(SignalSlot, mailbox);
    if (address < mailbox) return {pointer_to<std::byte>(slot), slot, mailbox};
    if (write && address == mailbox) signals_.mailbox_written(address);
    return {pointer_to<std::byte>(mailbox), mailbox, mailbox + sizeof(u64)};
  }
  known_[next_] = {range.base, range.end(), write};
  next_ = (next_ + 1) % kRemembered;
  return {pointer_to<std::byte>(range.base), range.base, range.end()};
}

std::string View::explain(u64 address, std::size_t size, bool write) {
  return map_.explain(address, size, agent_, write);
}

}  // namespace agent
