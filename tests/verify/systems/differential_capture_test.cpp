// hip::differential_command: captures of the project's kernels, of copies and memsets, unknown to the capturing code,
// come back with every address named. A command whose addresses cannot be told is reported as opaque.
#include "hip/differential_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "test_runtime.h"
#include "verify/execute/records.h"
#include "verify/language/kernel_spec.h"

namespace {

using hip::Relocation;

constexpr std::size_t kBuffers = 3, kTables = 3, kBytes = 256;

struct DifferentialCommands : testing::Test {
  void SetUp() override {
    ASSERT_EQ(api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
    // The buffers differ in size and follow each other, so that no two tables move two buffers by the same distance.
    for (std::size_t k = 0; k < kTables; ++k) {
      hip::AddressTable table;
      for (std::size_t b = 0; b < kBuffers; ++b) {
        void* memory = nullptr;
        ASSERT_EQ(api().hipMalloc(&memory, kBytes + (kBytes << (k * kBuffers + b))), hipSuccess);
        memory_.push_back(memory);
        table.push_back(reinterpret_cast<hip::DeviceAddress>(memory) + k * std::size_t{64});
      }
      shadows_.tables.push_back(table);
    }
    shadows_.bytes.assign(kBuffers, kBytes);
    shadows_.buffers = {0, 1, 2};
    ASSERT_EQ(hip::flaw_of(shadows_), nullptr);
  }
  void TearDown() override {
    for (void* memory : memory_) EXPECT_EQ(api().hipFree(memory), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(stream_), hipSuccess);
  }

  const hip::Api& api() { return runtime_.platform().api(); }
  hipFunction_t function(const verify::KernelSpec& spec) {
    return runtime_.platform().function(static_cast<std::size_t>(&spec - verify::kernel_catalogue().data()), 0);
  }
  hip::KernelLayouts layouts() {
    return [this](hipFunction_t function) -> std::optional<std::vector<hip::ArgumentSlot>> {
      for (const verify::KernelSpec& spec : verify::kernel_catalogue()) {
        if (this->function(spec) != function) continue;
        return verify::slots_of(spec);
      }
      return std::nullopt;
    };
  }
  // Through kernelParams, or through `extra` with the packed block.
  enum class Form : std::uint8_t { kParams, kExtra };
  // Pointers to begins, ends and between.
  static std::vector<Relocation> pointers_of(const verify::KernelSpec& spec) {
    std::vector<Relocation> truth;
    for (const verify::FieldSpec& field : spec.fields) {
      if (field.kind != verify::FieldKind::kPointer) continue;
      const auto nth = static_cast<hip::BufferIndex>(truth.size());
      constexpr std::array<std::int64_t, 3> kAddends = {0, kBytes, 24};
      truth.push_back({hip::Field::kKernelArgument, field.offset, nth % static_cast<hip::BufferIndex>(kBuffers),
                       kAddends[nth / kBuffers % 3]});
    }
    return truth;
  }
  // Scalars have the bits of the first addresses and keep them.
  hip::EnqueueAt launch_of(const verify::KernelSpec& spec, Form form = Form::kParams) {
    return [this, &spec, truth = pointers_of(spec), form](hipStream_t on, std::span<const hip::DeviceAddress> at) {
      std::vector<std::byte> block(spec.argument_bytes);
      for (const verify::FieldSpec& field : spec.fields) {
        const hip::DeviceAddress frozen = shadows_.tables[0][field.offset % kBuffers];
        std::memcpy(block.data() + field.offset, &frozen, field.size);
      }
      for (const Relocation& relocation : truth) {
        const hip::DeviceAddress now = at[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend);
        std::memcpy(block.data() + relocation.offset, &now, sizeof now);
      }
      std::vector<void*> pointers;
      for (const verify::ArgumentSpec& argument : spec.arguments) pointers.push_back(block.data() + argument.offset);
      std::size_t bytes = block.size();
      void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                       HIP_LAUNCH_PARAM_END};
      const bool packed = form == Form::kExtra && bytes != 0;
      return hip::called(api().hipModuleLaunchKernel(function(spec), 1, 1, 1, 64, 1, 1, 0, on,
                                                     packed ? nullptr : pointers.data(), packed ? extra : nullptr),
                         "hipModuleLaunchKernel");
    };
  }
  hip::RecordedNode command_of(const hip::EnqueueAt& work) {
    hip::Result<hip::RecordedNode> command = hip::differential_command(api(), stream_, work, shadows_, layouts());
    EXPECT_TRUE(command) << command.error().message;
    return command ? std::move(command).value() : hip::RecordedNode{hip::EmptyRecord{}, {}, {}};
  }
  // Returns the nodes of the work. If it is opaque, the test fails and there are none.
  static std::vector<hip::RecordedNode> nodes_of(const hip::RecordedNode& command) {
    const auto* child = std::get_if<hip::ChildRecord>(&command.record);
    EXPECT_NE(child, nullptr) << "opaque: " << reason_of(command);
    const auto nodes = child == nullptr ? std::span<const hip::RecordedNode>() : child->graph->nodes();
    return {nodes.begin(), nodes.end()};
  }
  // Why the work is opaque, or nothing.
  static std::string reason_of(const hip::Result<hip::RecordedNode>& command) {
    EXPECT_TRUE(command) << command.error().message;
    const auto* opaque = command ? std::get_if<hip::OpaqueRecord>(&command.value().record) : nullptr;
    return opaque == nullptr ? "" : opaque->reason;
  }

