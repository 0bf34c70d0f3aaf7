// For the tests of hip::RemappedBuffers: physical memory that the test owns, and a graph of one node.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "hip/release_quirks.h"
#include "hip/remapped_buffers.h"

namespace remapped {

// Physical memory that is released at the end, with an address of the test's own at which its first number can be seen.
class Memories {
 public:
  // `free_addresses`: as of hip::AddressRanges.
  Memories(const hip::Api& api, std::size_t page, const hip::ReleaseQuirk* free_addresses = nullptr)
      : api_(api), page_(page), ranges_(free_addresses) {}
  Memories(const Memories&) = delete;
  Memories& operator=(const Memories&) = delete;
  ~Memories() {
    while (!all_.empty()) drop_last();
  }

  hip::PhysicalMemory add(std::size_t pages = 1, int device = 0) {
    const hipMemAllocationProp prop = hip::memory_of_device(device);
    Seen one{{nullptr, pages * page_, ++numbers_}, nullptr};
    EXPECT_EQ(api_.hipMemCreate(&one.memory.handle, one.memory.bytes, &prop, 0), hipSuccess);
    const hip::Result<void*> range = ranges_.reserve(api_, one.memory.bytes);
    EXPECT_TRUE(range);
    one.view = range.value();
    EXPECT_EQ(api_.hipMemMap(one.view, one.memory.bytes, 0, one.memory.handle, 0), hipSuccess);
    const hipMemAccessDesc access{prop.location, hipMemAccessFlagsProtReadWrite};
    EXPECT_EQ(api_.hipMemSetAccess(one.view, one.memory.bytes, &access, 1), hipSuccess);
    EXPECT_EQ(api_.hipMemset(one.view, 0, one.memory.bytes), hipSuccess);
    EXPECT_EQ(api_.hipDeviceSynchronize(), hipSuccess);
    all_.push_back(one);
    return one.memory;
  }
  void forget() { all_.clear(); }
  void drop_last() {
    const Seen one = all_.back();
    all_.pop_back();
    EXPECT_EQ(api_.hipMemUnmap(one.view, one.memory.bytes), hipSuccess);
    EXPECT_TRUE(ranges_.free(api_, one.view, one.memory.bytes));
    EXPECT_EQ(api_.hipMemRelease(one.memory.handle), hipSuccess);
  }
  [[nodiscard]] void* view(std::size_t n) const { return all_[n].view; }
  [[nodiscard]] std::uint32_t number_in(std::size_t n) const {
    std::uint32_t value = 0;
    EXPECT_EQ(api_.hipMemcpy(&value, all_[n].view, sizeof value, hipMemcpyDeviceToHost), hipSuccess);
    return value;
  }
  [[nodiscard]] const hip::PhysicalMemory& operator[](std::size_t n) const { return all_[n].memory; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] hip::AddressRanges& ranges() { return ranges_; }

 private:
  struct Seen {
    hip::PhysicalMemory memory;
    void* view;
  };
  const hip::Api& api_;
  std::size_t page_;
  hip::AddressRanges ranges_;
  std::uint64_t numbers_ = 0;
  std::vector<Seen> all_;
};

// A graph of one node, from the first buffer to the last one.
class OneNode : public hip::RemappedWork {
 public:
  // Adds the node to the graph.
  using AddNode = std::function<void(hipGraph_t graph, void* out, void* in)>;
  OneNode(const hip::Api& api, AddNode add) : api_(api), add_(std::move(add)) {}
  OneNode(const OneNode&) = delete;
  OneNode& operator=(const OneNode&) = delete;
  ~OneNode() override {
    for (hipGraphExec_t exec : execs) {
      if (exec != nullptr) {
        EXPECT_EQ(api_.hipGraphExecDestroy(exec), hipSuccess);
      }
    }
  }
  hip::Status record(std::size_t set, std::span<void* const> addresses) override {
    if (refuses) return hip::Error{hipErrorNotSupported, "not now"};
    ++recordings;
    recorded_for[set].assign(addresses.begin(), addresses.end());
    if (execs[set] != nullptr) {
      EXPECT_EQ(api_.hipGraphExecDestroy(execs[set]), hipSuccess);
    }
    hipGraph_t graph = nullptr;
    EXPECT_EQ(api_.hipGraphCreate(&graph, 0), hipSuccess);
    add_(graph, addresses.back(), addresses.front());
    EXPECT_EQ(api_.hipGraphInstantiate(&execs[set], graph, nullptr, nullptr, 0), hipSuccess);
    EXPECT_EQ(api_.hipGraphDestroy(graph), hipSuccess);
    return {};
  }
  hip::Status launch(std::size_t set, const hip::StreamRef& stream) override { return stream.launch(execs[set]); }

  bool refuses = false;
  int recordings = 0;
  std::array<hipGraphExec_t, 2> execs{};
  std::array<std::vector<void*>, 2> recorded_for;

 private:
  const hip::Api& api_;
  AddNode add_;
};

}  // namespace remapped
