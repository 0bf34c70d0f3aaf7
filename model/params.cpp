// HIP's checks of a node's parameters, and the effects of copies, memsets, kernels and host functions.
//
// Sources: the parameter checks of ROCm/clr (hip_memory.cpp: ihipMemcpy_validate, ihipMemcpy3D_validate,
// ihipMemset_validate, ihipGraphMemsetParams_validate; hip_module.cpp: ihipLaunchKernel_validate) and the catch2 tests
// that state them (catch/unit/graph: MemsetCommonNegative, MemcpyWithDirectionCommonNegativeTests; catch/unit/module:
// ModuleLaunchKernelNegativeParameters). Where clr approximates a bound (3D copies), the exact bound is used here.
#include "model/params.h"

#include <cstring>
#include <limits>

namespace model {
namespace {

constexpr std::uint64_t kMaxThreadsPerBlock = 1024;   // of every AMD GPU
constexpr std::uint64_t kMaxSharedBytes = 64 * 1024;  // local memory of a gfx9 compute unit
constexpr std::size_t kMaxPitch = std::numeric_limits<std::int32_t>::max();

struct Side {
  const PitchedPointer& pointer;
  const Position& position;
};

// Offset of row (y, z) from the base of a side.
std::size_t row_offset(const Side& side, std::size_t y, std::size_t z) {
  return (z + side.position.z) * side.pointer.pitch * side.pointer.ysize + (y + side.position.y) * side.pointer.pitch +
         side.position.x;
}

bool empty(const Extent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

// The product, or the largest number when it does not fit: a bound that no allocation meets.
std::size_t times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max() : product;
}
std::size_t plus(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::size_t>::max() : sum;
}

// One past the last byte that a copy touches on a side, as an offset from the side's base; saturated.
std::size_t reach(const Side& side, const Extent& extent) {
  const std::size_t slices = plus(side.position.z, extent.depth - 1);
  const std::size_t rows = plus(side.position.y, extent.height - 1);
  const std::size_t before =
      plus(times(slices, times(side.pointer.pitch, side.pointer.ysize)), times(rows, side.pointer.pitch));
  return plus(before, plus(side.position.x, extent.width));
}

// The allocation, if it is a "memory object" of clr: device, pinned or managed memory of the runtime.
const Allocation* known(const AddressSpace& space, Address address) {
  const Allocation* found = space.find_or_promised(address);
  return found != nullptr && found->kind != MemoryKind::kPageable ? found : nullptr;
}

bool leaves_allocation(const AddressSpace& space, Address base, std::size_t bytes) {
  return space.find_or_promised(base) != nullptr && bytes > space.room_behind(base);
}

bool is_copy_kind(CopyKind kind) {
  return (kind >= CopyKind::kHostToHost && kind <= CopyKind::kDefault) || kind == CopyKind::kDeviceToDeviceNoCu;
}

// Whether the memory of both sides may be named with this hipMemcpyKind. The host reaches pageable, pinned and managed
// memory; kernels reach device, pinned and managed memory. hip-tests copies host to host between pinned and pageable
// memory (Memcpy1DHostToHostShell), and expects hipErrorInvalidValue where the kind names pageable memory as device
// memory. Device memory on the host's side of a direction is accepted: CUDA's documentation of cudaMemcpy makes such a
// copy undefined only when it runs.
bool kind_fits(const AddressSpace& space, const CopyParams& copy) {
  const auto host_reaches = [&space](Address address) {
    const Allocation* found = space.find_or_promised(address);
    return found == nullptr || found->kind != MemoryKind::kDevice;
  };
  const auto device_reaches = [&space](Address address) { return known(space, address) != nullptr; };
  switch (copy.kind) {
    case CopyKind::kHostToHost:
      return host_reaches(copy.dst.base) && host_reaches(copy.src.base);
    case CopyKind::kHostToDevice:
      return device_reaches(copy.dst.base);
    case CopyKind::kDeviceToHost:
      return device_reaches(copy.src.base);
    case CopyKind::kDeviceToDevice:
    case CopyKind::kDeviceToDeviceNoCu:
      return device_reaches(copy.dst.base) && device_reaches(copy.src.base);
    case CopyKind::kDefault:
      break;
  }
  return true;
}

Status check_pitches(const CopyParams& copy) {
  if (copy.src.pitch < copy.src.xsize || copy.dst.pitch < copy.dst.xsize) return Status::kInvalidPitchValue;
  if (copy.src.pitch >= kMaxPitch || copy.dst.pitch >= kMaxPitch) return Status::kInvalidValue;
  if (plus(copy.extent.width, copy.dst_pos.x) > copy.dst.pitch ||
      plus(copy.extent.width, copy.src_pos.x) > copy.src.pitch) {
    return Status::kInvalidValue;
  }
  // A copy of several slices needs the height of a slice (hipPitchedPtr documentation: ysize is the logical height).
  if (copy.extent.depth > 1 && (copy.src.ysize < copy.extent.height || copy.dst.ysize < copy.extent.height)) {
    return Status::kInvalidValue;
  }
  return Status::kSuccess;
}

Status validate(const CopyParams& copy, const AddressSpace& space) {
  if (copy.dst.base == 0 || copy.src.base == 0) return Status::kInvalidValue;
  if (!is_copy_kind(copy.kind)) return Status::kInvalidMemcpyDirection;
  if (!copy.linear) {
    if (const Status pitches = check_pitches(copy); pitches != Status::kSuccess) return pitches;
  }
  if (!empty(copy.extent)) {
    if (leaves_allocation(space, copy.dst.base, reach({copy.dst, copy.dst_pos}, copy.extent)) ||
        leaves_allocation(space, copy.src.base, reach({copy.src, copy.src_pos}, copy.extent))) {
      return Status::kInvalidValue;
    }
  }
  return kind_fits(space, copy) ? Status::kSuccess : Status::kInvalidValue;
}

Status validate(const MemsetParams& set, const AddressSpace& space) {
  if (set.dst == 0 || set.width == 0 || set.height == 0) return Status::kInvalidValue;
  if (set.element_size != 1 && set.element_size != 2 && set.element_size != 4) return Status::kInvalidValue;
  const Allocation* memory = known(space, set.dst);
  if (memory == nullptr) return Status::kInvalidValue;  // ihipMemset_validate: "dst is host ptr hence error"
  const std::size_t row = times(set.width, set.element_size);
  if (set.height > 1) {
    if (set.pitch < row) return Status::kInvalidValue;
    if (times(set.pitch, set.height) > space.room_behind(memory->base)) return Status::kInvalidValue;
  }
  const std::size_t bytes = plus(times(set.pitch, set.height > 1 ? set.height - 1 : 0), row);
  return leaves_allocation(space, set.dst, bytes) ? Status::kInvalidValue : Status::kSuccess;
}

Status validate(const KernelParams& kernel) {
  if (kernel.function == nullptr || kernel.function->unloaded) return Status::kInvalidDeviceFunction;
  const auto& [grid, block, shared_bytes, cooperative] = kernel.shape;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return Status::kInvalidValue;
  }
  if (block.x > kMaxThreadsPerBlock || block.y > kMaxThreadsPerBlock || block.z > kMaxThreadsPerBlock ||
      std::uint64_t{block.x} * block.y * block.z > kMaxThreadsPerBlock) {
    return Status::kInvalidConfiguration;  // HIP's page "HIP API 7.0 changes", kernel launch APIs
  }
  if (shared_bytes > kMaxSharedBytes) return Status::kInvalidValue;
  // ihipGraphAddKernelNode: "globalWorkSize > UINT32_MAX" is hipErrorInvalidConfiguration.
  constexpr std::uint64_t kMaxWorkItems = std::numeric_limits<std::uint32_t>::max();
  if (std::uint64_t{grid.x} * block.x > kMaxWorkItems || std::uint64_t{grid.y} * block.y > kMaxWorkItems ||
      std::uint64_t{grid.z} * block.z > kMaxWorkItems) {
    return Status::kInvalidConfiguration;
  }
  return kernel.arguments.size() == kernel.function->kernel->signature.argument_bytes ? Status::kSuccess
                                                                                      : Status::kInvalidValue;
}

// Copies one row after the other. If the sides overlap, which is an error of the program, the order of rows decides.
void copy_rows(const CopyParams& copy, MemoryAccess& memory) {
  if (empty(copy.extent)) return;
  for (std::size_t z = 0; z < copy.extent.depth; ++z) {
    for (std::size_t y = 0; y < copy.extent.height; ++y) {
      const Address from = copy.src.base + row_offset({copy.src, copy.src_pos}, y, z);
      const Address to = copy.dst.base + row_offset({copy.dst, copy.dst_pos}, y, z);
      const std::byte* source = memory.read(from, copy.extent.width);
      std::byte* target = memory.write(to, copy.extent.width);
      if (source == nullptr || target == nullptr) return;
      std::memmove(target, source, copy.extent.width);
    }
  }
}

template <class Element>
void fill(std::byte* row, std::size_t count, Element value) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(row + i * sizeof value, &value, sizeof value);
}

