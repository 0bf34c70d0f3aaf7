#include "verify/program/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "verify/program/names.h"

namespace verify {

std::size_t end_of_block(const Program& program, std::size_t step) {
  const std::uint32_t block = program.steps[step].in.block;
  while (step < program.steps.size() && program.steps[step].in.block == block) ++step;
  return step;
}

Id* thread_of(Command& command) {
  return std::visit(
      []<class C>(C& c) -> Id* {
        if constexpr (requires { c.thread; }) {
          return &c.thread;
        } else {
          return nullptr;
        }
      },
      command);
}

namespace {

const NodeParams* params_of(const Command& command) {
  return std::visit(
      []<class C>(const C& c) -> const NodeParams* {
        if constexpr (requires { c.params; }) {
          return &c.params;
        } else {
          return nullptr;
        }
      },
      command);
}

using Name = std::pair<char, Id>;

// Whether allocations that name no pool may come from this one.
bool is_of_device(const State& state, Id pool) {
  const auto found = state.pools().find(pool);
  return state.parts().memory.pool_in_use == pool || (found != state.pools().end() && found->second.of_device);
}

// Whether the command would not stand, or be answered otherwise, while another thread captures in mode global.
bool forbidden_by_global(const State& state, const Command& command) {
  State beside = state;
  CaptureState capture;
  capture.serial = state.captures_begun() + 1;
  capture.origin = std::numeric_limits<Id>::max();  // no stream of the program
  capture.thread = kMaxThread + 1;
  beside.change().captures.open.push_back(std::move(capture));
  return beside.check(command) || beside.answer(command).invalidates != state.answer(command).invalidates;
}

// The names in a command, or in the parameters of a node.
template <class Named>
std::vector<Name> names_in(Named named) {
  std::vector<Name> names;
  for_each_name(named, [&names](char letter, const Id& id, bool) { names.emplace_back(letter, id); });
  return names;
}

}  // namespace

Reason ThreadRules::check(const State& state, const Step& step) {
  const InBlock before = std::exchange(in_, step.in);
  const bool another_thread = before.block != in_.block || before.thread != in_.thread;
  if (before.block != in_.block) {
    uses_.clear();
    capturing_ = recording_ = forbidden_ = 0;
    global_.clear();
  }
  if (another_thread && (before.thread != 0 || in_.thread != 0) && !state.captures().empty())
    return "a capture is open where a thread begins or ends";
  if (in_.thread == 0) return {};
  if (before.block != in_.block && !state.idle()) return "a block of threads begins when nothing is running";
  if (devices_ > 1) return "programs with threads have one device";
  Command command = step.command;
  if (const Id* thread = thread_of(command); thread != nullptr && *thread != in_.thread)
    return fmt::format("thread {} makes this call", in_.thread);
  if (Reason reason = uses_of(state, command)) return reason;
  if (forbidden_by_global(state, command)) forbidden_ |= 1U << in_.thread;
  return beside_global();
}

// CUDA, cudaThreadExchangeStreamCaptureMode: a capture of any thread in mode global forbids unsafe calls of all
// threads. Whether the capture is open when another thread makes its call is a matter of time.
Reason ThreadRules::beside_global() const {
  for (const auto& [thread, stream] : global_) {
    const std::uint32_t others = forbidden_ & ~(1U << thread);
    if (others == 0) continue;
    return fmt::format(
        "thread {} captures on s{} in mode global, which may forbid a call of thread {}: capture with mode=thread, or "
        "make the call outside of the block",
        thread, stream, std::countr_zero(others));
  }
  return {};
}

Reason ThreadRules::check_after(const State& state, const Step& step) {
  if (step.in.thread == 0) return {};
  for (const CaptureState& capture : state.captures()) {
    if (capture.mode == CaptureMode::kGlobal) global_.emplace(step.in.thread, capture.origin);
  }
  if (Reason reason = beside_global()) return reason;
  const std::vector<Name> names = names_in(step.command);
  // The executor waits for the device before it unloads a module.
  const std::map<Id, bool>& loaded = state.parts().modules;
  const auto unloaded = [&loaded](const Name& name) { return name.first == 'm' && !loaded.at(name.second); };
  return std::ranges::any_of(names, unloaded) ? Reason("modules are not unloaded in a thread") : Reason();
}

Reason ThreadRules::uses_of(const State& state, const Command& command) {
  const std::vector<Name> names = names_in(command);
  const auto* pool = std::get_if<DeclarePool>(&command);
  const bool of_device = pool != nullptr ? pool->of_device : std::holds_alternative<UsePool>(command);
  if (of_device || std::ranges::all_of(names, [](const Name& name) { return name.first == 'b'; }))
    return "a command that concerns the whole device may not stand in a thread";
  // The executor waits for the device before it destroys an object, but not beside other threads.
  const bool destroys = std::holds_alternative<Destroy>(command);
  if (destroys && !state.idle()) return "in a thread, objects are destroyed when nothing is running";
  if (!state.captures().empty()) capturing_ |= 1U << in_.thread;
  const NodeParams* const params = params_of(command);
  for (const Name& name : names) {
    if (name.first == 'b' && params != nullptr) continue;  // by its bytes, below
    if (Reason reason = use(state, name, true)) return reason;
    const ExecState* const exec = name.first == 'e' ? state.exec(name.second) : nullptr;
    if (exec == nullptr) continue;
    const bool launched = std::holds_alternative<Launch>(command);  // no other command leaves the graph alone
    if (Reason reason = launched ? Reason() : use(state, {'g', exec->origin}, true)) return reason;
    if (Reason reason = uses_of(state, exec->graph)) return reason;
    if (!launched && !destroys) recording_ |= 1U << in_.thread;
  }
  if (capturing_ != 0 && recording_ != 0 && !std::has_single_bit(capturing_ | recording_))
    return "an executable graph is not changed in a thread while another thread of the block captures";
  return params == nullptr ? Reason() : use(state, state.ranges_of(*params, 1));
}

Reason ThreadRules::uses_of(const State& state, const GraphState& graph) {
  for (const NodeState& node : graph.nodes) {
    if (Reason reason = use(state, node.ranges)) return reason;
    for (const Name& name : names_in(node.params)) {
      if (name.first != 'v' && name.first != 'm') continue;
      if (Reason reason = use(state, name, true)) return reason;
    }
    if (node.child == nullptr) continue;
    if (Reason reason = uses_of(state, *node.child)) return reason;
  }
  return {};
}

Reason ThreadRules::use(const State& state, const std::vector<ByteRange>& ranges) {
  for (const ByteRange& range : ranges) {
    if (Reason reason = use(state, {'b', range.buffer}, range.write)) return reason;
  }
  return {};
}

Reason ThreadRules::use(const State& state, Name name, bool write) {
  const auto [letter, id] = name;
  if (letter == 'u') return "user objects may not be used in a thread";
  if (letter == 'r' || letter == 'h') return "virtual memory stays as it is in a thread";
  if (letter == 'p' && is_of_device(state, id)) return "the device's pool may not be named in a thread";
  if (letter == 's' && (id == kNullStream || state.per_thread(id)))
    return fmt::format("s{} may not be used in a thread", id);
  Use& use = uses_[name];
  use.threads |= 1U << in_.thread;
  use.write = use.write || write;
  const bool beside = use.write && use.threads != 1U << in_.thread;
  if (beside && letter == 'b' && id == kAnyView) return "another thread of the block uses views of mapped memory, too";
  if (beside) return fmt::format("another thread of the block uses {}{}, too", letter, id);
  return {};
}

}  // namespace verify
