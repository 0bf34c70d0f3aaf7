// HSA's functions, called the way that AMD's runtime calls them.
#include "agent/agent_fixture.h"

#include <atomic>
#include <thread>

namespace agent_test {
namespace {

constexpr std::size_t kArgumentBytes = 512;  // explicit ones first, implicit ones from kImplicitOffset on
constexpr std::size_t kArgumentBlocks = 4096;
constexpr std::size_t kImplicitBytes = 256;

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

}  // namespace

std::string last_fault() {
  std::string text(hgagent_last_fault(nullptr, 0) + 1, '\0');
  text.resize(hgagent_last_fault(text.data(), text.size()));
  return text;
}

hgagent_options defaults() {
  hgagent_options options;
  hgagent_defaults(&options);
  options.stepped = AGENT_STEPPED;
  return options;
}

Signal::Signal(hsa_signal_value_t value) {
  EXPECT_HSA(hsa_signal_create(value, 0, nullptr, &signal_));
}

Signal::~Signal() {
  static_cast<void>(hsa_signal_destroy(signal_));
}

bool Signal::done(uint64_t timeout) const {
  return hsa_signal_wait_scacquire(signal_, HSA_SIGNAL_CONDITION_LT, 1, timeout, HSA_WAIT_STATE_BLOCKED) < 1;
}

void AgentTest::SetUp() {
  const hgagent_options options = defaults();
  ASSERT_EQ(hgagent_configure(&options), 0);
  start();
}

void AgentTest::start() {
  ASSERT_HSA(hsa_init());
  agents_.clear();
  const auto add = [](hsa_agent_t agent, void* list) {
    static_cast<std::vector<hsa_agent_t>*>(list)->push_back(agent);
    return HSA_STATUS_SUCCESS;
  };
  ASSERT_HSA(hsa_iterate_agents(add, &agents_));
  ASSERT_GE(agents_.size(), 2u);
}

void AgentTest::TearDown() {
  for (hsa_queue_t* queue : queues_) EXPECT_HSA(hsa_queue_destroy(queue));
  queues_.clear();
  if (executable_.handle != 0) {
    EXPECT_HSA(hsa_executable_destroy(executable_));
  }
  executable_ = {0};
  arguments_ = nullptr;
  EXPECT_HSA(hsa_shut_down());
  EXPECT_EQ(hgagent_counters(HGAGENT_THREADS), 0u);
}

void AgentTest::restart(const hgagent_options& options) {
  ASSERT_HSA(hsa_shut_down());
  ASSERT_EQ(hgagent_configure(&options), 0);
  start();
}

hsa_amd_memory_pool_t AgentTest::pool(PoolKind kind, std::size_t gpu_index) const {
  std::vector<hsa_amd_memory_pool_t> pools;
  const auto add = [](hsa_amd_memory_pool_t p, void* list) {
    static_cast<std::vector<hsa_amd_memory_pool_t>*>(list)->push_back(p);
    return HSA_STATUS_SUCCESS;
  };
  const bool device = kind == PoolKind::kDevice || kind == PoolKind::kGroup;
  EXPECT_HSA(hsa_amd_agent_iterate_memory_pools(device ? gpu(gpu_index) : host(), add, &pools));
  for (const hsa_amd_memory_pool_t p : pools) {
    uint32_t segment = 0;
    uint32_t flags = 0;
    EXPECT_HSA(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    EXPECT_HSA(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    const bool fine = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0;
    const bool kernarg = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0;
    const bool coarse = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0;
    if (kind == PoolKind::kGroup && segment == HSA_AMD_SEGMENT_GROUP) return p;
    if (kind == PoolKind::kKernarg && kernarg) return p;
    if (kind == PoolKind::kFine && fine && !kernarg) return p;
    if ((kind == PoolKind::kCoarse || kind == PoolKind::kDevice) && coarse) return p;
  }
  ADD_FAILURE() << "no such pool";
  return {0};
}

void* AgentTest::allocate_bytes(std::size_t size, PoolKind kind, std::size_t gpu_index) {
  void* p = nullptr;
  EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(kind, gpu_index), size, 0, &p));
  EXPECT_HSA(hsa_amd_agents_allow_access(static_cast<uint32_t>(gpus()), agents_.data() + 1, nullptr, p));
  return p;
}

hsa_queue_t* AgentTest::create_queue(uint32_t packets, std::size_t gpu_index) {
  hsa_queue_t* queue = nullptr;
  EXPECT_HSA(hsa_queue_create(gpu(gpu_index), packets, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, ~0u, ~0u, &queue));
  queues_.push_back(queue);
  return queue;
}

hsa_executable_t AgentTest::create_executable() {
  hsa_executable_t executable{0};
  EXPECT_HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, "", &executable));
  return executable;
}

