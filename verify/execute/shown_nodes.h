// For libraries of users: HIP's functions by name, and nodes as the plain structs of hip/patcher_abi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "hip/api/api.h"
#include "hip/patcher_abi.h"
#include "hip/recording.h"

namespace verify {

// Finds the functions of a table by their names; null for those that the runtime lacks.
struct HipFinder {
  hgpatcher_hip base{};
  hip::Api api;
  mutable std::string missing{};  // the function that was looked for last and is not there; empty: none

  explicit HipFinder(const hip::Api& table);
};

// Makes nodes of the ABI. This object owns what they point at, so that it can be overwritten afterwards (P1).
class ShownNodes {
 public:
  // Nodes have the addresses of `addresses`, by buffer index: a view of the caller's table, for show() alone.
  explicit ShownNodes(std::span<const hip::DeviceAddress> addresses) : addresses_(addresses) {}
  ShownNodes(const ShownNodes&) = delete;
  ShownNodes& operator=(const ShownNodes&) = delete;

  // Without handle, child and relocations. The ABI has no symbols, no batches and no memory nodes: these are opaque.
  [[nodiscard]] hgpatcher_node show(const hip::RecordedNode& recorded);
  template <class T>
  const T* copy(const std::vector<T>& values) {
    std::vector<std::byte>& bytes = blocks_.emplace_back(values.size() * sizeof(T) + 1);
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
    return reinterpret_cast<const T*>(bytes.data());
  }
  void overwrite();

 private:
  void show_as_opaque(hgpatcher_node& node, const hip::RecordedNode& recorded);
  void fill(hgpatcher_node& node, const hip::KernelRecord& r);
  void fill(hgpatcher_node& node, const hip::OpaqueRecord& r);
  static void fill(hgpatcher_node& node, const hip::CopyRecord& r);
  static void fill(hgpatcher_node& node, const hip::MemsetRecord& r) {
    node.kind = HGPATCHER_MEMSET;
    node.memset = r.params;
  }
  static void fill(hgpatcher_node& node, const hip::HostRecord& r) {
    node.kind = HGPATCHER_HOST;
    node.host = r.params;
  }
  static void fill(hgpatcher_node& node, const hip::EventSignalRecord& r) {
    node.kind = HGPATCHER_EVENT_RECORD;
    node.event = r.event;
  }
  static void fill(hgpatcher_node& node, const hip::EventWaitRecord& r) {
    node.kind = HGPATCHER_EVENT_WAIT;
    node.event = r.event;
  }
  static void fill(hgpatcher_node& node, const hip::MemoryAllocRecord&) { node.kind = HGPATCHER_OPAQUE; }
  static void fill(hgpatcher_node& node, const hip::MemoryFreeRecord&) { node.kind = HGPATCHER_OPAQUE; }
  static void fill(hgpatcher_node& node, const hip::BatchRecord&) { node.kind = HGPATCHER_OPAQUE; }
  static void fill(hgpatcher_node& node, const hip::SemaphoreRecord&) { node.kind = HGPATCHER_OPAQUE; }
  static void fill(hgpatcher_node& node, const hip::EmptyRecord&) { node.kind = HGPATCHER_EMPTY; }
  static void fill(hgpatcher_node& node, const hip::ChildRecord&) { node.kind = HGPATCHER_CHILD; }

  std::span<const hip::DeviceAddress> addresses_;
  std::deque<std::vector<std::byte>> blocks_;
};

}  // namespace verify
