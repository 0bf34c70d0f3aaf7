// Scenarios of traces and of command buffers (trace_work.h), against trace_model.h; as one rank of several they meet
// scripted peers. The bench wipes the caller's memory before each step and reads it after the step.
#include <array>
#include <memory>
#include <string>

#include "verify/systems/bench.h"
#include "verify/systems/scripted_peers.h"
#include "verify/systems/trace_model.h"
#include "verify/systems/trace_work.h"

namespace verify {
namespace {

using Form = TraceWork::Form;

class TraceBench final : public SystemBench {
 public:
  TraceBench(BenchContext& context, const Parts& parts)
      : context_(context), part_(parts.traces(context.api(), context.sink())), work_(context) {
    const AtHome home(context.inner());
    static_cast<void>(context.inner().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
    static_cast<void>(context.inner().hipStreamCreateWithFlags(&capturing_, hipStreamNonBlocking));
  }

  int run(const SystemAction& action) override {
    const auto first = static_cast<std::size_t>(action.fields[0]);
    switch (action.verb) {
      case SystemVerb::kTraceBuffer:
        work_.replace(first, static_cast<std::size_t>(action.fields[1]), static_cast<std::size_t>(action.fields[2]));
        return hipSuccess;
      case SystemVerb::kTraceMove:
        work_.move(first, static_cast<std::size_t>(action.fields[1]));
        return hipSuccess;
      case SystemVerb::kTraceStep:
        return step(action, nullptr);
      case SystemVerb::kTraceRank: {
        ScriptedPeers peers(static_cast<ScriptedPeers::Kind>(action.fields[1]), 1);
        return step(action, &peers);
      }
      case SystemVerb::kTraceKnown:
        return body(action, Form::kKnown, nullptr);
      case SystemVerb::kTraceCollective: {
        ScriptedPeers peers(static_cast<ScriptedPeers::Kind>(action.fields[1]), traced_of(action.fields[0]));
        return body(action, Form::kCollective, &peers);
      }
      case SystemVerb::kTraceBody:
        return body(action, Form::kOpaque, nullptr);
      default:
        not_of_this_bench(action);
    }
  }

  void finish() override {
    part_.reset();
    work_.finish();
    const AtHome home(context_.inner());
    static_cast<void>(context_.inner().hipStreamDestroy(stream_));
    static_cast<void>(context_.inner().hipStreamDestroy(capturing_));
  }

 private:
  // The numbers of calls until now; their growth gives the calls of one action.
  struct Calls {
    std::uint64_t captures = 0, recordings = 0, instantiations = 0, launches = 0, fired = 0;
  };
  [[nodiscard]] Calls calls() const {
    const Interposer& all = context_.interposer;
    Calls now;
    now.captures = all.calls_of(Function::k_hipStreamBeginCapture);
    now.instantiations = all.calls_of(Function::k_hipGraphInstantiate);
    now.recordings = now.instantiations + all.calls_of(Function::k_hipGraphCreate);
    now.launches = all.calls_of(Function::k_hipGraphLaunch);
    now.fired = all.fired();
    return now;
  }
  [[nodiscard]] hip::StreamRef stream() const { return {context_.api(), stream_, 0}; }
  static int traced_of(int mask) {
    int traced = 0;
    for (int command = TraceWork::kFirstTraced; command < kTraceCommands; ++command) traced += mask >> command & 1;
    return traced;
  }
  void compare(const std::string& where, PropertyId property, int mask) {
    context_.expect(work_.look() == work_.expected(mask), property, where,
                    "the bytes of the command's buffers as they are now", "others");
  }

  // Checks that a rank meets its peers in `rounds` rounds, and launches only if the peers can launch, too.
  void expect_together(const std::string& where, const ScriptedPeers& peers, int rounds, const Calls& before,
                       const hip::Status& status) {
    const Calls now = calls();
    const bool failed = now.fired != before.fired;
    context_.expect(failed || !peers.come() || peers.rounds() == rounds, PropertyId::kC6, where,
                    "rounds with its peers: " + std::to_string(rounds), std::to_string(peers.rounds()));
    context_.expect(peers.can_launch() || now.launches == before.launches, PropertyId::kC6, where,
                    "nothing is launched that a peer cannot", "a launch");
    context_.expect(peers.can_launch() || !status.ok(), PropertyId::kC6, where, "an error: the peers cannot",
                    "success");
  }
  int step(const SystemAction& action, ScriptedPeers* peers) {
    const int number = action.fields[0];
    const auto command = static_cast<std::uint64_t>(number);
    const std::string where = print_action(action);
    TraceModel& model = peers == nullptr ? model_ : rank_model_;
    const std::vector<hip::TraceBuffer> given = work_.named_by(number);
    const bool kept = model.kept(command, given), known = model.done_before(command, given);
    work_.wipe();
    const Calls before = calls();
    const auto enqueue = [&](hipStream_t on, std::span<const hip::TraceBuffer> now) {
      std::vector<std::uint64_t> addresses;
      for (const hip::TraceBuffer& buffer : now) addresses.push_back(buffer.address);
      return work_.enqueue(number, on, addresses);
    };
    const hip::Status status = peers == nullptr ? part_->step(command, given, stream(), enqueue)
                                                : part_->rank(command, given, stream(), enqueue, *peers);
    const Calls now = calls();
    const bool captures = now.captures != before.captures, failed = now.fired != before.fired;
    model.executed(command, given, status.ok());
    const bool peers_can = peers == nullptr || peers->can_launch();
    context_.expect(status.ok() || failed || !peers_can, PropertyId::kP4, where, "a step",
                    status.ok() ? "" : status.error().message);
    context_.expect(work_.works(number) || now.instantiations == before.instantiations, PropertyId::kP11, where,
                    "nothing is instantiated for a command without work", "a graph without nodes");
    if (peers != nullptr) {
      const bool records = peers->recorded() != 0;
      expect_together(where, *peers, records ? 2 : 1, before, status);
      context_.expect(failed || !peers->come() || captures == records, PropertyId::kC6, where,
                      records ? "captured: so do its peers" : "launched as it was captured: so do its peers",
                      captures ? "captured" : "launched as it was captured");
      context_.expect(!kept || failed || !peers->come() || peers->recorded() == 0 || !peers_have_traces(action),
                      PropertyId::kP10, where, "launched as it was captured", "captured again");
    } else {
      context_.expect(!kept || !captures, PropertyId::kP10, where, "launched as it was captured", "captured again");
    }
    context_.expect(known || captures || failed || !peers_can, PropertyId::kA3, where,
                    "captured: these buffers were never there for it", "launched as it was captured");
    if (status) compare(where, PropertyId::kA3, 1 << number);
    return status.ok() ? hipSuccess : status.error().code;
  }
  static bool peers_have_traces(const SystemAction& action) {
    return static_cast<ScriptedPeers::Kind>(action.fields[1]) == ScriptedPeers::Kind::kHaveTraces;
  }

  struct Body {
    std::uint64_t version = 0;
    std::vector<hip::DeviceAddress> addresses;
    bool there = false;  // its last step succeeded
  };
  // Whether the trace of every traced command of the mask can be patched when its buffers have moved.
  [[nodiscard]] bool patchable(int mask, Form form, const Body& last) const {
    for (int command = TraceWork::kFirstTraced; command < kTraceCommands; ++command) {
      if ((mask >> command & 1) == 0) continue;
      const bool looked_into = form == Form::kKnown && context_.interposer.fired() == 0;
      if (!looked_into || !work_.same_footing(command, last.addresses)) return false;
    }
    return true;
  }

  int body(const SystemAction& action, Form form, ScriptedPeers* peers) {
    const int mask = action.fields[0];
    const std::string where = print_action(action);
    const std::size_t number = (static_cast<std::size_t>(form) << kTraceCommands) + static_cast<std::size_t>(mask);
    Body& last = bodies_[number];
    std::vector<hip::DeviceAddress> addresses = work_.addresses();
    const int collectives = peers == nullptr ? 0 : traced_of(mask);
    const bool same = last.there && last.version == work_.version();
    const bool patches = same && patchable(mask, form, last);
    const bool launches = same && last.addresses == addresses && (collectives == 0 || peers_have_traces(action));
    work_.wipe();
    const Calls before = calls();
    const hip::Recording commands = work_.commands_of(mask, form, capturing_);
    const hip::Status status = part_->body({number, work_.version(), commands, addresses, peers}, stream(),
                                           [&](hipGraph_t graph) { expect_nodes(where, graph); });
    const Calls now = calls();
    const bool failed = now.fired != before.fired, peers_can = collectives == 0 || peers->can_launch();
    context_.expect(status.ok() || failed || !peers_can, PropertyId::kP4, where, "a step",
                    status.ok() ? "" : status.error().message);
    // A patcher may create a graph of its own to change nodes with, so that only instantiations count for it.
    const bool recorded = launches ? now.recordings != before.recordings : now.instantiations != before.instantiations;
    context_.expect(!(patches || launches) || failed || !recorded, PropertyId::kP10, where,
                    launches ? "launched as it is" : "patched", "recorded again");
    if (collectives != 0) expect_together(where, *peers, collectives + 1, before, status);
    last = {work_.version(), std::move(addresses), status.ok()};
    if (status) compare(where, PropertyId::kP3, mask);
    return status.ok() ? hipSuccess : status.error().code;
  }

  // Checks that neither the graph nor a child graph is without nodes.
  void expect_nodes(const std::string& where, hipGraph_t graph) {
    const hip::Api& api = context_.inner();
    std::size_t count = 0;
    static_cast<void>(api.hipGraphGetNodes(graph, nullptr, &count));
    context_.expect(count != 0, PropertyId::kP11, where, "a graph has a node, be it an empty one", "none");
    std::vector<hipGraphNode_t> nodes(count);
    if (count != 0) static_cast<void>(api.hipGraphGetNodes(graph, nodes.data(), &count));
    for (const hipGraphNode_t node : nodes) {
      hipGraphNodeType type{};
      static_cast<void>(api.hipGraphNodeGetType(node, &type));
      hipGraph_t child = nullptr;
      if (type != hipGraphNodeTypeGraph || api.hipGraphChildGraphNodeGetGraph(node, &child) != hipSuccess) continue;
      expect_nodes(where, child);
    }
  }

  BenchContext& context_;
  std::unique_ptr<TracesPart> part_;
  TraceModel model_{kScenarioTraces}, rank_model_{kScenarioTraces};
  TraceWork work_;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
  std::array<Body, kTraceBodies> bodies_;
};

}  // namespace

std::unique_ptr<SystemBench> make_trace_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<TraceBench>(context, parts);
}

}  // namespace verify
