// Devices, errors and versions. Sources: HIP's header documentation. Properties that a program can observe have the
// values of an MI300X (gfx942); all others are zero.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "model/abi/context.h"

namespace model::abi {
namespace {

constexpr std::string_view kDeviceName = "hgcheck model of gfx942";
constexpr int kThreadsPerBlock = 1024;
constexpr int kWavefront = 64;
constexpr int kSharedBytes = 64 * 1024;
constexpr int kComputeUnits = 304;
constexpr int kMajor = 9, kMinor = 4;
constexpr int kClockKhz = 2'100'000;
constexpr int kMaxGrid = 2147483647;
constexpr int kRegisters = 65536;  // of a compute unit
constexpr int kThreadsPerUnit = 2048;

void copy_text(std::string_view text, char* out, std::size_t size) {
  if (size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

// The device attributes that are numbers. An attribute of the header that is not listed here is 0, as AMD's runtime
// answers for features that its devices lack.
struct AttributeValue {
  hipDeviceAttribute_t attribute;
  int value;
};
constexpr AttributeValue kAttributes[] = {
    {hipDeviceAttributeMaxThreadsPerBlock, kThreadsPerBlock},
    {hipDeviceAttributeMaxBlockDimX, kThreadsPerBlock},
    {hipDeviceAttributeMaxBlockDimY, kThreadsPerBlock},
    {hipDeviceAttributeMaxBlockDimZ, kThreadsPerBlock},
    {hipDeviceAttributeMaxGridDimX, kMaxGrid},
    {hipDeviceAttributeMaxGridDimY, 65536},
    {hipDeviceAttributeMaxGridDimZ, 65536},
    {hipDeviceAttributeWarpSize, kWavefront},
    {hipDeviceAttributeMaxSharedMemoryPerBlock, kSharedBytes},
    {hipDeviceAttributeSharedMemPerBlockOptin, kSharedBytes},
    {hipDeviceAttributeSharedMemPerMultiprocessor, kSharedBytes},
    {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, kSharedBytes},
    {hipDeviceAttributeTotalConstantMemory, kMaxGrid},
    {hipDeviceAttributeMaxRegistersPerBlock, kRegisters},
    {hipDeviceAttributeMaxRegistersPerMultiprocessor, kRegisters},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, kThreadsPerUnit},
    {hipDeviceAttributeMaxBlocksPerMultiProcessor, 2},
    {hipDeviceAttributeMultiprocessorCount, kComputeUnits},
    {hipDeviceAttributePhysicalMultiProcessorCount, kComputeUnits},
    {hipDeviceAttributeComputeCapabilityMajor, kMajor},
    {hipDeviceAttributeComputeCapabilityMinor, kMinor},
    {hipDeviceAttributeClockRate, kClockKhz},
    {hipDeviceAttributeMemoryClockRate, 1'300'000},
    {hipDeviceAttributeMemoryBusWidth, 8192},
    {hipDeviceAttributeL2CacheSize, 4 << 20},
    {hipDeviceAttributeMaxPitch, kMaxGrid},
    {hipDeviceAttributeTextureAlignment, 256},
    {hipDeviceAttributeTexturePitchAlignment, 256},
    {hipDeviceAttributeManagedMemory, 1},
    {hipDeviceAttributeConcurrentManagedAccess, 1},
    {hipDeviceAttributeConcurrentKernels, 1},
    {hipDeviceAttributeCanMapHostMemory, 1},
    {hipDeviceAttributeUnifiedAddressing, 1},
    {hipDeviceAttributeHostRegisterSupported, 1},
    {hipDeviceAttributeCanUseHostPointerForRegisteredMem, 1},
    {hipDeviceAttributeCooperativeLaunch, 1},
    {hipDeviceAttributeStreamPrioritiesSupported, 1},
    {hipDeviceAttributeMemoryPoolsSupported, 1},
    {hipDeviceAttributeAsyncEngineCount, 2},
    {hipDeviceAttributeIsLargeBar, 1},
    {hipDeviceAttributeVirtualMemoryManagementSupported, 1},
};

bool find_attribute(hipDeviceAttribute_t attribute, int* value) {
  const int number = static_cast<int>(attribute);
  const bool known = (number >= hipDeviceAttributeCudaCompatibleBegin && number < hipDeviceAttributeHostNumaId) ||
                     (number >= hipDeviceAttributeAmdSpecificBegin && number <= hipDeviceAttributeWallClockRate);
  if (!known) return false;
  *value = 0;
  for (const AttributeValue& one : kAttributes) {
    if (one.attribute == attribute) *value = one.value;
  }
  return true;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipInit(unsigned int flags) {
  return call([&](State&) { return flags == 0 ? Status::kSuccess : Status::kInvalidValue; });
}

hipError_t hipGetDeviceCount(int* count) {
  return call([&](State& state) { return put(count, state.runtime.options().devices); });
}

hipError_t hipGetDevice(int* device) {
  return call([&](State& state) { return put(device, state.thread->device); });
}

hipError_t hipSetDevice(int device) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    state.thread->device = device;
    return Status::kSuccess;
  });
}

hipError_t hipDeviceSynchronize() {
  return call([](State& state) {
    const Status refused = state.runtime.refuse_during_any_capture();
    return refused != Status::kSuccess ? refused : state.runtime.synchronize_device(state.thread->device);
  });
}

// Asking for the sticky error of a fault does not reset it.
hipError_t hipGetLastError() {
  const Entry entry;
  if (entry.state() == nullptr) return entry.refusal();
  const hipError_t last = std::exchange(entry.state()->thread->last_error, hipSuccess);
  const Status sticky = entry.state()->runtime.sticky();
  return sticky != Status::kSuccess ? to_hip(sticky) : last;
}

hipError_t hipPeekAtLastError() {
  const Entry entry;
  if (entry.state() == nullptr) return entry.refusal();
  const Status sticky = entry.state()->runtime.sticky();
  return sticky != Status::kSuccess ? to_hip(sticky) : entry.state()->thread->last_error;
}

hipError_t hipRuntimeGetVersion(int* version) {
  return call([&](State&) { return put(version, HIP_VERSION); });
}

hipError_t hipDriverGetVersion(int* version) {
  return call([&](State&) { return put(version, HIP_VERSION); });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return call([&](State& state) {
    if (device == nullptr) return Status::kInvalidValue;
    if (!is_device(state, ordinal)) return Status::kInvalidDevice;
    return put(device, ordinal);
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    if (name == nullptr || length <= 0) return Status::kInvalidValue;
    copy_text(kDeviceName, name, static_cast<std::size_t>(length));
    return Status::kSuccess;
  });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    return put(bytes, state.runtime.options().memory.capacity);
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    if (major == nullptr || minor == nullptr) return Status::kInvalidValue;
    *major = kMajor, *minor = kMinor;
    return Status::kSuccess;
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return call([&](State& state) {
    if (value == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    return find_attribute(attribute, value) ? Status::kSuccess : Status::kInvalidValue;
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return call([&](State& state) {
    if (properties == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    *properties = {};
    copy_text(kDeviceName, properties->name, sizeof properties->name);
    copy_text("gfx942:sramecc+:xnack-", properties->gcnArchName, sizeof properties->gcnArchName);
    properties->totalGlobalMem = state.runtime.options().memory.capacity;
    properties->sharedMemPerBlock = kSharedBytes;
    properties->warpSize = kWavefront;
    properties->maxThreadsPerBlock = kThreadsPerBlock;
    for (int& dimension : properties->maxThreadsDim) dimension = kThreadsPerBlock;
    properties->maxGridSize[0] = kMaxGrid;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65536;
    properties->major = kMajor;
    properties->minor = kMinor;
    properties->multiProcessorCount = kComputeUnits;
    properties->clockRate = kClockKhz;
    properties->canMapHostMemory = properties->unifiedAddressing = properties->managedMemory = 1;
    properties->concurrentKernels = properties->concurrentManagedAccess = properties->cooperativeLaunch = 1;
    properties->hostRegisterSupported = properties->canUseHostPointerForRegisteredMem = 1;
    properties->memoryPoolsSupported = properties->streamPrioritiesSupported = properties->isLargeBar = 1;
    properties->totalConstMem = kMaxGrid;
    properties->memPitch = kMaxGrid;
    properties->regsPerBlock = properties->regsPerMultiprocessor = kRegisters;
    properties->maxThreadsPerMultiProcessor = kThreadsPerUnit;
    properties->maxBlocksPerMultiProcessor = 2;
    properties->sharedMemPerMultiprocessor = properties->maxSharedMemoryPerMultiProcessor = kSharedBytes;
    properties->sharedMemPerBlockOptin = kSharedBytes;
    properties->textureAlignment = properties->texturePitchAlignment = 256;
    properties->l2CacheSize = 4 << 20;
    properties->memoryBusWidth = 8192;
    properties->memoryClockRate = 1'300'000;
    properties->asyncEngineCount = 2;
    properties->pciBusID = device + 1;
    return Status::kSuccess;
  });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](State&) {
    if (least != nullptr) *least = kLowestPriority;
    if (greatest != nullptr) *greatest = kHighestPriority;
    return Status::kSuccess;
  });
}

// Limits are remembered and have no effect. No documentation says that a capture forbids the call.
hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  return call([&](State& state) {
    const auto found = state.limits.find(limit);
    return found == state.limits.end() ? Status::kInvalidValue : put(value, found->second);
  });
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  return call([&](State& state) {
    const auto found = state.limits.find(limit);
    if (found == state.limits.end()) return Status::kInvalidValue;
    found->second = value;
    return Status::kSuccess;
  });
}

HGMODEL_FUNCTIONS_END
