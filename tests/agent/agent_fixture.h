// The fixture of agent tests: a machine that starts and ends with the test, memory, kernels and packets, through HSA's
// functions alone.
#pragma once

#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "hip/agent/configure.h"
#include "hip/file_bytes.h"

namespace agent_test {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

inline constexpr uint64_t kLong = 20'000'000'000;  // nanoseconds; a wait that takes as long is a failure

#define EXPECT_HSA(call) EXPECT_EQ(call, HSA_STATUS_SUCCESS)
#define ASSERT_HSA(call) ASSERT_EQ(call, HSA_STATUS_SUCCESS)

[[nodiscard]] std::string last_fault();
[[nodiscard]] hgagent_options defaults();

enum class PoolKind { kKernarg, kFine, kCoarse, kDevice, kGroup };

// A signal that is destroyed with its owner.
class Signal {
 public:
  explicit Signal(hsa_signal_value_t value = 1);
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();
  [[nodiscard]] hsa_signal_t get() const { return signal_; }
  [[nodiscard]] hsa_signal_value_t value() const { return hsa_signal_load_relaxed(signal_); }
  // Whether it became less than 1 in time.
  [[nodiscard]] bool done(uint64_t timeout = kLong) const;
  [[nodiscard]] amd_signal_t* amd() const { return reinterpret_cast<amd_signal_t*>(signal_.handle); }

 private:
  hsa_signal_t signal_{0};
};

struct AgentTest : testing::Test {
  void SetUp() override;
  void TearDown() override;

  // With other options; before anything was allocated.
  void restart(const hgagent_options& options);
  template <class T>
  void restart_with(T hgagent_options::* option, std::type_identity_t<T> value) {
    hgagent_options options = defaults();
    options.*option = value;
    restart(options);
  }

  [[nodiscard]] hsa_agent_t host() const { return agents_.at(0); }
  [[nodiscard]] hsa_agent_t gpu(std::size_t i = 0) const { return agents_.at(i + 1); }
  [[nodiscard]] std::size_t gpus() const { return agents_.size() - 1; }
  [[nodiscard]] hsa_amd_memory_pool_t pool(PoolKind kind, std::size_t gpu = 0) const;

  // Fails the test when there is no memory. All gfx942s may access it.
  template <class T = uint32_t>
  T* allocate(std::size_t count, PoolKind kind = PoolKind::kDevice, std::size_t gpu = 0) {
    return static_cast<T*>(allocate_bytes(count * sizeof(T), kind, gpu));
  }
  uint32_t* allocate_zeros(std::size_t count, PoolKind kind = PoolKind::kDevice) {
    auto* words = allocate(count, kind);
    std::fill_n(words, count, 0u);
    return words;
  }
  void* allocate_bytes(std::size_t size, PoolKind kind, std::size_t gpu);

  hsa_queue_t* create_queue(uint32_t packets = 256, std::size_t gpu = 0);
  // The descriptor of a kernel of kernels.hip, loaded into a gfx942.
  uint64_t kernel(const std::string& name, std::size_t gpu = 0);
  [[nodiscard]] hsa_executable_t executable() const { return executable_; }
  [[nodiscard]] static hsa_executable_t create_executable();
  // Loads a code object into a gfx942.
  hsa_status_t load(hsa_executable_t executable, const std::vector<std::byte>& bytes, std::size_t gpu = 0);
  // It is gone, or goes with the machine.
  void forget_executable() { executable_ = {0}; }

  struct Launch {
    uint32_t items = 1;
    uint32_t workgroup = 64;
    bool barrier = true;
    hsa_signal_t completion{0};
    bool ring = true;
  };
  // Explicit arguments, each at the next multiple of its size.
  template <class... T>
  void launch(hsa_queue_t* queue, const std::string& name, const Launch& how, T... arguments) {
    std::vector<std::byte> block;
    (append(block, arguments), ...);
    launch_block(queue, name, how, block);
  }
  void barrier_and(hsa_queue_t* queue, const std::vector<hsa_signal_t>& dependencies, hsa_signal_t completion,
                   uint32_t type = HSA_PACKET_TYPE_BARRIER_AND);
  void barrier_value(hsa_queue_t* queue, hsa_signal_t signal, hsa_signal_condition_t condition, int64_t value,
                     int64_t mask, hsa_signal_t completion);
  // Runs one launch to its end.
  template <class... T>
  [[nodiscard]] bool run(hsa_queue_t* queue, const std::string& name, T... arguments) {
    const Signal done;
    launch(queue, name, {.completion = done.get()}, arguments...);
    return done.done();
  }
  // Everything that the queue was given is done.
  [[nodiscard]] bool drain(hsa_queue_t* queue);

 private:
  template <class T>
  static void append(std::vector<std::byte>& block, T value) {
    block.resize((block.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
    std::memcpy(block.data() + block.size() - sizeof(T), &value, sizeof(T));
  }
  void launch_block(hsa_queue_t* queue, const std::string& name, const Launch& how, std::vector<std::byte> block);
  void submit(hsa_queue_t* queue, const void* packet, uint16_t header, bool ring);
  void start();

  std::vector<hsa_agent_t> agents_;
  hsa_executable_t executable_{0};
  std::vector<hsa_queue_t*> queues_;
  std::byte* arguments_ = nullptr;  // a ring of blocks
  std::size_t next_argument_ = 0;
};

}  // namespace agent_test
