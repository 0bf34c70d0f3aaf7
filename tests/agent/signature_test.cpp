// Signatures: equal for equal work, wherever its memory and its queues are; different for different work.
#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

std::vector<uint16_t> signature() {
  std::vector<uint16_t> numbers(hgagent_signature(nullptr, 0));
  EXPECT_EQ(hgagent_signature(numbers.data(), numbers.size()), numbers.size());
  return numbers;
}

struct SignatureTest : AgentTest {
  // The fixture loads kernels and allocates memory for arguments with the first launch, which is no test's work.
  void SetUp() override {
    AgentTest::SetUp();
    EXPECT_TRUE(run(create_queue(), "store_value", allocate(1), 5u));
  }
  // On memory and a queue of its own; of two launches, the second does not wait for the first if `barrier` is false.
  std::vector<uint16_t> of_launches(const std::string& name, uint32_t items, bool barrier) {
    hsa_queue_t* queue = create_queue();
    hgagent_signature_begin();
    auto* to = allocate(items);
    launch(queue, name, {.items = items}, to, items);
    const Signal done;
    launch(queue, name, {.items = items, .barrier = barrier, .completion = done.get()}, to, items);
    EXPECT_TRUE(done.done());
    return signature();
  }
};

TEST_F(SignatureTest, NothingIsNotedOnceItWasRead) {
  hgagent_signature_begin();
  EXPECT_TRUE(signature().empty());
  const auto* to = allocate(1);
  EXPECT_NE(to, nullptr);
  EXPECT_TRUE(signature().empty());
}

TEST_F(SignatureTest, EqualWorkHasEqualSignaturesOnOtherMemoryAndAnotherQueue) {
  const std::vector<uint16_t> first = of_launches("store_index", 100, true);
  EXPECT_GT(first.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(first));
  EXPECT_EQ(of_launches("store_index", 100, true), first);
}

TEST_F(SignatureTest, AnotherKernelSizeOrBarrierBitHasAnotherSignature) {
  const std::vector<uint16_t> base = of_launches("store_index", 100, true);
  EXPECT_NE(of_launches("store_value", 100, true), base);
  EXPECT_NE(of_launches("store_index", 1000, true), base);
  EXPECT_NE(of_launches("store_index", 100, false), base);
}

TEST_F(SignatureTest, StatusesOfCallsAreInIt) {
  const auto allocation = [&](std::size_t size) {
    hgagent_signature_begin();
    void* memory = nullptr;
    static_cast<void>(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), size, 0, &memory));
    return signature();
  };
  hgagent_options failing = defaults();
  failing.fail_allocation = 2;
  ASSERT_EQ(hgagent_configure(&failing), 0);
  EXPECT_NE(allocation(64), allocation(64));
}

TEST_F(SignatureTest, NoMoreIsWrittenThanFits) {
  const std::vector<uint16_t> all = of_launches("store_index", 100, true);
  std::vector<uint16_t> some(3, 0);
  EXPECT_EQ(hgagent_signature(some.data(), 2), all.size());
  EXPECT_EQ(some, (std::vector<uint16_t>{all[0], all[1], 0}));
}

}  // namespace
}  // namespace agent_test
