// Making the objects and judging the outcome; the contract is in the header.
#include "verify/errors/open_scene.h"

#include <algorithm>

namespace verify {
namespace {

constexpr std::size_t kMemoryBytes = 64, kCopiedBytes = 32;  // of an allocation of a graph

void count_nothing(void*) {}

bool has_symbol_nodes(const hip::Api& api) {
  return api.hipGraphAddMemcpyNodeToSymbol != nullptr && api.hipGraphAddMemcpyNodeFromSymbol != nullptr;
}

bool is_to_variable(const OpenScene::Copy& what) {
  return what.to >= OpenScene::kVariableAt;
}

}  // namespace

OpenScene::Bytes::Bytes() {
  for (std::size_t i = 0; i < kAllBytes; ++i) bytes_[i] = static_cast<unsigned char>(i * 7 + i / 256);
}
void OpenScene::Bytes::copy(const Copy& what) {
  for (std::size_t row = 0; row < what.height; ++row) {
    const std::size_t skipped = row * what.pitch;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(what.from + skipped), what.width,
                bytes_.begin() + static_cast<std::ptrdiff_t>(what.to + skipped));
  }
}
void OpenScene::Bytes::set(std::size_t to, unsigned char value, std::size_t count) {
  std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(to), count, value);
}

OpenScene::OpenScene(const hip::Api& table, hipFunction_t kernel, bool launched, const void* variable)
    : api(table), kernel_(kernel), launched_(launched), symbol_(variable) {
  must(api.hipMalloc(&memory_, kBytes));
  if (symbol_ != nullptr) need(api.hipGetSymbolAddress != nullptr && has_symbol_nodes(api));
  if (symbol_ != nullptr && !lacking_) must(api.hipGetSymbolAddress(&variable_memory_, symbol_));
  must(api.hipStreamCreateWithFlags(&stream, hipStreamDefault));
  must(api.hipEventCreateWithFlags(&event, hipEventDisableTiming));
  graph = new_graph();
}

// Objects that could not be made are null; the status of a call on a null object is ignored.
OpenScene::~OpenScene() {
  for (hipGraphExec_t one : execs_) (void)api.hipGraphExecDestroy(one);
  for (hipGraph_t one : graphs_) (void)api.hipGraphDestroy(one);
  if (event != nullptr) (void)api.hipEventDestroy(event);
  if (stream != nullptr) (void)api.hipStreamDestroy(stream);
  if (memory_ != nullptr) (void)api.hipFree(memory_);
  (void)api.hipGetLastError();
}

hipGraph_t OpenScene::new_graph() {
  hipGraph_t made = nullptr;
  must(api.hipGraphCreate(&made, 0));
  graphs_.push_back(made);
  return made;
}

hipGraphNode_t OpenScene::add_line(hipGraph_t to, const Copy& what, hipGraphNode_t after) {
  hipGraphNode_t node = nullptr;
  must(api.hipGraphAddMemcpyNode1D(&node, to, &after, after == nullptr ? 0 : 1, at(what.to), at(what.from), what.width,
                                   hipMemcpyDeviceToDevice));
  return node;
}

hipGraphNode_t OpenScene::add_symbol(hipGraph_t to, const Copy& what, hipGraphNode_t after) {
  hipGraphNode_t node = nullptr;
  if (lacking_) return node;
  const std::size_t dependencies = after == nullptr ? 0 : 1;
  if (is_to_variable(what)) {
    must(api.hipGraphAddMemcpyNodeToSymbol(&node, to, &after, dependencies, symbol_, at(what.from), what.width,
                                           what.to - kVariableAt, hipMemcpyDeviceToDevice));
  } else {
    must(api.hipGraphAddMemcpyNodeFromSymbol(&node, to, &after, dependencies, at(what.to), symbol_, what.width,
                                             what.from - kVariableAt, hipMemcpyDeviceToDevice));
  }
  return node;
}

