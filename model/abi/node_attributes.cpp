// Attributes of kernel nodes and of streams: their ids, their legal values, and getters that return the values set.
// Sources: hipLaunchAttributeID in HIP's header for the objects that each attribute is valid for; catch/unit/graph:
// hipGraphKernelNode* Attribute*.cc for the values of a window; clr's hip_stream.cpp for the statuses of stream
// attributes.
#include "model/abi/context.h"

namespace model::abi {
namespace {

constexpr std::size_t kMaxWindowBytes = 0;  // hipDeviceProp_t::accessPolicyMaxWindowSize: an MI300X has none

bool is_property(hipAccessProperty property) {
  return property == hipAccessPropertyNormal || property == hipAccessPropertyStreaming ||
         property == hipAccessPropertyPersisting;
}

Status set_window(const hipAccessPolicyWindow& window, AccessWindow* out) {
  if (!(window.hitRatio >= 0 && window.hitRatio <= 1)) return Status::kInvalidValue;
  if (!is_property(window.hitProp) || !is_property(window.missProp)) return Status::kInvalidValue;
  if (window.missProp == hipAccessPropertyPersisting || window.num_bytes > kMaxWindowBytes) {
    return Status::kInvalidValue;
  }
  *out = {to_address(window.base_ptr), window.num_bytes, window.hitRatio, window.hitProp, window.missProp};
  return Status::kSuccess;
}

void get_window(const AccessWindow& window, hipAccessPolicyWindow* out) {
  out->base_ptr = to_pointer(window.base);
  out->num_bytes = window.bytes;
  out->hitRatio = window.hit_ratio;
  out->hitProp = static_cast<hipAccessProperty>(window.hit);
  out->missProp = static_cast<hipAccessProperty>(window.miss);
}

bool is_priority(int priority) {
  return priority >= kHighestPriority && priority <= kLowestPriority;
}
bool is_domain(hipLaunchMemSyncDomain domain) {
  return domain == hipLaunchMemSyncDomainDefault || domain == hipLaunchMemSyncDomainRemote;
}

// Sets an attribute that kernel nodes and streams have in common: kInvalidValue for any other attribute.
template <class Attributes>
Status set_common(hipLaunchAttributeID which, const hipLaunchAttributeValue& value, Attributes* out) {
  switch (which) {
    case hipLaunchAttributeAccessPolicyWindow:
      return set_window(value.accessPolicyWindow, &out->window);
    case hipLaunchAttributeMemSyncDomain:
      if (!is_domain(value.memSyncDomain)) return Status::kInvalidValue;
      out->sync_domain = value.memSyncDomain;
      return Status::kSuccess;
    case hipLaunchAttributeMemSyncDomainMap:
      out->sync_domain_default = value.memSyncDomainMap.default_;
      out->sync_domain_remote = value.memSyncDomainMap.remote;
      return Status::kSuccess;
    default:
      return Status::kInvalidValue;
  }
}

template <class Attributes>
Status get_common(hipLaunchAttributeID which, const Attributes& attributes, hipLaunchAttributeValue* out) {
  switch (which) {
    case hipLaunchAttributeAccessPolicyWindow:
      get_window(attributes.window, &out->accessPolicyWindow);
      return Status::kSuccess;
    case hipLaunchAttributeMemSyncDomain:
      out->memSyncDomain = static_cast<hipLaunchMemSyncDomain>(attributes.sync_domain);
      return Status::kSuccess;
    case hipLaunchAttributeMemSyncDomainMap:
      out->memSyncDomainMap = {attributes.sync_domain_default, attributes.sync_domain_remote};
      return Status::kSuccess;
    default:
      return Status::kInvalidValue;
  }
}

Status set_of_kernel(hipLaunchAttributeID which, const hipLaunchAttributeValue& value, KernelAttributes* out) {
  if (which == hipLaunchAttributeCooperative) {
    out->cooperative = value.cooperative;
    return Status::kSuccess;
  }
  if (which != hipLaunchAttributePriority) return set_common(which, value, out);
  if (!is_priority(value.priority)) return Status::kInvalidValue;
  out->priority = value.priority;
  return Status::kSuccess;
}

Status set_of_stream(hipLaunchAttributeID which, const hipLaunchAttributeValue& value, Stream& stream) {
  if (which == hipLaunchAttributePriority) {
    if (!is_priority(value.priority)) return Status::kInvalidValue;
    stream.set_priority(value.priority);
    return Status::kSuccess;
  }
  StreamAttributes attributes = stream.attributes();
  if (which == hipLaunchAttributeSynchronizationPolicy) {
    const int policy = value.syncPolicy;
    if (policy != hipSyncPolicyAuto && policy != hipSyncPolicySpin && policy != hipSyncPolicyYield &&
        policy != hipSyncPolicyBlockingSync) {
      return Status::kInvalidValue;
    }
    attributes.sync_policy = policy;
  } else if (const Status status = set_common(which, value, &attributes); status != Status::kSuccess) {
    return status;
  }
  stream.set_attributes(attributes);
  return Status::kSuccess;
}

Node* find_kernel_node(State& state, hipGraphNode_t handle) {
  Node* node = find(state, handle);
  return node != nullptr && node->type() == NodeType::kKernel ? node : nullptr;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipLaunchAttributeID which,
                                          const hipLaunchAttributeValue* value) {
  return call([&](State& state) {
    Node* found = find_kernel_node(state, node);
    if (found == nullptr || value == nullptr) return Status::kInvalidValue;
    KernelAttributes attributes = std::get<KernelParams>(found->params()).attributes;
    const Status status = set_of_kernel(which, *value, &attributes);
    if (status == Status::kSuccess) found->graph().set_attributes(*found, attributes);
    return status;
  });
}

hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipLaunchAttributeID which,
                                          hipLaunchAttributeValue* value) {
  return call([&](State& state) {
    const Node* found = find_kernel_node(state, node);
    if (found == nullptr || value == nullptr) return Status::kInvalidValue;
    const KernelAttributes& attributes = std::get<KernelParams>(found->params()).attributes;
    if (which == hipLaunchAttributeCooperative) {
      value->cooperative = attributes.cooperative;
    } else if (which == hipLaunchAttributePriority) {
      value->priority = attributes.priority;
    } else {
      return get_common(which, attributes, value);
    }
    return Status::kSuccess;
  });
}

hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t source, hipGraphNode_t target) {
  return call([&](State& state) {
    const Node* from = find_kernel_node(state, source);
    Node* to = find_kernel_node(state, target);
    if (from == nullptr || to == nullptr) return Status::kInvalidValue;
    to->graph().set_attributes(*to, std::get<KernelParams>(from->params()).attributes);
    return Status::kSuccess;
  });
}

