#include "bench/step_bed.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "hip/differential_capture.h"
#include "hip/errors.h"
#include "hip/flatten.h"
#include "verify/execute/records.h"
#include "verify/language/kernel_spec.h"

namespace bench {

namespace {

constexpr std::size_t kShadowTables = 2, kMaxBuffersOfCommand = 4;
// Place p is kSpacing << p into the shadow memory, so no two buffers are moved alike.
constexpr std::size_t kShadowPlaces = kShadowTables * kMaxBuffersOfCommand;

struct KernelUse {
  const char* name;
  std::vector<std::uint32_t> scalars;  // in the order of the arguments
};

KernelUse use_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::kProduct:
      return {"gemm_u32", {kSide, kSide, kSide, kSide, 1, kSide, 1}};
    case CommandKind::kCombine:
      return {"slices_u32", {kElements}};
    case CommandKind::kUpdate:
      return {"sgd_u32", {kElements, 3}};
  }
  return {};
}

}  // namespace

StepBed::StepBed(verify::Platform& platform, StepWorkload workload)
    : platform_(platform),
      workload_(std::move(workload)),
      spacing_((workload_.buffer_bytes / kSpacing + 1) * kSpacing) {
  for (const CommandKind kind : {CommandKind::kProduct, CommandKind::kCombine, CommandKind::kUpdate}) {
    kernels_.push_back(kernel(kind));
  }
}

StepBed::~StepBed() {
  hip::Status status = synchronize();
  for (hipStream_t stream : {stream_, capturing_}) {
    if (stream != nullptr) {
      status = hip::both(std::move(status), hip::call<&hip::Api::hipStreamDestroy>(api(), stream));
    }
  }
  if (mapped_) status = hip::both(std::move(status), mapped_->free_all());
  for (void* memory : {memory_, shadows_}) {
    if (memory != nullptr) status = hip::both(std::move(status), hip::call<&hip::Api::hipFree>(api(), memory));
  }
  hip::ErrorSink{}(status);
}

hip::Result<std::unique_ptr<StepBed>> StepBed::make(verify::Platform& platform, StepWorkload workload, bool mapped) {
  std::unique_ptr<StepBed> bed(new StepBed(platform, std::move(workload)));
  if (hip::Status status = bed->prepare(mapped); !status) return status.error();
  return bed;
}

hip::Status StepBed::allocate(bool mapped) {
  const std::size_t count = 2 * workload_.buffers.size();
  if (!mapped) {
    hip::Status status = hip::call<&hip::Api::hipMalloc>(api(), &memory_, count * spacing_);
    for (std::size_t i = 0; i < count; ++i)
      places_.push_back(reinterpret_cast<hip::DeviceAddress>(memory_) + i * spacing_);
    return status;
  }
  mapped_.emplace(platform_, 1);
  if (const char* missing = mapped_->missing_function())
    return hip::Error{hipErrorNotSupported, std::string("the runtime lacks ") + missing};
  for (std::size_t i = 0; i < count; ++i) {
    const hip::Result<void*> place = mapped_->allocate(workload_.buffer_bytes, 0);
    if (!place) return place.error();
    places_.push_back(reinterpret_cast<hip::DeviceAddress>(place.value()));
  }
  return {};
}

hip::Status StepBed::prepare(bool mapped) {
  const hip::Api& hip = api();
  const std::size_t shadow_bytes = kSpacing << kShadowPlaces;
  hip::Status status = allocate(mapped);
  if (status) status = hip::call<&hip::Api::hipMalloc>(hip, &shadows_, shadow_bytes);
  for (hipStream_t* stream : {&stream_, &capturing_}) {
    if (!status) return status;
    status = hip::call<&hip::Api::hipStreamCreateWithFlags>(hip, stream, hipStreamNonBlocking);
  }
  for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
    home_.push_back(places_[2 * i]);
    away_.push_back(places_[workload_.moves[i] ? 2 * i + 1 : 2 * i]);
  }
  return status;
}

StepBed::Kernel StepBed::kernel(CommandKind kind) {
  const KernelUse use = use_of(kind);
  const verify::KernelSpec* spec = verify::find_kernel(use.name);
  assert(spec != nullptr && spec->arguments.size() <= kMaxArguments && spec->argument_bytes <= kMaxBlock);
  Kernel kernel;
  kernel.function = platform_.function(static_cast<std::size_t>(spec - verify::kernel_catalogue().data()), 0);
  kernel.bytes = spec->argument_bytes;
  kernel.scalars.resize(spec->argument_bytes);
  kernel.slots = verify::slots_of(*spec);
  std::size_t scalar = 0;
  for (const verify::FieldSpec& field : spec->fields) {
    if (field.kind == verify::FieldKind::kPointer) {
      kernel.pointers.push_back(field.offset);
      continue;
    }
    assert(field.size == sizeof use.scalars[scalar] && scalar < use.scalars.size());
    std::memcpy(kernel.scalars.data() + field.offset, &use.scalars[scalar++], field.size);
  }
  assert(scalar == use.scalars.size());
  return kernel;
}

