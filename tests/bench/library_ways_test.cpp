// The ways of running a captured library call, on the host model: a memset, a copy and a kernel stand for the library's
// call. Each way leaves the bytes of the call captured again, a way that does not is reported, and a call with a node
// that cannot be patched keeps the ways that need no patch. Not checked: CUDA's own answers, which
// hgcheck-library-calls shows on a GPU.
#include "bench/library_calls/library_ways.h"

#include <gtest/gtest.h>

#include <cstring>

#include "bench/step_runtimes.h"
#include "verify/execute/records.h"
#include "verify/language/kernel_spec.h"

namespace {

constexpr std::size_t kBuffers = 3, kPlaces = 3, kBufferBytes = 256, kSlack = 1 << 16;
constexpr std::uint32_t kElements = kBufferBytes / sizeof(std::uint32_t);
constexpr int kSteps = 4;

// CUDA's driver over the model: its functions have no argument for a state of their own.
const hip::Api* model = nullptr;
std::vector<hip::ArgumentSlot> slots;

int get_kernel_node(hipGraphNode_t node, bench::DriverKernelParams* params) {
  hipKernelNodeParams of{};
  const hipError_t status = model->hipGraphKernelNodeGetParams(node, &of);
  *params = {.function = of.func,
             .grid = {of.gridDim.x, of.gridDim.y, of.gridDim.z},
             .block = {of.blockDim.x, of.blockDim.y, of.blockDim.z},
             .shared_bytes = of.sharedMemBytes,
             .arguments = of.kernelParams};
  return status;
}
int set_kernel_node(hipGraphExec_t exec, hipGraphNode_t node, const bench::DriverKernelParams* params) {
  hipKernelNodeParams to{};
  to.func = params->function;
  to.gridDim = {params->grid[0], params->grid[1], params->grid[2]};
  to.blockDim = {params->block[0], params->block[1], params->block[2]};
  to.kernelParams = params->arguments;
  return model->hipGraphExecKernelNodeSetParams(exec, node, &to);
}
int function_argument(void*, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  if (index >= slots.size()) return 1;
  *offset = slots[index].offset;
  *bytes = slots[index].size;
  return 0;
}

class LibraryWays : public testing::Test {
 protected:
  LibraryWays() {
    model = &api_;
    const verify::KernelSpec* spec = verify::find_kernel("slices_u32");
    slots = verify::slots_of(*spec);
    function_ = runtime_.platform->function(static_cast<std::size_t>(spec - verify::kernel_catalogue().data()), 0);
    driver_ = {get_kernel_node, set_kernel_node, function_argument, function_argument};
    EXPECT_EQ(api_.hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
    for (std::size_t k = 0; k < kPlaces; ++k) {
      hip::AddressTable& table = shadows_.tables.emplace_back();
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
        void*& memory = memory_.emplace_back();
        EXPECT_EQ(api_.hipMalloc(&memory, kBufferBytes + kSlack), hipSuccess);
        table.push_back(reinterpret_cast<std::uintptr_t>(memory) + k * (64 + 4096 * (buffer + 1)));
      }
    }
    shadows_.bytes.assign(kBuffers, kBufferBytes);
    for (hip::BufferIndex buffer = 0; buffer < kBuffers; ++buffer) shadows_.buffers.push_back(buffer);
  }
  ~LibraryWays() override {
    EXPECT_EQ(api_.hipStreamDestroy(stream_), hipSuccess);
    for (void* memory : memory_) EXPECT_EQ(api_.hipFree(memory), hipSuccess);
  }

