// Virtual memory management through the C ABI: errors, getters, captures, and graphs whose memory is mapped anew.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

constexpr std::size_t kPage = 4096;

InProcessOptions two_devices() {
  InProcessOptions options = host_memory_options();
  options.model.devices = 2;
  options.model.memory.capacity = 64 * kPage;
  return options;
}

struct VirtualMemoryAbiTest : AbiTest {
  VirtualMemoryAbiTest() {
    instance.reset(two_devices());
    module = instance.add_module({add_with_tag()});
    EXPECT_HIP(api.hipModuleGetFunction(&add, module, "add"));
    EXPECT_HIP(api.hipMemAddressReserve(&range, 4 * kPage, 0, nullptr, 0));
  }
  static hipMemAllocationProp prop(int device = 0) {
    hipMemAllocationProp made{};
    made.type = hipMemAllocationTypePinned;
    made.location = {hipMemLocationTypeDevice, device};
    return made;
  }
  hipMemGenericAllocationHandle_t create(std::size_t pages = 1, int device = 0) {
    hipMemGenericAllocationHandle_t memory = nullptr;
    const hipMemAllocationProp asked = prop(device);
    EXPECT_HIP(api.hipMemCreate(&memory, pages * kPage, &asked, 0));
    return memory;
  }
  hipError_t set_access(void* at, std::size_t pages, hipMemAccessFlags flags, int device = 0) {
    const hipMemAccessDesc one{.location = {hipMemLocationTypeDevice, device}, .flags = flags};
    return api.hipMemSetAccess(at, pages * kPage, &one, 1);
  }
  void map(void* at, std::size_t pages, hipMemGenericAllocationHandle_t memory) {
    EXPECT_HIP(api.hipMemMap(at, pages * kPage, 0, memory, 0));
    EXPECT_HIP(set_access(at, pages, hipMemAccessFlagsProtReadWrite));
  }
  void* page(std::size_t n) const { return static_cast<char*>(range) + n * kPage; }
  unsigned long long access_of(void* at, int device) {
    unsigned long long flags = 77;
    const hipMemLocation location{hipMemLocationTypeDevice, device};
    EXPECT_HIP(api.hipMemGetAccess(&flags, &location, at));
    return flags;
  }
  std::size_t free_bytes() {
    std::size_t unused = 0, total = 0;
    EXPECT_HIP(api.hipMemGetInfo(&unused, &total));
    return unused;
  }
  void* range = nullptr;
};