  const hip::EnqueueAt line = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemcpyAsync(reinterpret_cast<void*>(at[1]), reinterpret_cast<void*>(at[0]), 16,
                                            hipMemcpyDeviceToDevice, on),
                       "hipMemcpyAsync");
  };
  TestRuntime runtime_;
  hipStream_t stream_ = nullptr;
  std::vector<void*> memory_;
  hip::Shadows shadows_;
};

// The caller's arguments are gone when the graph is read, so the arguments come from the runtime's own copy.
TEST_F(DifferentialCommands, EveryKernelOfTheTreeComesBackWithItsAddressesAndNoOthers) {
  for (const Form form : {Form::kParams, Form::kExtra}) {
    std::size_t with_pointers = 0, odd = 0;
    for (const verify::KernelSpec& spec : verify::kernel_catalogue()) {
      std::vector<Relocation> truth = pointers_of(spec);
      const std::vector<hip::RecordedNode> nodes = nodes_of(command_of(launch_of(spec, form)));
      ASSERT_EQ(nodes.size(), 1u) << spec.name;
      std::sort(truth.begin(), truth.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
      EXPECT_EQ(nodes[0].relocations, truth) << spec.name;
      with_pointers += truth.empty() ? 0 : 1;
      odd +=
          std::any_of(truth.begin(), truth.end(), [](const Relocation& each) { return each.offset % 2 == 1; }) ? 1 : 0;
    }
    EXPECT_GT(with_pointers, 5u);
    EXPECT_GT(odd, 0u) << "no pointer lies at an odd byte";
  }
}

TEST_F(DifferentialCommands, CopiesAndMemsetsKeepTheirOrderAndNameTheirFields) {
  const hip::RecordedNode command = command_of([this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    const auto pointer = [&](std::size_t b, std::size_t offset) { return reinterpret_cast<void*>(at[b] + offset); };
    hip::Status status = hip::called(api().hipMemsetAsync(pointer(0, 8), 7, 16, on), "hipMemsetAsync");
    return hip::both(std::move(status),
                     hip::called(api().hipMemcpyAsync(pointer(1, 0), pointer(0, 8), 16, hipMemcpyDeviceToDevice, on),
                                 "hipMemcpyAsync"));
  });
  const std::vector<hip::RecordedNode> nodes = nodes_of(command);
  ASSERT_EQ(nodes.size(), 2u);
  using Relocations = std::vector<Relocation>;
  EXPECT_EQ(nodes[0].relocations, (Relocations{{hip::Field::kMemsetDestination, 0, 0, 8}}));
  EXPECT_EQ(nodes[1].relocations,
            (Relocations{{hip::Field::kCopyDestination, 0, 1, 0}, {hip::Field::kCopySource, 0, 0, 8}}));
  EXPECT_EQ(nodes[1].dependencies, std::vector<hip::NodeIndex>{0});
}

TEST_F(DifferentialCommands, WhatIsNotUnderstoodIsOpaqueWithItsReason) {
  const verify::KernelSpec& spec = verify::kernel_catalogue()[0];
  const auto nobody_knows = [](hipFunction_t) { return std::optional<std::vector<hip::ArgumentSlot>>(); };
  const std::string unknown =
      reason_of(hip::differential_command(api(), stream_, launch_of(spec), shadows_, nobody_knows));
  EXPECT_NE(unknown.find("nobody has described"), std::string::npos);
  int captures = 0;
  const hip::RecordedNode fickle = command_of([&](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(at[0]), 1, 8 + 8 * (captures++ % 2), on), "memset");
  });
  EXPECT_TRUE(std::holds_alternative<hip::OpaqueRecord>(fickle.record));
}

