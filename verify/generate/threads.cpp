#include "verify/generate/threads.h"

#include <algorithm>

#include "verify/generate/mutate.h"

namespace verify {

namespace {

constexpr std::uint64_t kNodesOfThread = 5, kRoundsOfThread = 2;
constexpr std::uint64_t kBytesOfThread = 256;

}  // namespace

void ThreadsDraft::overlap() {
  const std::size_t whole = program_.steps.size();
  if (swarm_.devices || !state_.captures().empty() || !take(Synchronize{Target::kDevice, 0})) return;
  std::vector<Own> threads(choices_.between(2, kMaxThread));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].thread = static_cast<Id>(i + 1);
    for (int k = 0; k < 2 && take(DeclareBuffer{next_.buffer, kBytesOfThread, MemoryKind::kDevice}); ++k)
      threads[i].buffers.push_back(next_.buffer++);
    if (threads[i].buffers.empty()) return;
    threads[i].captures = choices_.percent(60);
  }
  const bool global = choices_.percent(20);
  for (Own& own : threads) own.quiet = global;
  threads.front().global = global;
  threads.front().captures = threads.front().captures || global;
  Program written = program_;
  for (Own& own : threads) {
    const std::size_t begin = program_.steps.size();
    own.updates = std::ranges::none_of(
        threads, [&own](const Own& other) { return other.captures && other.thread != own.thread; });
    thread_ = own.thread;
    thread(own);
    thread_ = 0;
    written.steps.insert(written.steps.end(), program_.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                         program_.steps.end());
    for (std::size_t k = begin; k < written.steps.size(); ++k) written.steps[k].in = {1, 1, 0, own.thread};
  }
  if (written.steps.size() > most_commands(options_)) {
    program_.steps.resize(whole);
    return;
  }
  program_ = with_fit_blocks(written, options_);
}

void ThreadsDraft::thread(Own& own) {
  own.stream = next_.stream;
  if (!take(DeclareStream{own.stream, choices_.percent(70)})) return;
  ++next_.stream;
  for (std::uint64_t rounds = choices_.between(1, kRoundsOfThread); rounds > 0; --rounds) round(own);
  if (own.quiet) return;
  if (own.exec && choices_.percent(70)) take(Destroy{Target::kExec, *own.exec});
  if (choices_.percent(50)) take(Destroy{Target::kStream, own.stream});
}

// Makes a graph, instantiates it or updates the thread's executable graph from it, and launches that.
void ThreadsDraft::round(Own& own) {
  const Id graph = next_.graph++;
  const bool captures = own.captures && choices_.percent(80);
  if (!(captures ? capture_own(own, graph) : build_own(own, graph))) return;
  if (own.exec && own.updates && choices_.percent(70)) {
    take(Update{*own.exec, graph});
  } else if (take(Instantiate{next_.exec, graph})) {
    own.exec = next_.exec++;
  }
  if (!own.quiet && choices_.percent(30)) stream_memory_of(own);
  if (choices_.percent(40)) take(Enqueue{own.stream, work(own), own.thread});
  if (own.exec) take(Launch{*own.exec, own.stream});
  if (own.quiet) return;
  take(Synchronize{Target::kStream, own.stream, own.thread});
  if (choices_.percent(70)) take(Destroy{Target::kGraph, graph});
}

bool ThreadsDraft::capture_own(Own& own, Id graph) {
  const CaptureMode mode = own.global             ? CaptureMode::kGlobal
                           : choices_.percent(70) ? CaptureMode::kThreadLocal
                                                  : CaptureMode::kRelaxed;
  if (!take(BeginCapture{own.stream, mode, {}, {}, own.thread})) return false;
  for (std::uint64_t i = choices_.between(1, kNodesOfThread); i > 0; --i)
    take(Enqueue{own.stream, work(own), own.thread});
  if (!own.quiet && choices_.percent(25)) stream_memory_of(own);
  return take(EndCapture{own.stream, graph, own.thread});
}

// A chain of nodes.
bool ThreadsDraft::build_own(const Own& own, Id graph) {
  if (!take(DeclareGraph{graph})) return false;
  const auto nodes = static_cast<Id>(choices_.between(1, kNodesOfThread));
  for (Id node = 0; node < nodes; ++node) {
    AddNode add{graph, node, work(own), {}};
    if (node != 0) add.after = {node - 1};
    if (!take(add)) take(AddNode{graph, node, EmptyParams{}, add.after});
  }
  if (!own.quiet && choices_.percent(30)) graph_memory_of(own, graph, nodes);
  return true;
}

MemsetParams ThreadsDraft::fill_of(Id memory, std::uint32_t value) {
  MemsetParams fill;
  fill.dst = {memory, 0};
  fill.value = value;
  fill.width = kBytesOfThread;
  return fill;
}

CopyParams ThreadsDraft::copy_out(const Own& own, Id memory) {
  CopyParams copy;
  copy.dst.ref = {own.buffers.back(), 0};
  copy.src.ref = {memory, 0};
  copy.width = kBytesOfThread;
  copy.kind = CopyKind::kDeviceToDevice;
  return copy;
}

// Memory that the thread's stream allocates, sets, copies from and frees; outside of captures mostly of its own pool.
void ThreadsDraft::stream_memory_of(Own& own) {
  const Id memory = next_.buffer;
  const bool captures = state_.capture_of(own.stream) != nullptr;
  if (!captures && !own.pool && choices_.percent(50) && take(DeclarePool{next_.pool})) own.pool = next_.pool++;
  if (!take(MallocAsync{memory, kBytesOfThread, own.stream, captures ? std::nullopt : own.pool})) return;
  ++next_.buffer;
  take(Enqueue{own.stream, fill_of(memory, static_cast<std::uint32_t>(choices_.below(256))), own.thread});
  take(Enqueue{own.stream, copy_out(own, memory), own.thread});
  if (own.pool && !captures && choices_.percent(50)) take(AskPool{*own.pool, PoolAttribute::kUsed, {}});
  take(FreeAsync{memory, own.stream});
}

// A chain of nodes behind `node - 1` that allocates memory, sets it, copies from it and frees it.
void ThreadsDraft::graph_memory_of(const Own& own, Id graph, Id node) {
  const Id memory = next_.buffer;
  if (!take(AddNode{graph, node, MemoryAllocParams{memory, kBytesOfThread}, {node - 1}})) return;
  ++next_.buffer;
  take(AddNode{graph, node + 1, fill_of(memory, static_cast<std::uint32_t>(choices_.below(256))), {node}});
  take(AddNode{graph, node + 2, copy_out(own, memory), {node + 1}});
  take(AddNode{graph, node + 3, MemoryFreeParams{memory}, {node + 2}});
}

NodeParams ThreadsDraft::work(const Own& own) {
  const std::optional<NodeParams> drawn = ParamsGenerator(choices_, swarm_, state_, own.buffers).any();
  return drawn && !is_event_node(*drawn) ? *drawn : EmptyParams{};
}

}  // namespace verify
