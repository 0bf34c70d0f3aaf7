// Functions that programs call around their work, libhgmodel.so only: properties in their older form, flags,
// contexts, names, and functions by name. Sources: HIP's header documentation; catch/unit/device, catch/unit/context.
//
// Flags are remembered and have no effect. A context stands for its device: the driver interface's current
// context of a thread is the runtime's current device of that thread.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "model/abi/context.h"
#include "model/abi/unsupported.h"

// The header's macros name the newer forms; the older symbols are defined here.
#undef hipGetDeviceProperties
#undef hipChooseDevice
#include <hip/hip_deprecated.h>

namespace model::abi {
namespace {

// The settings of the process. The instance's lock guards them.
struct Choices {
  unsigned device_flags = hipDeviceScheduleAuto;
  std::map<int, int> primary_contexts;  // by device: how often its context is retained
};
Choices& choices() {
  static Choices* const only = new Choices;
  return *only;
}

int device_of(hipCtx_t context) {
  return static_cast<int>((reinterpret_cast<std::uint64_t>(context) ^ kHandleTag) - 1);
}

// This thread's devices below the current one on the stack of contexts. No destructor: programs call HIP from theirs.
constexpr std::size_t kMaxContexts = 64;
thread_local int device_stack[kMaxContexts];
thread_local std::size_t devices_below = 0;

Status push_device(State& state, int device) {
  if (devices_below == kMaxContexts) return Status::kOutOfMemory;
  device_stack[devices_below++] = std::exchange(state.thread->device, device);
  return Status::kSuccess;
}

void to_older(const hipDeviceProp_tR0600& from, hipDeviceProp_tR0000* to) {
  *to = {};
  std::memcpy(to->name, from.name, sizeof to->name);
  std::memcpy(to->gcnArchName, from.gcnArchName, sizeof to->gcnArchName);
  to->totalGlobalMem = from.totalGlobalMem;
  to->sharedMemPerBlock = from.sharedMemPerBlock;
  to->regsPerBlock = from.regsPerBlock;
  to->warpSize = from.warpSize;
  to->maxThreadsPerBlock = from.maxThreadsPerBlock;
  std::copy_n(from.maxThreadsDim, 3, to->maxThreadsDim);
  std::copy_n(from.maxGridSize, 3, to->maxGridSize);
  to->clockRate = from.clockRate;
  to->totalConstMem = from.totalConstMem;
  to->major = from.major;
  to->minor = from.minor;
  to->multiProcessorCount = from.multiProcessorCount;
  to->maxThreadsPerMultiProcessor = from.maxThreadsPerMultiProcessor;
  to->concurrentKernels = from.concurrentKernels;
  to->maxSharedMemoryPerMultiProcessor = from.sharedMemPerMultiprocessor;
  to->canMapHostMemory = from.canMapHostMemory;
  to->gcnArch = 942;
  to->cooperativeLaunch = from.cooperativeLaunch;
  to->managedMemory = from.managedMemory;
}

hipError_t entry_point(const char* name, void** function) {
  if (name == nullptr || function == nullptr) return hipErrorInvalidValue;
  const bool known = is_supported(name);
  *function = known ? find_function(name) : nullptr;
  return known ? hipSuccess : hipErrorNotFound;
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* properties, int device) {
  if (properties == nullptr) return hipErrorInvalidValue;
  hipDeviceProp_tR0600 newer;
  const hipError_t status = hipGetDevicePropertiesR0600(&newer, device);
  if (status == hipSuccess) to_older(newer, properties);
  return status;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* properties, int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}

// The model's devices are all alike, so the first one is chosen.
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties) {
  return properties == nullptr ? hipErrorInvalidValue : to_hip(put(device, 0));
}
hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* properties) {
  return properties == nullptr ? hipErrorInvalidValue : to_hip(put(device, 0));
}
hipError_t hipChooseDevice(int* device, const hipDeviceProp_tR0000* properties) {
  return hipChooseDeviceR0000(device, properties);
}

hipError_t hipDeviceReset() {
  return teardown([](State& state) { return state.runtime.synchronize_device(); });
}

