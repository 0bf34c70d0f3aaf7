#include "verify/run/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/heap_counter.h"
#include "verify/execute/own_graphs.h"
#include "verify/execute/rebuild.h"
#include "verify/execute/resources.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"
#include "verify/program/threads.h"
#include "verify/run/family_run.h"
#include "verify/run/race_words.h"
#include "verify/run/refusals.h"
#include "verify/run/run.h"
#include "verify/run/threads.h"

namespace verify {

namespace {

constexpr int kMaxFailuresACommand = 8;

// ---- from a command to its family

template <class C, class Family>
inline constexpr bool kIsOf = false;
template <class C, class... Commands>
inline constexpr bool kIsOf<C, CommandList<Commands...>> = (std::is_same_v<C, Commands> || ...);

template <class... Families>
struct Dispatch {
  static hip::Status run(Run& run, const Command& command) {
    return std::visit([&]<class C>(const C&) { return in_family<C, Families...>(run, command); }, command);
  }

 private:
  template <class C, class Family, class... Others>
  static hip::Status in_family(Run& run, const Command& command) {
    if constexpr (kIsOf<C, Family>) {
      return FamilyRun<Family>::run(run, command);
    } else {
      return in_family<C, Others...>(run, command);
    }
  }
};

// ---- the cost of a command (P10)

StepCost cost_so_far(const Run& run) {
  const Interposer& calls = run.interposer;
  const HeapUse heap = heap_use();
  return {.calls = calls.calls(),
          .allocations = heap.allocations,
          .bytes = heap.bytes,
          .steps = run.platform.steps(),
          .instantiations = calls.calls_of(Function::k_hipGraphInstantiate) +
                            calls.calls_of(Function::k_hipGraphInstantiateWithFlags) +
                            calls.calls_of(Function::k_hipGraphInstantiateWithParams)};
}

StepCost operator-(const StepCost& now, const StepCost& before) {
  return {.calls = now.calls - before.calls,
          .allocations = now.allocations - before.allocations,
          .bytes = now.bytes - before.bytes,
          .steps = now.steps - before.steps,
          .instantiations = now.instantiations - before.instantiations};
}

// ---- the observations at the end

// Graphs whose definition was recorded again do not count: they are kept because executable graphs still name their
// nodes by the old handles. The memory that they take cannot be told from other memory, so only handles are counted
// then.
std::vector<Held> held_by_the_program(const Run& run) {
  std::vector<Held> held = run.platform.held();
  for (Held& h : held) h.count -= h.what == "graphs" ? run.context.retired.size() : 0;
  if (!run.context.retired.empty()) return held;
  for (const auto& more : {reported_by_the_runtime(run.interposer.inner()), held_by_the_process()})
    held.insert(held.end(), more.begin(), more.end());
  std::uint64_t noted = 0;  // bytes that the program read, which the observation keeps
  for (const BytesSeen& seen : run.observation.reads) noted += seen.bytes.capacity();
  for (Held& h : held) h.count -= h.what == kHeapBytes ? std::min(noted, h.count) : 0;
  return held;
}

void read_everything(Run& run) {
  for (Id id = 0; id < run.memory.size(); ++id) {
    if (!run.memory.alive(id)) continue;
    BytesSeen seen{run.step, id, {}};
    if (!run.memory.read(id, seen.bytes)) continue;
    run.check_visibility(seen);
    run.observation.reads.push_back(std::move(seen));
  }
}

void observe_topology(Run& run, const GraphObject& graph) {
  TopologySeen seen;
  seen.graph = graph.id;
  std::size_t count = 0, edges = 0;
  const hip::Api& api = run.interposer.inner();
  if (api.hipGraphGetNodes(graph.handles.graph, nullptr, &count) != hipSuccess) return;
  std::vector<hipGraphNode_t> nodes(count);
  if (count != 0 && api.hipGraphGetNodes(graph.handles.graph, nodes.data(), &count) != hipSuccess) return;
  std::map<hipGraphNode_t, std::uint32_t> index;
  for (std::size_t i = 0; i < graph.handles.nodes.size(); ++i)
    index[graph.handles.nodes[i]] = static_cast<std::uint32_t>(i);
  seen.types.assign(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    hipGraphNodeType type{};
    const auto found = index.find(nodes[i]);
    const std::size_t at = found == index.end() ? i : found->second;
    if (api.hipGraphNodeGetType(nodes[i], &type) == hipSuccess && at < count) seen.types[at] = type;
  }
  if (api.hipGraphGetEdges(graph.handles.graph, nullptr, nullptr, &edges) != hipSuccess) return;
  std::vector<hipGraphNode_t> from(edges), to(edges);
  if (edges != 0 && api.hipGraphGetEdges(graph.handles.graph, from.data(), to.data(), &edges) != hipSuccess) return;
  for (std::size_t i = 0; i < edges; ++i) seen.edges.emplace_back(index[from[i]], index[to[i]]);
  std::ranges::sort(seen.edges);
  run.detectors.topology(run.step, graph, seen);
  run.observation.topology.push_back(std::move(seen));
}

// ---- the tear-down

// Notes errors of the tear-down, except after a device fault: then every call fails, and the observation notes the
// fault already.
class TearDown {
 public:
  explicit TearDown(Run& run) : run_(run) {}

