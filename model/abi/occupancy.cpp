// How many workgroups of a kernel run at once, libhgmodel.so only. Sources: HIP's header; catch/unit/occupancy.
#include <algorithm>

#include "model/abi/convert.h"

namespace model::abi {
namespace {

Status occupancy(State& state, int* blocks, const void* function, int block, std::size_t dynamic_shared) {
  if (blocks == nullptr || block <= 0 || block > kMaxBlock) return Status::kInvalidValue;
  const Function* found = find_kernel(state, function);
  if (found == nullptr) return Status::kInvalidDeviceFunction;
  return put(blocks, active_blocks(*found->kernel()->kernel, block, dynamic_shared));
}

Status potential(State& state, int* grid, int* block, const void* function, std::size_t dynamic_shared, int limit) {
  if (grid == nullptr || block == nullptr || limit < 0) return Status::kInvalidValue;
  const Function* found = find_kernel(state, function);
  if (found == nullptr) return Status::kInvalidDeviceFunction;
  *block = limit == 0 ? kMaxBlock : std::min(limit, kMaxBlock);
  return put(grid, kUnits * active_blocks(*found->kernel()->kernel, *block, dynamic_shared));
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t) {
  return call([&](State& state) {
    return find_kernel(state, function) == nullptr ? Status::kInvalidDeviceFunction : Status::kSuccess;
  });
}

hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig) {
  return hipFuncSetCacheConfig(function, hipFuncCachePreferNone);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block,
                                                        size_t dynamic_shared) {
  return call([&](State& state) { return occupancy(state, blocks, function, block, dynamic_shared); });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block,
                                                                 size_t dynamic_shared, unsigned int) {
  return call([&](State& state) { return occupancy(state, blocks, function, block, dynamic_shared); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block,
                                                              size_t dynamic_shared) {
  return call([&](State& state) { return occupancy(state, blocks, function, block, dynamic_shared); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function, int block,
                                                                       size_t dynamic_shared, unsigned int) {
  return call([&](State& state) { return occupancy(state, blocks, function, block, dynamic_shared); });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function, size_t dynamic_shared,
                                             int limit) {
  return call([&](State& state) { return potential(state, grid, block, function, dynamic_shared, limit); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function, size_t dynamic_shared,
                                                   int limit) {
  return call([&](State& state) { return potential(state, grid, block, function, dynamic_shared, limit); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t dynamic_shared, int limit, unsigned int) {
  return call([&](State& state) { return potential(state, grid, block, function, dynamic_shared, limit); });
}

hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int block) {
  return call([&](State& state) {
    if (bytes == nullptr || blocks <= 0 || block <= 0 || block > kMaxBlock) return Status::kInvalidValue;
    const Function* found = find_kernel(state, function);
    if (found == nullptr) return Status::kInvalidDeviceFunction;
    const std::size_t each = kSharedOfUnit / static_cast<std::size_t>(blocks);
    return put(bytes, each - std::min<std::size_t>(each, found->kernel()->kernel->resources.shared_bytes));
  });
}

}  // extern "C"
