// model::ObjectTable: which objects of a runtime are alive.
//
// An ObjectId is handed out once and never again, so a stale id is always recognised, whatever the heap does. The C ABI
// makes its handles from ids and looks them up here before it touches anything. Cost: 16 bytes an id for as long as the
// runtime lives or until it is reset; at most kMaxObjects of them (past that creation asserts).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace model {

using ObjectId = std::uint32_t;  // 0: none
inline constexpr ObjectId kMaxObjects = 1u << 30;

enum class ObjectKind : std::uint8_t {
  kNone,
  kGraph,
  kNode,
  kGraphExec,
  kStream,
  kEvent,
  kModule,
  kFunction,
  kUserObject,
  kMemoryPool,
  kPhysicalMemory
};
inline constexpr std::size_t kObjectKinds = static_cast<std::size_t>(ObjectKind::kPhysicalMemory) + 1;

class ObjectTable {
 public:
  ObjectTable() : entries_(1) {}

  ObjectId add(ObjectKind kind, void* object) {
    assert(kind != ObjectKind::kNone && object != nullptr && entries_.size() < kMaxObjects);
    entries_.push_back({kind, object});
    ++live_[static_cast<std::size_t>(kind)];
    return static_cast<ObjectId>(entries_.size() - 1);
  }
  void remove(ObjectId id) {
    assert(id != 0 && id < entries_.size() && entries_[id].object != nullptr);
    --live_[static_cast<std::size_t>(entries_[id].kind)];
    entries_[id] = {};
  }
  // The live object of that kind with that id, or null. Total: any number may be asked for.
  [[nodiscard]] void* find(ObjectKind kind, std::uint64_t id) const {
    return id < entries_.size() && entries_[id].kind == kind ? entries_[id].object : nullptr;
  }
  // Nodes and edges that calls visit are counted here, so that growth can be measured without a clock.
  void visit(std::uint64_t count = 1) { visited_ += count; }
  [[nodiscard]] std::uint64_t visited() const { return visited_; }

  [[nodiscard]] std::size_t live(ObjectKind kind) const { return live_[static_cast<std::size_t>(kind)]; }
  // Forgets every id, so that ids start over. Only to be called when no object is left.
  void clear() {
    for (const std::size_t count : live_) assert(count == 0);
    entries_.assign(1, {});
  }

 private:
  struct Entry {
    ObjectKind kind = ObjectKind::kNone;
    void* object = nullptr;
  };
  std::uint64_t visited_ = 0;
  std::vector<Entry> entries_;
  std::size_t live_[kObjectKinds] = {};
};

}  // namespace model