// A getter that answers with no arguments, or with the list `extra`, instead of a node's arguments.
struct Answer {
  static inline decltype(hip::Api::hipGraphKernelNodeGetParams) real = nullptr;
  static inline std::array<void*, 5> extra{};
  static inline bool gives_extra = false;

  static hipError_t get(hipGraphNode_t node, hipKernelNodeParams* params) {
    const hipError_t status = real(node, params);
    params->kernelParams = nullptr;
    params->extra = gives_extra ? extra.data() : nullptr;
    return status;
  }
};

TEST_F(DifferentialCommands, AKernelWhoseGetterGivesNoArgumentsOrAListThatIsNotHipsIsOpaque) {
  const verify::KernelSpec& spec = *verify::find_kernel("packed_struct");
  const hip::EnqueueAt work = launch_of(spec);
  hip::Api table = api();
  Answer::real = table.hipGraphKernelNodeGetParams;
  table.hipGraphKernelNodeGetParams = &Answer::get;
  // No argument at the block's begin: an offset from nowhere is no null pointer.
  const hip::ArgumentSlot last{spec.arguments.back().offset, spec.arguments.back().size};
  const hip::KernelLayouts last_alone = [last](hipFunction_t) { return std::vector<hip::ArgumentSlot>{last}; };
  const auto reason = [&](bool gives_extra, std::array<void*, 5> extra) {
    Answer::gives_extra = gives_extra;
    Answer::extra = extra;
    return reason_of(hip::differential_command(table, stream_, work, shadows_, last_alone));
  };
  std::vector<std::byte> block(spec.argument_bytes);
  std::size_t enough = block.size(), fewer = block.size() - 1;
  void* const pointer = HIP_LAUNCH_PARAM_BUFFER_POINTER;
  void* const size = HIP_LAUNCH_PARAM_BUFFER_SIZE;
  void* const end = HIP_LAUNCH_PARAM_END;
  EXPECT_EQ(reason(true, {pointer, block.data(), size, &enough, end}), "");
  EXPECT_EQ(reason(true, {size, &enough, pointer, block.data(), end}), "");
  const std::string none = "a kernel whose arguments the runtime does not give back";
  EXPECT_EQ(reason(false, {}), none);
  EXPECT_EQ(reason(true, {end}), none);
  EXPECT_EQ(reason(true, {pointer, block.data(), size, &fewer, end}), none);
  EXPECT_EQ(reason(true, {pointer, block.data(), end}), none);
  EXPECT_EQ(reason(true, {size, &enough, end}), none);
  EXPECT_EQ(reason(true, {size, &enough, size, &enough, end}), none);
  EXPECT_EQ(reason(true, {pointer, nullptr, size, &enough, end}), none);
  EXPECT_EQ(reason(true, {pointer, block.data(), size, nullptr, end}), none);
  EXPECT_EQ(reason(true, {pointer, block.data(), &block, &enough, end}), none);
  EXPECT_EQ(reason(true, {pointer, block.data(), size, &enough, nullptr}), none);
}

TEST_F(DifferentialCommands, APointerOfAKernelThatStaysWhereABufferWasIsOpaque) {
  const verify::KernelSpec& spec = *verify::find_kernel("axpy_u64");
  const auto work = [&](hip::DeviceAddress in) {
    return [this, &spec, in](hipStream_t on, std::span<const hip::DeviceAddress> at) {
      hip::DeviceAddress out = at[0], from = in;
      std::uint32_t n = 1;
      std::uint64_t a = shadows_.tables[0][1];
      void* pointers[] = {&out, &from, &n, &a};
      return hip::called(api().hipModuleLaunchKernel(function(spec), 1, 1, 1, 64, 1, 1, 0, on, pointers, nullptr),
                         "hipModuleLaunchKernel");
    };
  };
  const std::string stale = reason_of(command_of(work(shadows_.tables[0][1])));
  EXPECT_NE(stale.find("does not move"), std::string::npos);
  void* own = nullptr;
  ASSERT_EQ(api().hipMalloc(&own, kBytes), hipSuccess);
  memory_.push_back(own);
  const auto kept = nodes_of(command_of(work(reinterpret_cast<hip::DeviceAddress>(own))));
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept[0].relocations, (std::vector<Relocation>{{hip::Field::kKernelArgument, 0, 0, 0}}));
}

