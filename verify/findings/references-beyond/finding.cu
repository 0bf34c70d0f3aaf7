// On NVIDIA, a release of more references than there are ends the object without its function.
// The story: finding.toml.
#include <chrono>
#include <thread>

#include "../check.cuh"

int main() {
  static int calls = 0;
  cudaUserObject_t object = nullptr;
  MUST(cudaUserObjectCreate(&object, &calls, [](void* count) { ++*static_cast<int*>(count); }, 1,
                            cudaUserObjectNoDestructorSync));
  check("a release of more references than there are", cudaSuccess, cudaUserObjectRelease(object, 1 << 20));
  MUST(cudaUserObjectRelease(object, 1));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // a thread of CUDA's calls the function
  check("calls of the object's function", 1, calls);
  return verdict();
}
