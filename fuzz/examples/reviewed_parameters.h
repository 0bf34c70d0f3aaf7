// A command's parameters with an argument block of their own, and the nodes that hold them: reviewed_commands.cpp and
// mended_commands.cpp keep these from one step to the next.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "hip/patcher_abi.h"

namespace reviewed {

using Bytes = std::vector<unsigned char>;

inline constexpr size_t kWord = sizeof(uint64_t);

inline uint64_t word_at(const unsigned char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, kWord);
  return word;
}

// An argument block. `at` owns the bytes, or (F14) borrows them.
struct Block {
  std::shared_ptr<const unsigned char> at;
  size_t bytes = 0;
};

inline Block owned(Bytes bytes) {
  const size_t size = bytes.size();
  const auto kept = std::make_shared<const Bytes>(std::move(bytes));
  return {std::shared_ptr<const unsigned char>(kept, kept->data()), size};
}

inline Bytes bytes_of(const hgpatcher_kernel& kernel) {
  const auto* begin = static_cast<const unsigned char*>(kernel.arguments);
  return {begin, begin + kernel.bytes};
}

struct Kernel {
  hipFunction_t function = nullptr;
  dim3 grid, block;
  uint32_t shared_bytes = 0;
  Block arguments;
};

// The parameters of a command that is not a nested command buffer. `kind` says which members are valid.
struct Parameters {
  uint32_t kind = HGPATCHER_EMPTY;
  int linear = 0;
  Kernel kernel;
  hipMemcpy3DParms copy{};
  hipMemsetParams memset{};
  hipHostNodeParams host{};
  hipEvent_t event = nullptr;
  hipGraph_t traced = nullptr;  // the caller's: valid in the step that it came with
};

inline Parameters parameters_of(const hgcommands_command& command, Block arguments) {
  const hgpatcher_node& node = command.node;
  Parameters taken;
  taken.kind = node.kind;
  taken.linear = node.linear;
  taken.kernel = {node.kernel.function, node.kernel.grid, node.kernel.block, node.kernel.shared_bytes,
                  std::move(arguments)};
  taken.copy = node.copy;
  taken.memset = node.memset;
  taken.host = node.host;
  taken.event = node.event;
  taken.traced = command.traced;
  return taken;
}

inline bool same(const dim3& a, const dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
inline bool same(const hipPitchedPtr& a, const hipPitchedPtr& b) {
  return a.ptr == b.ptr && a.pitch == b.pitch && a.xsize == b.xsize && a.ysize == b.ysize;
}
inline bool same(const hipPos& a, const hipPos& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
inline bool same(const hipMemcpy3DParms& a, const hipMemcpy3DParms& b) {
  return same(a.dstPtr, b.dstPtr) && same(a.srcPtr, b.srcPtr) && same(a.dstPos, b.dstPos) && same(a.srcPos, b.srcPos) &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height && a.extent.depth == b.extent.depth &&
         a.kind == b.kind;
}
inline bool same(const hipMemsetParams& a, const hipMemsetParams& b) {
  return a.dst == b.dst && a.value == b.value && a.elementSize == b.elementSize && a.width == b.width &&
         a.height == b.height && a.pitch == b.pitch;
}
inline bool same(const Kernel& a, const Kernel& b) {
  return a.function == b.function && same(a.grid, b.grid) && same(a.block, b.block) &&
         a.shared_bytes == b.shared_bytes && a.arguments.bytes == b.arguments.bytes &&
         std::memcmp(a.arguments.at.get(), b.arguments.at.get(), a.arguments.bytes) == 0;
}
// Nothing is known of what a traced graph holds, so no two of them are the same.
inline bool same(const Parameters& a, const Parameters& b) {
  switch (a.kind) {
    case HGPATCHER_KERNEL:
      return same(a.kernel, b.kernel);
    case HGPATCHER_COPY:
      return a.linear == b.linear && same(a.copy, b.copy);
    case HGPATCHER_MEMSET:
      return same(a.memset, b.memset);
    case HGPATCHER_HOST:
      return a.host.fn == b.host.fn && a.host.userData == b.host.userData;
    case HGPATCHER_EVENT_RECORD:
    case HGPATCHER_EVENT_WAIT:
      return a.event == b.event;
    default:
      return a.kind == HGPATCHER_EMPTY;
  }
}

// A kernel's parameters as HIP takes them, with the arguments in an `extra` buffer. Points into the kernel.
class PackedKernel {
 public:
  explicit PackedKernel(const Kernel& kernel) : bytes_(kernel.arguments.bytes) {
    params_.func = reinterpret_cast<void*>(kernel.function);
    params_.gridDim = kernel.grid;
    params_.blockDim = kernel.block;
    params_.sharedMemBytes = kernel.shared_bytes;
    extra_[1] = const_cast<unsigned char*>(bytes_ == 0 ? &kNothing : kernel.arguments.at.get());
    params_.extra = extra_;
  }
  PackedKernel(const PackedKernel&) = delete;
  PackedKernel& operator=(const PackedKernel&) = delete;
  [[nodiscard]] const hipKernelNodeParams* get() const { return &params_; }

 private:
  static constexpr unsigned char kNothing = 0;
  size_t bytes_;
  void* extra_[5] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, nullptr, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes_,
                     HIP_LAUNCH_PARAM_END};
  hipKernelNodeParams params_{};
};

struct Level;

// A node of the recorded graph and the parameters that it has now. `inner`: of a nested command buffer that is a child.
struct Node {
  hipGraphNode_t handle = nullptr;
  Parameters kept;
  std::unique_ptr<Level> inner;
};

// A recorded graph with its nodes, in the order of the plan's leaves.
struct Level {
  hipGraph_t graph = nullptr;
  std::vector<Node> nodes;
};

// Positions of leaves in the plan.
using Ends = std::vector<size_t>;

// A command that becomes one node. `inner`: the leaves of a nested command buffer that becomes a child graph.
struct Leaf {
  const hgcommands_command* command = nullptr;
  Ends behind;
  bool nested = false;  // of a nested command buffer
  std::vector<Leaf> inner;
};

}  // namespace reviewed
