// Functions that AMD's runtimes import and that graphs do not need. Each fails with the error that HSA has for it, and
// says so once on standard error. A function that would create or use an object returns HSA_STATUS_ERROR_NOT_SUPPORTED.
// A function that takes such an object as an argument returns the error for an invalid argument.
//
// Images and samplers: nothing executes image instructions. Dmabuf and interop: there is no other driver. Shared
// virtual memory: reported as absent, because without XNACK host memory must be registered. Direct file access: no such
// device. Variables that the host defines: the loader takes linked code objects only.
#include <hsa/hsa_ext_image.h>

#include "hip/agent/faults.h"

namespace {

constexpr auto kNotSupported = static_cast<hsa_status_t>(HSA_STATUS_ERROR_NOT_SUPPORTED);

}  // namespace

#define UNSUPPORTED(status, name, ...)           \
  hsa_status_t name(__VA_ARGS__) {               \
    return agent::unsupported(__func__, status); \
  }

extern "C" {

UNSUPPORTED(kNotSupported, hsa_ext_image_create, hsa_agent_t, const hsa_ext_image_descriptor_t*, const void*,
            hsa_access_permission_t, hsa_ext_image_t*)
UNSUPPORTED(kNotSupported, hsa_ext_image_create_with_layout, hsa_agent_t, const hsa_ext_image_descriptor_t*,
            const void*, hsa_access_permission_t, hsa_ext_image_data_layout_t, size_t, size_t, hsa_ext_image_t*)
UNSUPPORTED(kNotSupported, hsa_ext_image_data_get_info, hsa_agent_t, const hsa_ext_image_descriptor_t*,
            hsa_access_permission_t, hsa_ext_image_data_info_t*)
UNSUPPORTED(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_ext_image_destroy, hsa_agent_t, hsa_ext_image_t)
UNSUPPORTED(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_ext_image_export, hsa_agent_t, hsa_ext_image_t, void*, size_t,
            size_t, const hsa_ext_image_region_t*)
UNSUPPORTED(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_ext_image_import, hsa_agent_t, const void*, size_t, size_t,
            hsa_ext_image_t, const hsa_ext_image_region_t*)
UNSUPPORTED(kNotSupported, hsa_ext_sampler_create, hsa_agent_t, const hsa_ext_sampler_descriptor_t*, hsa_ext_sampler_t*)
UNSUPPORTED(kNotSupported, hsa_ext_sampler_create_v2, hsa_agent_t, const hsa_ext_sampler_descriptor_v2_t*,
            hsa_ext_sampler_t*)
UNSUPPORTED(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_ext_sampler_destroy, hsa_agent_t, hsa_ext_sampler_t)
UNSUPPORTED(kNotSupported, hsa_amd_image_create, hsa_agent_t, const hsa_ext_image_descriptor_t*,
            const hsa_amd_image_descriptor_t*, const void*, hsa_access_permission_t, hsa_ext_image_t*)

UNSUPPORTED(kNotSupported, hsa_amd_interop_map_buffer, uint32_t, hsa_agent_t*, int, uint32_t, size_t*, void**, size_t*,
            const void**)
UNSUPPORTED(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_interop_unmap_buffer, void*)
UNSUPPORTED(kNotSupported, hsa_amd_portable_export_dmabuf, const void*, size_t, int*, uint64_t*)

UNSUPPORTED(kNotSupported, hsa_amd_svm_attributes_get, void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t)
UNSUPPORTED(kNotSupported, hsa_amd_svm_attributes_set, void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t)
UNSUPPORTED(kNotSupported, hsa_amd_svm_prefetch_async, void*, size_t, hsa_agent_t, uint32_t, const hsa_signal_t*,
            hsa_signal_t)

UNSUPPORTED(kNotSupported, hsa_amd_ais_file_read, hsa_amd_ais_file_handle_t, void*, uint64_t, int64_t, uint64_t*,
            int32_t*)
UNSUPPORTED(kNotSupported, hsa_amd_ais_file_write, hsa_amd_ais_file_handle_t, void*, uint64_t, int64_t, uint64_t*,
            int32_t*)

UNSUPPORTED(kNotSupported, hsa_executable_agent_global_variable_define, hsa_executable_t, hsa_agent_t, const char*,
            void*)
}
