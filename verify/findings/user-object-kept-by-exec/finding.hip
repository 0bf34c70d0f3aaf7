// An executable graph keeps a user object that its graph released before the instantiation.
// The story: finding.toml.
#include "../check.h"

int main() {
  static int destroyed = 0;
  hipUserObject_t object = nullptr;
  MUST(hipUserObjectCreate(
      &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1, hipUserObjectNoDestructorSync));
  hipGraph_t graph = new_graph();
  MUST(hipGraphRetainUserObject(graph, object, 1, 0));
  MUST(hipGraphReleaseUserObject(graph, object, 1));
  static_cast<void>(instantiate(graph));
  MUST(hipUserObjectRelease(object, 1));
  check("runs of the destructor after the last release", 1, destroyed);
  return verdict();
}
