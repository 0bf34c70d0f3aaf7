#include "verify/generate/blocks.h"

#include <algorithm>

#include "verify/generate/mutate.h"
#include "verify/program/blocks.h"

namespace verify {

namespace {

constexpr unsigned kBlockPercent = 4;  // of the programs
constexpr std::uint64_t kMaxLength = 8;
constexpr std::uint32_t kSmallGraph = 3;  // nodes of a step's graph, memory nodes not counted

}  // namespace

void BlocksDraft::add_block() {
  if (choices_.exhausted() || !choices_.percent(kBlockPercent)) return;
  if (choices_.percent(30)) return overlap();
  choices_.percent(50) ? rebuild_again_and_again() : repeat_what_is_there();
}

std::uint32_t BlocksDraft::rounds() {
  if (choices_.percent(4)) return static_cast<std::uint32_t>(choices_.between(50, 300));
  return static_cast<std::uint32_t>(choices_.percent(20) ? choices_.between(7, 30) : choices_.between(2, 6));
}

bool BlocksDraft::repeat(std::size_t begin, std::size_t end) {
  Program written = program_;
  const InBlock in{1, rounds(), 0};
  for (std::size_t i = begin; i < end; ++i) written.steps[i].in = in;
  Program fit = with_fit_blocks(written, options_);
  if (!has_blocks(fit)) return false;
  program_ = std::move(fit);
  return true;
}

void BlocksDraft::repeat_what_is_there() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::size_t begin = choices_.below(program_.steps.size());
    if (repeat(begin, std::min(program_.steps.size(), begin + choices_.between(1, kMaxLength)))) return;
  }
}

// Builds, instantiates, launches and destroys a graph.
void BlocksDraft::rebuild_again_and_again() {
  const Id graph = next_.graph++;
  std::size_t begin = program_.steps.size();
  if (choices_.percent(40)) {
    if (!capture_step(graph)) return;
    while (!std::holds_alternative<BeginCapture>(program_.steps[begin].command)) ++begin;
  } else if (!build_step(graph)) {
    return;
  }
  if (!take(Instantiate{next_.exec, graph})) return;
  const Id exec = next_.exec++;
  launch_exec(exec);
  take(Synchronize{Target::kDevice, 0});
  const bool exec_first = choices_.percent(50);
  if (exec_first) take(Destroy{Target::kExec, exec});
  take(Destroy{Target::kGraph, graph});
  if (!exec_first) take(Destroy{Target::kExec, exec});
  repeat(begin, program_.steps.size());
}

bool BlocksDraft::build_step(Id graph) {
  if (!take(DeclareGraph{graph})) return false;
  const Id memory = next_.buffer;
  const bool allocates = choices_.percent(30) && allocate(graph);
  for (std::uint64_t i = choices_.between(1, kSmallGraph); i > 0; --i) add_node(graph);
  if (!allocates) return true;
  AddNode node;
  node.graph = graph;
  node.node = static_cast<Id>(state_.graph(graph)->nodes.size());
  node.params = MemoryFreeParams{memory};
  return add_ordered(node);
}

// Captures memory that a stream allocates, sets and frees.
bool BlocksDraft::capture_step(Id graph) {
  const Id stream = next_.stream;
  if (!take(DeclareStream{stream, choices_.percent(50)})) return false;
  ++next_.stream;
  if (!take(BeginCapture{stream, CaptureMode::kThreadLocal, {}, {}})) return false;
  for (std::uint64_t i = choices_.between(1, kSmallGraph); i > 0; --i) {
    const Id memory = next_.buffer;
    if (!take(MallocAsync{memory, 64, stream, {}})) break;
    ++next_.buffer;
    MemsetParams memset;
    memset.dst = {memory, 0};
    memset.width = 64;
    take(Enqueue{stream, memset});
    take(FreeAsync{memory, stream});
  }
  return take(EndCapture{stream, graph});
}

}  // namespace verify
