// A model with two devices under hip::RemappedBuffers, and a table whose calls fail when a test says so.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hip/error_list.h"
#include "hip/remapped_bed.h"
#include "hip/remapped_buffers.h"
#include "model/abi_fixture.h"

namespace remapped {

using model::abi::InProcess;
using Memory = hip::PhysicalMemory;

inline constexpr std::size_t kPage = 4096;

// The calls of the class, by number; the calls in `failing` answer an error and do nothing.
inline int calls = 0, launches = 0;
inline std::vector<int> failing;
inline bool fails_now() {
  return std::ranges::find(failing, ++calls) != failing.end();
}
template <auto kEntry>
void fail_in_turn(hip::Api& api) {
  api.*kEntry = []<class... Arguments>(Arguments... arguments) {
    return fails_now() ? hipErrorUnknown : (InProcess::api().*kEntry)(arguments...);
  };
}
inline hip::Api failing_api() {
  hip::Api api = InProcess::api();
  fail_in_turn<&hip::Api::hipMemGetAllocationGranularity>(api);
  fail_in_turn<&hip::Api::hipMemAddressReserve>(api);
  fail_in_turn<&hip::Api::hipMemAddressFree>(api);
  fail_in_turn<&hip::Api::hipMemMap>(api);
  fail_in_turn<&hip::Api::hipMemUnmap>(api);
  fail_in_turn<&hip::Api::hipMemSetAccess>(api);
  fail_in_turn<&hip::Api::hipMemGetAccess>(api);
  fail_in_turn<&hip::Api::hipEventCreateWithFlags>(api);
  fail_in_turn<&hip::Api::hipEventRecord>(api);
  fail_in_turn<&hip::Api::hipEventQuery>(api);
  fail_in_turn<&hip::Api::hipEventSynchronize>(api);
  fail_in_turn<&hip::Api::hipEventDestroy>(api);
  fail_in_turn<&hip::Api::hipStreamWaitEvent>(api);
  fail_in_turn<&hip::Api::hipStreamQuery>(api);
  fail_in_turn<&hip::Api::hipGetDevice>(api);
  api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
    if (fails_now()) return hipErrorUnknown;
    ++launches;
    return InProcess::api().hipGraphLaunch(exec, stream);
  };
  return api;
}

inline model::abi::InProcessOptions two_devices() {
  model::abi::InProcessOptions options = model::abi::host_memory_options();
  options.model.devices = 2;
  return options;
}

struct OnTheModel : model::abi::AbiTest {
  OnTheModel() { start(); }
  ~OnTheModel() override {
    buffers.reset();
    work.reset();
    memories.reset();
    EXPECT_TRUE(instance.runtime().virtual_memory().ranges().empty());
    EXPECT_EQ(instance.runtime().virtual_memory().memories(), 0u);
  }
  // A fresh model, and everything new.
  void start() {
    buffers.reset();
    work.reset();
    memories.reset();
    calls = 0;
    failing.clear();
    told.clear();
    instance.reset(two_devices());
    module = instance.add_module({model::abi::add_with_tag()});
    EXPECT_HIP(api.hipModuleGetFunction(&add, module, "add"));
    memories.emplace(api, kPage);
    work.emplace(table, [this](hipGraph_t graph, void* out, void* in) { add_kernel(graph, out, in, 1); });
    two_buffers();
  }
  void two_buffers(hip::RemappedBuffersOptions options = {}) {
    options.errors = into(told);
    buffers.emplace(table, std::vector<hip::RemappedBuffer>{{8}, {}, {4}}, options);
  }
  // From the first memory to the second one.
  hip::Result<hip::RemappedStep> step(const Memory& from, const Memory& to, hipStream_t on = nullptr) {
    return buffers->step(std::array{from, Memory{}, to}, hip::StreamRef(table, on, 0), *work);
  }
  void add_memories(std::size_t count) {
    while (memories->size() < count) memories->add();
  }
  const Memory& memory(std::size_t n) const { return (*memories)[n]; }
  std::size_t races() { return instance.runtime().races_seen(); }

  hip::Api table = failing_api();
  std::vector<hip::Error> told;
  std::optional<Memories> memories;
  std::optional<OneNode> work;
  std::optional<hip::RemappedBuffers> buffers;
};

}  // namespace remapped