// Where the runtime tells so: 7.2 answers 0 of such a launch, 6.4 does not capture it.
TEST_F(DifferentialCommands, AKernelThatWasLaunchedCooperativelyStaysSo) {
  const verify::KernelSpec& spec = *verify::find_kernel("axpy_u64");
  hip::Api table = api();
  table.hipGraphKernelNodeGetAttribute = [](hipGraphNode_t, hipLaunchAttributeID which,
                                            hipLaunchAttributeValue* value) {
    *value = {};
    if (which == hipLaunchAttributeCooperative) value->cooperative = 1;
    return hipSuccess;
  };
  const auto command = hip::differential_command(table, stream_, launch_of(spec), shadows_, layouts());
  ASSERT_TRUE(command) << command.error().message;
  const std::vector<hip::RecordedNode> nodes = nodes_of(command.value());
  ASSERT_FALSE(nodes.empty());
  const auto& kernel = std::get<hip::KernelRecord>(nodes[0].record);
  EXPECT_EQ(kernel.attributes.cooperative, true);
  EXPECT_EQ(kernel.attributes.priority, std::nullopt);
}

TEST_F(DifferentialCommands, AKernelWhoseAttributesNobodyTellsIsOpaque) {
  const verify::KernelSpec& spec = verify::kernel_catalogue()[0];
  hip::Api table = api();
  table.hipGraphKernelNodeGetAttribute = nullptr;
  EXPECT_NE(reason_of(hip::differential_command(table, stream_, launch_of(spec), shadows_, layouts())), "");
}

// A getter that fails says nothing of the kernel: it may succeed the next time.
TEST_F(DifferentialCommands, AGetterOfAttributesThatFailsIsAnError) {
  const verify::KernelSpec& spec = verify::kernel_catalogue()[0];
  hip::Api table = api();
  static hipError_t answer;
  table.hipGraphKernelNodeGetAttribute = [](hipGraphNode_t, hipLaunchAttributeID, hipLaunchAttributeValue*) {
    return answer;
  };
  answer = hipErrorOutOfMemory;
  const auto failed = hip::differential_command(table, stream_, launch_of(spec), shadows_, layouts());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, hipErrorOutOfMemory);
  answer = hipErrorInvalidValue;
  EXPECT_NE(reason_of(hip::differential_command(table, stream_, launch_of(spec), shadows_, layouts())), "");
}

// Parameters that a release's getter reports wrongly are not believed where the release is known.
TEST_F(DifferentialCommands, WhatAReleasesGetterTellsWronglyIsOpaque) {
  const hip::EnqueueAt rows = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemset2DAsync(reinterpret_cast<void*>(at[0]), 64, 7, 16, 2, on), "hipMemset2DAsync");
  };
  const auto reason = [&](const hip::EnqueueAt& work, int version) {
    return reason_of(hip::differential_command(api(), stream_, work, shadows_, layouts(), {},
                                               hip::ReleaseQuirks::of_version(version)));
  };
  EXPECT_NE(reason(rows, 70253211).find("captured-memset-2d-read"), std::string::npos);
  EXPECT_NE(reason(line, 60443484).find("memcpy-1d-get-nothing"), std::string::npos);
  EXPECT_EQ(reason(line, 70253211), "");
}

// Zeros, or a null end, tell nothing, whichever release it is.
TEST_F(DifferentialCommands, ACopyWhoseGetterTellsNothingIsOpaque) {
  hip::Api table = api();
  table.hipGraphMemcpyNodeGetParams = [](hipGraphNode_t, hipMemcpy3DParms* params) {
    *params = {};
    return hipSuccess;
  };
  EXPECT_NE(reason_of(hip::differential_command(table, stream_, line, shadows_, layouts())), "");
}

TEST_F(DifferentialCommands, WorkThatEnqueuesNothingIsAnEmptyNode) {
  const hip::RecordedNode command =
      command_of([](hipStream_t, std::span<const hip::DeviceAddress>) { return hip::Status(); });
  EXPECT_TRUE(std::holds_alternative<hip::EmptyRecord>(command.record));
}

TEST_F(DifferentialCommands, AnErrorOfTheWorkIsTheAnswer) {
  const auto fails = [](hipStream_t, std::span<const hip::DeviceAddress>) {
    return hip::Status(hip::Error{hipErrorNotReady, "not now"});
  };
  const auto command = hip::differential_command(api(), stream_, fails, shadows_, layouts());
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().code, hipErrorNotReady);
}

}  // namespace
