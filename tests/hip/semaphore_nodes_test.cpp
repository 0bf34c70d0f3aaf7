// External semaphores: what reaches HIP, noted by a table of functions, and the flaws of records.
#include "hip/semaphore_nodes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

struct NotedSemaphores {
  std::vector<hipExternalSemaphore_t> handles;
  std::vector<unsigned long long> values;
  int descriptor = -1;
  int destroyed = 0;
};
NotedSemaphores noted;

template <class Node>
hipError_t note_semaphores(const Node* node) {
  noted.handles.assign(node->extSemArray, node->extSemArray + node->numExtSems);
  noted.values.clear();
  for (unsigned i = 0; i < node->numExtSems; ++i) noted.values.push_back(node->paramsArray[i].params.fence.value);
  return hipSuccess;
}

hip::Api noting_semaphores() {
  noted = {};
  hip::Api api;
  api.hipImportExternalSemaphore = [](hipExternalSemaphore_t* semaphore, const hipExternalSemaphoreHandleDesc* handle) {
    noted.descriptor = handle->handle.fd;
    *semaphore = &noted;
    return handle->type == hipExternalSemaphoreHandleTypeTimelineSemaphoreFd ? hipSuccess : hipErrorNotSupported;
  };
  api.hipDestroyExternalSemaphore = [](hipExternalSemaphore_t) {
    ++noted.destroyed;
    return hipSuccess;
  };
  api.hipSignalExternalSemaphoresAsync = [](const hipExternalSemaphore_t*, const hipExternalSemaphoreSignalParams* all,
                                            unsigned int, hipStream_t) {
    noted.values = {all->params.fence.value};
    return hipSuccess;
  };
  api.hipStreamSynchronize = [](hipStream_t) { return hipSuccess; };
  api.hipGraphAddExternalSemaphoresSignalNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                                   const hipExternalSemaphoreSignalNodeParams* node) {
    return note_semaphores(node);
  };
  api.hipGraphExternalSemaphoresWaitNodeSetParams = [](hipGraphNode_t, const hipExternalSemaphoreWaitNodeParams* node) {
    return note_semaphores(node);
  };
  return api;
}

hip::SemaphoreRecord two_semaphores() {
  return {{&noted, &noted.descriptor}, {3, 4}};
}

TEST(SemaphoreNodes, ARecordReachesTheRuntime) {
  const hip::Api api = noting_semaphores();
  ASSERT_TRUE(hip::add_semaphore_node(api, nullptr, hip::SemaphoreSignalRecord{two_semaphores()}, {}));
  EXPECT_EQ(noted.handles, two_semaphores().semaphores);
  EXPECT_EQ(noted.values, (std::vector<unsigned long long>{3, 4}));
  noted.values.clear();
  ASSERT_TRUE(hip::set_semaphore_node(api, nullptr, nullptr, hip::SemaphoreWaitRecord{two_semaphores()}));
  EXPECT_EQ(noted.values, (std::vector<unsigned long long>{3, 4}));
}

TEST(SemaphoreNodes, AFunctionThatIsMissingIsNamed) {
  const hip::Api api = noting_semaphores();
  const auto added = hip::add_semaphore_node(api, nullptr, hip::SemaphoreWaitRecord{two_semaphores()}, {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, hipErrorNotSupported);
  EXPECT_EQ(hip::missing_semaphore_function(api), std::string("hipGraphAddExternalSemaphoresWaitNode"));
}

TEST(SemaphoreNodes, AnImportedSemaphoreHasItsFirstValueAndAFailedOneLeavesNothing) {
  hip::Api api = noting_semaphores();
  const auto made = hip::import_semaphore(api, 100);
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value(), &noted);
  EXPECT_EQ(noted.values, std::vector<unsigned long long>{100});
  EXPECT_NE(fcntl(noted.descriptor, F_GETFD), -1) << "the runtime owns it";
  close(noted.descriptor);
  api.hipStreamSynchronize = [](hipStream_t) { return hipErrorUnknown; };
  EXPECT_FALSE(hip::import_semaphore(api, 100));
  EXPECT_EQ(noted.destroyed, 1);
  close(noted.descriptor);
  api.hipImportExternalSemaphore = [](hipExternalSemaphore_t*, const hipExternalSemaphoreHandleDesc* handle) {
    noted.descriptor = handle->handle.fd;
    return hipErrorNotSupported;
  };
  const auto refused = hip::import_semaphore(api, 100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorNotSupported);
  EXPECT_EQ(fcntl(noted.descriptor, F_GETFD), -1) << "nobody else closes it";
}

TEST(SemaphoreNodes, ARecordHasAsManyValuesAsSemaphores) {
  const auto flaw = [](hip::SemaphoreRecord record, std::vector<hip::Relocation> relocations = {}) {
    const char* found = hip::flaw_of({hip::SemaphoreSignalRecord{std::move(record)}, {}, std::move(relocations)}, 0);
    return std::string(found == nullptr ? "" : found);
  };
  EXPECT_EQ(flaw(two_semaphores()), "");
  EXPECT_EQ(flaw({}), "a node of semaphores has at least one");
  EXPECT_EQ(flaw({{&noted}, {}}), "each semaphore has one value");
  EXPECT_NE(flaw(two_semaphores(), {{hip::Field::kCopySource, 0, 0, 0}}), "");
}

}  // namespace