hipError_t OpenScene::set_symbol(hipGraphNode_t node, const Copy& what) const {
  if (is_to_variable(what)) {
    return api.hipGraphMemcpyNodeSetParamsToSymbol(node, symbol_, at(what.from), what.width, what.to - kVariableAt,
                                                   hipMemcpyDeviceToDevice);
  }
  return api.hipGraphMemcpyNodeSetParamsFromSymbol(node, at(what.to), symbol_, what.width, what.from - kVariableAt,
                                                   hipMemcpyDeviceToDevice);
}

hipError_t OpenScene::set_symbol_in_exec(hipGraphNode_t node, const Copy& what) const {
  if (is_to_variable(what)) {
    return api.hipGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol_, at(what.from), what.width,
                                                       what.to - kVariableAt, hipMemcpyDeviceToDevice);
  }
  return api.hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, at(what.to), symbol_, what.width,
                                                       what.from - kVariableAt, hipMemcpyDeviceToDevice);
}

hipGraphNode_t OpenScene::add_rows(hipGraph_t to, const Copy& what, hipGraphNode_t after) {
  hipGraphNode_t node = nullptr;
  const hipMemcpy3DParms params = rows(what);
  must(api.hipGraphAddMemcpyNode(&node, to, &after, after == nullptr ? 0 : 1, &params));
  return node;
}

hipGraphNode_t OpenScene::add_memset(hipGraph_t to, const hipMemsetParams& what, hipGraphNode_t after) {
  hipGraphNode_t node = nullptr;
  must(api.hipGraphAddMemsetNode(&node, to, &after, after == nullptr ? 0 : 1, &what));
  return node;
}

hipGraphNode_t OpenScene::add_child(hipGraph_t to, hipGraph_t child) {
  hipGraphNode_t node = nullptr;
  must(api.hipGraphAddChildGraphNode(&node, to, nullptr, 0, child));
  return node;
}

hipMemcpy3DParms OpenScene::rows(const Copy& what) const {
  const std::size_t pitch = what.pitch == 0 ? what.width : what.pitch;
  hipMemcpy3DParms params{};
  params.dstPtr = {at(what.to), pitch, what.width, what.height};
  params.srcPtr = {at(what.from), pitch, what.width, what.height};
  params.extent = {what.width, what.height, 1};
  params.kind = hipMemcpyDeviceToDevice;
  return params;
}

hipMemsetParams OpenScene::one_row(std::size_t to, unsigned char value, std::size_t width, std::size_t pitch) const {
  hipMemsetParams params{};
  params.dst = at(to), params.elementSize = 1, params.value = value;
  params.width = width, params.height = 1, params.pitch = pitch;
  return params;
}

hipKernelNodeParams OpenScene::kernel_params() {
  hipKernelNodeParams params{};
  params.func = kernel_;
  params.gridDim = params.blockDim = dim3(1, 1, 1);
  params.kernelParams = arguments_.data();
  return params;
}

hipHostNodeParams OpenScene::host_params() {
  return {&count_nothing, nullptr};
}

OpenScene::Memory OpenScene::add_memory(hipGraph_t to, unsigned char value, bool frees) {
  Memory made;
  need(api.hipGraphAddMemAllocNode != nullptr && api.hipGraphAddMemFreeNode != nullptr &&
       api.hipDeviceGetGraphMemAttribute != nullptr);
  if (lacking_) return made;
  made.params.poolProps.allocType = hipMemAllocationTypePinned;
  made.params.poolProps.location = {hipMemLocationTypeDevice, 0};
  made.params.bytesize = kMemoryBytes;
  must(api.hipGraphAddMemAllocNode(&made.alloc, to, nullptr, 0, &made.params));
  hipMemsetParams filled = one_row(0, value, kMemoryBytes, 0);
  filled.dst = made.params.dptr;
  const hipGraphNode_t set = add_memset(to, filled, made.alloc);
  must(api.hipGraphAddMemcpyNode1D(&made.copy, to, &set, 1, at(0), made.params.dptr, kCopiedBytes,
                                   hipMemcpyDeviceToDevice));
  if (frees) must(api.hipGraphAddMemFreeNode(&made.free, to, &made.copy, 1, made.params.dptr));
  return made;
}

