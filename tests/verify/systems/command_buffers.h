// The fixture and the helpers that tests of hip::CommandBuffer share.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "command_bed.h"
#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"

// The quirk that a step names, by its id, and the value that the step leaves in buffer 0, if a test compares that.
struct StepSeen {
  std::string_view quirk = "";
  std::optional<int> value{};
};

class CommandBuffers : public testing::Test, protected CommandBed {
 protected:
  hip::RecordedNode captured(int value) { return hip::captured_command(capturing_, {0}, filling(value)); }
  // A step with the buffers at these addresses, or with buffer 0 at the place.
  void expect(hip::CommandBuffer& buffer, std::size_t place, hip::StepDecision decision, hip::StepReason reason,
              const StepSeen& seen = {}) {
    expect(buffer, hip::AddressTable{at(place)}, decision, reason, seen);
  }
  void expect(hip::CommandBuffer& buffer, const hip::AddressTable& addresses, hip::StepDecision decision,
              hip::StepReason reason, const StepSeen& seen) {
    const hip::CommandStep step = step_of(buffer, addresses, stream());
    EXPECT_EQ(step.decision, decision);
    EXPECT_EQ(step.reason, reason);
    EXPECT_EQ(step.quirk == nullptr ? "" : step.quirk->id, seen.quirk);
    if (seen.value) {
      EXPECT_EQ(byte_at(addresses[0]), *seen.value);
    }
  }
  // A step with the buffers at these addresses, in wiped memory, that leaves this value in buffer 0.
  void expect_value(hip::CommandBuffer& buffer, const hip::AddressTable& addresses, int value) {
    expect_value(buffer, addresses, value, stream());
  }
  void expect_value(hip::CommandBuffer& buffer, const hip::AddressTable& addresses, int value,
                    const hip::StreamRef& on) {
    wipe();
    step_of(buffer, addresses, on);
    EXPECT_EQ(byte_at(addresses[0]), value);
  }
  // No command buffer makes a graph of these commands, which allocate memory.
  static hip::Recording unsupported() {
    hip::Recording commands;
    commands.add({hip::MemoryAllocRecord{0, kBytes, 0}, {}, {}});
    commands.add({hip::MemoryFreeRecord{0}, {0}, {}});
    return commands;
  }
  // A collective that fills buffer 0 with 7.
  hip::RecordedNode collective(std::uint64_t number) {
    return traced({.command = number, .buffers = {0}, .work = filling(7), .collective = true});
  }
  // So many collectives one behind the other, each of which fills buffer 0 with its number, from 1. `before` is called
  // for the first one and may fail or throw.
  hip::Recording collectives(std::size_t count, const std::function<hip::Status()>& before) {
    hip::Recording chain;
    for (std::size_t number = 1; number <= count; ++number) {
      const hip::EnqueueAt work = [this, before, number](hipStream_t on, std::span<const hip::DeviceAddress> where) {
        if (hip::Status status = number == 1 ? before() : hip::Status(); !status) return status;
        return filling(static_cast<int>(number))(on, where);
      };
      append(chain, traced({.command = number, .buffers = {0}, .work = work, .collective = true}));
    }
    return chain;
  }
};

// Command buffers that are given the quirks of a release.
class WithQuirks : public CommandBuffers {
 protected:
  static constexpr int k72 = 70253211, k64 = 60443484, kNone = 0;  // as hipRuntimeGetVersion answers

  static hip::ReleaseQuirks quirks_of(int version) {
    return version == kNone ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(version);
  }
  hip::CommandBufferOptions options(int version, hip::CommandBufferOptions with = {}) {
    with.quirks = quirks_of(version);
    with.errors = sink();
    return with;
  }
  // Buffer 1 is host memory of this kind, the others are the device's.
  hip::CommandBufferOptions with_host_memory(int version, hip::BufferMemory kind, bool update = false) {
    const auto memory = [kind](hip::BufferIndex buffer) { return buffer == 1 ? kind : hip::BufferMemory::kDevice; };
    return options(version, {.update = update, .memory = memory});
  }
  // A copy from buffer 1 to buffer 0.
  static hip::RecordedNode copy_from_host() { return copy(1, 0, hipMemcpyHostToDevice); }
};

// A table that notes which device is current whenever a memset node is added. One at a time.
class DevicesOfMemsets {
 public:
  explicit DevicesOfMemsets(const hip::Api& api) : table_(api) {
    under_ = &api;
    seen_.clear();
    table_.hipGraphAddMemsetNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      std::size_t count, const hipMemsetParams* params) {
      int device = -1;
      EXPECT_EQ(under_->hipGetDevice(&device), hipSuccess);
      seen_.push_back(device);
      return under_->hipGraphAddMemsetNode(node, graph, dependencies, count, params);
    };
  }
  [[nodiscard]] const hip::Api& table() const { return table_; }
  static std::vector<int>& seen() { return seen_; }

 private:
  hip::Api table_;
  static inline const hip::Api* under_ = nullptr;
  static inline std::vector<int> seen_;
};

// Counts its rounds.
struct CountedRanks final : hip::RankAgreement {
  hip::Result<bool> all(bool mine) override {
    ++rounds;
    return mine;
  }
  int rounds = 0;
};