hipError_t hipSetDeviceFlags(unsigned int flags) {
  return call([&](State&) {
    constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
    if ((flags & ~kKnown) != 0) return Status::kInvalidValue;
    choices().device_flags = flags;
    return Status::kSuccess;
  });
}

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return call([&](State&) { return put(flags, choices().device_flags); });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return to_hip(put(config, hipFuncCachePreferNone));
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) {
  return hipSuccess;
}
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return to_hip(put(config, hipSharedMemBankSizeFourByte));
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) {
  return hipSuccess;
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  return call([&](State& state) {
    if (value == nullptr) return Status::kInvalidValue;
    if (!is_device(state, from) || !is_device(state, to) || from == to) return Status::kInvalidDevice;
    return put(value,
               attribute == hipDevP2PAttrHipArrayAccessSupported || attribute == hipDevP2PAttrPerformanceRank ? 0 : 1);
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int size, int device) {
  return call([&](State& state) {
    if (text == nullptr || size <= 0) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device + 1));
    return Status::kSuccess;
  });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](State& state) {
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (device == nullptr || text == nullptr) return Status::kInvalidValue;
    if (std::sscanf(text, "%4x:%4x:%4x.%4x", &domain, &bus, &slot, &function) != 4) return Status::kInvalidValue;
    if (bus == 0 || !is_device(state, static_cast<int>(bus) - 1)) return Status::kInvalidDevice;
    return put(device, static_cast<int>(bus) - 1);
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return call([&](State& state) {
    if (uuid == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    std::snprintf(uuid->bytes, sizeof uuid->bytes, "hgmodel-942-%03u", static_cast<unsigned char>(device));
    return Status::kSuccess;
  });
}

hipError_t hipExtGetLastError() {
  return hipGetLastError();
}
hipError_t hipExtMallocWithFlags(void** pointer, size_t size, unsigned int) {
  return hipMalloc(pointer, size);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t, const uint32_t*) {
  return hipStreamCreate(stream);
}
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t, unsigned int) {
  return pointer == nullptr                                     ? hipErrorInvalidValue
         : hipStreamQuery(stream) == hipErrorContextIsDestroyed ? hipErrorContextIsDestroyed
                                                                : hipSuccess;
}

hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* id) {
  return call_on(stream, [&](State&, const Stream& found) { return put(id, found.slot()); });
}

int hipGetStreamDeviceId(hipStream_t stream) {
  hipDevice_t device = -1;
  return hipStreamGetDevice(stream, &device) == hipSuccess ? device : -1;
}

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// There is no precompiled header, as in AMD's release builds.
void __hipGetPCH(const char** header, unsigned int* size) {
  *header = nullptr;
  *size = 0;
}

// For AMD's debugger, which asks for the name and the build of the library.
const char* amd_dbgapi_get_build_name() {
  return "hgmodel";
}
const char* amd_dbgapi_get_git_hash() {
  return "";
}
size_t amd_dbgapi_get_build_id() {
  return 0;
}

// Names. The tables with AMD's names for these numbers, which profilers use, are not public.
const char* hipApiName(uint32_t) {
  return "unknown";
}
const char* hipGetCmdName(unsigned) {
  return "unknown";
}
hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
  return to_hip(put(name, hipGetErrorName(error)));
}
hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  return to_hip(put(text, hipGetErrorString(error)));
}
const char* hipKernelNameRef(hipFunction_t function) {
  const Entry entry;
  if (entry.state() == nullptr) return nullptr;
  const Function* found = find(*entry.state(), function);
  return found == nullptr ? nullptr : found->kernel()->kernel->name.c_str();
}

// Functions by name. A function that the model lacks is reported as not found.
hipError_t hipGetProcAddress(const char* name, void** function, int, uint64_t,
                             hipDriverProcAddressQueryResult* result) {
  const hipError_t status = entry_point(name, function);
  if (result != nullptr) {
    *result = status == hipSuccess ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return status == hipErrorNotFound && result != nullptr ? hipSuccess : status;
}

hipError_t hipGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                  hipDriverEntryPointQueryResult* result) {
  const hipError_t status = entry_point(name, function);
  if (result != nullptr) {
    *result = status == hipSuccess ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
  }
  return status == hipErrorNotFound && result != nullptr ? hipSuccess : status;
}

// Contexts of the driver's interface.
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return call([&](State& state) {
    if (context == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    ++choices().primary_contexts[device];
    return put(context, context_of(device));
  });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    int& retained = choices().primary_contexts[device];
    if (retained > 0) --retained;
    return Status::kSuccess;
  });
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    if (flags == nullptr || active == nullptr) return Status::kInvalidValue;
    *flags = 0;
    return put(active, choices().primary_contexts[device] > 0 || device == state.thread->device ? 1 : 0);
  });
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return context == nullptr ? hipSuccess : hipSetDevice(device_of(context));
}
hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return call([&](State& state) {
    if (context == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    *context = context_of(device);
    return push_device(state, device);
  });
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return call([&](State& state) {
    const int device = device_of(context);
    return is_device(state, device) ? push_device(state, device) : Status::kInvalidValue;
  });
}
hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return call([&](State& state) {
    if (devices_below == 0) return Status::kInvalidValue;
    if (context != nullptr) *context = context_of(state.thread->device);
    state.thread->device = device_stack[--devices_below];
    return Status::kSuccess;
  });
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  return call([&](State& state) {
    const int device = device_of(context);
    if (!is_device(state, device)) return Status::kInvalidValue;
    if (device == state.thread->device && devices_below > 0) state.thread->device = device_stack[--devices_below];
    return Status::kSuccess;
  });
}
hipError_t hipCtxGetFlags(unsigned int* flags) {
  return hipGetDeviceFlags(flags);
}
hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return hipGetDevice(device);
}
hipError_t hipCtxSynchronize() {
  return hipDeviceSynchronize();
}

// AMD's library exports these half-precision conversions for compilers that lack them.
float __gnu_h2f_ieee(unsigned short bits) {
  _Float16 half = 0;
  std::memcpy(&half, &bits, sizeof half);
  return static_cast<float>(half);
}
unsigned short __gnu_f2h_ieee(float value) {
  const auto half = static_cast<_Float16>(value);
  unsigned short bits = 0;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

}  // extern "C"
