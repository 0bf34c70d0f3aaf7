// Device memory as one thread of one agent sees it. The interpreter and the copy engines ask a View before each access.
#pragma once

#include "hip/agent/address_map.h"
#include "hip/agent/signals.h"
#include "model/gfx942/memory.h"

namespace agent {

class View final : public gfx942::Memory {
 public:
  View(AddressMap& map, Signals& signals, u32 agent);
  ~View() override;

  // Between the two the thread may use memory that reach() returned; outside, that memory may be unmapped.
  void enter();
  void leave();

  [[nodiscard]] gfx942::Extent reach(u64 address, std::size_t size, bool write) override;
  [[nodiscard]] std::string explain(u64 address, std::size_t size, bool write) override;

 private:
  static constexpr std::size_t kRemembered = 4;
  struct Known {
    u64 begin = 0;
    u64 end = 0;
    bool writable = false;
  };

  AddressMap& map_;
  Signals& signals_;
  u32 agent_;
  Visitor visitor_;
  u64 generation_ = 0;
  Known known_[kRemembered];
  std::size_t next_ = 0;
};

// Calls enter(), and leave() at the end of the scope.
class Visit {
 public:
  explicit Visit(View& view) : view_(view) { view_.enter(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { view_.leave(); }

 private:
  View& view_;
};

}  // namespace agent