TEST_F(VirtualMemoryAbiTest, AReservationIsRefused) {
  void* got = nullptr;
  EXPECT_EQ(api.hipMemAddressReserve(nullptr, kPage, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressReserve(&got, kPage, 0, nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressReserve(&got, 0, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressReserve(&got, kPage - 1, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressReserve(&got, kPage, 3, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(got, nullptr);
  EXPECT_EQ(api.hipMemAddressFree(nullptr, 4 * kPage), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressFree(range, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressFree(range, 3 * kPage), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressFree(page(1), 3 * kPage), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressFree(allocate(kPage), kPage), hipErrorInvalidValue);
  EXPECT_HIP(api.hipMemAddressFree(range, 4 * kPage));
}

TEST_F(VirtualMemoryAbiTest, MemoryIsRefused) {
  hipMemGenericAllocationHandle_t memory = nullptr;
  const auto create_with = [&](auto&& change) {
    hipMemAllocationProp asked = prop();
    change(asked);
    std::size_t granularity = 0;
    EXPECT_EQ(api.hipMemGetAllocationGranularity(&granularity, &asked, hipMemAllocationGranularityMinimum),
              hipErrorInvalidValue);
    return api.hipMemCreate(&memory, kPage, &asked, 0);
  };
  const hipMemAllocationProp asked = prop();
  EXPECT_EQ(api.hipMemCreate(nullptr, kPage, &asked, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemCreate(&memory, kPage, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemCreate(&memory, kPage, &asked, 1), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemCreate(&memory, 0, &asked, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemCreate(&memory, kPage - 1, &asked, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemCreate(&memory, 65 * kPage, &asked, 0), hipErrorOutOfMemory);
  EXPECT_EQ(create_with([](hipMemAllocationProp& p) { p.type = hipMemAllocationTypeInvalid; }), hipErrorInvalidValue);
  EXPECT_EQ(create_with([](hipMemAllocationProp& p) { p.location.type = hipMemLocationTypeInvalid; }),
            hipErrorInvalidValue);
  EXPECT_EQ(create_with([](hipMemAllocationProp& p) { p.location.id = -1; }), hipErrorInvalidValue);
  EXPECT_EQ(create_with([](hipMemAllocationProp& p) { p.location.id = 2; }), hipErrorInvalidValue);
  EXPECT_EQ(memory, nullptr);
}

TEST_F(VirtualMemoryAbiTest, AHandleOfNoMemoryIsRefused) {
  hipMemAllocationProp told{};
  const auto of_graph = reinterpret_cast<hipMemGenericAllocationHandle_t>(create_graph());
  hipMemGenericAllocationHandle_t released = create();
  EXPECT_HIP(api.hipMemRelease(released));
  for (hipMemGenericAllocationHandle_t bad :
       {hipMemGenericAllocationHandle_t{nullptr}, of_graph, released, bad_handle<hipMemGenericAllocationHandle_t>(8)}) {
    EXPECT_EQ(api.hipMemRelease(bad), hipErrorInvalidValue);
    EXPECT_EQ(api.hipMemMap(range, kPage, 0, bad, 0), hipErrorInvalidValue);
    EXPECT_EQ(api.hipMemGetAllocationPropertiesFromHandle(&told, bad), hipErrorInvalidValue);
  }
  EXPECT_EQ(api.hipMemGetAllocationPropertiesFromHandle(nullptr, create()), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryAbiTest, AMappingIsRefused) {
  hipMemGenericAllocationHandle_t memory = create(2);
  EXPECT_EQ(api.hipMemMap(nullptr, kPage, 0, memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemMap(range, 0, 0, memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemMap(range, kPage, kPage, memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemMap(range, kPage, 0, memory, 1), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemMap(range, 3 * kPage, 0, memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemMap(page(3), 2 * kPage, 0, memory, 0), hipErrorInvalidValue);
  EXPECT_HIP(api.hipMemMap(range, 2 * kPage, 0, memory, 0));
  EXPECT_EQ(api.hipMemMap(page(1), kPage, 0, memory, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemUnmap(nullptr, kPage), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemUnmap(range, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemUnmap(range, kPage), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemAddressFree(range, 4 * kPage), hipErrorInvalidValue);
  EXPECT_HIP(api.hipMemUnmap(range, 2 * kPage));
  EXPECT_EQ(api.hipMemUnmap(range, 2 * kPage), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryAbiTest, AccessIsRefusedAsAWhole) {
  map(range, 1, create());
  hipMemAccessDesc list[2] = {{.location = {hipMemLocationTypeDevice, 0}, .flags = hipMemAccessFlagsProtNone},
                              {.location = {hipMemLocationTypeDevice, 2}, .flags = hipMemAccessFlagsProtRead}};
  EXPECT_EQ(api.hipMemSetAccess(range, kPage, list, 2), hipErrorInvalidValue);
  EXPECT_EQ(access_of(range, 0), 3u);  // the first of the two is not set either
  list[1].location = {hipMemLocationTypeHost, 0};
  EXPECT_EQ(api.hipMemSetAccess(range, kPage, list, 2), hipErrorInvalidValue);
  list[1].location = {hipMemLocationTypeDevice, 1};
  list[1].flags = static_cast<hipMemAccessFlags>(2);
  EXPECT_EQ(api.hipMemSetAccess(range, kPage, list, 2), hipErrorInvalidValue);
  list[1].flags = hipMemAccessFlagsProtRead;
  EXPECT_EQ(api.hipMemSetAccess(range, kPage, nullptr, 2), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemSetAccess(range, kPage, list, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemSetAccess(nullptr, kPage, list, 2), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemSetAccess(range, 0, list, 2), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemSetAccess(range, 2 * kPage, list, 2), hipErrorInvalidValue);
  EXPECT_HIP(api.hipMemSetAccess(range, kPage, list, 2));
  EXPECT_EQ(access_of(range, 0), 0u);
  EXPECT_EQ(access_of(range, 1), 1u);
}

TEST_F(VirtualMemoryAbiTest, TheAccessOfWhatIsNotMappedIsRefused) {
  unsigned long long flags = 77;
  const hipMemLocation here{hipMemLocationTypeDevice, 0}, nowhere{hipMemLocationTypeDevice, 2};
  map(range, 1, create());
  EXPECT_EQ(api.hipMemGetAccess(nullptr, &here, range), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemGetAccess(&flags, nullptr, range), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemGetAccess(&flags, &nowhere, range), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemGetAccess(&flags, &here, page(1)), hipErrorInvalidValue);
  EXPECT_EQ(flags, 77u);
  EXPECT_EQ(access_of(static_cast<char*>(range) + 8, 0), 3u);
  EXPECT_EQ(access_of(range, 1), 0u);
}

TEST_F(VirtualMemoryAbiTest, TheHandleOfAnAddressIsOneMoreHandle) {
  hipMemGenericAllocationHandle_t memory = create(), again = nullptr;
  map(range, 1, memory);
  EXPECT_EQ(api.hipMemRetainAllocationHandle(nullptr, range), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemRetainAllocationHandle(&again, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemRetainAllocationHandle(&again, page(1)), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemRetainAllocationHandle(&again, allocate()), hipErrorInvalidValue);
  EXPECT_HIP(api.hipMemRetainAllocationHandle(&again, static_cast<char*>(range) + 8));
  EXPECT_EQ(again, memory);
  EXPECT_HIP(api.hipMemUnmap(range, kPage));
  EXPECT_HIP(api.hipMemRelease(memory));
  EXPECT_HIP(api.hipMemRelease(memory));
  EXPECT_EQ(api.hipMemRelease(memory), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryAbiTest, TheGettersTellWhatWasAskedFor) {
  hipMemAllocationProp asked = prop(1), told{};
  asked.type = hipMemAllocationTypeUncached;
  asked.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
  asked.allocFlags.compressionType = 1;
  asked.allocFlags.gpuDirectRDMACapable = 1;
  asked.allocFlags.usage = 9;
  hipMemGenericAllocationHandle_t memory = nullptr;
  EXPECT_HIP(api.hipMemCreate(&memory, kPage, &asked, 0));
  EXPECT_HIP(api.hipMemGetAllocationPropertiesFromHandle(&told, memory));
  EXPECT_EQ(std::memcmp(&told, &asked, sizeof told), 0);
  std::size_t smallest = 0, recommended = 0;
  EXPECT_HIP(api.hipMemGetAllocationGranularity(&smallest, &asked, hipMemAllocationGranularityMinimum));
  EXPECT_HIP(api.hipMemGetAllocationGranularity(&recommended, &asked, hipMemAllocationGranularityRecommended));
  EXPECT_EQ(smallest, kPage);
  EXPECT_EQ(recommended % smallest, 0u);
  EXPECT_EQ(api.hipMemGetAllocationGranularity(nullptr, &asked, hipMemAllocationGranularityMinimum),
            hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemGetAllocationGranularity(&smallest, nullptr, hipMemAllocationGranularityMinimum),
            hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemGetAllocationGranularity(&smallest, &asked, static_cast<hipMemAllocationGranularity_flags>(255)),
            hipErrorInvalidValue);
  int supported = 0;
  EXPECT_HIP(api.hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 1));
  EXPECT_EQ(supported, 1);
}

TEST_F(VirtualMemoryAbiTest, APointerIntoAMappingIsDeviceMemoryOfTheMemorysDevice) {
  hipPointerAttribute_t told{};
  EXPECT_HIP(api.hipPointerGetAttributes(&told, range));
  EXPECT_EQ(told.type, hipMemoryTypeUnregistered);  // nothing is mapped
  map(page(1), 2, create(2, 1));
  EXPECT_HIP(api.hipPointerGetAttributes(&told, page(2)));
  EXPECT_EQ(told.type, hipMemoryTypeDevice);
  EXPECT_EQ(told.device, 1);
  EXPECT_EQ(told.devicePointer, page(2));
  hipDeviceptr_t base = nullptr;
  std::size_t size = 0;
  EXPECT_HIP(api.hipMemGetAddressRange(&base, &size, page(2)));
  EXPECT_EQ(base, page(1));
  EXPECT_EQ(size, 2 * kPage);
  EXPECT_EQ(api.hipFree(page(1)), hipErrorInvalidValue);
  EXPECT_EQ(api.hipFreeAsync(page(1), nullptr), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryAbiTest, MemoryIsTakenFromTheDeviceUntilItIsReleasedAndUnmapped) {
  const std::size_t before = free_bytes();
  hipMemGenericAllocationHandle_t memory = create(60);
  EXPECT_EQ(free_bytes(), before - 60 * kPage);
  void* pointer = nullptr;
  EXPECT_EQ(api.hipMalloc(&pointer, 5 * kPage), hipErrorOutOfMemory);
  EXPECT_HIP(api.hipMemMap(range, 2 * kPage, 0, memory, 0));  // the first two pages of sixty
  EXPECT_HIP(api.hipMemRelease(memory));
  EXPECT_EQ(free_bytes(), before - 60 * kPage);
  EXPECT_HIP(api.hipMemUnmap(range, 2 * kPage));
  EXPECT_EQ(free_bytes(), before);
  EXPECT_HIP(api.hipMalloc(&pointer, 5 * kPage));
}

// A create waits for frees that streams have not reached, as hipMalloc does.
TEST_F(VirtualMemoryAbiTest, MemoryThatAStreamIsAboutToFreeIsWaitedFor) {
  void* first = nullptr;
  hipStream_t stream = create_stream(hipStreamNonBlocking);
  EXPECT_HIP(api.hipMallocAsync(&first, 60 * kPage, stream));
  EXPECT_HIP(api.hipFreeAsync(first, stream));
  EXPECT_HIP(api.hipMemRelease(create(60)));
}

TEST_F(VirtualMemoryAbiTest, TheHostCopiesToAndFromMappings) {
  map(range, 1, create());
  map(page(1), 1, create());
  std::uint32_t in[2] = {11, 22}, out[2] = {};
  void* over_both = static_cast<char*>(page(1)) - 4;
  EXPECT_HIP(api.hipMemcpyHtoD(over_both, in, sizeof in));
  EXPECT_HIP(api.hipMemcpyDtoH(out, over_both, sizeof out));
  EXPECT_EQ(out[0], 11u);
  EXPECT_EQ(out[1], 22u);
  EXPECT_EQ(api.hipMemcpyHtoD(page(2), in, sizeof in), hipErrorInvalidValue);  // nothing is mapped
  EXPECT_EQ(api.hipMemset(page(2), 0, 4), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryAbiTest, AGraphThatNamesAReservedRangeUsesWhatIsMappedThereWhenItRuns) {
  hipMemGenericAllocationHandle_t memory[2] = {create(), create()};
  map(page(2), 1, memory[1]);  // where the second memory is looked at
  map(range, 1, memory[0]);
  hipGraph_t graph = create_graph();
  add_kernel(graph, range, range, 5);
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  EXPECT_EQ(word(range), 5u);
  EXPECT_EQ(word(page(2)), 0u);
  EXPECT_HIP(api.hipMemUnmap(range, kPage));
  map(range, 1, memory[1]);
  run(exec);
  run(exec);
  EXPECT_EQ(word(page(2)), 10u);
  EXPECT_EQ(instance.runtime().races_seen(), 0u);
}

TEST_F(VirtualMemoryAbiTest, ARemapUnderALaunchInFlightIsARace) {
  hipMemGenericAllocationHandle_t memory[2] = {create(), create()};
  map(range, 1, memory[0]);
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = add_kernel(graph, range, range, 5);
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipGraphLaunch(exec, create_stream(hipStreamNonBlocking)));
  EXPECT_HIP(api.hipMemUnmap(range, kPage));
  map(range, 1, memory[1]);
  EXPECT_HIP(api.hipDeviceSynchronize());
  ASSERT_EQ(instance.runtime().races_seen(), 1u);
  EXPECT_EQ(InProcess::node_handle(instance.runtime().races().front().a.node), node);
}

TEST_F(VirtualMemoryAbiTest, UseOfAnUnmappedRangeIsAFaultAndTheRestCanBeGivenBack) {
  hipMemGenericAllocationHandle_t memory = create();
  map(range, 1, memory);
  hipGraph_t graph = create_graph();
  add_set(graph, range, 5);
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipMemUnmap(range, kPage));
  EXPECT_HIP(api.hipMemMap(range, kPage, 0, memory, 0));  // and no access
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipMemUnmap(range, kPage), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipMemRelease(memory), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipMemAddressFree(range, 4 * kPage), hipErrorIllegalAddress);
  EXPECT_EQ(instance.runtime().virtual_memory().memories(), 0u);
  EXPECT_TRUE(instance.runtime().virtual_memory().ranges().empty());
  EXPECT_EQ(api.hipMemMap(range, kPage, 0, memory, 0), hipErrorIllegalAddress);
}

TEST_F(VirtualMemoryAbiTest, ACaptureDoesNotMind) {
  hipStream_t stream = create_stream();
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  void* more = nullptr;
  EXPECT_HIP(api.hipMemAddressReserve(&more, kPage, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t memory = create();
  map(more, 1, memory);
  EXPECT_HIP(api.hipMemsetD32Async(more, 7, 1, stream));
  EXPECT_EQ(access_of(more, 0), 3u);
  hipGraph_t graph = end_capture(stream);
  EXPECT_EQ(node_count(graph), 1u);
  run(instantiate(graph));
  EXPECT_EQ(word(more), 7u);
  EXPECT_HIP(api.hipMemUnmap(more, kPage));
  EXPECT_HIP(api.hipMemRelease(memory));
  EXPECT_HIP(api.hipMemAddressFree(more, kPage));
}

}  // namespace
}  // namespace model::abi
