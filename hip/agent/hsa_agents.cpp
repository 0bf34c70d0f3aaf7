// HSA's functions about the system, its agents and their instruction set.
//
// Values are those of an MI300X where nothing speaks against it: a discrete GPU with large BAR, XNACK off. Compute
// units are fewer (see configure.h); caches and clocks are what its data sheet says, and mean nothing here. Images are
// reported, because the runtime derives the alignment of pitched memory from them, but none can be created.
#include <hsa/hsa_ext_image.h>

#include <cstdio>
#include <cstring>

#include "hip/agent/machine.h"

namespace agent {
namespace {

constexpr char kIsaName[] = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
constexpr u64 kIsaHandle = 0x10;
constexpr u32 kWaveSize = 64;
constexpr u32 kMaxWorkgroupItems = 1024;
constexpr u32 kQueuesMax = 128;
constexpr u64 kTicksPerSecond = 1000000000;  // of the system's clock: nanoseconds
constexpr u64 kDeviceTicksPerSecond = 100000000;

// Writes a value of the type that the attribute has; always succeeds.
template <class T>
hsa_status_t put(void* to, const T& value) {
  std::memcpy(to, &value, sizeof(value));
  return HSA_STATUS_SUCCESS;
}
hsa_status_t put_text(void* to, const char* text, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, text, std::min(std::strlen(text), size - 1));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t common_info(u32 index, u32 attribute, void* value) {
  const bool host = index == kHostAgent;
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      return put_text(value, host ? "hgcheck host" : "gfx942", 64);
    case HSA_AGENT_INFO_VENDOR_NAME:
      return put_text(value, host ? "CPU" : "AMD", 64);
    case HSA_AGENT_INFO_FEATURE:
      return put<u32>(value, host ? 0 : HSA_AGENT_FEATURE_KERNEL_DISPATCH);
    case HSA_AGENT_INFO_MACHINE_MODEL:
      return put<u32>(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE:
      return put<u32>(value, host ? HSA_PROFILE_FULL : HSA_PROFILE_BASE);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      return put<u32>(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_NODE:
      return put<u32>(value, index);
    case HSA_AGENT_INFO_DEVICE:
      return put<u32>(value, host ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU);
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
      return put<u16>(value, 1);
    case HSA_AGENT_INFO_ISA:
      return put(value, hsa_isa_t{host ? 0 : kIsaHandle});
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const u32 sizes[4] = {32 * 1024, 4 * 1024 * 1024, 256 * 1024 * 1024, 0};
      return put(value, sizes);
    }
    case HSA_AGENT_INFO_EXTENSIONS: {
      u8 bits[128] = {};
      if (!host) bits[0] = 1u << HSA_EXTENSION_IMAGES;
      return put(value, bits);
    }
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t kernel_info(u32 index, u32 attribute, void* value) {
  const bool host = index == kHostAgent;
  switch (attribute) {
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      return put<bool>(value, true);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
      return put<u32>(value, kWaveSize);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const u16 sizes[3] = {kMaxWorkgroupItems, kMaxWorkgroupItems, kMaxWorkgroupItems};
      return put(value, sizes);
    }
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
      return put<u32>(value, kMaxWorkgroupItems);
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      return put(value, hsa_dim3_t{~u32{0}, ~u32{0}, ~u32{0}});
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
      return put<u32>(value, ~u32{0});
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
      return put<u32>(value, 32);
    case HSA_AGENT_INFO_QUEUES_MAX:
      return put<u32>(value, host ? 0 : kQueuesMax);
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
      return put<u32>(value, host ? 0 : Queue::kMinPackets);
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
      return put<u32>(value, host ? 0 : Queue::kMaxPackets);
    case HSA_AGENT_INFO_QUEUE_TYPE:
      return put<u32>(value, HSA_QUEUE_TYPE_MULTI);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t amd_identity(const Machine& machine, u32 index, u32 attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_CHIP_ID:
      return put<u32>(value, index == kHostAgent ? 0 : 0x74a1);
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
      return put<u32>(value, index);
    case HSA_AMD_AGENT_INFO_BDFID:
      return put<u32>(value, index << 8);
    case HSA_AMD_AGENT_INFO_DOMAIN:
      return put<u32>(value, 0);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return put_text(value, index == kHostAgent ? "hgcheck host" : "AMD Instinct MI300X (hgcheck)", 64);
    case HSA_AMD_AGENT_INFO_UUID: {
      char text[24];
      std::snprintf(text, sizeof(text), "GPU-%016x", 0x942000u + index);
      return put_text(value, index == kHostAgent ? "CPU-XX" : text, 21);
    }
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
      return put<u32>(value, 1);
    case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID:
      return put<u32>(value, 141);
    case HSA_AMD_AGENT_INFO_UCODE_VERSION:
    case HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION:
      return put<u32>(value, 1);
    case HSA_AMD_AGENT_INFO_DRIVER_UID:
      return put<u32>(value, 128 + index);
    case HSA_AMD_AGENT_INFO_NEAREST_CPU:
      return put(value, Machine::agent_handle(kHostAgent));
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
      return put<u32>(value, machine.compute_units());
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t amd_abilities(u32 attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return put<u32>(value, 128);
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
      return put<u32>(value, 2100);
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
      return put<u32>(value, 4);
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
      return put<u32>(value, 8192);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
      return put<u32>(value, 1300);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
      return put<u32>(value, kWavesPerComputeUnit);
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
      return put<u32>(value, 4);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    case HSA_AMD_AGENT_INFO_NUM_XCC:
      return put<u32>(value, 1);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      return put(value, hsa_amd_hdp_flush_t{nullptr, nullptr});
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return put<bool>(value, true);
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      return put<bool>(value, false);
    case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
      return put<u64>(value, kDeviceTicksPerSecond);
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG:
      return put<u32>(value, kEngines);
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG:
      return put<u32>(value, 0);
    case HSA_AMD_AGENT_INFO_IOMMU_SUPPORT:
      return put<u32>(value, HSA_IOMMU_SUPPORT_NONE);
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES: {
      const u8 bits[8] = {};
      return put(value, bits);
    }
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
      return put<u64>(value, u64{4} << 30);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t image_info(u32 attribute, void* value) {
  constexpr u32 kLargest = 16384;
  switch (attribute) {
    case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
      return put<u32>(value, kLargest);
    case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
      return put<u32>(value, ~u32{0});
    case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: {
      const u32 sizes[2] = {kLargest, kLargest};
      return put(value, sizes);
    }
    case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS: {
      const u32 sizes[3] = {kLargest, kLargest, kLargest / 2};
      return put(value, sizes);
    }
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
      return put<u32>(value, 128);
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
      return put<u32>(value, 64);
    case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
      return put<u32>(value, 16);
    case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT:
      return put<u32>(value, 256);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t agent_info(Machine& machine, u32 index, u32 attribute, void* value) {
  if (attribute == HSA_AMD_AGENT_INFO_MEMORY_AVAIL) {
    const u64 size = index == kHostAgent ? kHostMemoryBytes : kDeviceMemoryBytes;
    return put<u64>(value, size - std::min(size, machine.allocated(index)));
  }
  if (attribute == HSA_AMD_AGENT_INFO_CLOCK_COUNTERS) {
    const u64 now = Machine::now();
    return put(value, hsa_amd_clock_counters_t{now, now, now, kTicksPerSecond});
  }
  hsa_status_t status = common_info(index, attribute, value);
  if (status != HSA_STATUS_SUCCESS) status = kernel_info(index, attribute, value);
  if (status != HSA_STATUS_SUCCESS) status = amd_identity(machine, index, attribute, value);
  if (status != HSA_STATUS_SUCCESS) status = amd_abilities(attribute, value);
  if (status != HSA_STATUS_SUCCESS && index != kHostAgent) status = image_info(attribute, value);
  return status;
}

hsa_status_t system_info(u32 attribute, void* value) {
  switch (attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR:
      return put<u16>(value, 1);
    case HSA_SYSTEM_INFO_VERSION_MINOR:
      return put<u16>(value, 18);
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR:
      return put<u16>(value, 9);
    case HSA_SYSTEM_INFO_TIMESTAMP:
      return put<u64>(value, Machine::now());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
      return put<u64>(value, kTicksPerSecond);
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
      return put<u64>(value, ~u64{0});
    case HSA_SYSTEM_INFO_ENDIANNESS:
      return put<u32>(value, HSA_ENDIANNESS_LITTLE);
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
      return put<u32>(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_SYSTEM_INFO_EXTENSIONS: {
      u8 bits[128] = {};
      bits[0] = 1u << HSA_EXTENSION_IMAGES;
      return put(value, bits);
    }
    case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
      return put<const char*>(value, "hgcheck");
    case HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED:
      return put<bool>(value, true);
    case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    case HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED:
    case HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_XNACK_ENABLED:
      return put<bool>(value, false);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace
}  // namespace agent

using agent::Machine;
using agent::u32;

extern "C" {

hsa_status_t hsa_init() {
  return Machine::get().init();
}

hsa_status_t hsa_shut_down() {
  return Machine::get().shut_down();
}

hsa_status_t hsa_status_string(hsa_status_t status, const char** text) {
  if (text == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (static_cast<int>(status)) {
    case HSA_STATUS_SUCCESS:
      *text = "HSA_STATUS_SUCCESS: The function has been executed successfully.";
      break;
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
      *text = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.";
      break;
    case HSA_STATUS_ERROR_EXCEPTION:
      *text = "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.";
      break;
    case HSA_STATUS_ERROR_MEMORY_FAULT:
      *text = "HSA_STATUS_ERROR_MEMORY_FAULT: An agent accessed memory that is not there.";
      break;
    case HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION:
      *text = "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal instruction.";
      break;
    case HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:
      *text = "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: An access to an address that is not aligned.";
      break;
    default:
      *text = "an HSA error of the software gfx942";
      break;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return agent::system_info(static_cast<u32>(attribute), value);
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t /*minor*/, bool* result) {
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = extension == HSA_EXTENSION_IMAGES && major == 1;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t /*agent*/, uint16_t major, uint16_t minor,
                                           bool* result) {
  return hsa_system_extension_supported(extension, major, minor, result);
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t /*extension*/, uint16_t /*major*/, size_t size,
                                                  void* table) {
  if (table == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // AMD's runtime asks for the loader's table, and does without what it does not get: names of files for debuggers.
  std::memset(table, 0, size);
  return HSA_STATUS_ERROR;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void*), void* data) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (u32 i = 0; i <= machine.agents(); ++i) {
    const hsa_status_t status = callback(Machine::agent_handle(i), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void* value) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  if (!machine.agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return agent::agent_info(machine, index, static_cast<u32>(attribute), value);
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t, void*), void* data) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  if (!machine.agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return index == agent::kHostAgent ? HSA_STATUS_SUCCESS : callback({agent::kIsaHandle}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (isa.handle != agent::kIsaHandle) return HSA_STATUS_ERROR_INVALID_ISA;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
      return agent::put<u32>(value, sizeof(agent::kIsaName));
    case HSA_ISA_INFO_NAME:
      std::memcpy(value, agent::kIsaName, sizeof(agent::kIsaName));
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void* data) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return machine.faults().set_event_handler(callback, data);
}

hsa_status_t hsa_amd_enable_logging(uint8_t* /*flags*/, void* /*file*/) {
  return HSA_STATUS_SUCCESS;  // there is nothing to log
}

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t /*agent*/, hsa_amd_coherency_type_t /*type*/) {
  return HSA_STATUS_SUCCESS;  // memory is always coherent here
}

hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t /*agent*/, size_t /*threshold*/) {
  return HSA_STATUS_SUCCESS;  // scratch belongs to waves here; nothing is held back
}
}