  void everything() {
    keep(run_.graph_memory.free_everything());
    keep(run_.stream_memory.give_back());
    graphs();
    streams();
    keep(run_.mapped_memory.give_back());
    keep(run_.memory.release_everything());
    // Waits for work that nothing waited for, and that loses its memory here: a fault of it belongs to this program and
    // not to the next one.
    keep(synchronize_devices(run_.interposer.inner(), run_.context.devices));
    peers();
    run_.records.unload_code_objects();
    note(run_.user_objects.finish());
    if (run_.observation.notes.fault.empty()) run_.observation.notes = run_.platform.notes();
    if (!run_.options.fresh_addresses) run_.detectors.leaks(run_.step, run_.platform.leaks());
  }

 private:
  void note(const std::string& error) {
    if (!error.empty() && run_.observation.notes.fault.empty()) run_.detectors.teardown_error(run_.step, error);
  }
  void keep(const hip::Status& status) {
    if (!status) note(status.error().message);
  }

  void graphs() {
    StrategyContext& context = run_.context;
    context.capturing = false;
    context.home_streams.clear();
    destroy_launched(context);
    for (auto& [id, exec] : run_.execs) {
      if (exec.alive) keep(destroy(context, exec));
    }
    for (auto& [id, graph] : run_.graphs) {
      if (!graph.alive) continue;
      const hip::Status destroyed = destroy(context, graph);
      if (!graph.maybe_gone) keep(destroyed);
    }
    for (const hipGraph_t graph : context.retired) keep(hip::call<&hip::Api::hipGraphDestroy>(context.api, graph));
  }

  void streams() {
    const hip::Api& api = run_.context.api;
    for (const auto& [id, event] : run_.events) keep(hip::call<&hip::Api::hipEventDestroy>(api, event));
    for (const auto& [id, semaphore] : run_.semaphores)
      keep(hip::call<&hip::Api::hipDestroyExternalSemaphore>(api, semaphore));
    for (const auto& [id, stream] : run_.streams) {
      if (stream != hipStreamPerThread) keep(hip::call<&hip::Api::hipStreamDestroy>(api, stream));
    }
  }

  void peers() {
    const hip::Api& api = run_.interposer.inner();
    for (const auto& [device, peer] : run_.peers) {
      const int number = static_cast<int>(peer);
      keep(on_device(api, device, [&] { return hip::call<&hip::Api::hipDeviceDisablePeerAccess>(api, number); }));
    }
  }

  Run& run_;
};

// ---- the program, step by step

class Steps {
 public:
  Steps(Run& run, const Program& program, hip::sync::Atomic<std::size_t>* watch)
      : run_(run), program_(program), watch_(watch) {}

