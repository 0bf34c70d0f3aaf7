// The contract is in the header. Sources: hipKernelNodeParams and hipModuleLaunchKernel in HIP's header documentation,
// ModuleLaunchKernelNegativeParameters ("Passing kernel_args and extra simultaneously", "Invalid extra").
#include "model/abi/convert.h"

#include <cstring>

namespace model::abi {
namespace {

// The kernel arguments that a getter returns, and the pointers to them.
struct KernelGetter {
  std::vector<std::byte> arguments;
  std::vector<void*> kernel_params;
};

// HIP_LAUNCH_PARAM_BUFFER_POINTER, p, HIP_LAUNCH_PARAM_BUFFER_SIZE, &n, HIP_LAUNCH_PARAM_END; the pairs in any order.
Status read_extra(void* const* extra, const std::byte** buffer, std::size_t* size) {
  const std::size_t* size_at = nullptr;
  std::size_t i = 0;
  for (; i < kMaxExtraEntries && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
      *buffer = static_cast<const std::byte*>(extra[i + 1]);
    } else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
      size_at = static_cast<const std::size_t*>(extra[i + 1]);
    } else {
      return Status::kInvalidValue;
    }
  }
  if (i >= kMaxExtraEntries || *buffer == nullptr || size_at == nullptr) return Status::kInvalidValue;
  return put(size, *size_at);
}

struct DriverSide {
  hipMemoryType type;
  const void* host;
  hipDeviceptr_t device;
  hipArray_t array;
};

// Accepts a null address: validate() refuses it later, as for every copy.
Status base_of(const DriverSide& side, Address* base) {
  if (side.type == hipMemoryTypeArray) return side.array == nullptr ? Status::kInvalidValue : Status::kNotSupported;
  const bool known = side.type == hipMemoryTypeHost || side.type == hipMemoryTypeDevice ||
                     side.type == hipMemoryTypeUnified || side.type == hipMemoryTypeManaged;
  if (!known) return Status::kInvalidValue;
  return put(base, to_address(side.type == hipMemoryTypeHost ? side.host : side.device));
}

CopyKind kind_of(hipMemoryType dst, hipMemoryType src) {
  if (dst != hipMemoryTypeHost && dst != hipMemoryTypeDevice) return CopyKind::kDefault;
  if (src != hipMemoryTypeHost && src != hipMemoryTypeDevice) return CopyKind::kDefault;
  if (src == hipMemoryTypeHost) return dst == hipMemoryTypeHost ? CopyKind::kHostToHost : CopyKind::kHostToDevice;
  return dst == hipMemoryTypeHost ? CopyKind::kDeviceToHost : CopyKind::kDeviceToDevice;
}

}  // namespace

Status from_hip(const hipMemcpy3DParms* params, CopyParams* out) {
  if (params == nullptr) return Status::kInvalidValue;
  if (params->srcArray != nullptr && params->srcPtr.ptr != nullptr) return Status::kInvalidValue;
  if (params->dstArray != nullptr && params->dstPtr.ptr != nullptr) return Status::kInvalidValue;
  if (params->srcArray != nullptr || params->dstArray != nullptr) return Status::kNotSupported;
  out->linear = false;
  out->dst = {to_address(params->dstPtr.ptr), params->dstPtr.pitch, params->dstPtr.xsize, params->dstPtr.ysize};
  out->src = {to_address(params->srcPtr.ptr), params->srcPtr.pitch, params->srcPtr.xsize, params->srcPtr.ysize};
  out->dst_pos = {params->dstPos.x, params->dstPos.y, params->dstPos.z};
  out->src_pos = {params->srcPos.x, params->srcPos.y, params->srcPos.z};
  out->extent = {params->extent.width, params->extent.height, params->extent.depth};
  out->kind = static_cast<CopyKind>(params->kind);
  return Status::kSuccess;
}

hipMemcpy3DParms to_hip(const CopyParams& copy) {
  hipMemcpy3DParms params{};
  params.dstPtr = {to_pointer(copy.dst.base), copy.dst.pitch, copy.dst.xsize, copy.dst.ysize};
  params.srcPtr = {to_pointer(copy.src.base), copy.src.pitch, copy.src.xsize, copy.src.ysize};
  params.dstPos = {copy.dst_pos.x, copy.dst_pos.y, copy.dst_pos.z};
  params.srcPos = {copy.src_pos.x, copy.src_pos.y, copy.src_pos.z};
  params.extent = {copy.extent.width, copy.extent.height, copy.extent.depth};
  params.kind = static_cast<hipMemcpyKind>(copy.kind);
  return params;
}

