#include "reports/reproducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "reports/reproducer_bad_calls.h"
#include "reports/reproducer_captures.h"
#include "reports/reproducer_nodes.h"
#include "reports/reproducer_pools.h"
#include "reports/reproducer_text.h"
#include "verify/program/foreign_kernels.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"

namespace reports {
namespace {

using verify::Id;
using verify::MemoryKind;
using verify::Target;

constexpr int kNotSupported = 801;            // hipErrorNotSupported; this room needs no HIP headers for one number
constexpr std::uint32_t kMaxWrittenOut = 64;  // repetitions that cannot be a loop
constexpr std::size_t kHexALine = 96;

std::string arena_name(MemoryKind kind, Id device) {
  static constexpr const char* kNames[] = {"device", "pinned", "pageable", "managed", "registered"};
  static_assert(std::size(kNames) == verify::kMemoryKinds);
  return kNames[static_cast<std::size_t>(kind)] + (device == 0 ? std::string() : fmt::format("{}", device));
}

// One overload of operator() a command; each has the state before it and the state after it.
class Body {
 public:
  Body(const Reproducer& reproducer, ReproducerForm form)
      : r_(reproducer),
        text_(form),
        nodes_(text_),
        captures_(text_, nodes_, reproducer.program),
        places_(r_.places.begin(), r_.places.end()),
        contents_matter_(!r_.bytes.empty()) {}

  hip::Result<std::string> write() {
    devices_ = verify::devices_needed(r_.program);
    text_.use_devices(devices_);
    if (r_.checks_host_functions) text_.line("runs.clear();");
    declare_objects();
    for (step_ = 0; step_ < r_.program.steps.size() && error_.empty(); ++step_) write_step(r_.program.steps[step_]);
    if (!error_.empty()) return hip::Error{kNotSupported, error_};
    // What a capture that is still open makes of a wait is not what the file shows.
    const bool shown = captures_.any() && std::any_of(r_.statuses.begin(), r_.statuses.end(),
                                                      [](const ExpectedStatus& status) { return status.differs; });
    if (!shown) {
      captures_.abandon(after_);
      text_.wait();
    }
    check_bytes();
    check_rest();
    for (const Id graph : r_.owned) {
      ExpectedStatus destroyed;
      destroyed.differs = true;
      text_.call(destroyed, fmt::format("hipGraphDestroy({})", graphs_[graph].graph));
    }
    if (r_.tears_down) tear_down();
    return text_.file(r_);
  }

  // ---- declarations

  void operator()(const verify::DeclareBuffer& c) {
    if (c.symbol) {
      text_.line(fmt::format("char* b{};", c.buffer));
      text_.must(fmt::format("hipGetSymbolAddress((void**)&b{}, {})", c.buffer, text_.need_symbol(c.buffer)));
      return fill(c.buffer, c.bytes, 0);
    }
    place(fmt::format("b{}", c.buffer), c.memory, c.bytes, c.device);
    fill(c.buffer, c.bytes, 0);
  }
  void operator()(const verify::DeclareGraph& c) {
    call(fmt::format("hipGraphCreate(&g{}, 0)", c.graph));
    nodes_.graphs()[c.graph] = fmt::format("g{}", c.graph);
    graphs_[c.graph] = {fmt::format("g{}", c.graph), {}};
    graph_places_[c.graph] = versions();
  }
  void operator()(const verify::CloneGraph& c) {
    const verify::GraphState& graph = *after_.graph(c.graph);
    GraphNames names{fmt::format("g{}", c.graph), {}};
    for (const verify::NodeState& node : graph.nodes)
      names.nodes.push_back(fmt::format("{}_n{}", names.graph, node.id));
    nodes_.declare(graph, names);
    const GraphNames& from = graphs_[c.from];
    call(fmt::format("hipGraphClone(&{}, {})", names.graph, from.graph));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const std::vector<std::string> originals = instances(graph, i, from), clones = instances(graph, i, names);
      for (std::size_t k = 0; k < clones.size(); ++k) {
        call(fmt::format("hipGraphNodeFindInClone(&{}, {}, {})", clones[k], originals[k], names.graph));
      }
    }
    nodes_.graphs()[c.graph] = names.graph;
    graph_places_[c.graph] = graph_places_[c.from];
    graphs_[c.graph] = std::move(names);
  }
  void operator()(const verify::DeclareStream& c) {
    if (c.per_thread) return text_.line(fmt::format("s{} = hipStreamPerThread;", c.stream));
    const char* flags = c.non_blocking ? "hipStreamNonBlocking" : "hipStreamDefault";
    text_.on_device(c.device, [&] {
      if (c.priority != 0)
        return call(fmt::format("hipStreamCreateWithPriority(&s{}, {}, {})", c.stream, flags, c.priority));
      call(fmt::format("hipStreamCreateWithFlags(&s{}, {})", c.stream, flags));
    });
  }
  void operator()(const verify::DeclareEvent& c) {
    const std::string timing = c.timing ? "hipEventDefault" : "hipEventDisableTiming";
    const char* release = c.release == verify::EventRelease::kDevice   ? " | hipEventReleaseToDevice"
                          : c.release == verify::EventRelease::kSystem ? " | hipEventReleaseToSystem"
                                                                       : "";
    text_.on_device(c.device, [&] {
      call(fmt::format("hipEventCreateWithFlags(&v{}, {}{}{})", c.event, timing,
                       c.blocking ? " | hipEventBlockingSync" : "", release));
    });
  }

