// verify::ErrorScene: live objects of a HIP runtime for a call with one wrong argument: graphs with a node of each
// type, executable graphs of them, memory, a stream, an event, a user object; and handles of objects that are gone.
// The scene creates every object through the table and destroys it again. Objects that a runtime lacks are null.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hip/api/api.h"
#include "verify/errors/snapshot.h"

#define HGCHECK_HIP_AT_LEAST(major, minor) \
  (HIP_VERSION_MAJOR > (major) || (HIP_VERSION_MAJOR == (major) && HIP_VERSION_MINOR >= (minor)))

namespace verify {

#if HGCHECK_HIP_AT_LEAST(7, 0)
using DriverMemset = hipMemsetParams;
#elif HGCHECK_HIP_AT_LEAST(6, 0)
using DriverMemset = HIP_MEMSET_NODE_PARAMS;  // the driver had a struct of its own
#endif

class ErrorScene {
 public:
  static constexpr std::size_t kBytes = 256, kSmallBytes = 64;  // of an allocation

  static constexpr std::size_t kSymbolBytes = 1024;  // of the variable

  // `kernel` is the catalogue's count_only; `variable` stands for a variable of device code, or is null. `code` is
  // device code with a count_only for a module that is gone, or null.
  ErrorScene(const hip::Api& table, hipFunction_t kernel, const void* variable, const void* code = nullptr);
  ErrorScene(const ErrorScene&) = delete;
  ErrorScene& operator=(const ErrorScene&) = delete;
  ~ErrorScene();
  // The status of the first call that failed while the scene was made, or hipSuccess.
  [[nodiscard]] hipError_t prepared() const { return prepared_; }
  // Whether the runtime lacks a function that a call needed besides its own.
  [[nodiscard]] bool lacking() const { return lacking_; }

  // The state of the objects, with the bytes of the memory, and of the thread.
  [[nodiscard]] Snapshot look() const;
  // Launches the executable graph, and the graph, instantiated again. Says what went wrong, or nothing.
  [[nodiscard]] std::string launch_again();
  // Releases the one reference to the user object. Says what went wrong, or nothing.
  [[nodiscard]] std::string release_object();
  // The executable graph of the node's graph.
  [[nodiscard]] hipGraphExec_t exec_of(hipGraphNode_t node) const;
  // The state of a capture that a refused call changed, or nothing.
  [[nodiscard]] const std::string& capture_changed() const { return capture_changed_; }

  // Where a node is added.
  struct Place {
    hipGraphNode_t* node;
    hipGraph_t graph;
    const hipGraphNode_t* list;
    std::size_t count;
  };
  [[nodiscard]] Place place() { return {&node_out, graph, nullptr, 0}; }
  [[nodiscard]] Place behind(hipGraphNode_t first);
  [[nodiscard]] Place behind(hipGraphNode_t first, hipGraphNode_t second);

  [[nodiscard]] hipKernelNodeParams kernel_params();
  [[nodiscard]] hipKernelNodeParams unloaded_params();  // of the function whose module is gone
  [[nodiscard]] void** extra();
  [[nodiscard]] hipMemcpy3DParms copy_params() const;   // rows of 8 bytes, from all of b to all of a
  [[nodiscard]] hipMemsetParams memset_params() const;  // four words of a
  [[nodiscard]] static hipHostNodeParams host_params();
  [[nodiscard]] hipKernelNodeAttrValue* window();
  [[nodiscard]] hipMemAllocNodeParams alloc_params() const;
  [[nodiscard]] static hipMemPoolProps pool_properties();
  [[nodiscard]] static hipMemAccessDesc access();  // device 0 reads and writes
  [[nodiscard]] int devices() const;
  [[nodiscard]] hipCtx_t context() const;