  void go() {
    Observation& observation = run_.observation;
    if (!run_.platform.need_devices(run_.context.devices)) {
      observation.unsupported = fmt::format("{} devices", run_.context.devices);
      return;
    }
    MappedAllocations* const mapped = run_.memory.mapped();
    if (const char* missing = mapped == nullptr ? nullptr : mapped->missing_function()) {
      observation.unsupported = missing;
      return;
    }
    if (const char* missing = run_.records.import_semaphores(program_)) {
      observation.unsupported = missing;
      return;
    }
    if (const hip::Status loaded = run_.records.load_code_objects(program_); !loaded) {
      observation.harness_error = loaded.error().message;
      return;
    }
    observation.statuses.reserve(program_.steps.size());
    // Stops at a function that the runtime lacks: later steps could use memory and objects that do not exist.
    for (std::size_t i = 0; i < program_.steps.size() && supported();) {
      if (program_.steps[i].in.thread != 0) {
        i = threads(i);
      } else {
        step(i++);
      }
    }
    begin_step(program_.steps.size());
    finish();
    TearDown(run_).everything();
    if (!race_.empty()) observation.notes.first_race = std::move(race_);
  }

 private:
  [[nodiscard]] bool supported() const {
    return run_.observation.unsupported.empty() && run_.context.unsupported.empty();
  }

  void begin_step(std::size_t step) {
    run_.step = step;
    if (watch_ != nullptr) watch_->store(step, std::memory_order_relaxed);
  }

  // Runs the block of threads that begins at step `begin`, and returns the step behind it.
  std::size_t threads(std::size_t begin) {
    const std::size_t end = end_of_block(program_, begin);
    hip::sync::Mutex turns;
    std::map<Id, std::function<void()>> works;
    for (std::size_t i = begin; i < end; ++i) {
      const Id thread = program_.steps[i].in.thread;
      if (works.contains(thread)) continue;
      const auto turn = std::make_shared<ThreadTurn>(run_, thread, turns, run_.captures.of_thread());
      works[thread] = [this, begin, end, thread, turn] { run_thread(begin, end, thread, *turn); };
    }
    if (may_overlap()) {
      run_.platform.on_threads(works);
    } else {
      for (const auto& [thread, work] : works) run_.platform.on_thread(thread, work);
    }
    run_.captures.ran_in_threads(std::span(program_.steps).subspan(begin, end - begin));
    std::ranges::sort(run_.observation.patched_in_place);
    return end;
  }
  void run_thread(std::size_t begin, std::size_t end, Id thread, ThreadTurn& turn) {
    const Interposer::Scope scope(run_.interposer, &turn);
    turn.enter();
    for (std::size_t i = begin; i < end && supported(); ++i) {
      if (program_.steps[i].in.thread == thread) step(i);
    }
    turn.leave();
  }
  // Costs are counted, and calls are made to fail, by their number in the order of the program.
  [[nodiscard]] bool may_overlap() const {
    return !run_.options.costs && run_.options.fail_graph_call == 0 &&
           std::ranges::none_of(program_.steps, [](const Step& step) { return arms_failure(step.command); });
  }

  // The running step's element of a vector with one for each step.
  template <class Element>
  Element& of_step(std::vector<Element>& elements) const {
    if (elements.size() <= run_.step) elements.resize(run_.step + 1);
    return elements[run_.step];
  }

  void step(std::size_t i) {
    begin_step(i);
    const Step& step = program_.steps[i];
    StepStatus status;
    const StepCost before = run_.options.costs ? cost_so_far(run_) : StepCost{};
    std::uint32_t repetition = 0;
    Refusal refusal(run_, step.command);
    for (; repetition < step.repeat && status.code == 0; ++repetition) status = command(step.command, refusal);
    if (step.repeat > 1 && status.code != 0) status.repetition = repetition;
    of_step(run_.observation.statuses) = status;
    of_step(run_.operations) = run_.platform.operations();
    note_buffers(run_);
    if (run_.options.costs) of_step(run_.observation.costs) = cost_so_far(run_) - before;
  }

  StepStatus command(const Command& command, Refusal& refusal) {
    const std::uint64_t fired = run_.interposer.fired(), below = run_.platform.failed_below();
    refusal.begin();
    StepStatus status = attempt(command);
    const bool failed_below = run_.platform.failed_below() != below;
    if (run_.interposer.fired() != fired) {
      status = again(command, std::move(status));
    } else if (failed_below) {
      ++run_.observation.failures_fired;
      refusal.check_below(status);
      status = until_it_succeeds(command, std::move(status));
    }
    run_.captures.ran(command, status, run_.interposer.fired() != fired || failed_below);
    refusal.check(status);
    return status;
  }

