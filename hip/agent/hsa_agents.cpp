// HSA's functions about the system, its agents and their instruction set.
//
// The reported values describe an MI300X (a discrete GPU with large BAR, XNACK off), with fewer compute units (see
// configure.h). Caches and clocks come from its data sheet and have no effect here. Images are reported, because the
// runtime derives the alignment of pitched memory from them, but none can be created.
#include <hsa/hsa_ext_image.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

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

hsa_status_t put_text(void* to, const char* text, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, text, std::min(std::strlen(text), size - 1));
  return HSA_STATUS_SUCCESS;
}

// Attributes that are numbers of 32 bits, as most are.
struct Number {
  u32 attribute;
  u32 value;
};
hsa_status_t put_number(std::initializer_list<Number> numbers, u32 attribute, void* to) {
  for (const Number& number : numbers) {
    if (number.attribute == attribute) return put<u32>(to, number.value);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t common_info(u32 index, u32 attribute, void* value) {
  const bool host = index == kHostAgent;
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      return put_text(value, host ? "hgcheck host" : "gfx942", 64);
    case HSA_AGENT_INFO_VENDOR_NAME:
      return put_text(value, host ? "CPU" : "AMD", 64);
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
      return put_number({{HSA_AGENT_INFO_FEATURE, static_cast<u32>(host ? 0 : HSA_AGENT_FEATURE_KERNEL_DISPATCH)},
                         {HSA_AGENT_INFO_MACHINE_MODEL, HSA_MACHINE_MODEL_LARGE},
                         {HSA_AGENT_INFO_PROFILE, host ? HSA_PROFILE_FULL : HSA_PROFILE_BASE},
                         {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR},
                         {HSA_AGENT_INFO_NODE, index},
                         {HSA_AGENT_INFO_DEVICE, host ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU}},
                        attribute, value);
  }
}

hsa_status_t kernel_info(u32 index, u32 attribute, void* value) {
  const bool host = index == kHostAgent;
  switch (attribute) {
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      return put<bool>(value, true);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const u16 sizes[3] = {kMaxWorkgroupItems, kMaxWorkgroupItems, kMaxWorkgroupItems};
      return put(value, sizes);
    }
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      return put(value, hsa_dim3_t{~u32{0}, ~u32{0}, ~u32{0}});
    default:
      return put_number({{HSA_AGENT_INFO_WAVEFRONT_SIZE, kWaveSize},
                         {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, kMaxWorkgroupItems},
                         {HSA_AGENT_INFO_GRID_MAX_SIZE, ~u32{0}},
                         {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 32},
                         {HSA_AGENT_INFO_QUEUES_MAX, host ? 0 : kQueuesMax},
                         {HSA_AGENT_INFO_QUEUE_MIN_SIZE, host ? 0 : Queue::kMinPackets},
                         {HSA_AGENT_INFO_QUEUE_MAX_SIZE, host ? 0 : Queue::kMaxPackets},
                         {HSA_AGENT_INFO_QUEUE_TYPE, HSA_QUEUE_TYPE_MULTI}},
                        attribute, value);
  }
}

hsa_status_t amd_identity(const Machine& machine, u32 index, u32 attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return put_text(value, index == kHostAgent ? "hgcheck host" : "AMD Instinct MI300X (hgcheck)", 64);
    case HSA_AMD_AGENT_INFO_UUID: {
      char text[24];
      std::snprintf(text, sizeof(text), "GPU-%016x", 0x942000u + index);
      return put_text(value, index == kHostAgent ? "CPU-XX" : text, 21);
    }
    case HSA_AMD_AGENT_INFO_NEAREST_CPU:
      return put(value, Machine::agent_handle(kHostAgent));
    default:
      return put_number({{HSA_AMD_AGENT_INFO_CHIP_ID, index == kHostAgent ? 0u : 0x74a1u},
                         {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, index},
                         {HSA_AMD_AGENT_INFO_BDFID, index << 8},
                         {HSA_AMD_AGENT_INFO_DOMAIN, 0},
                         {HSA_AMD_AGENT_INFO_ASIC_REVISION, 1},
                         {HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID, 141},
                         {HSA_AMD_AGENT_INFO_UCODE_VERSION, 1},
                         {HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION, 1},
                         {HSA_AMD_AGENT_INFO_DRIVER_UID, 128 + index},
                         {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, machine.compute_units()},
                         {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, machine.compute_units()}},
                        attribute, value);
  }
}

hsa_status_t amd_abilities(u32 attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      return put(value, hsa_amd_hdp_flush_t{nullptr, nullptr});
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return put<bool>(value, true);
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      return put<bool>(value, false);
    case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
      return put<u64>(value, kDeviceTicksPerSecond);
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES: {
      const u8 bits[8] = {};
      return put(value, bits);
    }
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
      return put<u64>(value, u64{4} << 30);
    default:
      return put_number({{HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 128},
                         {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 2100},
                         {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4},
                         {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 8192},
                         {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 1300},
                         {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, kWavesPerComputeUnit},
                         {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4},
                         {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 1},
                         {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 1},
                         {HSA_AMD_AGENT_INFO_NUM_XCC, 1},
                         {HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, kEngines},
                         {HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, 0},
                         {HSA_AMD_AGENT_INFO_IOMMU_SUPPORT, HSA_IOMMU_SUPPORT_NONE}},
                        attribute, value);
  }
}

hsa_status_t image_info(u32 attribute, void* value) {
  constexpr u32 kLargest = 16384;
  switch (attribute) {
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
    default:
      return put_number({{HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, kLargest},
                         {HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS, kLargest},
                         {HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, kLargest},
                         {HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, ~u32{0}},
                         {HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, 128},
                         {HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 64},
                         {HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, 16},
                         {HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT, 256}},
                        attribute, value);
  }
}

hsa_status_t agent_info(Machine& machine, u32 index, u32 attribute, void* value) {
  if (attribute == HSA_AMD_AGENT_INFO_MEMORY_AVAIL) {
    machine.stepper().settle();
    const u64 size = index == kHostAgent ? kHostMemoryBytes : machine.device_memory();
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

struct StatusText {
  int status;
  const char* text;
};
constexpr StatusText kStatusTexts[] = {
    {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: The function has been executed successfully."},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES,
     "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources."},
    {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception."},
    {HSA_STATUS_ERROR_MEMORY_FAULT, "HSA_STATUS_ERROR_MEMORY_FAULT: An agent accessed memory that is not there."},
    {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
     "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal instruction."},
    {HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
     "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: An access to an address that is not aligned."},
};

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
  *text = "an HSA error of the software gfx942";
  for (const agent::StatusText& known : agent::kStatusTexts) {
    if (known.status == static_cast<int>(status)) *text = known.text;
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
  // AMD's runtime asks for the loader's table and works without it; then debuggers get no file names.
  std::memset(table, 0, size);
  return HSA_STATUS_ERROR;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void*), void* data) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (u32 i = 0; i <= Machine::get().agents(); ++i) {
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
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  if (!Machine::get().agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
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
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Machine::get().faults().set_event_handler(callback, data);
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
