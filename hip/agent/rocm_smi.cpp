// librocm_smi64.so.7 for the software gfx942: the functions that RCCL uses, answered from the topology that the agent's
// HSA functions report.
//
// Promises: devices are the agents in HSA's order, and rsmi_init reads them anew. Where this library is loaded, RCCL
// needs no environment variable: it is told to ask this library instead of /sys/class/kfd, which is not there, and of a
// firmware that gives scratch memory back. A variable that the user has set is left alone.
//
// Not here: everything else of ROCm SMI (clocks, power, processes); a program that needs it does not start.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "hip/sync/sync.h"

namespace {

using std::uint32_t;
using std::uint64_t;

// As in C: a caller may pass any number as one.
enum SmiStatus : uint32_t { kSmiSuccess = 0, kSmiInvalidArguments = 1, kSmiInitError = 8 };
enum SmiLink { kSmiLinkUndefined = 0, kSmiLinkPcie = 1, kSmiLinkXgmi = 2 };
struct SmiVersion {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
  const char* build;
};

// RCCL takes a gfx942 without HSA_NO_SCRATCH_RECLAIM from firmware 177 of the compute processor on.
constexpr uint64_t kFirmware = 177;

struct Link {
  int type = kSmiLinkUndefined;
  uint64_t weight = 0;
};
struct Device {
  hsa_agent_t agent;
  hsa_amd_memory_pool_t memory;
  uint64_t pci_id;          // domain, then bus, device and function
  std::vector<Link> links;  // to each device
};

hip::sync::Mutex devices_mutex;
std::vector<Device>& devices() {
  static std::vector<Device>& list = *new std::vector<Device>;
  return list;
}

hsa_agent_info_t amd(hsa_amd_agent_info_t attribute) {
  return static_cast<hsa_agent_info_t>(attribute);
}

hsa_status_t first_pool(hsa_amd_memory_pool_t pool, void* found) {
  *static_cast<hsa_amd_memory_pool_t*>(found) = pool;
  return HSA_STATUS_INFO_BREAK;
}

hsa_status_t add_device(hsa_agent_t agent, void* list) {
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  uint32_t bus = 0;
  uint32_t domain = 0;
  const hsa_status_t known = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (known != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return known;
  Device device{agent, {}, 0, {}};
  if (hsa_agent_get_info(agent, amd(HSA_AMD_AGENT_INFO_BDFID), &bus) != HSA_STATUS_SUCCESS ||
      hsa_agent_get_info(agent, amd(HSA_AMD_AGENT_INFO_DOMAIN), &domain) != HSA_STATUS_SUCCESS ||
      hsa_amd_agent_iterate_memory_pools(agent, first_pool, &device.memory) != HSA_STATUS_INFO_BREAK) {
    return HSA_STATUS_ERROR;
  }
  device.pci_id = uint64_t{domain} << 32 | bus;
  static_cast<std::vector<Device>*>(list)->push_back(device);
  return HSA_STATUS_SUCCESS;
}

Link link_of(const Device& from, const Device& to) {
  hsa_amd_memory_pool_link_info_t info{};
  if (from.agent.handle == to.agent.handle ||
      hsa_amd_agent_memory_pool_get_info(from.agent, to.memory, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &info) !=
          HSA_STATUS_SUCCESS) {
    return {};
  }
  return {info.link_type == HSA_AMD_LINK_INFO_TYPE_XGMI ? kSmiLinkXgmi : kSmiLinkPcie, info.numa_distance};
}

bool read_devices(std::vector<Device>& list) {
  if (hsa_init() != HSA_STATUS_SUCCESS) return false;
  const bool read = hsa_iterate_agents(add_device, &list) == HSA_STATUS_SUCCESS;
  for (Device& from : list) {
    for (const Device& to : list) from.links.push_back(link_of(from, to));
  }
  return hsa_shut_down() == HSA_STATUS_SUCCESS && read;
}

// Calls `answer` with the device; an error where there is none.
template <class Answer>
SmiStatus ask(uint32_t index, const void* result, Answer answer) {
  const hip::sync::LockGuard lock(devices_mutex);
  if (devices().empty()) return kSmiInitError;
  if (index >= devices().size() || result == nullptr) return kSmiInvalidArguments;
  return answer(devices()[index]);
}

__attribute__((constructor)) void tell_rccl() {
  setenv("RCCL_USE_ROCM_SMI_LIB", "1", 0);
}

}  // namespace

extern "C" {

SmiStatus rsmi_init(uint64_t /*flags*/) {
  std::vector<Device> found;
  if (!read_devices(found)) return kSmiInitError;
  const hip::sync::LockGuard lock(devices_mutex);
  devices() = std::move(found);
  return kSmiSuccess;
}

SmiStatus rsmi_shut_down() {
  const hip::sync::LockGuard lock(devices_mutex);
  if (devices().empty()) return kSmiInitError;
  devices().clear();
  return kSmiSuccess;
}

SmiStatus rsmi_num_monitor_devices(uint32_t* number) {
  return ask(0, number, [&](const Device&) {
    *number = static_cast<uint32_t>(devices().size());
    return kSmiSuccess;
  });
}

SmiStatus rsmi_dev_pci_id_get(uint32_t index, uint64_t* id) {
  return ask(index, id, [&](const Device& device) {
    *id = device.pci_id;
    return kSmiSuccess;
  });
}

SmiStatus rsmi_dev_firmware_version_get(uint32_t index, int /*block*/, uint64_t* version) {
  return ask(index, version, [&](const Device&) {
    *version = kFirmware;
    return kSmiSuccess;
  });
}

SmiStatus rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t* hops, int* type) {
  if (type == nullptr) return kSmiInvalidArguments;
  return ask(from, hops, [&](const Device& device) {
    if (to >= device.links.size() || to == from) return kSmiInvalidArguments;
    *hops = 1;
    *type = device.links[to].type;
    return kSmiSuccess;
  });
}

SmiStatus rsmi_topo_get_link_weight(uint32_t from, uint32_t to, uint64_t* weight) {
  return ask(from, weight, [&](const Device& device) {
    if (to >= device.links.size() || to == from) return kSmiInvalidArguments;
    *weight = device.links[to].weight;
    return kSmiSuccess;
  });
}

SmiStatus rsmi_version_get(SmiVersion* version) {
  if (version == nullptr) return kSmiInvalidArguments;
  *version = {7, 8, 0, "hgcheck"};
  return kSmiSuccess;
}

SmiStatus rsmi_status_string(SmiStatus status, const char** text) {
  if (text == nullptr) return kSmiInvalidArguments;
  switch (status) {
    case kSmiSuccess:
      *text = "RSMI_STATUS_SUCCESS: The function has been executed successfully.";
      break;
    case kSmiInitError:
      *text = "RSMI_STATUS_INIT_ERROR: rsmi_init was not called, or there is no agent.";
      break;
    default:
      *text = "RSMI_STATUS_INVALID_ARGS: There is no such device, or a pointer is null.";
  }
  return kSmiSuccess;
}
}