void set_rows(const MemsetParams& set, MemoryAccess& memory) {
  for (std::size_t y = 0; y < set.height; ++y) {
    std::byte* row = memory.write(set.dst + y * set.pitch, set.width * set.element_size);
    if (row == nullptr) return;
    switch (set.element_size) {
      case 1:
        fill(row, set.width, static_cast<std::uint8_t>(set.value));
        break;
      case 2:
        fill(row, set.width, static_cast<std::uint16_t>(set.value));
        break;
      default:
        fill(row, set.width, set.value);
        break;
    }
  }
}

Status validate(const BatchParams& batch, const AddressSpace& space) {
  if (batch.operations.empty() || batch.operations.size() > kMaxBatch) return Status::kInvalidValue;
  for (const MemoryOperation& operation : batch.operations) {
    if (operation.address == 0 || operation.address % operation.bytes != 0) return Status::kInvalidValue;
    if (operation.comparison > Comparison::kNor) return Status::kInvalidValue;
    if (leaves_allocation(space, operation.address, operation.bytes)) return Status::kInvalidValue;
  }
  return Status::kSuccess;
}

// The formulas of HIP's header.
bool compares(const MemoryOperation& wait, std::uint64_t value) {
  const std::uint64_t all = wait.bytes == 4 ? ~std::uint32_t{0} : ~std::uint64_t{0};
  const std::uint64_t masked = value & wait.mask & all;
  switch (wait.comparison) {
    case Comparison::kAtLeast:
      return masked >= wait.value;
    case Comparison::kEqual:
      return masked == wait.value;
    case Comparison::kAnd:
      return (masked & wait.value) != 0;
    case Comparison::kNor:
      break;
  }
  return (~(masked | (wait.value & wait.mask)) & all) != 0;
}

