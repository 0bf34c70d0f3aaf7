// The calls, compiled from the rows; the contract is in the header.
#include "verify/errors/open_calls.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#define AT_LEAST(major, minor) \
  (HIP_VERSION_MAJOR > (major) || (HIP_VERSION_MAJOR == (major) && HIP_VERSION_MINOR >= (minor)))

namespace verify {
namespace {

using Copy = OpenScene::Copy;
using Effect = OpenScene::Effect;

// The work of nodes before the call, and the work that the call asks for.
constexpr Copy kLine = {0, 256, 32}, kNewLine = {8, 304, 40};
constexpr Copy kRows = {0, 256, 8, 4, 16}, kNewRows = {4, 400, 12, 3, 20};
constexpr Copy kOverlapping = {16, 320, 32}, kNewOverlapping = {24, 512, 24};
constexpr Copy kToSymbol = {OpenScene::kVariableAt, 256, 32}, kNewToSymbol = {OpenScene::kVariableAt + 8, 304, 40};
constexpr Copy kFromSymbol = {0, OpenScene::kVariableAt, 32}, kNewFromSymbol = {8, OpenScene::kVariableAt + 4, 40};
constexpr unsigned char kValue = 0x5a, kNewValue = 0xa5;
constexpr std::size_t kWidth = 24;  // of a row that is set

constexpr std::array kInvalid = {hipErrorInvalidValue};
constexpr std::array kInvalidPitch = {hipErrorInvalidValue, hipErrorInvalidPitchValue};
constexpr std::array<hipError_t, 0> kNever = {};
constexpr std::array kNoUpdate = {hipErrorGraphExecUpdateFailure, hipErrorInvalidValue, hipErrorNotSupported};
constexpr std::array kNoChild = {hipErrorUnknown, hipErrorGraphExecUpdateFailure, hipErrorInvalidValue};
constexpr std::array kNoSymbolInChild = {hipErrorUnknown, hipErrorGraphExecUpdateFailure, hipErrorInvalidValue,
                                         hipErrorInvalidSymbol, hipErrorInvalidMemcpyDirection};
constexpr std::array kNoMemory = {hipErrorInvalidValue, hipErrorNotSupported};

// A graph of one copy, and the bytes of its launch.
hipGraphNode_t one_line(OpenScene& s) {
  s.was.copy(kLine);
  return s.add_line(s.graph, kLine);
}
hipGraphNode_t one_copy_of_rows(OpenScene& s) {
  s.was.copy(kRows);
  return s.add_rows(s.graph, kRows);
}
// A graph of one memset, which writes the row.
hipGraphNode_t one_memset(OpenScene& s) {
  s.was.set(0, kValue, kWidth);
  return s.add_memset(s.graph, s.one_row(0, kValue, kWidth, 0));
}
// Makes the executable graph of one copy. The row then adds a node to the returned graph, which the executable graph
// has not: success of the call would mean nothing.
hipGraph_t with_late_node(OpenScene& s) {
  (void)one_line(s);
  s.make_exec();
  s.can_be_done = false;
  return s.graph;
}

// Two copies, of which the second overwrites a part of the first; the second one is added first, if `turned`.
void two_copies(OpenScene& s, hipGraph_t to, const Copy& first, const Copy& second, bool turned) {
  if (!turned) return (void)s.add_line(to, second, s.add_line(to, first));
  const hipGraphNode_t late = s.add_line(to, second), early = s.add_line(to, first);
  s.must(s.api.hipGraphAddDependencies(to, &early, &late, 1));
}
// The bytes of both, before and after.
void expect_two_copies(OpenScene& s) {
  s.was.copy(kLine), s.was.copy(kOverlapping);
  s.done.copy(kNewLine), s.done.copy(kNewOverlapping);
}
// The scene has two copies, one of which takes the place of the other one.
void expect_another_copy(OpenScene& s, const Copy& before, const Copy& after) {
  s.was.copy(before), s.done.copy(after);
}
hipError_t set_line(const OpenScene& s, hipGraphNode_t node, const Copy& what) {
  return s.api.hipGraphMemcpyNodeSetParams1D(node, s.at(what.to), s.at(what.from), what.width, hipMemcpyDeviceToDevice);
}
hipError_t set_line_in_exec(const OpenScene& s, hipGraphNode_t node, const Copy& what) {
  return s.api.hipGraphExecMemcpyNodeSetParams1D(s.exec, node, s.at(what.to), s.at(what.from), what.width,
                                                 hipMemcpyDeviceToDevice);
}
// Makes the call with the parameters of a copy of rows, or of one row.
hipError_t with_rows(const OpenScene& s, const std::function<hipError_t(hipMemcpy3DParms*)>& call) {
  hipMemcpy3DParms params = s.rows(kNewRows);
  return call(&params);
}
hipError_t with_row(const OpenScene& s, const std::function<hipError_t(hipMemcpy3DParms*)>& call) {
  hipMemcpy3DParms params = s.rows(kNewLine);
  return call(&params);
}
hipError_t update(OpenScene& s, hipGraph_t from) {
  return s.api.hipGraphExecUpdate(s.exec, from, &s.node_out, &s.update_out);
}

#if AT_LEAST(6, 4)
// A memory operation on a word of the memory: four equal bytes are written, or waited for.
struct WordOperation {
  std::size_t at;
  unsigned char value;
  bool waits = false;
};
using Batch = std::vector<WordOperation>;
const Batch kWord = {{0, kValue}}, kNewWord = {{8, kNewValue}};
const Batch kTwoWords = {{0, kValue}, {16, kValue}}, kNewTwoWords = {{8, kNewValue}, {24, kNewValue}};
const Batch kWriteAndWait = {{8, kNewValue}, {8, kNewValue, true}};

hipStreamBatchMemOpParams to_hip(const OpenScene& s, const WordOperation& one) {
  const std::uint32_t word = one.value * 0x01010101U;
  hipStreamBatchMemOpParams out{};
  out.operation = one.waits ? hipStreamMemOpWaitValue32 : hipStreamMemOpWriteValue32;
  if (one.waits) {
    out.waitValue.address = s.at(one.at), out.waitValue.value = word, out.waitValue.flags = hipStreamWaitValueEq;
  } else {
    out.writeValue.address = s.at(one.at), out.writeValue.value = word;
  }
  return out;
}
hipBatchMemOpNodeParams batch_of(OpenScene& s, const Batch& batch) {
  std::vector<hipStreamBatchMemOpParams> operations;
  for (const WordOperation& one : batch) operations.push_back(to_hip(s, one));
  const std::span<hipStreamBatchMemOpParams> kept = s.keep(std::move(operations));
  hipBatchMemOpNodeParams params{};
  if (s.api.hipCtxGetCurrent != nullptr) s.must(s.api.hipCtxGetCurrent(&params.ctx));
  params.count = static_cast<unsigned>(kept.size());
  params.paramArray = kept.data();
  return params;
}
hipGraphNode_t add_batch(OpenScene& s, hipGraph_t to, const Batch& batch) {
  hipGraphNode_t node = nullptr;
  s.need(s.api.hipGraphAddBatchMemOpNode != nullptr);
  const hipBatchMemOpNodeParams params = batch_of(s, batch);
  if (!s.lacking()) s.must(s.api.hipGraphAddBatchMemOpNode(&node, to, nullptr, 0, &params));
  return node;
}
void write_words(OpenScene::Bytes& bytes, const Batch& batch) {
  for (const WordOperation& one : batch) bytes.set(one.at, one.value, 4);
}
// A graph with a node of the first batch, and the bytes of both.
hipGraphNode_t batch_to_change(OpenScene& s, hipGraph_t graph, const Batch& before, const Batch& after) {
  write_words(s.was, before), write_words(s.done, after);
  return add_batch(s, graph, before);
}
// Makes the call with the operations of the batch, and then changes the caller's array.
template <class Call>
hipError_t with_array_that_changes(OpenScene& s, const Batch& batch, const Call& call) {
  hipBatchMemOpNodeParams params = batch_of(s, batch);
  const hipError_t status = call(&params);
  for (unsigned i = 0; i < params.count; ++i) params.paramArray[i] = to_hip(s, {40, kValue});
  return status;
}
#endif

// The memory of the executable graph is freed after its launch: by a graph of the free node, if there is one.
void frees_elsewhere(OpenScene& s, void* memory, hipGraph_t other) {
  hipGraphExec_t frees = nullptr;
  s.launches = 1;
  s.launch = [&s, memory, other, frees, used = s.graph_memory()](bool done) mutable -> std::string {
    std::string wrong = s.launch_once(s.exec);
    if (!wrong.empty()) return wrong;
    if (done && frees == nullptr) frees = s.instantiated(other);
    wrong = done ? s.launch_once(frees) : s.freed(memory);
    return wrong.empty() && s.graph_memory() != used ? "memory that stays in use" : wrong;
  };
}

#define ROW(...)
#define VALID(...)
#define OPEN(kind, function, name, codes, source, ...)                                  \
  {#function, name, codes, [](const hip::Api& api) { return api.function != nullptr; }, \
   [](OpenScene& s) -> hipError_t { __VA_ARGS__ }},
const OpenCall kCalls[] = {
#include "verify/errors/cases.inc"
};

}  // namespace

const OpenCall* find_open_call(const ErrorCase& error_case) {
  const auto* found = std::ranges::find_if(kCalls, [&](const OpenCall& call) {
    return call.function == error_case.function && call.name == error_case.name;
  });
  return found == std::end(kCalls) ? nullptr : found;
}

bool launches_before(std::string_view case_name) {
  return case_name.ends_with("-after-a-launch");
}

}  // namespace verify