  void operator()(const verify::PeerAccess& c) {
    text_.on_device(c.verb == verify::PeerVerb::kCan ? 0 : c.device, [&] {
      if (c.verb == verify::PeerVerb::kEnable) return call(fmt::format("hipDeviceEnablePeerAccess({}, 0)", c.peer));
      if (c.verb == verify::PeerVerb::kDisable) return call(fmt::format("hipDeviceDisablePeerAccess({})", c.peer));
      const std::string can = fmt::format("can{}", ++locals_);
      text_.line(fmt::format("int {} = -1;", can));
      call(fmt::format("hipDeviceCanAccessPeer(&{}, {}, {})", can, c.device, c.peer));
      text_.equal(can, fmt::format("\"{}\"", expected().seen), fmt::format("std::to_string({})", can));
      answered_ = true;
    });
  }

  // ---- graphs

  void operator()(const verify::AddNode& c) {
    const verify::GraphState& graph = *after_.graph(c.graph);
    GraphNames& names = graphs_[c.graph];
    names.nodes.push_back(fmt::format("{}_n{}", names.graph, c.node));
    nodes_.add(after_, graph, graph.nodes.size() - 1, names, expected(), c.form);
    note_places(graph_places_[c.graph], graph.nodes.back());
  }
  void operator()(const verify::SetNode& c) {
    const bool in_exec = c.target == Target::kExec;
    const verify::GraphState& graph = in_exec ? after_.exec(c.id)->graph : *after_.graph(c.id);
    const verify::NodeState& node = *graph.find(c.node);
    const auto* kernel = std::get_if<verify::KernelParams>(&c.params);
    const bool opaque = kernel != nullptr && kernel->opaque;
    if (in_exec && r_.strategy == ReproducerStrategy::kUpdate) return update_to(c.id, graph);
    if (r_.strategy != ReproducerStrategy::kPatch || opaque)
      return in_exec ? rebuild_exec(c.id, graph) : rebuild_graph(c.id);
    note_places(in_exec ? exec_places_[c.id] : graph_places_[c.id], node);
    const GraphNames& names = in_exec ? execs_[c.id].names : graphs_[c.id];
    nodes_.set(after_, node, in_exec ? execs_[c.id].exec : "", names.nodes[index_of(graph, c.node)], expected(),
               c.form);
  }
  void operator()(const verify::Instantiate& c) {
    const std::string exec = fmt::format("e{}", c.exec);
    execs_[c.exec] = {exec, graphs_[c.graph], false, c.form, c.flags};
    exec_places_[c.exec] = graph_places_[c.graph];
    text_.on_device(verify::home_of(*before_.graph(c.graph)),
                    [&] { instantiate(exec, graphs_[c.graph].graph, c.form, c.flags); });
  }
  void operator()(const verify::Upload& c) {
    call(fmt::format("hipGraphUpload({}, {})", execs_[c.exec].exec, stream(c.stream)));
  }
  void operator()(const verify::EnableNode& c) {
    const verify::GraphState& graph = before_.exec(c.exec)->graph;
    const std::size_t index = index_of(graph, c.node);
    for (const std::string& node : instances(graph, index, execs_[c.exec].names)) {
      call(fmt::format("hipGraphNodeSetEnabled({}, {}, {})", execs_[c.exec].exec, node, c.enabled ? 1 : 0));
    }
  }
  void operator()(const verify::ChangeEdges& c) {
    const verify::GraphState& graph = *before_.graph(c.graph);
    std::string from, to;
    std::size_t count = 0;
    for (const Id id : c.after) {
      for (const std::string& first : instances(graph, index_of(graph, id), graphs_[c.graph])) {
        for (const std::string& then : instances(graph, index_of(graph, c.node), graphs_[c.graph])) {
          from += (from.empty() ? "" : ", ") + first;
          to += (to.empty() ? "" : ", ") + then;
          ++count;
        }
      }
    }
    text_.line(fmt::format("hipGraphNode_t from{0}[] = {{{1}}}, to{0}[] = {{{2}}};", ++locals_, from, to));
    call(fmt::format("hipGraph{0}Dependencies({1}, from{2}, to{2}, {3})", c.add ? "Add" : "Remove",
                     graphs_[c.graph].graph, locals_, count));
  }
  void operator()(const verify::SetAttributes& c) {
    const verify::NodeState& node = *before_.graph(c.graph)->find(c.node);
    const std::string& name = graphs_[c.graph].nodes[index_of(*before_.graph(c.graph), c.node)];
    nodes_.set_attributes(c.attributes, name, node.fan, expected());
    check_attributes(name, node.fan);
  }
  void operator()(const verify::CopyAttributes& c) {
    const verify::GraphState &graph = *before_.graph(c.graph), &from = *before_.graph(c.from);
    const std::string source = instances(from, index_of(from, c.source), graphs_[c.from]).front();
    for (const std::string& node : instances(graph, index_of(graph, c.node), graphs_[c.graph])) {
      call(fmt::format("hipGraphKernelNodeCopyAttributes({}, {})", source, node));
    }
    check_attributes(graphs_[c.graph].nodes[index_of(graph, c.node)], graph.find(c.node)->fan);
  }
  void operator()(const verify::RemoveNode& c) {
    const verify::GraphState& graph = *before_.graph(c.graph);
    const std::size_t index = index_of(graph, c.node);
    GraphNames& names = graphs_[c.graph];
    for (const std::string& node : instances(graph, index, names)) call(fmt::format("hipGraphDestroyNode({})", node));
    names.nodes.erase(names.nodes.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void operator()(const verify::Launch& c) {
    text_.on_device(before_.device_of_stream(c.stream),
                    [&] { call(fmt::format("hipGraphLaunch({}, {})", execs_[c.exec].exec, stream(c.stream))); });
    captures_.captured(before_, after_, c.stream);
  }
  void operator()(const verify::Patch& c) {
    const bool in_exec = c.target == Target::kExec;
    const verify::GraphState& graph = in_exec ? before_.exec(c.id)->graph : *before_.graph(c.id);
    // Who records again does so for any buffer that has moved; who patches asks which nodes hold it.
    Places& places = in_exec ? exec_places_[c.id] : graph_places_[c.id];
    const bool moved = places != versions();
    places = versions();
    const std::vector<Id> stale = before_.stale_buffers(graph);
    if (r_.strategy == ReproducerStrategy::kPatch ? stale.empty() : !moved) return;
    if (in_exec && r_.strategy == ReproducerStrategy::kUpdate) return update_to(c.id, after_.exec(c.id)->graph);
    if (r_.strategy != ReproducerStrategy::kPatch || holds_opaque(graph, stale)) {
      return in_exec ? rebuild_exec(c.id, after_.exec(c.id)->graph) : rebuild_graph(c.id);
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const verify::NodeState& node = graph.nodes[i];
      if (!touches(node, stale)) continue;
      if (!in_exec && node.child) {
        error_ = fmt::format(
            "'{}' reaches into a child graph, which has no stand-alone form: export with the strategy "
            "rebuild or update (--subject RUNTIME:rebuild)",
            line());
        return;
      }
      const GraphNames& names = in_exec ? execs_[c.id].names : graphs_[c.id];
      nodes_.set(after_, node, in_exec ? execs_[c.id].exec : "", names.nodes[i], expected());
    }
  }
  void operator()(const verify::Update& c) {
    if (r_.strategy == ReproducerStrategy::kRebuild) {
      if (expected().error == "hipSuccess") rebuild_exec(c.exec, after_.exec(c.exec)->graph);
      return;
    }
    update(c.exec, graphs_[c.graph].graph);
    if (expected().only_seen_differs) check_error_node(c.graph);
    if (expected().error == "hipSuccess") exec_places_[c.exec] = versions();
  }

  // ---- memory, streams, events

  void operator()(const verify::MoveBuffers& c) {
    text_.wait();
    text_.line("{");
    for (const verify::BufferMove& move : c.moves) {
      if (!contents_matter_) break;
      text_.need(Helper::kLoad);
      text_.line(fmt::format("  auto c{0} = load(b{0}, {1});", move.buffer, before_.buffer(move.buffer)->bytes));
    }
    const std::size_t from = text_.size();
    for (const verify::BufferMove& move : c.moves) {
      const verify::BufferState& buffer = *before_.buffer(move.buffer);
      const std::string name = fmt::format("to{}", move.buffer);
      if (move.onto && !in_arena()) {
        text_.line(fmt::format("char* {} = b{};", name, *move.onto));
      } else {
        place(name, buffer.memory, buffer.bytes, buffer.device);
      }
    }
    for (const verify::BufferMove& move : c.moves) {
      const auto takes = [&](const verify::BufferMove& other) { return other.onto == move.buffer; };
      if (!in_arena() && std::none_of(c.moves.begin(), c.moves.end(), takes)) release(move.buffer);
    }
    for (const verify::BufferMove& move : c.moves) text_.line(fmt::format("b{0} = to{0};", move.buffer));
    for (const verify::BufferMove& move : c.moves) {
      if (!contents_matter_) break;
      text_.need(Helper::kStore);
      text_.line(fmt::format("store(b{0}, c{0});", move.buffer));
    }
    for (const std::string& line : text_.take(from)) text_.line("  " + line);
    text_.line("}");
  }
  void operator()(const verify::Write& c) {
    if (!c.data.empty()) return refuse("bytes of a recorded program");
    text_.wait();
    fill(c.buffer, before_.buffer(c.buffer)->bytes, c.seed);
  }
  void operator()(const verify::Read&) {
    text_.wait();
    check_bytes();
  }
  void operator()(const verify::FreeAsync& c) {
    call(fmt::format("hipFreeAsync(b{}, {})", c.buffer, stream(c.stream)));
    captures_.captured(before_, after_, c.stream);
  }
  void operator()(const verify::MallocAsync& c) {
    pools_.write(c, stream(c.stream), expected());
    captures_.captured(before_, after_, c.stream);
  }
  void operator()(const verify::DeclarePool& c) { pools_.write(c, expected()); }
  void operator()(const verify::TrimPool& c) { pools_.write(c, expected()); }
  void operator()(const verify::UsePool& c) { pools_.write(c, expected()); }
  void operator()(const verify::DestroyPool& c) { pools_.write(c, expected()); }
  void operator()(const verify::AskPool& c) { answered_ = pools_.write(c, expected()); }
  void operator()(const verify::AccessPool& c) { answered_ = pools_.write(c, expected()); }
  void operator()(const verify::Free& c) {
    // It is hipFree's to wait, and release 7.2 does not for such memory (pool-free-not-waited-for).
    if (before_.buffer(c.buffer)->runtime_places()) return call(fmt::format("hipFree(b{})", c.buffer));
    text_.wait();
    if (in_arena()) return;
    release(c.buffer);
  }
  void operator()(const verify::Synchronize& c) {
    const std::string what = c.target == Target::kStream  ? fmt::format("hipStreamSynchronize({})", stream(c.id))
                             : c.target == Target::kEvent ? fmt::format("hipEventSynchronize(v{})", c.id)
                             : devices_ > 1               ? "synchronize_devices()"
                                                          : "hipDeviceSynchronize()";
    call(text_.on_thread(c.thread, what));
  }
  void operator()(const verify::RecordEvent& c) {
    call(fmt::format("hipEventRecord(v{}, {})", c.event, stream(c.stream)));
  }
  void operator()(const verify::WaitEvent& c) {
    call(fmt::format("hipStreamWaitEvent({}, v{}, 0)", stream(c.stream), c.event));
  }
  void operator()(const verify::Destroy& c) {
    text_.wait();
    if (c.target == Target::kGraph) return call(fmt::format("hipGraphDestroy({})", graphs_[c.id].graph));
    if (c.target == Target::kExec) return call(fmt::format("hipGraphExecDestroy({})", execs_[c.id].exec));
    if (c.target == Target::kStream) return call(fmt::format("hipStreamDestroy(s{})", c.id));
    if (c.target == Target::kEvent) return call(fmt::format("hipEventDestroy(v{})", c.id));
  }

  // ---- eager work and captures

  void operator()(const verify::Enqueue& c) {
    if (refuse_for(ReproducerNodes::stream_flaw_of(c.params))) return;
    captures_.enqueue(after_, c, expected());
    captures_.captured(before_, after_, c.stream);
  }
  void operator()(const verify::Query& c) { captures_.query(c, expected()); }
  void operator()(const verify::Elapsed& c) { captures_.elapsed(c, expected()); }
  void operator()(const verify::UnsafeCall& c) { captures_.unsafe(c, expected()); }
  void operator()(const verify::BeginCapture& c) {
    captures_.begin(after_, c, c.into ? &graphs_[*c.into] : nullptr, expected());
  }
  void operator()(const verify::EndCapture& c) {
    const std::optional<GraphNames> names = captures_.end(before_, after_, c, expected());
    if (!names) return;
    graphs_[c.graph] = *names;
    nodes_.graphs()[c.graph] = names->graph;
    graph_places_[c.graph] = versions();
    if (!expected().only_seen_differs || !expected().seen.empty() || expected().saw != "no graph") return;
    text_.equal(names->graph, "\"a graph\"",
                fmt::format("std::string({} == nullptr ? \"null\" : \"a graph\")", names->graph));
    answered_ = true;
  }
  void operator()(const verify::CaptureInfo& c) { answered_ = captures_.info(c, expected()); }
  void operator()(const verify::CaptureAfter& c) { captures_.change(before_, c, expected()); }
  void operator()(const verify::ExchangeCaptureMode& c) {
    captures_.exchange(c, expected());
    answered_ = true;
  }

  // ---- queries and user objects

  // Getters change nothing: the one whose answer differs is written, and no other.
  void operator()(const verify::Inspect& c) {
    if (c.target != Target::kGraph || !expected().only_seen_differs) return;
    for (const verify::NodeState& node : before_.graph(c.id)->nodes) {
      if (node.fan == 1 && getter_differs(fmt::format("n{} ", node.id))) check_getter(c.id, node);
    }
  }
  void operator()(const verify::DeclareUserObject& c) {
    text_.need_header("atomic");
    text_.line(fmt::format("static std::atomic<int> u{}_went;", c.object));
    text_.line(fmt::format("u{}_went = 0;", c.object));
    call(fmt::format(
        "hipUserObjectCreate(&u{0}, &u{0}_went, [](void* went) {{ ++*static_cast<std::atomic<int>*>(went); }}, "
        "1, hipUserObjectNoDestructorSync)",
        c.object));
  }
  void operator()(const verify::RetainUserObject& c) {
    call(fmt::format("hipGraphRetainUserObject({}, u{}, 1, {})", graphs_[c.graph].graph, c.object,
                     c.move ? "hipGraphUserObjectMove" : "0"));
  }
  void operator()(const verify::ReleaseUserObject& c) {
    if (!c.graph) return call(fmt::format("hipUserObjectRelease(u{}, 1)", c.object));
    call(fmt::format("hipGraphReleaseUserObject({}, u{}, 1)", graphs_[*c.graph].graph, c.object));
  }
  void operator()(const verify::BadCall& c) {
    const BadCallForm* form = find_bad_call(c);
    if (form == nullptr) return refuse("this call");
    for (const std::string_view line : form->declarations) text_.line(std::string(line));
    if (!form->kernel.empty()) {
      text_.need(Helper::kKernel);
      text_.need_kernel(form->kernel);
    }
    for (const std::string_view preparation : form->preparation) text_.must(preparation);
    const auto status = [](const std::string& seen) { return seen.substr(0, seen.find(',')); };
    ExpectedStatus answer;
    answer.error = status(expected().seen);
    answer.differs = expected().differs;
    text_.call(answer, form->call);
    answered_ = answered_ || status(expected().seen) != status(expected().saw);
  }
  template <class Other>
  void operator()(const Other&) {
    error_ = fmt::format(
        "'{}' (command {}) has no stand-alone form: take it out and see whether the program still "
        "diverges (hgcheck replay), then export it",
        line(), step_ + 1);
  }

 private:
  struct Exec {
    std::string exec;
    GraphNames names;
    bool owns_graph = false;  // recorded for it alone
    verify::InstantiateForm form = verify::InstantiateForm::kPlain;
    std::uint32_t flags = 0;
  };
  using Places = std::map<Id, std::uint32_t>;  // of buffers, by how often they had moved

  [[nodiscard]] Places versions() const {
    Places places;
    for (const auto& [id, buffer] : after_.buffers()) places[id] = buffer.version;
    return places;
  }
  void note_places(Places& places, const verify::NodeState& node) const {
    const auto note = [&](Id id) { places[id] = after_.buffer(id)->version; };
    verify::for_each_ref(node.params, [&](const verify::BufferRef& ref) { note(ref.buffer); });
    if (!node.child) return;
    for (const auto& [id, version] : node.child->addresses) note(id);
  }

  [[nodiscard]] const ExpectedStatus& expected() const { return r_.statuses[step_]; }
  [[nodiscard]] std::string line() const { return verify::print_command(r_.program.steps[step_].command); }
  [[nodiscard]] bool in_arena() const { return r_.program.placement == verify::Placement::kArena; }
  void call(const std::string& text) { text_.call(expected(), text); }
  static std::string stream(Id id) { return stream_name(id); }
  static std::size_t index_of(const verify::GraphState& graph, Id node) {
    return static_cast<std::size_t>(graph.index_of(node));
  }

  // The variables of a node's instances.
  static std::vector<std::string> instances(const verify::GraphState& graph, std::size_t index,
                                            const GraphNames& names) {
    const std::uint32_t fan = graph.nodes[index].fan;
    std::vector<std::string> variables;
    for (std::uint32_t k = 0; k < fan; ++k) {
      variables.push_back(fan == 1 ? names.nodes[index] : fmt::format("{}[{}]", names.nodes[index], k));
    }
    return variables;
  }
  void instantiate(const std::string& exec, const std::string& graph, verify::InstantiateForm form,
                   std::uint32_t flags) {
    if (form == verify::InstantiateForm::kPlain) {
      return call(fmt::format("hipGraphInstantiate(&{}, {}, nullptr, nullptr, 0)", exec, graph));
    }
    if (form == verify::InstantiateForm::kFlags) {
      return call(fmt::format("hipGraphInstantiateWithFlags(&{}, {}, {})", exec, graph, flags));
    }
    const std::string params = fmt::format("params{}", ++locals_);
    text_.line(fmt::format("hipGraphInstantiateParams {}{{}};", params));
    if (flags != 0) text_.line(fmt::format("{}.flags = {};", params, flags));
    call(fmt::format("hipGraphInstantiateWithParams(&{}, {}, &{})", exec, graph, params));
    if (!expected().differs) return;
    static constexpr const char* kResults[] = {"success", "error", "invalid structure", "node operation not supported",
                                               "multiple devices not supported"};
    for (std::size_t i = 0; i < std::size(kResults); ++i) {
      if (expected().seen != fmt::format("result {}", kResults[i])) continue;
      answered_ = true;
      text_.equal("the result of the instantiation", fmt::format("\"{}\"", i),
                  fmt::format("std::to_string({}.result_out)", params));
    }
  }

  void refuse(const char* what) {
    error_ = fmt::format("'{}' (command {}): {} has no stand-alone form yet", line(), step_ + 1, what);
  }
  bool refuse_for(const std::string& flaw) {
    if (!flaw.empty()) error_ = fmt::format("'{}' (command {}): {}", line(), step_ + 1, flaw);
    return !flaw.empty();
  }

  // Each object is a variable, declared where the file begins: one line a type.
  void declare_objects() {
    std::map<std::string, std::string> declared;
    std::set<Id> ended;  // graphs of captures, each named once
    std::array<bool, kArenas> arenas{};
    const auto add = [&](const char* type, const char* letter, Id id) {
      std::string& list = declared[type];
      list += fmt::format("{}{}{}", list.empty() ? "" : ", ", letter, id);
    };
    for (const verify::Step& step : r_.program.steps) {
      if (const auto* c = std::get_if<verify::DeclareBuffer>(&step.command)) {
        if (!c->symbol) arenas[arena_of(c->memory, c->device)] = in_arena();
      }
      if (const auto* c = std::get_if<verify::DeclareGraph>(&step.command)) add("hipGraph_t", "g", c->graph);
      if (const auto* c = std::get_if<verify::CloneGraph>(&step.command)) add("hipGraph_t", "g", c->graph);
      if (const auto* c = std::get_if<verify::Instantiate>(&step.command)) add("hipGraphExec_t", "e", c->exec);
      if (const auto* c = std::get_if<verify::DeclareStream>(&step.command)) add("hipStream_t", "s", c->stream);
      if (const auto* c = std::get_if<verify::DeclareEvent>(&step.command)) add("hipEvent_t", "v", c->event);
      if (const auto* c = std::get_if<verify::MallocAsync>(&step.command))
        add("[[maybe_unused]] char", "*b", c->buffer);
      if (const auto* c = std::get_if<verify::DeclarePool>(&step.command)) add("hipMemPool_t", "p", c->pool);
      if (const auto* c = std::get_if<verify::DeclareUserObject>(&step.command)) add("hipUserObject_t", "u", c->object);
      const auto* end = std::get_if<verify::EndCapture>(&step.command);
      if (end != nullptr && ended.insert(end->graph).second &&
          ReproducerCaptures::declares_graph(r_.program, end->graph)) {
        add("hipGraph_t", "g", end->graph);
      }
      if (const auto* c = std::get_if<verify::AddNode>(&step.command)) {
        std::string& list = declared["hipGraphNode_t"];
        list += fmt::format("{}g{}_n{}", list.empty() ? "" : ", ", c->graph, c->node);
        if (c->fan != 1) list += fmt::format("[{}]", c->fan);
        const auto* memory = std::get_if<verify::MemoryAllocParams>(&c->params);
        if (memory != nullptr) add("[[maybe_unused]] char", "*b", memory->buffer);
      }
    }
    for (std::size_t arena = 0; arena < arenas.size(); ++arena) {
      if (!arenas[arena]) continue;
      const bool other = arena >= verify::kMemoryKinds;
      const auto memory = other ? MemoryKind::kDevice : static_cast<MemoryKind>(arena);
      const Id device = other ? static_cast<Id>(arena - verify::kMemoryKinds + 1) : 0;
      allocate(arena_name(memory, device), memory, r_.arena_bytes[arena], device);
    }
    for (const auto& [type, list] : declared) text_.line(fmt::format("{} {};", type, list));
  }

  void write_step(const verify::Step& step) {
    // A call that captures is a node each time.
    const auto* eager = std::get_if<verify::Enqueue>(&step.command);
    const bool captured = eager != nullptr && after_.capture_of(eager->stream) != nullptr;
    const bool written_out = captured || std::holds_alternative<verify::MoveBuffers>(step.command) ||
                             std::holds_alternative<verify::Patch>(step.command);
    if (written_out && step.repeat > kMaxWrittenOut) {
      error_ = fmt::format("'repeat {} {}' has no stand-alone form: at most {} repetitions are written out",
                           step.repeat, line(), kMaxWrittenOut);
      return;
    }
    for (std::uint32_t k = 0; k < (written_out ? step.repeat : 1) && error_.empty(); ++k) {
      before_ = after_;
      after_.apply(step.command);
      const std::size_t from = text_.size();
      answered_ = !expected().only_seen_differs;
      std::visit(*this, step.command);
      check_user_objects();
      if (!answered_ && error_.empty()) refuse_answer();
      if (step.repeat == 1 || written_out) continue;
      const std::vector<std::string> lines = text_.take(from);
      text_.line(fmt::format("for (int k = 0; k < {}; ++k) {{", step.repeat));
      for (const std::string& each : lines) text_.line("  " + each);
      text_.line("}");
    }
  }

  // ---- memory

  // A variable for `bytes` of memory of its own.
  void allocate(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device) {
    constexpr std::uint64_t kAlignment = 256;
    if (memory == MemoryKind::kPageable || memory == MemoryKind::kRegistered) {
      const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      text_.line(fmt::format("char* {} = static_cast<char*>(aligned_alloc({}, {}));", name, kAlignment, rounded));
      if (memory == MemoryKind::kRegistered) text_.must(fmt::format("hipHostRegister({}, {}, 0)", name, bytes));
      return;
    }
    text_.line(fmt::format("char* {};", name));
    if (memory == MemoryKind::kPinned) return text_.must(fmt::format("hipHostMalloc(&{}, {}, 0)", name, bytes));
    if (memory == MemoryKind::kManaged) return text_.must(fmt::format("hipMallocManaged(&{}, {})", name, bytes));
    text_.on_device(device, [&] { text_.must(fmt::format("hipMalloc(&{}, {})", name, bytes)); });
  }
  // A variable for the next place in the arena, or for memory of its own.
  void place(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device) {
    if (!in_arena()) return allocate(name, memory, bytes, device);
    assert(!places_.empty());
    const std::uint64_t offset = places_.front();
    places_.pop_front();
    // Where bytes are not looked at a buffer may be moved and nothing else.
    text_.line(fmt::format("{}char* {} = {}{};", contents_matter_ ? "" : "[[maybe_unused]] ", name,
                           arena_name(memory, device), offset == 0 ? std::string() : fmt::format(" + {}", offset)));
  }
  void fill(Id buffer, std::uint64_t bytes, std::uint64_t seed) {
    if (!contents_matter_) return;
    text_.need(Helper::kFill);
    text_.line(fmt::format("fill(b{}, {}, {}, {}{});", buffer, bytes, buffer, seed, seed >> 63 == 0 ? "" : "ull"));
  }
  void release(Id buffer) {
    const MemoryKind memory = before_.buffer(buffer)->memory;
    if (memory == MemoryKind::kRegistered) text_.must(fmt::format("hipHostUnregister(b{})", buffer));
    if (memory == MemoryKind::kPageable || memory == MemoryKind::kRegistered) {
      return text_.line(fmt::format("free(b{});", buffer));
    }
    text_.must(fmt::format("{}(b{})", memory == MemoryKind::kPinned ? "hipHostFree" : "hipFree", buffer));
  }

  // ---- what strategies come to

  static bool touches(const verify::NodeState& node, const std::vector<Id>& stale) {
    const auto is_stale = [&](Id buffer) { return std::find(stale.begin(), stale.end(), buffer) != stale.end(); };
    bool found = false;
    verify::for_each_ref(node.params, [&](const verify::BufferRef& ref) { found = found || is_stale(ref.buffer); });
    if (std::holds_alternative<verify::HostParams>(node.params)) return false;  // reads its pointer when it runs
    if (!node.child) return found;
    const auto inner_is_stale = [&](const auto& inner) { return touches(inner, stale); };
    return std::any_of(node.child->nodes.begin(), node.child->nodes.end(), inner_is_stale);
  }
  static bool holds_opaque(const verify::GraphState& graph, const std::vector<Id>& stale) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const verify::NodeState& node) {
      const auto* kernel = std::get_if<verify::KernelParams>(&node.params);
      return (kernel != nullptr && kernel->opaque && touches(node, stale)) ||
             (node.child && holds_opaque(*node.child, stale));
    });
  }
  void rebuild_exec(Id id, const verify::GraphState& graph) {
    if (graph.has_memory && refuse_for("memory nodes that are recorded again have no stand-alone form yet")) return;
    Exec& exec = execs_[id];
    const GraphNames names = nodes_.record(after_, graph, expected());
    const std::string fresh = fmt::format("e{}_{}", id, names.graph);
    text_.line(fmt::format("hipGraphExec_t {};", fresh));
    text_.on_device(verify::home_of(graph), [&] { instantiate(fresh, names.graph, exec.form, exec.flags); });
    text_.wait();
    call(fmt::format("hipGraphExecDestroy({})", exec.exec));
    if (exec.owns_graph) call(fmt::format("hipGraphDestroy({})", exec.names.graph));
    exec = {fresh, names, true, exec.form, exec.flags};
    exec_places_[id] = versions();
  }
  void rebuild_graph(Id id) {
    graphs_[id] = nodes_.record(after_, *after_.graph(id), expected());
    nodes_.graphs()[id] = graphs_[id].graph;
    graph_places_[id] = versions();
  }
  void update_to(Id id, const verify::GraphState& graph) {
    const std::string fresh = nodes_.record(after_, graph, expected()).graph;
    update(id, fresh);
    text_.must(fmt::format("hipGraphDestroy({})", fresh));
    exec_places_[id] = versions();
  }
  void update(Id id, const std::string& graph) {
    const std::string suffix = updates_++ == 0 ? "" : fmt::format("{}", updates_);
    text_.line(fmt::format("hipGraphNode_t error_node{} = nullptr;", suffix));
    text_.line(fmt::format("hipGraphExecUpdateResult update_result{} = hipGraphExecUpdateSuccess;", suffix));
    text_.on_device(verify::home_of(before_.exec(id)->graph), [&] {
      call(fmt::format("hipGraphExecUpdate({}, {}, &error_node{}, &update_result{})", execs_[id].exec, graph, suffix,
                       suffix));
    });
    if (expected().differs && std::holds_alternative<verify::Update>(r_.program.steps[step_].command)) {
      text_.equal("the result of the update", fmt::format("\"{}\"", expected().update_result),
                  fmt::format("std::to_string(update_result{})", suffix));
    }
  }