hipError_t hipStreamSetAttribute(hipStream_t stream, hipLaunchAttributeID which, const hipLaunchAttributeValue* value) {
  return call([&](State& state) {
    if (value == nullptr) return Status::kInvalidValue;
    Stream* found = find(state, stream);
    if (found == nullptr) return Status::kInvalidHandle;
    if (state.runtime.capture_of(*found) != nullptr) return Status::kStreamCaptureUnsupported;
    return set_of_stream(which, *value, *found);
  });
}

hipError_t hipStreamGetAttribute(hipStream_t stream, hipLaunchAttributeID which, hipLaunchAttributeValue* value) {
  return call([&](State& state) {
    if (value == nullptr) return Status::kInvalidValue;
    const Stream* found = find(state, stream);
    if (found == nullptr) return Status::kInvalidHandle;
    if (which == hipLaunchAttributePriority) {
      value->priority = found->priority();
    } else if (which == hipLaunchAttributeSynchronizationPolicy) {
      value->syncPolicy = static_cast<hipSynchronizationPolicy>(found->attributes().sync_policy);
    } else {
      return get_common(which, found->attributes(), value);
    }
    return Status::kSuccess;
  });
}

// Everything but the priority, which a stream has from its creation (CUDA, cudaStreamCopyAttributes).
hipError_t hipStreamCopyAttributes(hipStream_t target, hipStream_t source) {
  return call([&](State& state) {
    Stream* to = find(state, target);
    const Stream* from = find(state, source);
    if (to == nullptr || from == nullptr) return Status::kInvalidValue;
    to->set_attributes(from->attributes());
    return Status::kSuccess;
  });
}

HGMODEL_FUNCTIONS_END