Status from_hip(const HIP_MEMCPY3D* params, CopyParams* out) {
  if (params == nullptr) return Status::kInvalidValue;
  const DriverSide dst{params->dstMemoryType, params->dstHost, params->dstDevice, params->dstArray};
  const DriverSide src{params->srcMemoryType, params->srcHost, params->srcDevice, params->srcArray};
  Address dst_base = 0, src_base = 0;
  if (const Status status = base_of(dst, &dst_base); status != Status::kSuccess) return status;
  if (const Status status = base_of(src, &src_base); status != Status::kSuccess) return status;
  out->linear = false;
  out->dst = {dst_base, params->dstPitch, params->WidthInBytes, params->dstHeight};
  out->src = {src_base, params->srcPitch, params->WidthInBytes, params->srcHeight};
  out->dst_pos = {params->dstXInBytes, params->dstY, params->dstZ};
  out->src_pos = {params->srcXInBytes, params->srcY, params->srcZ};
  out->extent = {params->WidthInBytes, params->Height, params->Depth};
  out->kind = kind_of(dst.type, src.type);
  return Status::kSuccess;
}

HIP_MEMCPY3D to_driver(const CopyParams& copy) {
  HIP_MEMCPY3D params{};
  const bool unified = copy.kind == CopyKind::kDefault;
  const bool to_host = copy.kind == CopyKind::kHostToHost || copy.kind == CopyKind::kDeviceToHost;
  const bool from_host = copy.kind == CopyKind::kHostToHost || copy.kind == CopyKind::kHostToDevice;
  params.dstMemoryType = unified ? hipMemoryTypeUnified : to_host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  params.srcMemoryType = unified ? hipMemoryTypeUnified : from_host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  (to_host ? params.dstHost : params.dstDevice) = to_pointer(copy.dst.base);
  if (from_host) {
    params.srcHost = to_pointer(copy.src.base);
  } else {
    params.srcDevice = to_pointer(copy.src.base);
  }
  params.dstPitch = copy.dst.pitch, params.dstHeight = copy.dst.ysize;
  params.srcPitch = copy.src.pitch, params.srcHeight = copy.src.ysize;
  params.dstXInBytes = copy.dst_pos.x, params.dstY = copy.dst_pos.y, params.dstZ = copy.dst_pos.z;
  params.srcXInBytes = copy.src_pos.x, params.srcY = copy.src_pos.y, params.srcZ = copy.src_pos.z;
  params.WidthInBytes = copy.extent.width, params.Height = copy.extent.height, params.Depth = copy.extent.depth;
  return params;
}

Status from_hip(const hipMemsetParams* params, MemsetParams* out) {
  if (params == nullptr) return Status::kInvalidValue;
  *out = {to_address(params->dst), params->pitch, params->value, params->elementSize, params->width, params->height};
  return Status::kSuccess;
}

hipMemsetParams to_hip(const MemsetParams& set) {
  hipMemsetParams params{};
  params.dst = to_pointer(set.dst);
  params.pitch = set.pitch;
  params.value = set.value;
  params.elementSize = set.element_size;
  params.width = set.width;
  params.height = set.height;
  return params;
}

Status from_hip(const hipHostNodeParams* params, HostParams* out) {
  if (params == nullptr) return Status::kInvalidValue;
  *out = {params->fn, params->userData};
  return Status::kSuccess;
}

hipHostNodeParams to_hip(const HostParams& host) {
  return {host.function, host.user_data};
}

Status pack(const Kernel& kernel, void* const* kernel_params, void* const* extra, std::vector<std::byte>* out) {
  const Signature& signature = kernel.signature;
  if (kernel_params != nullptr && extra != nullptr) return Status::kInvalidValue;
  out->assign(signature.argument_bytes, std::byte{0});
  if (signature.argument_bytes == 0 && extra == nullptr) return Status::kSuccess;
  if (extra != nullptr) {
    const std::byte* buffer = nullptr;
    std::size_t size = 0;
    if (const Status status = read_extra(extra, &buffer, &size); status != Status::kSuccess) return status;
    if (size < signature.argument_bytes) return Status::kInvalidValue;
    std::memcpy(out->data(), buffer, signature.argument_bytes);
    return Status::kSuccess;
  }
  if (kernel_params == nullptr) return Status::kInvalidValue;
  for (std::size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument& argument = signature.arguments[i];
    if (kernel_params[i] == nullptr) return Status::kInvalidValue;
    std::memcpy(out->data() + argument.offset, kernel_params[i], argument.size);
  }
  return Status::kSuccess;
}

