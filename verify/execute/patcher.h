// verify::ExecPatcher: the interface that the strategy `patch` drives. hip::GraphPatcher is the real one; the catalogue
// of faults and patcher libraries have others. A factory makes one for each executable graph to be patched.
//
// The recording that a factory is given belongs to the caller: it may be destroyed or overwritten as soon as the
// factory returns, and a patcher that kept a reference to it breaks P1.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "hip/graph_patcher.h"

namespace verify {

class ExecPatcher {
 public:
  virtual ~ExecPatcher() = default;

  virtual hip::PatchResult patch(std::span<const hip::Move> moves) = 0;
  // As in hip::GraphPatcher.
  virtual void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) = 0;
  virtual void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) = 0;
  // Launches the executable graph. A patcher may defer part of its work until then.
  virtual hipError_t launch(const hip::Api& api, hipGraphExec_t exec, hipStream_t stream) {
    return api.hipGraphLaunch(exec, stream);
  }
};

// The graph that a patcher is made for. References belong to the caller and are valid only during the call.
struct PatchTarget {
  const hip::Api& api;
  const hip::Recording& recording;
  const hip::RecordedGraph& graph;
  hipGraphExec_t exec = nullptr;  // null: the graph's definition is to be patched
  std::span<const hip::DeviceAddress> addresses;
  std::span<const std::uint64_t> buffer_bytes;  // by buffer index; every allocator knows the sizes
  bool poison = false;                          // overwrite passed data after its use (P1)
};
using PatcherFactory = std::function<std::unique_ptr<ExecPatcher>(const PatchTarget&)>;

// Makes hip::GraphPatcher objects.
[[nodiscard]] PatcherFactory graph_patcher_factory();

}  // namespace verify
