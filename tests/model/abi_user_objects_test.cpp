// User objects through the C ABI: the holders of references, and the time at which an object's function runs.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct UserObjectTest : AbiTest {
  // The resource of a user object: counts how often it was destroyed.
  struct Resource {
    int destroyed = 0;
  };
  static void destroy(void* resource) { ++static_cast<Resource*>(resource)->destroyed; }

  hipUserObject_t create(unsigned references = 1) {
    hipUserObject_t object = nullptr;
    EXPECT_HIP(api.hipUserObjectCreate(&object, &resource, &destroy, references, hipUserObjectNoDestructorSync));
    return object;
  }
  // A graph that holds the only reference.
  hipGraph_t create_owner() {
    hipGraph_t graph = create_graph();
    EXPECT_HIP(api.hipGraphRetainUserObject(graph, create(), 1, hipGraphUserObjectMove));
    return graph;
  }
  [[nodiscard]] std::size_t live() { return instance.runtime().live_handles().user_objects; }

  Resource resource;
};

TEST_F(UserObjectTest, TheFunctionRunsWithTheLastReference) {
  hipUserObject_t object = create(2);
  EXPECT_HIP(api.hipUserObjectRetain(object, 3));
  EXPECT_HIP(api.hipUserObjectRelease(object, 4));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_EQ(live(), 1u);
  EXPECT_HIP(api.hipUserObjectRelease(object, 1));
  EXPECT_EQ(resource.destroyed, 1);
  EXPECT_EQ(live(), 0u);
}

TEST_F(UserObjectTest, WhatIsGoneOrTooMuchIsNotTaken) {
  hipUserObject_t object = create(2);
  EXPECT_HIP(api.hipUserObjectRelease(object, 3));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipUserObjectRelease(object, 2));
  EXPECT_HIP(api.hipUserObjectRetain(object, 1));
  EXPECT_HIP(api.hipUserObjectRelease(object, 1));
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, AGraphKeepsWhatItRetainedOrWasGiven) {
  hipUserObject_t object = create();
  hipGraph_t graph = create_graph();
  EXPECT_HIP(api.hipGraphRetainUserObject(graph, object, 1, 0));
  EXPECT_HIP(api.hipUserObjectRelease(object, 1));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipGraphDestroy(graph));
  EXPECT_EQ(resource.destroyed, 1);
  EXPECT_HIP(api.hipGraphDestroy(create_owner()));
  EXPECT_EQ(resource.destroyed, 2);
}

TEST_F(UserObjectTest, AGraphGivesBackNoMoreThanItHolds) {
  hipUserObject_t object = create(2);
  hipGraph_t graph = create_graph();
  EXPECT_HIP(api.hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
  EXPECT_HIP(api.hipGraphReleaseUserObject(graph, object, 2));
  EXPECT_HIP(api.hipGraphReleaseUserObject(graph, object, 1));
  EXPECT_HIP(api.hipGraphReleaseUserObject(graph, object, 1));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipUserObjectRelease(object, 1));
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, ClonesAndExecutableGraphsHoldTheirOwnReferences) {
  hipGraph_t graph = create_owner(), clone = nullptr;
  EXPECT_HIP(api.hipGraphClone(&clone, graph));
  hipGraphExec_t exec = instantiate(clone);
  EXPECT_HIP(api.hipGraphDestroy(graph));
  EXPECT_HIP(api.hipGraphDestroy(clone));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipGraphExecDestroy(exec));
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, ALaunchThatIsPendingKeepsItsReferences) {
  hipGraph_t graph = create_owner();
  add_set(graph, allocate(), 1);
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipGraphDestroy(graph));
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_HIP(api.hipGraphExecDestroy(exec));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, AnUpdateReplacesTheReferencesOfAnExecutableGraph) {
  hipGraph_t owner = create_owner(), other = create_graph();
  hipGraphExec_t exec = instantiate(owner);
  EXPECT_HIP(api.hipGraphDestroy(owner));
  EXPECT_EQ(resource.destroyed, 0);
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result{};
  EXPECT_HIP(api.hipGraphExecUpdate(exec, other, &error_node, &result));
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, ReferencesOfAChildGraphAreReplacedWithTheChild) {
  hipGraph_t inner = create_owner(), outer = create_graph(), plain = create_graph();
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddChildGraphNode(&node, outer, nullptr, 0, inner));
  hipGraphExec_t exec = instantiate(outer);
  EXPECT_HIP(api.hipGraphDestroy(inner));
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_HIP(api.hipGraphExecChildGraphNodeSetParams(exec, node, plain));
  EXPECT_EQ(resource.destroyed, 0);  // the child that the node of `outer` holds
  EXPECT_HIP(api.hipGraphDestroy(outer));
  EXPECT_EQ(resource.destroyed, 1);
}

TEST_F(UserObjectTest, TheFunctionMayNotCallHip) {
  static hipError_t answer;
  answer = hipSuccess;
  const auto call_hip = [](void*) { answer = InProcess::api().hipDeviceSynchronize(); };
  hipUserObject_t object = nullptr;
  EXPECT_HIP(api.hipUserObjectCreate(&object, nullptr, call_hip, 1, hipUserObjectNoDestructorSync));
  EXPECT_HIP(api.hipUserObjectRelease(object, 1));
  EXPECT_EQ(answer, hipErrorNotSupported);
  EXPECT_HIP(api.hipDeviceSynchronize());
}

TEST_F(UserObjectTest, WhatIsLeftWhenTheRuntimeGoesIsForgotten) {
  (void)create_owner();
  instance.reset({});
  EXPECT_EQ(resource.destroyed, 0);
  EXPECT_EQ(live(), 0u);
}

}  // namespace
}  // namespace model::abi