// A wait that is reached here without being satisfied can never be satisfied any more: see Runtime::ready().
void run_batch(const BatchParams& batch, MemoryAccess& memory) {
  for (const MemoryOperation& operation : batch.operations) {
    if (!operation.waits) {
      if (operation.bytes == 4) memory.store(operation.address, static_cast<std::uint32_t>(operation.value));
      if (operation.bytes == 8) memory.store(operation.address, operation.value);
    } else if (!satisfied(operation, memory.space())) {
      memory.fail(Status::kLaunchTimeOut, "waits for a value that nothing writes any more");
      return;
    }
  }
}

void run_wait(const SemaphoreWaitParams& wait, MemoryAccess& memory) {
  if (!satisfied(wait)) memory.fail(Status::kLaunchTimeOut, "waits for a semaphore that nothing signals any more");
}

Status run_kernel(const KernelParams& kernel, MemoryAccess& memory, std::string* why) {
  const Kernel& what = *kernel.function->kernel;
  if (kernel.function->unloaded) {
    *why = "the module of kernel '" + what.name + "' was unloaded";
    return Status::kLaunchFailure;
  }
  if (!what.semantics) {
    *why = "kernel '" + what.name + "' has no host semantics: the model cannot execute it";
    return Status::kNotSupported;
  }
  what.semantics(kernel.arguments, kernel.shape, memory);
  if (!memory.failure()) return Status::kSuccess;
  *why = memory.failure()->why;
  return memory.failure()->status;
}

}  // namespace

