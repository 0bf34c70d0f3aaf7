// The pieces of HIP's calls on a node of each type: adding it, setting it, and giving its work to a stream.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "verify/export/text.h"
#include "verify/program/state.h"

namespace verify {

// The lines before a call, and the parts of the call in the three forms that HIP has.
struct NodeCalls {
  std::vector<std::string> before;
  std::string around;  // the start of "with_kernel(...)" around the call, or empty
  std::string after;
  const char* name;  // "Kernel": of hipGraphAddKernelNode, hipGraphExecKernelNodeSetParams, ...
  const char* suffix = "";
  std::string parameters;
  const char* setter = "SetParams";
  std::vector<std::string> behind{};  // lines that use the results of the call

  [[nodiscard]] std::string whole(const std::string& call) const { return around + call + after; }
};

// `child`: the variable of the graph that a child node is made from.
[[nodiscard]] NodeCalls calls_of(ReproducerText& text, const NodeState& node, std::string child);

// Returns the index that follows the variable of a node with a fan; the head of the loop over it goes to `text`.
const char* loop_over(std::uint32_t fan, std::string& text);
// Writes `call` for each instance of the node.
void emit(ReproducerText& text, const NodeCalls& calls, std::uint32_t fan, const ExpectedStatus& expected,
          const std::string& call);

// Turns the parameters of a copy into the parameters of the driver's call, which says where each end is.
void make_driver(ReproducerText& text, NodeCalls& calls, const NodeParams& params);
// Packs the parameters into the struct for a node of any type; returns the struct's variable.
std::string make_generic(ReproducerText& text, NodeCalls& calls);

// The device that has to be current while a node is added or set.
[[nodiscard]] Id device_of_node(const State& state, const NodeParams& params);

// How work is given to a stream.
struct StreamCall {
  std::string stream;        // an expression
  Id thread = 0;             // of the host
  bool wait = false;         // by the call without Async, which waits for the work
  bool cooperative = false;  // a kernel, all of whose workgroups run at once
};
// The call that gives the node's work to a stream, and the lines that belong before it.
[[nodiscard]] std::pair<NodeCalls, std::string> stream_call(ReproducerText& text, const State& state,
                                                            const NodeParams& params, const StreamCall& how);

}  // namespace verify
