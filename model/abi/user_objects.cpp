// User objects, and the printing of graphs. Sources: HIP's header documentation; catch/unit/graph: hipUserObject*.cc,
// hipGraphRetainUserObject.cc, hipGraphReleaseUserObject.cc, hipGraphDebugDotPrint.cc; clr's hip_graph.cpp for counts
// beyond INT_MAX.
#include <climits>
#include <fstream>

#include "model/abi/context.h"
#include "model/dot.h"

namespace model::abi {
namespace {

bool is_count(unsigned int count) {
  return count != 0 && count <= static_cast<unsigned int>(INT_MAX);
}

// Returns 0 if the handle never belonged to an object.
std::uint64_t find_object(State& state, hipUserObject_t handle) {
  const std::uint64_t id = to_id(handle);
  return state.runtime.user_objects().known(id) ? id : 0;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipUserObjectCreate(hipUserObject_t* object, void* data, hipHostFn_t destroy, unsigned int count,
                               unsigned int flags) {
  return call([&](State& state) {
    if (object == nullptr || destroy == nullptr || !is_count(count)) return Status::kInvalidValue;
    if (flags != hipUserObjectNoDestructorSync) return Status::kInvalidValue;
    return put(object, to_handle<hipUserObject_t>(state.runtime.user_objects().create(destroy, data, count)));
  });
}

hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count) {
  return call([&](State& state) {
    return is_count(count) ? state.runtime.user_objects().retain(to_id(object), count) : Status::kInvalidValue;
  });
}

hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count) {
  return call([&](State& state) {
    return is_count(count) ? state.runtime.user_objects().release(to_id(object), count) : Status::kInvalidValue;
  });
}

hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count, unsigned int flags) {
  return call_on(graph, [&](State& state, Graph& found) {
    const std::uint64_t id = find_object(state, object);
    if (id == 0 || !is_count(count)) return Status::kInvalidValue;
    if (flags != 0 && flags != hipGraphUserObjectMove) return Status::kInvalidValue;
    UserObjects& objects = state.runtime.user_objects();
    if (objects.references(id) == 0) return Status::kSuccess;
    if (flags != hipGraphUserObjectMove) (void)objects.retain(id, count);  // succeeds: the object is alive
    found.user_references().take(objects, id, count);
    return Status::kSuccess;
  });
}

hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count) {
  return call_on(graph, [&](State& state, Graph& found) {
    const std::uint64_t id = find_object(state, object);
    if (id == 0 || !is_count(count)) return Status::kInvalidValue;
    return found.user_references().give_back(id, count);
  });
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int flags) {
  return call_on(graph, [&](State&, const Graph& found) {
    if (path == nullptr) return Status::kInvalidValue;
    std::ofstream file(path);
    file << to_dot(found, flags);
    file.close();
    return file.good() ? Status::kSuccess : Status::kOperatingSystem;
  });
}

HGMODEL_FUNCTIONS_END