std::optional<std::vector<hip::ArgumentSlot>> StepBed::layout_of(hipFunction_t function) const {
  const auto found = std::ranges::find(kernels_, function, &Kernel::function);
  if (found == kernels_.end()) return std::nullopt;
  return found->slots;
}

std::uint64_t StepBed::place_of(hip::DeviceAddress address) const {
  if (!mapped_) return (address - places_.front()) / spacing_;  // asked within timed steps
  return static_cast<std::uint64_t>(std::ranges::find(places_, address) - places_.begin());
}

hip::Status StepBed::enqueue(const hip::Api& api, const StepCommand& command, hipStream_t stream,
                             std::span<const hip::DeviceAddress> at) const {
  const Kernel& kernel = kernels_[static_cast<std::size_t>(command.kind)];
  assert(command.buffers.size() == kernel.pointers.size());
  std::array<std::byte, kMaxBlock> block;
  std::memcpy(block.data(), kernel.scalars.data(), kernel.bytes);
  for (std::size_t i = 0; i < kernel.pointers.size(); ++i) {
    std::memcpy(block.data() + kernel.pointers[i], &at[command.buffers[i]], sizeof(hip::DeviceAddress));
  }
  std::array<void*, kMaxArguments> arguments;
  for (std::size_t i = 0; i < kernel.slots.size(); ++i) arguments[i] = block.data() + kernel.slots[i].offset;
  return hip::call<&hip::Api::hipModuleLaunchKernel>(api, kernel.function, 1, 1, 1, kElements, 1, 1, 0, stream,
                                                     arguments.data(), nullptr);
}

hip::Result<hip::Recording> StepBed::known_commands(const hip::Api& api, std::span<const StepCommand> commands) const {
  hip::Recording recording;
  hip::Shadows shadows;
  shadows.bytes.assign(workload_.buffers.size(), kStepBufferBytes);
  shadows.tables.assign(kShadowTables, home_);
  for (const StepCommand& command : commands) {
    shadows.buffers = command.buffers;
    std::ranges::sort(shadows.buffers);
    shadows.buffers.erase(std::unique(shadows.buffers.begin(), shadows.buffers.end()), shadows.buffers.end());
    std::size_t place = 0;
    hip::DeviceAddress further_on = 0;
    for (hip::AddressTable& table : shadows.tables) {
      for (const hip::BufferIndex buffer : shadows.buffers) {
        table[buffer] = reinterpret_cast<hip::DeviceAddress>(shadows_) + (kSpacing << place++) + further_on;
      }
      further_on += 64;  // so that lowest bytes differ
    }
    hip::Result<hip::RecordedNode> node = hip::differential_command(
        api, capturing_,
        [&](hipStream_t on, std::span<const hip::DeviceAddress> at) { return enqueue(api, command, on, at); }, shadows,
        [this](hipFunction_t function) { return layout_of(function); });
    if (!node) return node.error();
    if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.value().record)) {
      return hip::Error{hipErrorNotSupported, "a command is opaque: " + opaque->reason};
    }
    const auto count = static_cast<hip::NodeIndex>(recording.nodes().size());
    if (count != 0) node.value().dependencies = {count - 1};
    recording.add(std::move(node).value());
  }
  return hip::flattened(recording);
}

hip::Status StepBed::fill(bool away) {
  if (hip::Status status = synchronize(); !status) return status;
  const std::vector<std::byte> unused(kStepBufferBytes, std::byte{0xa5});
  for (const hip::DeviceAddress place : places_) {
    if (hip::Status status = platform_.store(place, unused.data(), unused.size()); !status) return status;
  }
  const hip::AddressTable& at = addresses(away);
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::array<std::uint32_t, kElements> values;
    for (std::uint32_t j = 0; j < kElements; ++j)
      values[j] = static_cast<std::uint32_t>((i + 1) * 2654435761U + j * 40503U);
    const auto bytes = std::as_bytes(std::span(values));
    if (hip::Status status = platform_.store(at[i], bytes.data(), bytes.size()); !status) return status;
  }
  return {};
}

hip::Status StepBed::synchronize() const {
  return hip::call<&hip::Api::hipDeviceSynchronize>(api());
}

hip::Result<std::vector<std::byte>> StepBed::read(bool away, Counts counts) {
  if (hip::Status status = synchronize(); !status) return status.error();
  std::vector<std::byte> wanted;
  const hip::AddressTable& at = addresses(away);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!counts(workload_.buffers[i])) continue;
    wanted.resize(wanted.size() + kStepBufferBytes);
    const hip::Status status = platform_.load(at[i], &wanted[wanted.size() - kStepBufferBytes], kStepBufferBytes);
    if (!status) return status.error();
  }
  return wanted;
}

}  // namespace bench