  // Calls of functions about nodes with valid parameters; `place` has the members of a Place as arguments.
  hipError_t add_kernel(auto... place) { return with<&hip::Api::hipGraphAddKernelNode>(kernel_params(), place...); }
  hipError_t set_kernel(hipGraphNode_t node) {
    return with<&hip::Api::hipGraphKernelNodeSetParams>(kernel_params(), node);
  }
  hipError_t set_kernel(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecKernelNodeSetParams>(kernel_params(), of, node);
  }
  hipError_t add_copy(auto... place) { return with<&hip::Api::hipGraphAddMemcpyNode>(copy_params(), place...); }
  hipError_t set_copy(hipGraphNode_t node) { return with<&hip::Api::hipGraphMemcpyNodeSetParams>(copy_params(), node); }
  hipError_t set_copy(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecMemcpyNodeSetParams>(copy_params(), of, node);
  }
  hipError_t add_memset(auto... place) { return with<&hip::Api::hipGraphAddMemsetNode>(memset_params(), place...); }
  hipError_t set_memset(hipGraphNode_t node) {
    return with<&hip::Api::hipGraphMemsetNodeSetParams>(memset_params(), node);
  }
  hipError_t set_memset(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecMemsetNodeSetParams>(memset_params(), of, node);
  }
  hipError_t add_host(auto... place) { return with<&hip::Api::hipGraphAddHostNode>(host_params(), place...); }
  hipError_t set_host(hipGraphNode_t node) { return with<&hip::Api::hipGraphHostNodeSetParams>(host_params(), node); }
  hipError_t set_host(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecHostNodeSetParams>(host_params(), of, node);
  }
  [[nodiscard]] hipError_t free_twice() const;  // memory of a stream
  hipError_t add_child_that_allocates();        // and frees
  hipError_t add_alloc(auto... place) { return with<&hip::Api::hipGraphAddMemAllocNode>(alloc_params(), place...); }
  hipError_t get_alloc(hipGraphNode_t node) {
    return with<&hip::Api::hipGraphMemAllocNodeGetParams>(hipMemAllocNodeParams{}, node);
  }
#if HGCHECK_HIP_AT_LEAST(6, 2)
  [[nodiscard]] hipGraphNodeParams any_params() const;  // a memset
  hipError_t add_any(auto... place) { return with<&hip::Api::hipGraphAddNode>(any_params(), place...); }
  hipError_t set_any(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecNodeSetParams>(any_params(), of, node);
  }
  hipError_t set_driver_copy(hipGraphExec_t of, hipGraphNode_t node);
  hipError_t set_driver_memset(hipGraphExec_t of, hipGraphNode_t node);
#endif
#if HGCHECK_HIP_AT_LEAST(6, 0)
  [[nodiscard]] const DriverMemset* driver_form(const hipMemsetParams* params);
  [[nodiscard]] HIP_MEMCPY3D driver_copy() const;  // as copy_params()
  hipError_t add_driver_copy(hipGraphNode_t* node, hipGraph_t to, const hipGraphNode_t* list, std::size_t count);
  hipError_t add_driver_memset(hipGraphNode_t* node, hipGraph_t to, const hipGraphNode_t* list, std::size_t count);
  hipError_t get_driver_copy(hipGraphNode_t node) {
    return with<&hip::Api::hipDrvGraphMemcpyNodeGetParams>(HIP_MEMCPY3D{}, node);
  }
  hipError_t set_driver_copy(hipGraphNode_t node) {
    return with<&hip::Api::hipDrvGraphMemcpyNodeSetParams>(driver_copy(), node);
  }
#endif
#if HGCHECK_HIP_AT_LEAST(6, 4)
  [[nodiscard]] hipBatchMemOpNodeParams batch();  // one word of a is written
  hipError_t add_batch(auto... place) { return with<&hip::Api::hipGraphAddBatchMemOpNode>(batch(), place...); }
  hipError_t get_batch(hipGraphNode_t node) {
    return with<&hip::Api::hipGraphBatchMemOpNodeGetParams>(hipBatchMemOpNodeParams{}, node);
  }
  hipError_t set_batch(hipGraphNode_t node) { return with<&hip::Api::hipGraphBatchMemOpNodeSetParams>(batch(), node); }
  hipError_t set_batch(hipGraphExec_t of, hipGraphNode_t node) {
    return with<&hip::Api::hipGraphExecBatchMemOpNodeSetParams>(batch(), of, node);
  }
#endif

  const hip::Api& api;
  hipFunction_t function;
  const void* symbol;

  // Memory: `a` and `b` of kBytes and `small` of kSmallBytes on the device, `pinned` of kBytes on the host; where there
  // is a variable, `wide` on the device, which is larger than the variable.
  void *a = nullptr, *b = nullptr, *small = nullptr, *pinned = nullptr, *wide = nullptr;