  // The rows by the names of their ways.
  std::vector<bench::WayTimes> time(const hip::EnqueueAt& call) {
    bench::LibraryStep step{api_, driver_, stream_, call, shadows_, std::vector<int>(kBuffers), {}, {}};
    step.fill = [&](const hip::AddressTable& table) {
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
        const std::vector<std::uint32_t> words(kElements, static_cast<std::uint32_t>(buffer + 5));
        const hipError_t status = api_.hipMemcpy(at(table, buffer), words.data(), kBufferBytes, hipMemcpyHostToDevice);
        if (status != hipSuccess) return hip::called(status, "hipMemcpy");
      }
      return hip::Status();
    };
    step.read = [&](const hip::AddressTable& table) -> hip::Result<std::vector<std::byte>> {
      std::vector<std::byte> bytes(kBuffers * kBufferBytes);
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
        const hipError_t status = api_.hipMemcpy(bytes.data() + buffer * kBufferBytes, at(table, buffer), kBufferBytes,
                                                 hipMemcpyDeviceToHost);
        if (status != hipSuccess) return hip::called(status, "hipMemcpy").error();
      }
      return bytes;
    };
    hip::Result<std::vector<bench::WayTimes>> rows = bench::time_ways(step, kSteps);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? std::move(rows).value() : std::vector<bench::WayTimes>();
  }

  static void* at(std::span<const hip::DeviceAddress> table, std::size_t buffer) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(table[buffer]));
  }
  hip::Status work(hipStream_t on, std::span<const hip::DeviceAddress> table) const {
    if (const hipError_t status = api_.hipMemsetAsync(at(table, 0), 3, kBufferBytes, on); status != hipSuccess) {
      return hip::called(status, "hipMemsetAsync");
    }
    if (const hipError_t status =
            api_.hipMemcpyAsync(at(table, 1), at(table, 0), kBufferBytes, hipMemcpyDeviceToDevice, on);
        status != hipSuccess) {
      return hip::called(status, "hipMemcpyAsync");
    }
    const verify::KernelSpec* spec = verify::find_kernel("slices_u32");
    std::vector<std::byte> block(spec->argument_bytes);
    std::size_t buffer = 0;
    for (const verify::FieldSpec& field : spec->fields) {
      const bool pointer = field.kind == verify::FieldKind::kPointer;
      const std::uint64_t value = pointer ? table[buffer++ % kBuffers] : kElements;
      std::memcpy(block.data() + field.offset, &value, field.size);
    }
    std::vector<void*> arguments;
    for (const hip::ArgumentSlot& slot : slots) arguments.push_back(block.data() + slot.offset);
    return hip::called(
        api_.hipModuleLaunchKernel(function_, 1, 1, 1, kElements, 1, 1, 0, on, arguments.data(), nullptr),
        "hipModuleLaunchKernel");
  }

  bench::StepRuntime runtime_ = bench::open_model();
  hip::Api api_ = runtime_.platform->api();
  bench::Driver driver_;
  hipFunction_t function_ = nullptr;
  hipStream_t stream_ = nullptr;
  std::vector<void*> memory_;
  hip::Shadows shadows_;
};

TEST_F(LibraryWays, EveryWayLeavesTheBytesOfTheCallCapturedAgain) {
  const std::vector<bench::WayTimes> rows =
      time([&](hipStream_t on, std::span<const hip::DeviceAddress> table) { return work(on, table); });
  EXPECT_EQ(rows.size(), 10u);
  for (const bench::WayTimes& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.refused, "");
    EXPECT_TRUE(row.same_bytes);
    EXPECT_GT(row.host, 0);
  }
}

TEST_F(LibraryWays, AWayThatLeavesOtherBytesIsReported) {
  driver_.set_kernel_node = [](hipGraphExec_t, hipGraphNode_t, const bench::DriverKernelParams*) { return 0; };
  const std::vector<bench::WayTimes> rows =
      time([&](hipStream_t on, std::span<const hip::DeviceAddress> table) { return work(on, table); });
  for (const bench::WayTimes& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.same_bytes, row.name != "patch" && row.name != "cache");
  }
}

TEST_F(LibraryWays, ACallWithANodeThatNobodyCanReadKeepsTheWaysThatPatchNothing) {
  const std::vector<bench::WayTimes> rows = time([&](hipStream_t on, std::span<const hip::DeviceAddress> table) {
    const hipError_t status = api_.hipLaunchHostFunc(on, [](void*) {}, nullptr);
    return status == hipSuccess ? work(on, table) : hip::called(status, "hipLaunchHostFunc");
  });
  for (const bench::WayTimes& row : rows) {
    SCOPED_TRACE(row.name);
    const bool patches = row.name.starts_with("patch") || row.name == "cache" || row.name.starts_with("setters");
    EXPECT_EQ(row.refused.starts_with("opaque: "), patches) << row.refused;
    EXPECT_TRUE(row.same_bytes);
  }
}

}  // namespace
