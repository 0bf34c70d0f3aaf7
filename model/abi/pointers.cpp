// The attributes of a pointer, libhgmodel.so only. Sources: HIP's header documentation; catch/unit/memory:
// hipPointerGetAttribute.cc, hipDrvPtrGetAttributes.cc.
#include "model/abi/context.h"

namespace model::abi {
namespace {

template <class T>
Status put(void* out, const T& value) {
  *static_cast<T*>(out) = value;
  return Status::kSuccess;
}

hipMemoryType type_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return hipMemoryTypeDevice;
    case MemoryKind::kManaged:
      return hipMemoryTypeManaged;
    case MemoryKind::kPinned:
    case MemoryKind::kPageable:
      break;
  }
  return hipMemoryTypeHost;
}

Status attribute(const Allocation& of, void* pointer, hipPointer_attribute which, void* out) {
  switch (which) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(out, type_of(of.kind));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(out, pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      if (of.kind == MemoryKind::kDevice) return Status::kInvalidValue;
      return put(out, pointer);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
      return put<unsigned long long>(out, of.id);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<int>(out, of.kind == MemoryKind::kManaged ? 1 : 0);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(out, of.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(out, to_pointer(of.base));
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put<std::size_t>(out, of.size);
    case HIP_POINTER_ATTRIBUTE_MAPPED:
      return put<int>(out, 1);
    default:
      return Status::kNotSupported;
  }
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute which, hipDeviceptr_t pointer) {
  return call([&](State& state) {
    const Allocation* found = state.runtime.memory().find(to_address(pointer));
    if (data == nullptr || found == nullptr) return Status::kInvalidValue;
    return attribute(*found, pointer, which, data);
  });
}

// The attributes of a pointer that does not belong to HIP are zero, not an error.
hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* which, void** data,
                                      hipDeviceptr_t pointer) {
  return call([&](State& state) {
    if (count == 0 || which == nullptr || data == nullptr) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find(to_address(pointer));
    for (unsigned i = 0; i < count; ++i) {
      if (data[i] == nullptr) return Status::kInvalidValue;
      if (found == nullptr || attribute(*found, pointer, which[i], data[i]) != Status::kSuccess) {
        *static_cast<int*>(data[i]) = 0;
      }
    }
    return Status::kSuccess;
  });
}

}  // extern "C"