  // empty -> kernel -> copy -> line -> set; the other nodes have no edges. `copy` has the 3D form, `line` the 1D form.
  struct Nodes {
    hipGraphNode_t empty = nullptr, kernel = nullptr, copy = nullptr, line = nullptr, set = nullptr, host = nullptr,
                   child = nullptr;
  };
  hipGraph_t leaf = nullptr;  // one empty node
  hipGraph_t graph = nullptr, other = nullptr, clone = nullptr, cyclic = nullptr;
  hipGraph_t cyclic_outer = nullptr;  // a graph whose child has a cycle
  Nodes nodes, others;                // of graph and other
  hipGraphExec_t exec = nullptr;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipUserObject_t object = nullptr;
  hipMemPool_t pool = nullptr;  // of device 0

  // Graphs for nodes that not every runtime has.
  hipGraph_t event_graph = nullptr, batch_graph = nullptr;
  hipGraphNode_t record_node = nullptr, wait_node = nullptr, batch_node = nullptr;
  hipGraphNode_t driver_node = nullptr;  // a copy of `other` that was added in the driver's form
  hipGraphExec_t event_exec = nullptr, batch_exec = nullptr;
  hipGraph_t symbol_graph = nullptr;
  hipGraphNode_t to_symbol = nullptr, from_symbol = nullptr;  // eight bytes from and to a
  hipGraphExec_t symbol_exec = nullptr;

  hipGraph_t unloaded_graph = nullptr;  // a kernel node whose module is gone
  hipGraphExec_t unloaded_exec = nullptr;

  hipGraph_t gone_graph = nullptr;
  hipGraphNode_t gone_node = nullptr;
  hipGraphExec_t gone_exec = nullptr;
  hipStream_t gone_stream = nullptr;
  hipMemPool_t gone_pool = nullptr;

  // Room for answers.
  hipGraphNode_t node_out = nullptr, node_in = nullptr;
  hipGraph_t graph_out = nullptr;
  hipGraphExec_t exec_out = nullptr;
  hipEvent_t event_out = nullptr;
  hipUserObject_t object_out = nullptr;
  hipKernelNodeParams kernel_out{};
  hipMemcpy3DParms copy_out{};
  hipMemsetParams memset_out{};
  hipHostNodeParams host_out{};
  hipKernelNodeAttrValue attribute{};
  hipGraphExecUpdateResult update_out{};
  hipStreamCaptureStatus capture_out{};
  hipMemPool_t pool_out = nullptr;
  hipMemAccessFlags access_out{};
  unsigned enabled_out = 0;
  std::uint64_t number = 0;
  void* pointer_out = nullptr;

#if HGCHECK_HIP_AT_LEAST(6, 0)
  DriverMemset driver_memset{};
#endif

 private:
  void must(hipError_t status) {
    if (prepared_ == hipSuccess) prepared_ = status;
  }
  template <auto Function, class Params>
  hipError_t with(Params params, auto... place) const {
    return (api.*Function)(place..., &params);
  }
  void make_memory();
  [[nodiscard]] hipError_t fill_with(void* memory, std::size_t bytes, unsigned char value) const;
  [[nodiscard]] bool launches_right(hipGraphExec_t launched);
  void fill(hipGraph_t to, Nodes* out);
  void make_graphs();
  void make_optional();
  void make_symbol_nodes();
  void make_pools();
  void make_unloaded(const void* code);
  void make_gone();

  friend class Capturing;

  std::size_t number_;  // of this process's scenes
  hipError_t prepared_ = hipSuccess;
  std::string capture_changed_;
  bool lacking_ = false;
  hipFunction_t unloaded_ = nullptr;
  std::array<hipGraphNode_t, 2> list_{};
  std::vector<hipGraph_t> graphs_;
  std::vector<hipGraphExec_t> execs_;
  std::uint32_t n_ = 0;  // the kernel's arguments
  std::uint64_t x_ = 0;
  std::uint8_t y_ = 0;
  std::array<void*, 3> arguments_{&n_, &x_, &y_};
  std::array<std::byte, 24> packed_{};
  std::size_t packed_bytes_ = sizeof packed_;
  std::array<void*, 5> extra_{};
#if HGCHECK_HIP_AT_LEAST(6, 4)
  std::array<hipStreamBatchMemOpParams, 1> operations_{};
#endif
};

// The scene's stream captures as long as this lives. The end notes in the scene a capture that has changed meanwhile.
class Capturing {
 public:
  explicit Capturing(ErrorScene& scene);
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
  ~Capturing();

 private:
  [[nodiscard]] Snapshot look() const;
  [[nodiscard]] Snapshot begin() const;

  ErrorScene& scene_;
  Snapshot begun_;
};

}  // namespace verify