std::size_t OpenScene::graph_memory() const {
  std::uint64_t bytes = 0;
  (void)api.hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &bytes);
  return bytes;
}

hipError_t OpenScene::write(const Bytes& bytes) const {
  const unsigned char* from = bytes.all().data();
  const hipError_t status = api.hipMemcpy(memory_, from, kBytes, hipMemcpyHostToDevice);
  if (status != hipSuccess || variable_memory_ == nullptr) return status;
  return api.hipMemcpy(variable_memory_, from + kVariableAt, kVariableBytes, hipMemcpyHostToDevice);
}

// Without a variable its bytes are those that were written.
hipError_t OpenScene::read(Bytes& bytes) const {
  std::array<unsigned char, kAllBytes> seen = Bytes().all();
  hipError_t status = api.hipMemcpy(seen.data(), memory_, kBytes, hipMemcpyDeviceToHost);
  if (status == hipSuccess && variable_memory_ != nullptr)
    status = api.hipMemcpy(seen.data() + kVariableAt, variable_memory_, kVariableBytes, hipMemcpyDeviceToHost);
  bytes = Bytes(seen);
  return status;
}

Snapshot OpenScene::look() const {
  Snapshot seen(api);
  if (graph != nullptr) seen.graph("the graph", graph);
  if (exec != nullptr) seen.exec("the executable graph", exec, Snapshot::nodes_of(api, graph));
  seen.stream("the stream", stream);
  seen.thread();
  return seen;
}

Snapshot OpenScene::look_at_others() const {
  Snapshot seen(api);
  for (std::size_t i = 0; i < graphs_.size(); ++i) {
    if (graphs_[i] != nullptr && graphs_[i] != graph) seen.graph("graph " + std::to_string(i), graphs_[i]);
  }
  return seen;
}

void OpenScene::make_exec() {
  if (lacking_ || prepared_ != hipSuccess) return;
  exec = instantiated(graph);
  Bytes seen;
  if (launched_ && prepared_ == hipSuccess) wrong_ = launch_and_read(false, seen);
  if (launched_ && wrong_.empty() && seen != was) wrong_ = "a wrong launch before the call";
}

void OpenScene::ready(Effect effect) {
  effect_ = effect;
  if (effect == Effect::kExec && exec == nullptr) make_exec();
  must(write(Bytes()));
  before_.emplace(look());
  others_before_.emplace(look_at_others());
  (void)api.hipGetLastError();
}

