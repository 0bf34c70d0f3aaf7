// How commands about user objects run.
#include "hip/errors.h"
#include "verify/run/run_command.h"

namespace verify {

static void count_run(void* data) {
  static_cast<UserObjects::Object*>(data)->runs.fetch_add(1);
}

template <>
hip::Status run_command(Run& run, const DeclareUserObject& c) {
  const hip::Api& api = run.context.api;
  if (api.hipUserObjectCreate == nullptr) return lacking(run.context, "hipUserObjectCreate");
  if (api.hipUserObjectRelease == nullptr) return lacking(run.context, "hipUserObjectRelease");
  UserObjects::Object& object = run.user_objects.add(c.object);
  hip::Status status = hip::call<&hip::Api::hipUserObjectCreate>(api, &object.handle, &object, count_run, 1,
                                                                 hipUserObjectNoDestructorSync);
  if (status) {
    object.held = 1;
  } else {
    run.user_objects.forget(c.object);
  }
  return status;
}

template <>
hip::Status run_command(Run& run, const RetainUserObject& c) {
  UserObjects::Object* object = run.user_objects.find(c.object);
  GraphObject* graph = run.live_graph(c.graph);
  if (object == nullptr || graph == nullptr) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipGraphRetainUserObject == nullptr) return lacking(run.context, "hipGraphRetainUserObject");
  hip::Status status = hip::call<&hip::Api::hipGraphRetainUserObject>(api, graph->handles.graph, object->handle, 1,
                                                                      c.move ? hipGraphUserObjectMove : 0);
  if (!status) return status;
  ++graph->held_objects[object->handle];
  if (c.move) --object->held;
  return status;
}

template <>
hip::Status run_command(Run& run, const ReleaseUserObject& c) {
  UserObjects::Object* object = run.user_objects.find(c.object);
  GraphObject* graph = c.graph ? run.live_graph(*c.graph) : nullptr;
  if (object == nullptr || (c.graph && graph == nullptr)) return missing_object();
  const hip::Api& api = run.context.api;
  const unsigned count = c.beyond ? kReferencesBeyond : 1;
  if (graph == nullptr) {
    hip::Status status = hip::call<&hip::Api::hipUserObjectRelease>(api, object->handle, count);
    if (status && !c.beyond) --object->held;
    return status;
  }
  if (api.hipGraphReleaseUserObject == nullptr) return lacking(run.context, "hipGraphReleaseUserObject");
  hip::Status status =
      hip::call<&hip::Api::hipGraphReleaseUserObject>(api, graph->handles.graph, object->handle, count);
  if (!status || c.beyond) return status;
  const auto held = graph->held_objects.find(object->handle);
  if (held != graph->held_objects.end() && --held->second == 0) graph->held_objects.erase(held);
  return status;
}

template struct FamilyRun<UserObjectsCommands>;

}  // namespace verify
