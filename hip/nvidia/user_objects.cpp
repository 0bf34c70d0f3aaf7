// User objects, and their references that graphs own.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

using nvidia::answer;
using nvidia::cuda;
using nvidia::to_cuda;

static_assert(static_cast<int>(hipUserObjectNoDestructorSync) == static_cast<int>(cudaUserObjectNoDestructorSync));
static_assert(static_cast<int>(hipGraphUserObjectMove) == static_cast<int>(cudaGraphUserObjectMove));

extern "C" {

hipError_t hipUserObjectCreate(hipUserObject_t* object, void* data, hipHostFn_t destroy, unsigned count,
                               unsigned flags) {
  return answer(cuda().cudaUserObjectCreate(to_cuda(object), data, destroy, count, flags));
}
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count) {
  return answer(cuda().cudaUserObjectRetain(to_cuda(object), count));
}
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
  return answer(cuda().cudaUserObjectRelease(to_cuda(object), count));
}
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count, unsigned flags) {
  return answer(cuda().cudaGraphRetainUserObject(to_cuda(graph), to_cuda(object), count, flags));
}
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count) {
  return answer(cuda().cudaGraphReleaseUserObject(to_cuda(graph), to_cuda(object), count));
}
}
