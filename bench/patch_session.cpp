#include "bench/patch_session.h"

#include <cassert>
#include <utility>

#include "fuzz/faults/catalogue.h"
#include "verify/execute/interposer.h"

namespace bench {

static verify::PatcherFactory factory_of(Algorithm algorithm) {
  if (algorithm == Algorithm::kPatch) return verify::graph_patcher_factory();
  const fuzz::Fault* scan = fuzz::find_fault("F02");
  assert(scan != nullptr);
  return scan->patchers;
}

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kPatch:
      return "patch";
    case Algorithm::kScan:
      return "scan";
    case Algorithm::kTightScan:
      return "tight_scan";
    case Algorithm::kRebuild:
      return "rebuild";
  }
  return "?";
}

PatchSession::PatchSession(const PatchCase& what, const Runtime& runtime, const hip::Api& api)
    : algorithm_(what.algorithm),
      api_(api),
      workload_(make_workload(runtime.kernel(), what.nodes, what.percent)),
      failed_(build(workload_.here)) {
  if (failed_ != nullptr) return;
  const verify::PatchTarget target{api_, workload_.recording, graph_, exec_, workload_.here, workload_.buffer_bytes};
  if (algorithm_ == Algorithm::kTightScan) tight_scan_ = std::make_unique<TightScan>(target);
  if (algorithm_ == Algorithm::kPatch || algorithm_ == Algorithm::kScan) patcher_ = factory_of(algorithm_)(target);
}

PatchSession::~PatchSession() {
  patcher_.reset();
  destroy();
}

const char* PatchSession::build(const hip::AddressTable& addresses) {
  hip::Result<hip::RecordedGraph> recorded = hip::record_graph(api_, workload_.recording, addresses);
  if (!recorded) return "the graph could not be recorded";
  graph_ = std::move(recorded.value());
  if (api_.hipGraphInstantiate(&exec_, graph_.graph, nullptr, nullptr, 0) != hipSuccess) {
    return "the graph could not be instantiated";
  }
  return nullptr;
}

void PatchSession::destroy() {
  bool destroyed = exec_ == nullptr || api_.hipGraphExecDestroy(exec_) == hipSuccess;
  destroyed = (graph_.graph == nullptr || api_.hipGraphDestroy(graph_.graph) == hipSuccess) && destroyed;
  assert(destroyed && "neither runtime refuses to destroy what it made");
  static_cast<void>(destroyed);
  exec_ = nullptr;
  graph_ = {};
}

// The new graph is there before the old one goes, as where the old one may still be running.
const char* PatchSession::rebuild() {
  hip::RecordedGraph old_graph = std::exchange(graph_, {});
  hipGraphExec_t old_exec = std::exchange(exec_, nullptr);
  const char* const failed = build(away_ ? workload_.here : workload_.there);
  std::swap(graph_, old_graph);
  std::swap(exec_, old_exec);
  destroy();
  graph_ = std::move(old_graph);
  exec_ = old_exec;
  return failed;
}

const char* PatchSession::turn() {
  if (failed_ != nullptr) return failed_;
  const std::vector<hip::Move>& moves = away_ ? workload_.back : workload_.away;
  if (algorithm_ == Algorithm::kRebuild) {
    failed_ = rebuild();
  } else if (algorithm_ == Algorithm::kTightScan) {
    if (tight_scan_->patch(moves) != hipSuccess) failed_ = "a setter failed";
  } else if (!patcher_->patch(moves).ok()) {
    failed_ = "the patch failed";
  }
  away_ = !away_;
  return failed_;
}

Counted counts_of_one_turn(const PatchCase& what) {
  const std::unique_ptr<Runtime> runtime = make_runtime(what.runtime);
  verify::Interposer interposer;
  const verify::Interposer::Scope scope(interposer);
  interposer.begin(runtime->api(), false);
  PatchSession session(what, *runtime, interposer.table());
  const std::uint64_t before = interposer.calls();
  const char* const failed = session.turn();
  const std::uint64_t after = interposer.calls();
  assert(failed == nullptr);
  static_cast<void>(failed);
  return {after - before, session.workload().nodes_that_change};
}

}  // namespace bench