  // Runs the command again after a failure was injected into its first attempt. Failures are armed one by one; a second
  // one may hit the next attempt.
  StepStatus again(const Command& command, StepStatus status) {
    ++run_.observation.failures_fired;
    run_.detectors.injected_failure(run_.step, print_command(command),
                                    status.code != 0 || run_.attempt.fallback_reported || run_.context.error_reported);
    return until_it_succeeds(command, std::move(status));
  }

  // Succeeds: answers by the rules of capture, which may be an error.
  StepStatus until_it_succeeds(const Command& command, StepStatus status) {
    const int answer = run_.captures.answer(command);
    for (int i = 0; i < kMaxFailuresACommand && status.code != 0 && status.code != answer; ++i)
      status = attempt(command);
    return status;
  }

  StepStatus attempt(const Command& command) {
    run_.attempt = {};
    run_.context.error_reported = false;
    run_.context.capturing = !run_.may_wait_for_device();
    if (!run_.context.capturing) run_.context.leftovers.clear();
    const hip::Status status = ForFamilies<Dispatch>::run(run_, command);
    note_gone_objects();
    return {.code = status ? 0 : status.error().code,
            .update_result = run_.attempt.update_result,
            .seen = std::move(run_.attempt.seen)};
  }

  // Notes the user objects whose functions ran. They go when graphs and executable graphs are destroyed, and a Destroy
  // command waits for running work first.
  void note_gone_objects() {
    if (!run_.user_objects.any()) return;
    const std::string gone = run_.user_objects.gone();
    std::string& seen = run_.attempt.seen;
    if (!gone.empty()) seen += (seen.empty() ? "" : "; ") + gone;
  }

  void finish() {
    Observation& observation = run_.observation;
    run_.platform.fail_below({}, 0);
    run_.captures.abandon();
    // Host functions must not outlive this run, and a program without buffers makes no read that waits for them.
    const hip::Status waited = synchronize_devices(run_.interposer.inner(), run_.context.devices);
    run_.context.leftovers.clear();
    if (waited) destroy_launched(run_.context);
    if (run_.options.signature) observation.signature = run_.platform.signature();
    if (run_.options.held) observation.held = held_by_the_program(run_);
    read_everything(run_);
    for (const auto& [id, graph] : run_.graphs) {
      if (graph.alive && !graph.spoiled) observe_topology(run_, graph);
    }
    if (observation.unsupported.empty()) observation.unsupported = run_.context.unsupported;
    observation.calls = run_.interposer.calls();
    observation.steps = run_.context.steps;
    if (run_.systems) run_.systems->finish(run_.step, observation);
    observation.notes = run_.platform.notes();
    // Before the tear-down, which leaves no buffers to name.
    if (const std::optional<RaceSeen> race = run_.platform.first_race()) race_ = race_in_words(run_, program_, *race);
    if (!waited && observation.notes.fault.empty()) run_.detectors.teardown_error(run_.step, waited.error().message);
  }

  Run& run_;
  const Program& program_;
  hip::sync::Atomic<std::size_t>* watch_;
  std::string race_;  // the first race in words
};

}  // namespace

Executor::Executor(Platform& platform, StrategyKind strategy, PatcherFactory patchers)
    : platform_(platform), strategy_(make_strategy(strategy)), patchers_(std::move(patchers)) {}

Executor::Executor(Platform& platform, std::unique_ptr<Strategy> strategy)
    : platform_(platform), strategy_(std::move(strategy)) {}

RunResult Executor::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  platform_.enter();
  static_cast<void>(platform_.need_devices(devices_needed(program)));  // the run asks again and handles the answer
  platform_.begin(options.schedule_seed);
  if (options.signature) platform_.begin_signature();
  interposer_.begin(platform_.api(), options.poison, options.keep_passed);
  if (options.fail_graph_call != 0) interposer_.fail_any(options.fail_graph_call);
  RunResult result;
  {
    const Interposer::Scope scope(interposer_);
    Run run({.platform = platform_,
             .interposer = interposer_,
             .strategy = *strategy_,
             .patchers = patchers_,
             .systems = parts_,
             .options = options},
            program, script);
    Steps(run, program, watch_).go();
    result = {std::move(run.observation), run.memory.script()};
  }
  platform_.leave();
  return result;
}

}  // namespace verify