int active_blocks(const Kernel& kernel, int block, std::size_t dynamic_shared) {
  constexpr int kWavesOfUnit = 32, kLanesOfWave = 64;
  const int waves = (block + kLanesOfWave - 1) / kLanesOfWave;
  const std::size_t shared = kernel.resources.shared_bytes + dynamic_shared;
  const std::size_t by_shared = shared == 0 ? kWavesOfUnit : kSharedOfUnit / shared;
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(kWavesOfUnit / waves), by_shared));
}

bool runs_at_once(const Kernel& kernel, const LaunchShape& shape) {
  if (!shape.cooperative) return true;
  const std::uint64_t plane = std::uint64_t{shape.block.x} * shape.block.y;
  if (plane == 0 || plane > kMaxBlock || shape.block.z == 0 || plane * shape.block.z > kMaxBlock) return true;
  const int block = static_cast<int>(plane * shape.block.z);
  const auto most =
      static_cast<std::uint64_t>(kUnits) * static_cast<std::uint64_t>(active_blocks(kernel, block, shape.shared_bytes));
  const std::uint64_t row = std::uint64_t{shape.grid.x} * shape.grid.y;
  return row <= most && row * shape.grid.z <= most;
}

// `function` is a handle of a module's kernel, or the host function that stands for a kernel of the program's own code.
const Function* find_kernel(State& state, const void* function, int device, Status* status) {
  if (const Function* found = state.runtime.find_function(to_id(function))) return found;
  if (state.registered_kernel != nullptr) return state.registered_kernel(state, function, device, status);
  *status = Status::kInvalidDeviceFunction;
  const auto found = state.kernels.find({function, device});
  return found == state.kernels.end() ? nullptr : state.runtime.find_function(found->second);
}
const Function* find_kernel(State& state, const void* function) {
  Status status = Status::kSuccess;
  return find_kernel(state, function, state.thread->device, &status);
}

// The host function that a kernel is read back by; null: its handle.
static const void* host_function_of(const State& state, ObjectId kernel) {
  if (state.host_function_of_kernel != nullptr) return state.host_function_of_kernel(kernel);
  const auto found = std::ranges::find(state.kernels, kernel, [](const auto& entry) { return entry.second; });
  return found == state.kernels.end() ? nullptr : found->first.first;
}

Status from_hip(State& state, const hipKernelNodeParams* params, KernelParams* out) {
  // hipGraphAddKernelNode.cc: a null function is hipErrorInvalidValue on AMD's devices.
  if (params == nullptr || params->func == nullptr) return Status::kInvalidValue;
  const Function* function = find_kernel(state, params->func);
  if (function == nullptr) return Status::kInvalidDeviceFunction;
  out->function = function->kernel();
  out->shape = {{params->gridDim.x, params->gridDim.y, params->gridDim.z},
                {params->blockDim.x, params->blockDim.y, params->blockDim.z},
                params->sharedMemBytes};
  return pack(*out->function->kernel, params->kernelParams, params->extra, &out->arguments);
}

hipKernelNodeParams to_hip(const State& state, Node& node) {
  const auto& kernel = std::get<KernelParams>(node.params());
  if (node.attachment() == nullptr) {
    auto getter = std::make_shared<KernelGetter>();
    getter->arguments = kernel.arguments;
    for (const Argument& argument : kernel.function->kernel->signature.arguments) {
      getter->kernel_params.push_back(getter->arguments.data() + argument.offset);
    }
    getter->kernel_params.push_back(nullptr);  // so that data() is never null
    node.attach(getter);
  }
  auto* getter = static_cast<KernelGetter*>(node.attachment().get());
  const auto& [grid, block, shared_bytes, cooperative] = kernel.shape;
  hipKernelNodeParams params{};
  const ObjectId function = kernel.function->unloaded ? 0 : kernel.function->id;
  const void* host = host_function_of(state, function);
  params.func = host != nullptr ? const_cast<void*>(host) : to_handle<hipFunction_t>(function);
  params.gridDim = dim3(grid.x, grid.y, grid.z);
  params.blockDim = dim3(block.x, block.y, block.z);
  params.sharedMemBytes = shared_bytes;
  params.kernelParams = getter->kernel_params.data();
  return params;
}

}  // namespace model::abi