CopyParams linear_copy(Address dst, Address src, std::size_t bytes, CopyKind kind) {
  CopyParams copy;
  copy.linear = true;
  copy.dst = {dst, bytes, bytes, 1};
  copy.src = {src, bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

void keep_attributes(const NodeParams& from, NodeParams* to) {
  const auto* old = std::get_if<KernelParams>(&from);
  auto* kernel = std::get_if<KernelParams>(to);
  if (old == nullptr || kernel == nullptr) return;
  kernel->attributes = old->attributes;
  kernel->shape.cooperative = old->shape.cooperative;
}

bool satisfied(const MemoryOperation& wait, const AddressSpace& space) {
  const std::byte* bytes = space.peek(wait.address, wait.bytes);
  std::uint64_t value = 0;
  if (bytes != nullptr) std::memcpy(&value, bytes, wait.bytes);
  return bytes == nullptr || compares(wait, value);
}

bool satisfied(const SemaphoreWaitParams& wait) {
  return std::ranges::all_of(wait.list, [](const auto& each) { return each.semaphore->value >= each.value; });
}

bool one_dimensional(const CopyParams& copy) {
  return copy.extent.height <= 1 && copy.extent.depth <= 1;
}

std::string_view name_of(NodeType type) {
  constexpr std::string_view kNames[] = {"empty",         "kernel",     "memcpy",
                                         "memset",        "host",       "child graph",
                                         "event record",  "event wait", "memory allocation",
                                         "memory free",   "batch",      "semaphore signal",
                                         "semaphore wait"};
  return kNames[static_cast<std::size_t>(type)];
}

Status validate(const NodeParams& params, const AddressSpace& space) {
  switch (type_of(params)) {
    case NodeType::kKernel:
      return validate(std::get<KernelParams>(params));
    case NodeType::kCopy:
      return validate(std::get<CopyParams>(params), space);
    case NodeType::kMemset:
      return validate(std::get<MemsetParams>(params), space);
    case NodeType::kBatch:
      return validate(std::get<BatchParams>(params), space);
    case NodeType::kHost:
      return std::get<HostParams>(params).function == nullptr ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kEventRecord:
      return std::get<EventRecordParams>(params).event == 0 ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kEventWait:
      return std::get<EventWaitParams>(params).event == 0 ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kAllocate:
      return std::get<AllocateParams>(params).range == nullptr ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kFree:
      return std::get<FreeParams>(params).range == nullptr ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kSemaphoreSignal:
      return std::get<SemaphoreSignalParams>(params).list.empty() ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kSemaphoreWait:
      return std::get<SemaphoreWaitParams>(params).list.empty() ? Status::kInvalidValue : Status::kSuccess;
    case NodeType::kEmpty:
    case NodeType::kChild:
      break;
  }
  return Status::kSuccess;
}

Status apply(const NodeParams& params, MemoryAccess& memory, std::string* why) {
  Status status = Status::kSuccess;
  switch (type_of(params)) {
    case NodeType::kKernel:
      status = run_kernel(std::get<KernelParams>(params), memory, why);
      break;
    case NodeType::kCopy:
      copy_rows(std::get<CopyParams>(params), memory);
      break;
    case NodeType::kMemset:
      set_rows(std::get<MemsetParams>(params), memory);
      break;
    case NodeType::kBatch:
      run_batch(std::get<BatchParams>(params), memory);
      if (memory.failure()) *why = memory.failure()->why, status = memory.failure()->status;
      break;
    case NodeType::kSemaphoreSignal:
      for (const SemaphoreValue& each : std::get<SemaphoreSignalParams>(params).list)
        each.semaphore->value = each.value;
      break;
    case NodeType::kSemaphoreWait:
      run_wait(std::get<SemaphoreWaitParams>(params), memory);
      if (memory.failure()) *why = memory.failure()->why, status = memory.failure()->status;
      break;
    case NodeType::kHost:
      std::get<HostParams>(params).function(std::get<HostParams>(params).user_data);
      break;
    case NodeType::kEmpty:
    case NodeType::kChild:
    case NodeType::kEventRecord:
    case NodeType::kEventWait:
    case NodeType::kAllocate:  // the runtime runs memory nodes (graph_memory.cpp)
    case NodeType::kFree:
      break;
  }
  memory.finish();
  return status == Status::kSuccess && memory.bad() ? Status::kIllegalAddress : status;
}

}  // namespace model