hsa_status_t AgentTest::load(hsa_executable_t executable, const std::vector<std::byte>& bytes, std::size_t gpu_index) {
  hsa_code_object_reader_t reader{0};
  EXPECT_HSA(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader));
  const hsa_status_t loaded = hsa_executable_load_agent_code_object(executable, gpu(gpu_index), reader, "", nullptr);
  EXPECT_HSA(hsa_code_object_reader_destroy(reader));
  return loaded;
}

uint64_t AgentTest::kernel(const std::string& name, std::size_t gpu_index) {
  if (executable_.handle == 0) {
    const std::vector<std::byte> bytes = file_bytes(AGENT_KERNELS);
    executable_ = create_executable();
    for (std::size_t i = 0; i < gpus(); ++i) EXPECT_HSA(load(executable_, bytes, i));
    EXPECT_HSA(hsa_executable_freeze(executable_, ""));
  }
  const hsa_agent_t where = gpu(gpu_index);
  hsa_executable_symbol_t symbol{0};
  EXPECT_HSA(hsa_executable_get_symbol_by_name(executable_, (name + ".kd").c_str(), &where, &symbol));
  uint64_t descriptor = 0;
  EXPECT_HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &descriptor));
  return descriptor;
}

void AgentTest::submit(hsa_queue_t* queue, const void* packet, uint16_t header, bool ring) {
  const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) std::this_thread::yield();
  auto* slot = static_cast<std::byte*>(queue->base_address) + index % queue->size * 64;
  std::memcpy(slot + sizeof(header), static_cast<const std::byte*>(packet) + sizeof(header), 64 - sizeof(header));
  std::atomic_ref<uint16_t>(*reinterpret_cast<uint16_t*>(slot)).store(header, std::memory_order_release);
  if (ring) hsa_signal_store_screlease(queue->doorbell_signal, static_cast<int64_t>(index));
}

void AgentTest::launch_block(hsa_queue_t* queue, const std::string& name, const Launch& how,
                             std::vector<std::byte> block) {
  if (arguments_ == nullptr) {
    arguments_ = allocate<std::byte>(kArgumentBytes * kArgumentBlocks, PoolKind::kKernarg);
  }
  const std::size_t implicit = (block.size() + 7) / 8 * 8;
  block.resize(implicit + kImplicitBytes);
  put<uint32_t>(block, implicit, (how.items - 1) / how.workgroup + 1);
  put<uint32_t>(block, implicit + 4, 1);
  put<uint32_t>(block, implicit + 8, 1);
  put<uint16_t>(block, implicit + 12, static_cast<uint16_t>(how.workgroup));
  put<uint16_t>(block, implicit + 14, 1);
  put<uint16_t>(block, implicit + 16, 1);
  std::byte* arguments = arguments_ + next_argument_++ % kArgumentBlocks * kArgumentBytes;
  std::memcpy(arguments, block.data(), block.size());
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = 1;
  packet.workgroup_size_x = static_cast<uint16_t>(how.workgroup);
  packet.workgroup_size_y = 1;
  packet.workgroup_size_z = 1;
  packet.grid_size_x = how.items;
  packet.grid_size_y = 1;
  packet.grid_size_z = 1;
  // A queue's gfx942 is not asked for: the first one's code is found from everywhere.
  packet.kernel_object = kernel(name);
  packet.kernarg_address = arguments;
  packet.completion_signal = how.completion;
  const uint16_t header = static_cast<uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                                                (how.barrier ? 1 : 0) << HSA_PACKET_HEADER_BARRIER |
                                                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  submit(queue, &packet, header, how.ring);
}

void AgentTest::barrier_and(hsa_queue_t* queue, const std::vector<hsa_signal_t>& dependencies, hsa_signal_t completion,
                            uint32_t type) {
  hsa_barrier_and_packet_t packet{};
  for (std::size_t i = 0; i < dependencies.size(); ++i) packet.dep_signal[i] = dependencies[i];
  packet.completion_signal = completion;
  submit(queue, &packet, static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER), true);
}

void AgentTest::barrier_value(hsa_queue_t* queue, hsa_signal_t signal, hsa_signal_condition_t condition, int64_t value,
                              int64_t mask, hsa_signal_t completion) {
  hsa_amd_barrier_value_packet_t packet{};
  packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  packet.signal = signal;
  packet.value = value;
  packet.mask = mask;
  packet.cond = condition;
  packet.completion_signal = completion;
  submit(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER,
         true);
}

bool AgentTest::drain(hsa_queue_t* queue) {
  const Signal done;
  barrier_and(queue, {}, done.get());
  return done.done();
}

}  // namespace agent_test
