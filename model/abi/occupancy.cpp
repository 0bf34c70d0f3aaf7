// How many workgroups of a kernel run at once, libhgmodel.so only. Sources: HIP's header; catch/unit/occupancy.
// The device is an MI300X: 304 compute units of 4 SIMDs with 8 waves each and 64 KiB of LDS. Registers are not counted.
#include <algorithm>

#include "model/abi/convert.h"

namespace model::abi {
namespace {

constexpr int kWavesOfUnit = 32, kLanesOfWave = 64, kUnits = 304, kMaxBlock = 1024;
constexpr std::size_t kSharedOfUnit = 64 * 1024;

// Workgroups of `block` work items that one compute unit holds.
int active_blocks(const Kernel& kernel, int block, std::size_t dynamic_shared) {
  const int waves = (block + kLanesOfWave - 1) / kLanesOfWave;
  const std::size_t shared = kernel.resources.shared_bytes + dynamic_shared;
  const std::size_t by_shared = shared == 0 ? kWavesOfUnit : kSharedOfUnit / shared;
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(kWavesOfUnit / waves), by_shared));
}

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
