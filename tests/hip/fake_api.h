// A fake of HIP's graph functions: it keeps the parameters of every call, decodes them at once, and can fail any call.
//
// Nothing runs. A graph is a list of nodes with decoded parameters; an executable graph is a deep copy of one. It
// shares no code and no idea with the model (model/), so that a mistake in either does not hide behind the other. A
// World is everything the fake knows; one lives at a time and the functions of the table work on it.
//
// Does not check: dependencies for cycles, anything that a launch would need, threads.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hip/api/api.h"
#include "hip/recording.h"

namespace fake {

// The kernel that a function handle of the fake points at: the places of its arguments, as in a code object's metadata.
struct Kernel {
  std::vector<hip::ArgumentSlot> slots;
  std::size_t block_bytes = 0;
};

struct Graph;

// The work of a node, without its dependencies.
struct Work {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  // kernels
  void* function = nullptr;
  dim3 grid;
  dim3 block;
  unsigned shared_bytes = 0;
  std::vector<std::byte> arguments;
  // copies; of a linear one dstPtr.ptr, srcPtr.ptr, extent.width and kind alone mean something
  hipMemcpy3DParms copy{};
  bool linear = false;
  hipMemsetParams memset{};
  hipHostNodeParams host{};
};

struct Node : Work {
  std::vector<Node*> dependencies;
  std::unique_ptr<Graph> child;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Exec {
  std::unique_ptr<Graph> graph;
  std::map<const Node*, Node*> node_of;  // by the node of the graph that it was instantiated from, top level only
};

struct Call {
  std::string function;
  const void* node = nullptr;   // of setters: the handle that was passed
  std::size_t block_bytes = 0;  // of kernel setters: the size of the packed block
  bool packed = false;          // of kernel setters: the arguments came through `extra`
};

enum class Failing : std::uint8_t {
  kChangesNothing,     // as documented
  kChangesAllTheSame,  // a runtime that does the work and then reports an error
};

// In which order hipGraphGetNodes lists nodes; HIP leaves it open.
enum class NodeOrder : std::uint8_t { kAsAdded, kBreadthFirst, kLastFirst };

struct World {
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  hipFunction_t add_kernel(Kernel kernel);

  std::list<Kernel> kernels;
  std::set<Graph*> graphs;  // created and not destroyed
  std::set<Exec*> execs;
  std::vector<Call> calls;
  bool log_calls = true;
  std::uint64_t call_count = 0;
  std::set<std::uint64_t> failing_calls;  // ordinals, from 1, counted by call_count
  Failing failing = Failing::kChangesNothing;
  NodeOrder node_order = NodeOrder::kAsAdded;
  bool clones_reversed = false;  // graphs of child graph nodes are listed the other way round than all others
  bool inside = false;           // a function of the fake is running (its allocations are not the caller's)
};

// A table with the functions that recordings and patchers use; all other functions are null.
hip::Api api();

// Everything a launch could depend on, in words: nodes in order, dependencies by place, parameters, children inside.
std::string describe(const Graph& graph);

Graph& graph_of(hipGraph_t handle);
Graph& graph_of(hipGraphExec_t handle);

}  // namespace fake
