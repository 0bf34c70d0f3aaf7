// hip::GraphPatcher: brings an executable graph to new buffer addresses, in place.
//
// Promises (`hgcheck properties` prints the sentences):
//   A1 only relocated pointers change; A2 every one of them does, in children at any depth; A3 all moves of a patch
//   happen at once; A4 arguments go in as one packed block in the layout of the kernel's metadata; A5 copies keep kind,
//   shape and form (1D stays 1D); A6 only nodes with a changed relocation are touched, one call each (plus one call for
//   every top-level child graph node that holds one), and a patch that changes nothing makes no call; A7 a moved buffer
//   of an opaque node is refused before the first call, with kRecordAgain.
//   P1 nothing the caller passed is kept; P2 only this executable graph (or, for a patcher of a graph, that graph)
//   changes; P4 a patch that fails half-way undoes its changes; if that fails too, the patcher is unusable.
// Cost: linear in the relocations of the buffers that moved (few touched nodes are sorted into node order as well), no
// allocation in the steady state. The first patch that reaches into a top-level child graph node of an executable graph
// records a private copy of that child graph, because HIP changes the nodes of a child only by handing over a whole
// graph with the new parameters, and the caller's graph must not change (P2). That cost is linear in the child, once.
//
// Does not check: that no launch of the executable graph is in flight where the runtime forbids patching under it, and
// that the memory at the new addresses exists. hip/cloned_nodes.h describes how nodes inside nested child graphs are
// found, and under which assumption; if the runtime's clone differs from the recording, a patch returns kRecordAgain.
// One patcher per executable graph; not thread-safe, like the graph.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hip/api/api.h"
#include "hip/recording.h"
#include "hip/relocation.h"

namespace hip {

struct PatchReport {
  std::uint32_t nodes = 0;        // nodes that got new parameters, inner nodes of children included
  std::uint32_t relocations = 0;  // fields that changed
  std::uint32_t calls = 0;        // calls of setters: one a node, one for each child graph that was handed over
  std::uint32_t prepared = 0;     // child graphs that had to be prepared (nodes found or recorded); 0 in steady state
};

enum class PatchFailure : std::uint8_t {
  kBadMove,      // a move names an unknown buffer, a buffer twice, or a `from` that is not its present address
  kRecordAgain,  // the patcher lacks knowledge of a node (A7): record the graph again; nothing was changed
  kRolledBack,   // a HIP call failed; the executable graph is as before the patch
  kUnusable,     // a HIP call failed and undoing the patch failed too: record the graph again, do not launch
};

struct PatchError {
  PatchFailure failure = PatchFailure::kBadMove;
  int code = 0;         // the hipError_t of the first call that failed, or 0
  std::string message;  // names node, field and remedy
};

// Either a report or an error.
class [[nodiscard]] PatchResult {
 public:
  PatchResult(PatchReport report) : report_(report) {}                     // NOLINT(google-explicit-constructor)
  PatchResult(PatchError error) : ok_(false), error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const PatchReport& report() const {
    assert(ok_);
    return report_;
  }
  [[nodiscard]] const PatchError& error() const {
    assert(!ok_);
    return error_;
  }

 private:
  bool ok_ = true;
  PatchReport report_;
  PatchError error_;
};

struct PatcherOptions {
  // Receives errors that no return value can carry: destroying a private child graph failed. `code` is a hipError_t.
  // Must not throw. Empty: report_teardown_error.
  std::function<void(int code, const char* what)> on_teardown_error;
};

// Handles teardown errors where PatcherOptions names no function for them: writes one line to standard error and goes
// on, because a leak is no reason to end the user's process.
void report_teardown_error(int code, const char* what);

class GraphPatcher {
 public:
  // A patcher of `exec`, which was instantiated from `graph` at `addresses`. Takes copies of all that is passed, the
  // table of functions included (changing the table afterwards has no effect); recordings of children are shared. The
  // runtime identifies nodes of an executable graph by the handles of the graph it came from, so the graph has to
  // outlive the patcher. Both handles stay the caller's. Makes no HIP call.
  static GraphPatcher of_exec(const Api& api, const Recording& recording, const RecordedGraph& graph,
                              hipGraphExec_t exec, std::span<const DeviceAddress> addresses,
                              PatcherOptions options = {});
  // A patcher of the graph's definition itself: later instantiations get the new addresses.
  static GraphPatcher of_graph(const Api& api, const Recording& recording, const RecordedGraph& graph,
                               std::span<const DeviceAddress> addresses, PatcherOptions options = {});

  GraphPatcher(GraphPatcher&&) noexcept;
  GraphPatcher& operator=(GraphPatcher&&) noexcept;
  ~GraphPatcher();  // destroys the child graphs that it recorded for itself; errors go to `on_teardown_error`

  // A move from an address to itself changes nothing; a move of a buffer that no node holds only changes addresses().
  PatchResult patch(std::span<const Move> moves);

  // The buffers' addresses that the graph has now.
  [[nodiscard]] std::span<const DeviceAddress> addresses() const;
  // False after kUnusable: patch() then always returns kUnusable and makes no HIP call.
  [[nodiscard]] bool usable() const;

  // Tells that the caller changed a node's parameters through a setter, at the current addresses: patches start from
  // the new ones. Asserts that the node keeps its type (an opaque node may stand for any). Linear in the node if its
  // relocations stay as they were, otherwise in the whole tree. May destroy a private child graph.
  void replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations);
  // Tells that the caller changed all nodes, by hipGraphExecUpdate or otherwise. `recording` has as many nodes, of the
  // same types (asserted). The patcher keeps its handles, those of the graph that the executable graph came from.
  void replace_all(const Recording& recording, std::span<const DeviceAddress> addresses);

 private:
  struct State;
  explicit GraphPatcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hip