  // ---- checks

  void refuse_answer() {
    error_ = fmt::format(
        "what '{}' answers (expected '{}', observed '{}') has no stand-alone form yet; replay the program instead",
        line(), expected().seen, expected().saw);
  }
  // "error node n1"
  void check_error_node(Id graph) {
    for (std::size_t i = 0; i < before_.graph(graph)->nodes.size(); ++i) {
      const verify::NodeState& node = before_.graph(graph)->nodes[i];
      if (node.fan != 1 || expected().seen != fmt::format("error node n{}", node.id)) continue;
      const std::string& name = graphs_[graph].nodes[i];
      const std::string suffix = updates_ == 1 ? "" : fmt::format("{}", updates_);
      text_.equal("the error node", fmt::format("\"{}\"", name),
                  fmt::format("std::string(error_node{} == {} ? \"{}\" : \"another\")", suffix, name, name));
      answered_ = true;
    }
  }
  // The parts of what an inspection saw are divided by semicolons.
  [[nodiscard]] bool getter_differs(const std::string& node) const {
    const std::vector<std::string> should = parts_of(expected().seen), did = parts_of(expected().saw);
    for (std::size_t i = 0; i < std::min(should.size(), did.size()); ++i) {
      if (should[i] != did[i]) return should[i].starts_with(node);
    }
    return false;
  }
  static std::vector<std::string> parts_of(const std::string& seen) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from < seen.size();) {
      const std::size_t end = std::min(seen.find("; ", from), seen.size());
      parts.push_back(seen.substr(from, end - from));
      from = end + 2;
    }
    return parts;
  }
  void check_getter(Id graph, const verify::NodeState& node) {
    const std::string& name = graphs_[graph].nodes[index_of(*before_.graph(graph), node.id)];
    const std::string got = fmt::format("got{}", ++locals_);
    const auto place = [&](const char* what, const verify::BufferRef& ref, const std::string& pointer) {
      const std::string wanted = fmt::format("b{} + {}", ref.buffer, ref.offset);
      text_.equal(fmt::format("the {} of {}", what, name), fmt::format("\"{}\"", wanted),
                  fmt::format("std::string({} == {} ? \"{}\" : \"elsewhere\")", pointer, wanted, wanted));
    };
    const auto number = [&](const char* what, std::uint64_t wanted, const std::string& value) {
      text_.equal(fmt::format("the {} of {}", what, name), fmt::format("\"{}\"", wanted),
                  fmt::format("std::to_string({})", value));
    };
    if (const auto* copy = std::get_if<verify::CopyParams>(&node.params)) {
      text_.line(fmt::format("hipMemcpy3DParms {}{{}};", got));
      text_.must(fmt::format("hipGraphMemcpyNodeGetParams({}, &{})", name, got));
      number("width", copy->width, got + ".extent.width");
      number("height", copy->height, got + ".extent.height");
      number("depth", copy->depth, got + ".extent.depth");
      place("destination", copy->dst.ref, got + ".dstPtr.ptr");
      place("source", copy->src.ref, got + ".srcPtr.ptr");
      answered_ = true;
    } else if (const auto* set = std::get_if<verify::MemsetParams>(&node.params)) {
      text_.line(fmt::format("hipMemsetParams {}{{}};", got));
      text_.must(fmt::format("hipGraphMemsetNodeGetParams({}, &{})", name, got));
      number("value", set->value, got + ".value");
      number("element size", set->element, got + ".elementSize");
      number("width", set->width, got + ".width");
      number("height", set->height, got + ".height");
      place("destination", set->dst, got + ".dst");
      answered_ = true;
    }
  }
  void check_attributes(const std::string& node, std::uint32_t fan) {
    if (!expected().only_seen_differs) return;
    nodes_.check_attributes(expected().seen, node, fan);
    answered_ = true;
  }
  // "u0 went": its function ran.
  void check_user_objects() {
    for (const auto& [id, held] : after_.user_objects()) {
      const std::string went = fmt::format("u{} went", id);
      wents_[id] += expected().seen.find(went) == std::string::npos ? 0 : 1;
      const bool did = expected().saw.find(went) != std::string::npos;
      if (!expected().only_seen_differs || did == (expected().seen.find(went) != std::string::npos)) continue;
      text_.equal(fmt::format("runs of the function of u{}", id), fmt::format("\"{}\"", wents_[id]),
                  fmt::format("std::to_string(u{}_went.load())", id));
      answered_ = true;
    }
  }
  void check_bytes() {
    for (const ExpectedBytes& bytes : r_.bytes) {
      if (bytes.step != step_) continue;
      text_.need(Helper::kHex);
      const std::string at =
          bytes.offset == 0 ? fmt::format("b{}", bytes.buffer) : fmt::format("b{} + {}", bytes.buffer, bytes.offset);
      std::string literal;
      for (std::size_t i = 0; i < bytes.hex.size(); i += kHexALine) {
        literal += fmt::format("{}\"{}\"", i == 0 ? "" : "\n         ", bytes.hex.substr(i, kHexALine));
      }
      text_.equal(fmt::format("the bytes at {}", at), literal, fmt::format("hex({}, {})", at, bytes.hex.size() / 2));
    }
  }
  void check_rest() {
    if (r_.checks_host_functions) {
      text_.need(Helper::kHost);
      for (const auto& [tag, count] : r_.host_functions) {
        text_.equal(fmt::format("runs of the host function {}", tag), fmt::format("std::to_string({})", count),
                    fmt::format("std::to_string(runs[{}])", tag));
      }
    }
    for (const ExpectedTopology& topology : r_.topology) {
      const std::string& graph = graphs_[topology.graph].graph;
      text_.line(fmt::format("size_t {0}_nodes = 0, {0}_edges = 0;", graph));
      ExpectedStatus listed;  // a getter that refuses the graph is what may differ
      listed.differs = true;
      text_.call(listed, fmt::format("hipGraphGetNodes({0}, nullptr, &{0}_nodes)", graph));
      text_.call(listed, fmt::format("hipGraphGetEdges({0}, nullptr, nullptr, &{0}_edges)", graph));
      text_.equal(fmt::format("nodes and edges of {}", graph), fmt::format("\"{} {}\"", topology.nodes, topology.edges),
                  fmt::format("std::to_string({0}_nodes) + \" \" + std::to_string({0}_edges)", graph));
    }
  }
  void tear_down() {
    for (const auto& [id, exec] : execs_) {
      if (after_.exec(id)->alive) text_.must(fmt::format("hipGraphExecDestroy({})", exec.exec));
    }
    for (const auto& [id, graph] : graphs_) {
      if (after_.graph(id)->alive) text_.must(fmt::format("hipGraphDestroy({})", graph.graph));
    }
    text_.must("hipDeviceReset()");
  }

  const Reproducer& r_;
  ReproducerText text_;
  ReproducerNodes nodes_;
  ReproducerCaptures captures_;
  ReproducerPools pools_{text_};
  bool answered_ = true;          // what the command answers beside its status is checked, where it differs
  std::map<Id, unsigned> wents_;  // how often the function of each user object has to have run
  std::deque<std::uint64_t> places_;
  bool contents_matter_;
  verify::State before_, after_;
  std::map<Id, GraphNames> graphs_;
  std::map<Id, Exec> execs_;
  std::map<Id, Places> graph_places_, exec_places_;  // where their buffers were when they were last brought up to date
  unsigned updates_ = 0, locals_ = 0;
  Id devices_ = 1;
  std::size_t step_ = 0;
  std::string error_;
};

}  // namespace

hip::Result<std::string> to_reproducer(const Reproducer& reproducer, ReproducerForm form) {
  assert(reproducer.statuses.size() == reproducer.program.steps.size());
  if (const auto foreign = verify::foreign_kernels_of(reproducer.program); !foreign.empty()) {
    return hip::Error{1, fmt::format("kernel {} has no stand-alone form: only its code object is known, and not its "
                                     "source; replay the program instead",
                                     foreign.front()->name)};
  }
  return Body(reproducer, form).write();
}

}  // namespace reports
