// The fixture and the helpers that tests of hip::CommandBuffer share.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "command_bed.h"
#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"

class CommandBuffers : public testing::Test, protected CommandBed {
 protected:
  hip::RecordedNode captured(int value) { return hip::captured_command(capturing_, {0}, filling(value)); }
  void expect(hip::CommandBuffer& buffer, std::size_t place, hip::StepDecision decision, hip::StepReason reason) {
    const std::array addresses{at(place)};
    const hip::Result<hip::CommandStep> step = buffer.step(addresses, stream());
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step.value().decision, decision);
    EXPECT_EQ(step.value().reason, reason);
  }
  // So many collectives one behind the other, each of which fills buffer 0 with its number, from 1. `before` is called
  // for the first one and may fail or throw.
  hip::Recording collectives(std::size_t count, const std::function<hip::Status()>& before) {
    hip::Recording chain;
    for (std::size_t number = 1; number <= count; ++number) {
      hip::TracedWork work{.command = number, .stream = capturing_, .buffers = {0}, .work = {}};
      work.work = [this, before, number](hipStream_t on, std::span<const hip::DeviceAddress> where) {
        if (hip::Status status = number == 1 ? before() : hip::Status(); !status) return status;
        return filling(static_cast<int>(number))(on, where);
      };
      work.collective = true;
      hip::RecordedNode node = hip::traced_command(std::move(work));
      if (number != 1) node.dependencies = {static_cast<hip::NodeIndex>(number - 2)};
      chain.add(std::move(node));
    }
    return chain;
  }
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
