// Generators of node parameters: one function a node type. Internal to verify/generate.
#pragma once

#include <optional>
#include <vector>

#include "verify/generate/choices.h"
#include "verify/program/state.h"

namespace verify {

// The tendencies of one program; drawn once per program (swarm testing).
struct Swarm {
  unsigned collision_percent = 30;  // of scalars that take an address
  unsigned slice_percent = 50;      // of pointers that do not point at a buffer's start
  unsigned extra_percent = 50;      // of kernels recorded through `extra`
  unsigned opaque_percent = 0;
  bool strided_copies = true;
  bool memsets = true;
  bool host_nodes = true;
  bool children = true;
  bool fans = false;
  bool big_kernels = false;  // many_args
  bool event_nodes = false;
  bool unified_memory = false;  // managed and registered buffers
  unsigned max_elements = 16;
  bool shapes = false;    // chains, grids, wide graphs
  bool editing = false;   // clones, dependencies, removed nodes
  bool toggling = false;  // disabled nodes
  bool queries = false;
  bool forms = false;      // of instantiation and of nodes
  bool eager = false;      // work given to streams
  bool captures = false;   // and work that is captured
  bool forbidden = false;  // sometimes calls that a capture forbids
  bool objects = false;    // user objects, held by graphs
  bool bad_calls = false;
  bool only_bad_calls = false;
  bool graph_memory = false;     // graphs that allocate
  bool symbols = false;          // variables of the device code
  bool attributes = false;       // of kernel nodes
  bool stream_memory = false;    // hipMallocAsync and its pools
  bool devices = false;          // a second device
  bool anew = false;             // graphs are destroyed when they are instantiated, and recorded anew for each update
  bool modules = false;          // code that is loaded and unloaded
  bool by_symbol = false;        // kernels that are named by their host functions
  bool cooperative = false;      // cooperative launches; both kinds of names come with them
  bool batches = false;          // of memory operations
  bool semaphores = false;       // external ones
  bool mapped_memory = false;    // ranges, physical memory, and views of it
  std::size_t most_streams = 4;  // that live at a time, the null stream counted
};
[[nodiscard]] Swarm draw_swarm(Choices& choices);

// Draws parameters over the buffers of `usable`. State::check may still refuse them.
class ParamsGenerator {
 public:
  ParamsGenerator(Choices& choices, const Swarm& swarm, const State& state, std::vector<Id> usable)
      : choices_(choices), swarm_(swarm), state_(state), usable_(std::move(usable)) {}
  // Sets the device on which kernels run: the device of the stream that gets them.
  void run_on(Id device) { stream_device_ = device; }

  // Any node type but a child; no value when the buffers at hand do not allow the type that was drawn.
  [[nodiscard]] std::optional<NodeParams> any();
  // A batch of writes, and of waits for values that it writes, on memory of device 0.
  [[nodiscard]] std::optional<NodeParams> batch();
  // A signal of external semaphores, or a wait for them.
  [[nodiscard]] NodeParams semaphores();
  // A linear copy between buffers of device memory, on two devices where two have buffers.
  [[nodiscard]] std::optional<NodeParams> peer_copy(PeerCopy form);
  // Other parameters for a node that keeps its type, kernel, direction and shape.
  [[nodiscard]] std::optional<NodeParams> vary(const NodeParams& params);

 private:
  std::optional<NodeParams> kernel(const KernelSpec& spec);
  std::optional<NodeParams> copy();
  std::optional<CopyParams> strided(CopyParams copy);
  void name_symbol(CopyParams& copy);
  Id other_variable(Id otherwise);
  std::optional<NodeParams> memset();
  std::optional<NodeParams> host();
  std::optional<NodeParams> event();
  std::uint64_t value_of(std::uint32_t bytes);
  std::uint64_t semaphore_value(bool signals);

  // A usable buffer whose state is accepted.
  template <class Accept>
  std::optional<Id> pick_by(const Accept& accept);
  std::optional<Id> pick(bool (*accept)(MemoryKind));
  std::optional<Id> pick_for_kernel(Id device);
  std::optional<NodeParams> kernel(const KernelSpec& spec, Id device);
  Id like(Id buffer);
  BufferRef slice(Id buffer, std::uint32_t alignment, std::uint64_t reserve);
  bool fill_pointers(KernelParams& params);
  void fill_scalars(KernelParams& params);
  ArgumentValue scalar(const FieldSpec& field);
  bool fill_elements(KernelParams& params);
  bool fill_range(KernelParams& params);
  bool fill_matrix(KernelParams& params);
  [[nodiscard]] std::uint64_t room(const BufferRef& ref) const;

  Choices& choices_;
  const Swarm& swarm_;
  const State& state_;
  std::vector<Id> usable_;
  std::optional<Id> stream_device_;
};

}  // namespace verify
