// bench::LibraryGraph: a captured library call, as an executable graph that follows its buffers.
//
// The call is captured for its buffers at several places (hip::Shadows). hip::attribute finds the addresses among the
// arguments; offsets and sizes of arguments are asked of CUDA's driver, because a library has no metadata to read. The
// graph of the first capture is instantiated as the library made it, and setters bring its nodes to other places.
//
//   memory    a graph may allocate and free memory itself. Its address differs from capture to capture and never moves
//             in one graph, so an aligned word that is, in every capture, that capture's memory plus the same offset
//             stays as it is.
//   opaque    a node with a byte that depends on addresses and is not explained, or a node of a type whose contents no
//             getter shows. The graph is then not patched: the caller captures again.
//
// Kernel nodes go through CUDA's driver: they may name a CUkernel, and HIP's parameters have no field for one. Handles
// of HIP on NVIDIA are CUDA's own. The layouts of CUDA's structures and the names of its functions are CUDA 12's and
// 13's (CUDA Driver API: CUDA_KERNEL_NODE_PARAMS_v2, cuFuncGetParamInfo, cuKernelGetParamInfo).
//
// Does not compare the edges of two captures: edges with data have no getter in HIP. No getter shows the data that the
// library writes to device memory during a capture; only launching both graphs tells.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hip/captured_graph.h"
#include "hip/differential_capture.h"

namespace bench {

// CUDA_KERNEL_NODE_PARAMS_v2. Handles are only passed on.
struct DriverKernelParams {
  void* function = nullptr;
  unsigned grid[3] = {}, block[3] = {};
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  void* context = nullptr;
};

// CUDA's functions that HIP has no name for; results are CUresult.
struct Driver {
  int (*get_kernel_node)(hipGraphNode_t node, DriverKernelParams* params) = nullptr;
  int (*set_kernel_node)(hipGraphExec_t exec, hipGraphNode_t node, const DriverKernelParams* params) = nullptr;
  int (*function_argument)(void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) = nullptr;
  int (*kernel_argument)(void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) = nullptr;
};

// A kernel node; its arguments are the block of its LibraryNode.
struct LibraryKernel {
  DriverKernelParams params;  // arguments and extra are null
  std::vector<hip::ArgumentSlot> slots;
  bool as_extra = false;  // the library handed over one block
};

struct LibraryNode {
  hipGraphNode_t handle = nullptr;
  hipGraphNodeType type{};
  std::variant<std::monostate, LibraryKernel, hipMemcpy3DParms, hipMemsetParams> params;
  std::vector<std::byte> block;  // the arguments, or the node's pointers: destination, then source
  std::vector<hip::Relocation> relocations;
  std::string opaque;  // why it cannot be patched, or empty
};

// Memory that a graph allocates when it is launched.
struct GraphMemory {
  hip::DeviceAddress begin = 0;
  std::uint64_t bytes = 0;
};

struct SeenGraph {
  std::vector<LibraryNode> nodes;
  std::vector<GraphMemory> memory;  // in the order of its nodes
};

// Reads a captured graph. Errors are the runtime's or the driver's; a node that is not understood is opaque.
[[nodiscard]] hip::Result<SeenGraph> read_graph(const hip::Api& api, const Driver& driver, hipGraph_t graph);

// The first of the captures, its nodes with their relocations or with why they are opaque; capture k was made at
// shadows.tables[k]. An error: the captures are of different work.
[[nodiscard]] hip::Result<SeenGraph> attribute_graphs(std::span<const SeenGraph> captures, const hip::Shadows& shadows);

class LibraryGraph {
 public:
  // Captures the call at every table of the shadows. The stream, api and driver outlive this.
  [[nodiscard]] static hip::Result<LibraryGraph> capture(const hip::Api& api, const Driver& driver, hipStream_t stream,
                                                         const hip::EnqueueAt& call, const hip::Shadows& shadows);
  LibraryGraph(LibraryGraph&& other) noexcept;
  LibraryGraph& operator=(LibraryGraph&&) = delete;
  ~LibraryGraph();  // a failure goes to hip::report_teardown_error

  [[nodiscard]] const SeenGraph& seen() const { return seen_; }
  [[nodiscard]] std::size_t opaque_nodes() const;
  [[nodiscard]] std::size_t relocations() const;
  [[nodiscard]] hipGraphExec_t exec() const { return exec_; }

  // Brings the executable graph to the addresses: one setter for each node that holds a buffer which moved. An error
  // leaves it between two places. hipErrorNotSupported: it has an opaque node.
  [[nodiscard]] hip::Status patch(std::span<const hip::DeviceAddress> addresses);
  // Calls the setters of all nodes with relocations, with the nodes' current values: the least cost of a patch.
  [[nodiscard]] hip::Status set_all();

 private:
  LibraryGraph(const hip::Api& api, const Driver& driver, hip::CapturedGraph graph, SeenGraph seen)
      : api_(&api), driver_(&driver), graph_(std::move(graph)), seen_(std::move(seen)) {}
  hip::Status set(LibraryNode& node);
  hip::Status set_kernel(LibraryNode& node);
  hip::Status set_copy(const LibraryNode& node);

  const hip::Api* api_;
  const Driver* driver_;
  hip::CapturedGraph graph_;
  SeenGraph seen_;
  hipGraphExec_t exec_ = nullptr;
  hip::AddressTable addresses_;
  std::vector<void*> arguments_;  // of the node that is being set
};

}  // namespace bench
