// bench::time_ways: the ways of running a captured library call at a step whose buffers move, over the systems of hip/.
//
//   capture     captured again, instantiated, launched; the earlier executable graph is destroyed
//   eager       the call is enqueued on the stream
//   update      captured again, hipGraphExecUpdate, launched
//   patch       LibraryGraph's setters, launched
//   patcher     hip::GraphPatcher, launched
//   cache       hip::TraceCache, which patches its trace
//   stabilise   hip::AddressStabilizer: buffers copied in, one launch, buffers copied back
//
// Three more rows have the host's time without a launch: of patch, of patcher, and of `setters`, which calls the
// setters of all nodes that hold a buffer with their present values, the least that a patch can cost.
//
// A way that launches is checked before it is timed: one step of it has to leave the bytes that `capture` leaves.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/library_calls/library_graph.h"
#include "hip/recording.h"

namespace bench {

// A call and the places of its buffers, all of them the caller's.
struct LibraryStep {
  const hip::Api& api;
  const Driver& driver;
  hipStream_t stream = nullptr;  // of device 0, which is current
  const hip::EnqueueAt& call;
  const hip::Shadows& shadows;
  std::vector<int> devices;  // of each buffer
  // Writes the contents with which every check begins, and reads all bytes of the buffers. The device is idle.
  std::function<hip::Status(const hip::AddressTable&)> fill;
  std::function<hip::Result<std::vector<std::byte>>(const hip::AddressTable&)> read;
};

// Means over all steps, in microseconds.
struct WayTimes {
  std::string name;
  double host = 0;   // until the step is enqueued
  double whole = 0;  // until the device is idle; 0 for a way that does not launch
  bool same_bytes = true;
  std::string refused;  // why the way has no times, or empty
};

// An error is one of HIP's or of the call's. Each way runs `times` steps, at two places in turn.
[[nodiscard]] hip::Result<std::vector<WayTimes>> time_ways(const LibraryStep& step, int times);

// A library graph's nodes for hip::GraphPatcher. A node without relocations is an empty node
// there: no patch touches it.
struct KnownGraph {
  hip::Recording recording;
  hip::RecordedGraph handles;  // of the library graph, which owns them
};
// hipErrorNotSupported: a node is opaque. HIP's getter names a kernel's function, also where the library named a
// CUkernel.
[[nodiscard]] hip::Result<KnownGraph> known_graph(const hip::Api& api, const LibraryGraph& graph);

}  // namespace bench
