#include "hip/kernel_attributes.h"

#include <string>

namespace hip {
namespace {

// The names of HIP 5, which later headers keep.
using AttributeId = hipKernelNodeAttrID;
using AttributeValue = hipKernelNodeAttrValue;
constexpr bool kHasPriority = HIP_VERSION >= 60000000;

Status failed(const char* function, hipError_t status) {
  if (status == hipSuccess) return {};
  return Error{status, std::string(function) + ": " + status_name(status)};
}

Status set(const Api& api, hipGraphNode_t node, AttributeId id, const AttributeValue& value) {
  return failed("hipGraphKernelNodeSetAttribute", api.hipGraphKernelNodeSetAttribute(node, id, &value));
}

}  // namespace

Status set_attributes(const Api& api, hipGraphNode_t node, const KernelAttributes& attributes) {
  if (missing_for_attributes(api, attributes) != nullptr) {
    return failed("hipGraphKernelNodeSetAttribute", hipErrorNotSupported);
  }
  AttributeValue value{};
  if (attributes.cooperative) {
    value.cooperative = *attributes.cooperative ? 1 : 0;
    if (Status status = set(api, node, hipKernelNodeAttributeCooperative, value); !status) return status;
  }
#if HIP_VERSION >= 60000000
  if (attributes.priority) {
    value = {};
    value.priority = *attributes.priority;
    if (Status status = set(api, node, hipKernelNodeAttributePriority, value); !status) return status;
  }
#endif
  if (!attributes.window) return {};
  value = {};
  value.accessPolicyWindow = *attributes.window;
  return set(api, node, hipKernelNodeAttributeAccessPolicyWindow, value);
}

Result<KernelAttributes> attributes_of(const Api& api, hipGraphNode_t node, const KernelAttributes& asked) {
  KernelAttributes attributes;
  if (!has_any(asked)) return attributes;
  if (api.hipGraphKernelNodeGetAttribute == nullptr) {
    return Error{hipErrorNotSupported, "hipGraphKernelNodeGetAttribute is missing"};
  }
  const auto get = [&](AttributeId id, AttributeValue* value) {
    return failed("hipGraphKernelNodeGetAttribute", api.hipGraphKernelNodeGetAttribute(node, id, value));
  };
  AttributeValue value{};
  if (asked.cooperative) {
    if (Status status = get(hipKernelNodeAttributeCooperative, &value); !status) return status.error();
    attributes.cooperative = value.cooperative != 0;
  }
#if HIP_VERSION >= 60000000
  if (asked.priority) {
    value = {};
    if (Status status = get(hipKernelNodeAttributePriority, &value); !status) return status.error();
    attributes.priority = value.priority;
  }
#endif
  if (asked.window) {
    value = {};
    if (Status status = get(hipKernelNodeAttributeAccessPolicyWindow, &value); !status) return status.error();
    attributes.window = value.accessPolicyWindow;
  }
  return attributes;
}

const char* missing_for_attributes(const Api& api, const KernelAttributes& attributes) {
  if (!has_any(attributes)) return nullptr;
  if (api.hipGraphKernelNodeSetAttribute == nullptr) return "hipGraphKernelNodeSetAttribute";
  return attributes.priority && !kHasPriority ? "hipLaunchAttributePriority" : nullptr;
}

}  // namespace hip