// The work before and behind the call has to stay in the capture, and nothing else if the call is refused.
hipError_t OpenScene::in_a_capture(const std::function<hipError_t()>& call) {
  constexpr Copy kBefore = {0, 256, 32}, kBehind = {64, 320, 32};
  const auto copy = [&](const Copy& what) {
    return api.hipMemcpyAsync(at(what.to), at(what.from), what.width, hipMemcpyDeviceToDevice, stream);
  };
  was.copy(kBefore), was.copy(kBehind), done = was;
  ready(Effect::kGraph);
  must(api.hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  must(copy(kBefore));
  const hipError_t status = call();
  last_error_ = api.hipGetLastError();
  if (copy(kBehind) != hipSuccess) note_wrong("a capture that takes no work after it");
  hipGraph_t captured = nullptr;
  if (const hipError_t ended = api.hipStreamEndCapture(stream, &captured); ended != hipSuccess)
    note_wrong("a capture that ends with " + hip::status_name(ended));
  if (status != hipSuccess && captured != nullptr && Snapshot::nodes_of(api, captured).size() != 2)
    note_wrong("a capture whose nodes are not those of the other work");
  if (status != hipSuccess) {
    if (const std::string place = changed(false); !place.empty()) note_wrong("a refusal that changed " + place);
  }
  if (captured != nullptr) graphs_.push_back(captured);
  graph = captured;
  before_.emplace(look());
  others_before_.emplace(look_at_others());
  return status;
}

std::string OpenScene::launch_once(hipGraphExec_t launched) {
  hipError_t status = api.hipGraphLaunch(launched, stream);
  if (status == hipSuccess) status = api.hipStreamSynchronize(stream);
  return status == hipSuccess ? "" : "a launch that answers " + hip::status_name(status);
}

hipGraphExec_t OpenScene::instantiated(hipGraph_t of) {
  hipGraphExec_t made = nullptr;
  must(api.hipGraphInstantiate(&made, of, nullptr, nullptr, 0));
  execs_.push_back(made);
  return made;
}

std::string OpenScene::freed(void* memory) {
  hipError_t status = api.hipFreeAsync(memory, stream);
  if (status == hipSuccess) status = api.hipStreamSynchronize(stream);
  return status == hipSuccess ? "" : "a free that answers " + hip::status_name(status);
}

std::string OpenScene::launch_and_read(bool succeeded, Bytes& seen) {
  if (effect_ == Effect::kStream) {
    if (api.hipStreamSynchronize(stream) != hipSuccess) return "a stream that cannot be waited for";
  } else {
    if (write(Bytes()) != hipSuccess) return "memory that cannot be written";
    const std::string wrong = launch != nullptr ? launch(succeeded) : launch_once(exec);
    if (!wrong.empty()) return wrong;
  }
  return read(seen) == hipSuccess ? "" : "memory that cannot be read";
}

// A setter of an executable graph leaves the graph alone, whatever it answers; a refused call leaves all graphs alone.
std::string OpenScene::changed(bool succeeded) const {
  if (!before_ || (succeeded && effect_ != Effect::kExec)) return "";
  if (std::string place = Snapshot::difference(*before_, look()); succeeded || !place.empty()) return place;
  return Snapshot::difference(*others_before_, look_at_others());
}

// Launches, and says how the bytes are not those of the outcome, or nothing.
std::string OpenScene::bytes_wrong(bool succeeded) {
  if (effect_ == Effect::kGraph) {
    hipGraphExec_t fresh = nullptr;
    const hipError_t made = api.hipGraphInstantiate(&fresh, graph, nullptr, nullptr, 0);
    if (made != hipSuccess) return "a graph whose instantiation answers " + hip::status_name(made);
    execs_.push_back(fresh);
    exec = fresh;
  }
  for (int done_launches = 0; done_launches < (effect_ == Effect::kStream ? 1 : launches); ++done_launches) {
    Bytes seen;
    if (std::string wrong = launch_and_read(succeeded, seen); !wrong.empty()) return wrong;
    if (seen == (succeeded ? done : was) && (!succeeded || can_be_done)) continue;
    if (!succeeded) return "other bytes";
    return seen == was ? "no effect" : "a part of the effect, or another one";
  }
  return {};
}

std::string OpenScene::judge(hipError_t status, std::span<const hipError_t> codes) {
  const hipError_t last = last_error_.value_or(api.hipGetLastError());
  if (!wrong_.empty()) return hip::status_name(status) + ", and " + wrong_;
  const bool succeeded = status == hipSuccess;
  if (!succeeded && std::ranges::find(codes, status) == codes.end()) return "refused with " + hip::status_name(status);
  if (const std::string place = changed(succeeded); !place.empty())
    return (succeeded ? "success, and changed " : "refused, and changed ") + place;
  if (const std::string wrong = bytes_wrong(succeeded); !wrong.empty())
    return (succeeded ? "success, and then " : "refused, and then ") + wrong;
  if (last != status) return hip::status_name(status) + ", and the last error is " + hip::status_name(last);
  return {};
}

}  // namespace verify
