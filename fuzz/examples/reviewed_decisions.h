// The decisions of mended_commands.cpp. Each of them is a small function; the review found the author's own version of
// it wrong (reviewed_faults.h).
#pragma once

#include <algorithm>
#include <vector>

#include "reviewed_parameters.h"

namespace reviewed {

// Facts about a step, gathered before its nodes are walked over. The mended library needs none.
struct Step {
  std::vector<std::pair<uint64_t, uint64_t>> moves;  // the tracked addresses: in the step before, and now
  bool hits_traces = false;                          // the traces of the step before still serve
};

struct Mended {
  static constexpr size_t kDeepest = 64;  // nested command buffers in each other

  // ---- recording

  // How deep command buffers are nested; no more than kDeepest + 1.
  static size_t depth(const hgcommands_command* commands, size_t count, size_t above = 0) {
    size_t deepest = above;
    for (size_t i = 0; i < count && above <= kDeepest; ++i) {
      if (commands[i].node.kind == HGPATCHER_CHILD)
        deepest = std::max(deepest, depth(commands[i].nested, commands[i].nested_count, above + 1));
    }
    return deepest;
  }
  // Whether a nested command buffer is flattened. It stays a child: release 7.2 does not order every root of a graph
  // behind earlier work, and crashes on some graphs of 16 nodes or more.
  static bool flattens(const hgcommands_command&) { return false; }
  // The leaves that a command comes behind. `ends`: of the commands before it at its level; `entry`: of what the level
  // comes behind; `range`: the positions of its level's leaves so far.
  static Ends behind(const hgpatcher_node& node, const std::vector<Ends>& ends, const Ends& entry,
                     std::pair<size_t, size_t>) {
    if (node.dependency_count == 0) return entry;
    Ends all;
    for (size_t i = 0; i < node.dependency_count; ++i) {
      const Ends& of_one = ends[node.dependencies[i]];
      all.insert(all.end(), of_one.begin(), of_one.end());
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }
  // Commands behind a command buffer without commands come behind the commands before it.
  static Ends ends_of_nothing(const Ends& entry) { return entry; }
  // The argument block that is kept of a kernel when it is recorded.
  static Block keep(const hgpatcher_kernel& kernel) { return owned(bytes_of(kernel)); }
  // The form in which parameters go to HIP, when they are recorded and when they are set.
  static void shape(Parameters&) {}
  // Called for each graph when it has been made, with the number of nodes that it will have.
  static hipError_t recorded(const hgpatcher_hip*, size_t) { return hipSuccess; }

  // ---- walking over the nodes at a later step

  static Step look(const Level&, const std::vector<Leaf>&) { return {}; }
  // Whether a node is looked at.
  static bool walks(const Leaf&, const Step&) { return true; }
  // Whether setters can bring parameters to those of the command; else all is recorded again.
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    // A traced graph cannot be compared, and release 7.2 does not push every graph back (symbols, batches).
    if (kept.kind != next.kind || next.kind == HGPATCHER_OPAQUE) return false;
    if (next.kind == HGPATCHER_COPY) return kept.linear == next.linear && kept.copy.kind == next.copy.kind;
    if (next.kind == HGPATCHER_MEMSET) return (kept.memset.height > 1) == (next.memset.height > 1);
    return true;
  }
  // The kernel's argument block at this step.
  static Bytes arguments(const Kernel&, const hgpatcher_kernel& next, const Step&) { return bytes_of(next); }
  // Adds to the parameters of this step what the step before knows.
  static void carry(const Parameters&, Parameters&) {}
  // The executable graph whose nodes are set; null: their definition.
  static hipGraphExec_t target(hipGraphExec_t exec) { return exec; }
  // The parameters that are passed to a setter of the executable graph.
  static const Parameters& passed(const Parameters& next) { return next; }
  static hipError_t answered(hipError_t status) { return status; }
  // A node could not be set. Whether the graph may be used at the next step.
  static bool usable_without(Node&, Parameters) { return false; }

  // ---- at the end

  static bool destroys_old_graphs() { return true; }
  // Whether an executable graph that was launched and replaced is destroyed only when the next one is replaced. Release
  // 7.2 ends a graph that is still running on the thread that handles signals, and a later launch can hang then
  // (verify/findings/destroyed-exec-deadlock).
  static bool keeps_one_more() { return true; }
  static hipStream_t stream(hipStream_t stream) { return stream; }
};

}  // namespace reviewed
