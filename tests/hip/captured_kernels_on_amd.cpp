// Differential capture of kernels on AMD's real runtime, over the software gfx942: launched with kernelParams, with
// `extra` and by their name in the program; their addresses are found at odd bytes of a struct, inside of buffers and
// one past their ends; numbers that equal addresses stay; a kernel that is patched to other buffers computes the result
// of an eager launch on these buffers.
//
// Needs the runtime: .capsule/7.2/bin/run --agent build/lib/agent captured_kernels_on_amd. kernel_params_owned.cpp
// checks who owns the memory that the getter points at.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fat_binary.h"
#include "hip/command_buffer.h"
#include "hip/differential_capture.h"
#include "hip/kernels/device_kernels.h"
#include "hip/metadata_slots.h"
#include "hip/stream.h"
#include "hip/traced_command.h"

namespace {

using hip::AddressTable;
using hip::DeviceAddress;
using hip::Relocation;
using hip::StepDecision;

constexpr std::size_t kBuffers = 2, kBytes = 256;  // b0 is written, b1 is read
enum class Style : std::uint8_t { kParams, kExtra, kStub };

// A kernel, its numbers, and where the addresses go.
struct Launch {
  const char* kernel;
  std::vector<std::byte> block;  // of all arguments
  std::vector<Relocation> truth;
};

template <class T>
void put(std::vector<std::byte>& block, std::size_t offset, T value) {
  std::memcpy(block.data() + offset, &value, sizeof value);
}
Relocation address(std::uint32_t offset, hip::BufferIndex buffer, std::int64_t addend) {
  return {hip::Field::kKernelArgument, offset, buffer, addend};
}

// The layouts are written out here, because reading them from the metadata is under test.
constexpr std::size_t kPackedBytes = 36, kPackedOut = 1, kPackedIn = 11;

std::vector<Launch> launches(const hip::Shadows& shadows) {
  const DeviceAddress frozen = shadows.tables[0][1], other = shadows.tables[1][0] + 8;
  Launch axpy{"axpy_u64", std::vector<std::byte>(32), {address(0, 0, 8), address(8, 1, 16)}};
  put(axpy.block, 16, std::uint32_t{5});
  put(axpy.block, 24, frozen);
  Launch range{"reduce_range",
               std::vector<std::byte>(32),
               {address(0, 0, 0), address(8, 1, 24), address(16, 1, static_cast<std::int64_t>(kBytes))}};
  put(range.block, 24, other);
  Launch packed{"packed_struct", std::vector<std::byte>(kPackedBytes), {}};
  packed.truth = {address(kPackedOut, 0, 4), address(kPackedIn, 1, 12)};
  put(packed.block, 0, std::uint8_t{7});
  put(packed.block, 9, std::uint16_t{0xabcd});
  put(packed.block, 19, std::uint32_t{9});
  put(packed.block, 23, frozen);
  put(packed.block, 32, static_cast<std::uint32_t>(other));
  return {axpy, range, packed};
}

struct CapturedKernels : testing::Test {
  static void SetUpTestSuite() {
    hip::Result<hip::LoadedApi> loaded = hip::load_api("libamdhip64.so.7");
    ASSERT_TRUE(loaded) << loaded.error().message;
    library_ = new hip::LoadedApi(std::move(loaded).value());
  }
  void SetUp() override {
    ASSERT_NE(library_, nullptr);
    ASSERT_EQ(api().hipModuleLoadData(&module_, hg::device_code_object().data()), hipSuccess);
    const auto kernels = hip::code_object::read_kernels(hg::device_code_object());
    ASSERT_TRUE(kernels) << kernels.error().message;
    for (const hip::code_object::KernelMetadata& kernel : kernels.value()) {
      hipFunction_t function = nullptr;
      ASSERT_EQ(api().hipModuleGetFunction(&function, module_, kernel.name.c_str()), hipSuccess);
      functions_[kernel.name] = function;
      layouts_[function] = layouts_[stub_of(kernel.name)] = hip::slots_of(kernel);
    }
    ASSERT_EQ(api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
    ASSERT_EQ(api().hipStreamCreateWithFlags(&capturing_, hipStreamNonBlocking), hipSuccess);
    ASSERT_EQ(api().hipMalloc(&memory_, kPlaces * kSpacing), hipSuccess);
    // Moved differently, so that no two moves look alike.
    shadows_.tables = {{at(0), at(1)}, {at(3) + 64, at(6) + 64}, {at(8) + 128, at(13) + 128}};
    shadows_.bytes.assign(kBuffers, kBytes);
    shadows_.buffers = {0, 1};
    ASSERT_EQ(hip::flaw_of(shadows_), nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(api().hipFree(memory_), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(capturing_), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(stream_), hipSuccess);
    EXPECT_EQ(api().hipModuleUnload(module_), hipSuccess);
  }

  static const hip::Api& api() { return library_->api; }
  DeviceAddress at(std::size_t place) const { return reinterpret_cast<DeviceAddress>(memory_) + place * kSpacing; }
  hip::KernelLayouts layouts() {
    return [this](hipFunction_t function) -> std::optional<std::vector<hip::ArgumentSlot>> {
      const auto found = layouts_.find(static_cast<const void*>(function));
      return found == layouts_.end() ? std::nullopt : std::optional(found->second);
    };
  }

  // Returns work that launches the kernel and then overwrites the arguments that the launch points at.
  hip::EnqueueAt work(const Launch& launch, Style style) {
    const hipFunction_t function = functions_.at(launch.kernel);
    return [launch, style, function, slots = layouts_.at(function)](hipStream_t on,
                                                                    std::span<const DeviceAddress> addresses) {
      std::vector<std::byte> block = launch.block;
      for (const Relocation& relocation : launch.truth) {
        put(block, relocation.offset, addresses[relocation.buffer] + static_cast<DeviceAddress>(relocation.addend));
      }
      std::vector<void*> params;
      for (const hip::ArgumentSlot& slot : slots) params.push_back(block.data() + slot.offset);
      std::size_t bytes = block.size();
      void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                       HIP_LAUNCH_PARAM_END};
      hip::Status status =
          style == Style::kStub
              ? hip::called(api().hipLaunchKernel(stub_of(launch.kernel), dim3(1), dim3(64), params.data(), 0, on),
                            "hipLaunchKernel")
              : hip::called(api().hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, on,
                                                        style == Style::kParams ? params.data() : nullptr,
                                                        style == Style::kExtra ? extra : nullptr),
                            "hipModuleLaunchKernel");
      std::fill(block.begin(), block.end(), std::byte{0xee});
      std::fill(params.begin(), params.end(), nullptr);
      return status;
    };
  }
  // Returns the host address that stands for the kernel in a program.
  static const void* stub_of(const std::string& kernel) {
    using RegisterCode = void** (*)(const void*);
    using RegisterKernel =
        void (*)(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
    const auto find = [](const char* name) { return dlsym(library_->library.get(), name); };
    static const FatBinary& program = *new FatBinary(hg::device_code_object());
    static auto& stubs = *new std::map<std::string, char>;
    static void** const modules = reinterpret_cast<RegisterCode>(find("__hipRegisterFatBinary"))(program.wrapper());
    const auto [stub, added] = stubs.try_emplace(kernel);
    if (added) {
      std::string name = kernel;
      reinterpret_cast<RegisterKernel>(find("__hipRegisterFunction"))(modules, &stub->second, name.data(), name.data(),
                                                                      ~0U, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    return &stub->second;
  }

  hip::RecordedNode command_of(const hip::EnqueueAt& work) {
    hip::Result<hip::RecordedNode> command = hip::differential_command(api(), capturing_, work, shadows_, layouts());
    EXPECT_TRUE(command) << command.error().message;
    return command ? std::move(command).value() : hip::RecordedNode{hip::EmptyRecord{}, {}, {}};
  }

  // Fills the output buffer with one byte value and the input buffer with a pattern.
  void fill(const AddressTable& table) {
    std::vector<std::byte> bytes(kBytes, std::byte{0xcc});
    ASSERT_EQ(api().hipMemcpy(pointer(table[0]), bytes.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
    for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
    ASSERT_EQ(api().hipMemcpy(pointer(table[1]), bytes.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
  }
  std::vector<std::byte> bytes_at(DeviceAddress place) {
    std::vector<std::byte> bytes(kBytes);
    EXPECT_EQ(api().hipMemcpy(bytes.data(), pointer(place), kBytes, hipMemcpyDeviceToHost), hipSuccess);
    return bytes;
  }
  std::vector<std::byte> eager(const Launch& launch) {
    const AddressTable table{at(16), at(17)};
    fill(table);
    EXPECT_TRUE(work(launch, Style::kParams)(stream_, table));
    EXPECT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
    return bytes_at(table[0]);
  }
  void expect_steps_as_launched(const Launch& launch, Style style, const hip::ReleaseQuirks& quirks,
                                const std::vector<std::byte>& expected) {
    hip::TracedWork traced;
    traced.command = 1;
    traced.stream = capturing_;
    traced.buffers = {0, 1};
    traced.shadows = shadows_;
    traced.layouts = layouts();
    traced.work = work(launch, style);
    hip::Recording commands;
    commands.add(hip::traced_command(std::move(traced)));
    hip::CommandBuffer buffer(
        api(), {.quirks = quirks, .memory = [](hip::BufferIndex) { return hip::BufferMemory::kDevice; }});
    buffer.set(std::move(commands));
    // One of these places is the other buffer's of the step before.
    const AddressTable steps[] = {{at(20), at(21)}, {at(24), at(20)}, {at(21), at(27)}};
    for (std::size_t i = 0; i < std::size(steps); ++i) {
      if (i != 0) fill(steps[i - 1]);
      fill(steps[i]);
      const std::vector<std::byte> old = i == 0 ? std::vector<std::byte>() : bytes_at(steps[i - 1][0]);
      const hip::Result<hip::CommandStep> done = buffer.step(steps[i], {api(), stream_, 0});
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
      EXPECT_EQ(bytes_at(steps[i][0]), expected) << "step " << i;
      if (i == 0) continue;
      EXPECT_EQ(done.value().decision, StepDecision::kPatch) << "step " << i;
      EXPECT_EQ(bytes_at(steps[i - 1][0]), old) << "step " << i;
    }
    const bool traces = quirks.empty();
    EXPECT_EQ(buffer.counts().traces.captured, traces ? 1u : 0u);
    EXPECT_EQ(buffer.counts().traces.patched, traces ? std::size(steps) - 1 : 0u);
  }
  static void* pointer(DeviceAddress address) { return reinterpret_cast<void*>(address); }

  static constexpr std::size_t kPlaces = 32, kSpacing = 512;
  inline static hip::LoadedApi* library_ = nullptr;  // AMD's runtime is never closed
  hipModule_t module_ = nullptr;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
  void* memory_ = nullptr;
  std::map<std::string, hipFunction_t> functions_;
  std::map<const void*, std::vector<hip::ArgumentSlot>> layouts_;  // by function handle and by host address
  hip::Shadows shadows_;
};

const char* reason_of(const hip::RecordedNode& node) {
  const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record);
  return opaque == nullptr ? "" : opaque->reason.c_str();
}

TEST_F(CapturedKernels, AddressesAreFoundAndNumbersThatEqualThemAreNot) {
  for (const Launch& launch : launches(shadows_)) {
    for (const Style style : {Style::kParams, Style::kExtra, Style::kStub}) {
      SCOPED_TRACE(std::string(launch.kernel) + " style " + std::to_string(static_cast<int>(style)));
      const hip::RecordedNode command = command_of(work(launch, style));
      const auto* child = std::get_if<hip::ChildRecord>(&command.record);
      ASSERT_NE(child, nullptr) << reason_of(command);
      ASSERT_EQ(child->graph->nodes().size(), 1u);
      EXPECT_EQ(child->graph->nodes()[0].relocations, launch.truth);
    }
  }
}

// A command buffer with one traced command whose buffers move. Each step writes the same bytes as a launch of the work
// at the same addresses, and writes nothing at the buffers' old addresses. Where the command buffer knows the release,
// the known nodes of the work become its own nodes; otherwise the work is a trace.
TEST_F(CapturedKernels, ATracedCommandThatIsPatchedToMovedBuffersComputesWhatALaunchThereDoes) {
  int version = 0;
  ASSERT_EQ(api().hipRuntimeGetVersion(&version), hipSuccess);
  for (const Launch& launch : launches(shadows_)) {
    const std::vector<std::byte> expected = eager(launch);
    ASSERT_NE(expected, std::vector<std::byte>(kBytes, std::byte{0xcc})) << launch.kernel << " writes nothing";
    for (const Style style : {Style::kParams, Style::kExtra, Style::kStub}) {
      for (const hip::ReleaseQuirks& quirks : {hip::ReleaseQuirks(), hip::ReleaseQuirks::of_version(version)}) {
        SCOPED_TRACE(std::string(launch.kernel) + " style " + std::to_string(static_cast<int>(style)) +
                     (quirks.empty() ? "" : ", the release is known"));
        expect_steps_as_launched(launch, style, quirks, expected);
      }
    }
  }
}

TEST_F(CapturedKernels, APointerThatStaysWhereABufferWasIsOpaqueAndTheLibrarysOwnIsKept) {
  Launch launch = launches(shadows_)[0];
  launch.truth.pop_back();  // `in` stays
  for (const Style style : {Style::kParams, Style::kExtra}) {
    put(launch.block, 8, at(30));
    const hip::RecordedNode own = command_of(work(launch, style));
    const auto* child = std::get_if<hip::ChildRecord>(&own.record);
    ASSERT_NE(child, nullptr) << reason_of(own);
    EXPECT_EQ(child->graph->nodes()[0].relocations, launch.truth);
    put(launch.block, 8, shadows_.tables[0][1] + 16);
    EXPECT_NE(std::string(reason_of(command_of(work(launch, style)))).find("does not move"), std::string::npos);
  }
}

TEST_F(CapturedKernels, ABlockThatIsShorterThanItsArgumentsIsOpaque) {
  Launch launch = launches(shadows_)[2];
  layouts_.at(functions_.at(launch.kernel)).push_back({static_cast<std::uint32_t>(launch.block.size()), 8});
  EXPECT_NE(std::string(reason_of(command_of(work(launch, Style::kExtra)))).find("does not give back"),
            std::string::npos);
}

}  // namespace
