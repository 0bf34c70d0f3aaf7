// Making and destroying scenes, and valid parameters for the calls; the contract is in the header.
#include "verify/errors/error_scene.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hip/sync/sync.h"

namespace verify {
namespace {

constexpr std::size_t kPitch = 16;
constexpr unsigned char kByteOfA = 0x11, kByteOfB = 0x22, kByteElsewhere = 0x33;
constexpr std::uint32_t kWord = 1;  // that the memset node writes
constexpr std::size_t kWords = 4, kRow = 8;
constexpr std::chrono::milliseconds kLate(500), kPause(1);  // for the function of a user object

// How often the functions of the scenes' user objects ran. A function may run after its scene has ended, so the counts
// outlive the scenes; the last kCounts scenes have one each.
constexpr std::size_t kCounts = 256;
using Count = hip::sync::Atomic<std::uint64_t>;
std::array<Count, kCounts> s_objects_gone{};
hip::sync::Atomic<std::size_t> s_scenes{0};

void count_gone(void* count) {
  static_cast<Count*>(count)->fetch_add(1);
}

void count_nothing(void*) {}

}  // namespace

ErrorScene::ErrorScene(const hip::Api& table, hipFunction_t kernel, const void* variable, const void* code)
    : api(table), function(kernel), symbol(variable), number_(s_scenes.fetch_add(1)) {
  make_memory();
  must(api.hipStreamCreateWithFlags(&stream, hipStreamDefault));
  must(api.hipEventCreateWithFlags(&event, hipEventDisableTiming));
  if (prepared_ != hipSuccess) return;
  make_graphs();
  make_optional();
  make_symbol_nodes();
  make_pools();
  if (code != nullptr) make_unloaded(code);
  make_gone();
}

// Objects that could not be made are null; the status of a call on a null object is ignored.
ErrorScene::~ErrorScene() {
  if (api.hipUserObjectRelease != nullptr && object != nullptr) (void)api.hipUserObjectRelease(object, 1);
  for (hipGraphExec_t one : execs_) (void)api.hipGraphExecDestroy(one);
  for (hipGraph_t one : graphs_) (void)api.hipGraphDestroy(one);
  if (pool != nullptr) (void)api.hipMemPoolDestroy(pool);
  if (event != nullptr) (void)api.hipEventDestroy(event);
  if (stream != nullptr) (void)api.hipStreamDestroy(stream);
  for (void* memory : {a, b, small, wide}) {
    if (memory != nullptr) (void)api.hipFree(memory);
  }
  if (pinned != nullptr) (void)api.hipHostFree(pinned);
  (void)api.hipGetLastError();
}

void ErrorScene::make_memory() {
  must(api.hipMalloc(&a, kBytes));
  must(api.hipMalloc(&b, kBytes));
  must(api.hipMalloc(&small, kSmallBytes));
  must(api.hipHostMalloc(&pinned, kBytes, 0));
  if (symbol != nullptr) must(api.hipMalloc(&wide, 2 * kSymbolBytes));
  if (prepared_ != hipSuccess) return;
  must(fill_with(a, kBytes, kByteOfA));
  must(fill_with(b, kBytes, kByteOfB));
  must(fill_with(small, kSmallBytes, kByteElsewhere));
  must(fill_with(pinned, kBytes, kByteElsewhere));
}

hipError_t ErrorScene::fill_with(void* memory, std::size_t bytes, unsigned char value) const {
  const std::string values(bytes, static_cast<char>(value));
  return api.hipMemcpy(memory, values.data(), bytes, hipMemcpyHostToDevice);
}

void ErrorScene::fill(hipGraph_t to, Nodes* out) {
  must(api.hipGraphAddEmptyNode(&out->empty, to, nullptr, 0));
  must(add_kernel(&out->kernel, to, &out->empty, 1));
  must(add_copy(&out->copy, to, &out->kernel, 1));
  must(api.hipGraphAddMemcpyNode1D(&out->line, to, &out->copy, 1, a, b, 8, hipMemcpyDeviceToDevice));
  must(add_memset(&out->set, to, &out->line, 1));
  must(add_host(&out->host, to, nullptr, 0));
  must(api.hipGraphAddChildGraphNode(&out->child, to, nullptr, 0, leaf));
}

void ErrorScene::make_graphs() {
  for (hipGraph_t* one : {&leaf, &graph, &other, &cyclic, &cyclic_outer}) {
    must(api.hipGraphCreate(one, 0));
    graphs_.push_back(*one);
  }
  must(api.hipGraphAddEmptyNode(&node_out, leaf, nullptr, 0));
  fill(graph, &nodes);
  fill(other, &others);
  must(api.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  execs_.push_back(exec);
  if (api.hipGraphClone != nullptr) {
    must(api.hipGraphClone(&clone, graph));
    graphs_.push_back(clone);
  }
  hipGraphNode_t first = nullptr, second = nullptr;
  must(api.hipGraphAddEmptyNode(&first, cyclic, nullptr, 0));
  must(api.hipGraphAddEmptyNode(&second, cyclic, &first, 1));
  if (api.hipGraphAddDependencies != nullptr) must(api.hipGraphAddDependencies(cyclic, &second, &first, 1));
  must(api.hipGraphAddChildGraphNode(&first, cyclic_outer, nullptr, 0, cyclic));
}

void ErrorScene::make_optional() {
  if (api.hipUserObjectCreate != nullptr) {
    must(api.hipUserObjectCreate(&object, &s_objects_gone.at(number_ % kCounts), &count_gone, 1,
                                 hipUserObjectNoDestructorSync));
  }
  if (api.hipGraphAddEventRecordNode != nullptr && api.hipGraphAddEventWaitNode != nullptr) {
    must(api.hipGraphCreate(&event_graph, 0));
    graphs_.push_back(event_graph);
    must(api.hipGraphAddEventRecordNode(&record_node, event_graph, nullptr, 0, event));
    must(api.hipGraphAddEventWaitNode(&wait_node, event_graph, nullptr, 0, event));
    must(api.hipGraphInstantiate(&event_exec, event_graph, nullptr, nullptr, 0));
    execs_.push_back(event_exec);
  }
#if HGCHECK_HIP_AT_LEAST(6, 0)
  if (api.hipDrvGraphAddMemcpyNode != nullptr) must(add_driver_copy(&driver_node, other, nullptr, 0));
#endif
#if HGCHECK_HIP_AT_LEAST(6, 4)
  if (api.hipGraphAddBatchMemOpNode != nullptr) {
    must(api.hipGraphCreate(&batch_graph, 0));
    graphs_.push_back(batch_graph);
    must(add_batch(&batch_node, batch_graph, nullptr, 0));
    must(api.hipGraphInstantiate(&batch_exec, batch_graph, nullptr, nullptr, 0));
    execs_.push_back(batch_exec);
  }
#endif
}

hipMemPoolProps ErrorScene::pool_properties() {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  return properties;
}

hipMemAccessDesc ErrorScene::access() {
  hipMemAccessDesc access{};
  access.location = {hipMemLocationTypeDevice, 0};
  access.flags = hipMemAccessFlagsProtReadWrite;
  return access;
}

int ErrorScene::devices() const {
  int count = 0;
  (void)api.hipGetDeviceCount(&count);
  return count;
}

hipError_t ErrorScene::free_twice() const {
  void* memory = nullptr;
  if (const hipError_t got = api.hipMallocAsync(&memory, kSmallBytes, stream); got != hipSuccess) return got;
  if (const hipError_t freed = api.hipFreeAsync(memory, stream); freed != hipSuccess) return freed;
  if (const hipError_t waited = api.hipStreamSynchronize(stream); waited != hipSuccess) return waited;
  return api.hipFreeAsync(memory, stream);
}

hipError_t ErrorScene::add_child_that_allocates() {
  lacking_ = api.hipGraphAddMemAllocNode == nullptr || api.hipGraphAddMemFreeNode == nullptr;
  if (lacking_) return hipErrorNotSupported;
  hipGraph_t child = nullptr;
  if (const hipError_t made = api.hipGraphCreate(&child, 0); made != hipSuccess) return made;
  graphs_.push_back(child);
  hipMemAllocNodeParams memory = alloc_params();
  hipGraphNode_t allocates = nullptr;
  hipError_t added = api.hipGraphAddMemAllocNode(&allocates, child, nullptr, 0, &memory);
  if (added != hipSuccess) return added;
  added = api.hipGraphAddMemFreeNode(&node_out, child, &allocates, 1, memory.dptr);
  if (added != hipSuccess) return added;
  added = api.hipGraphAddChildGraphNode(&node_out, graph, nullptr, 0, child);
  if (added == hipSuccess) return added;
  graphs_.pop_back();  // a refused call leaves nothing
  (void)api.hipGraphDestroy(child);
  return added;
}

void ErrorScene::make_pools() {
  if (api.hipMemPoolCreate == nullptr || api.hipMemPoolDestroy == nullptr) return;
  const hipMemPoolProps properties = pool_properties();
  must(api.hipMemPoolCreate(&pool, &properties));
  must(api.hipMemPoolCreate(&gone_pool, &properties));
  must(api.hipMemPoolDestroy(gone_pool));
}

void ErrorScene::make_symbol_nodes() {
  if (symbol == nullptr || api.hipGraphAddMemcpyNodeToSymbol == nullptr ||
      api.hipGraphAddMemcpyNodeFromSymbol == nullptr)
    return;
  must(api.hipGraphCreate(&symbol_graph, 0));
  graphs_.push_back(symbol_graph);
  must(api.hipGraphAddMemcpyNodeToSymbol(&to_symbol, symbol_graph, nullptr, 0, symbol, a, 8, 0,
                                         hipMemcpyDeviceToDevice));
  must(api.hipGraphAddMemcpyNodeFromSymbol(&from_symbol, symbol_graph, &to_symbol, 1, a, symbol, 8, 0,
                                           hipMemcpyDeviceToDevice));
  must(api.hipGraphInstantiate(&symbol_exec, symbol_graph, nullptr, nullptr, 0));
  execs_.push_back(symbol_exec);
}

void ErrorScene::make_unloaded(const void* code) {
  hipModule_t module = nullptr;
  must(api.hipModuleLoadData(&module, code));
  must(api.hipModuleGetFunction(&unloaded_, module, "count_only"));
  must(api.hipGraphCreate(&unloaded_graph, 0));
  graphs_.push_back(unloaded_graph);
  const hipKernelNodeParams params = unloaded_params();
  must(api.hipGraphAddKernelNode(&node_out, unloaded_graph, nullptr, 0, &params));
  must(api.hipGraphInstantiate(&unloaded_exec, unloaded_graph, nullptr, nullptr, 0));
  execs_.push_back(unloaded_exec);
  must(api.hipModuleUnload(module));
}

void ErrorScene::make_gone() {
  hipGraph_t passing = nullptr;
  must(api.hipGraphCreate(&passing, 0));
  must(api.hipGraphInstantiate(&gone_exec, passing, nullptr, nullptr, 0));
  must(api.hipGraphExecDestroy(gone_exec));
  must(api.hipGraphDestroy(passing));
  must(api.hipStreamCreateWithFlags(&gone_stream, hipStreamDefault));
  must(api.hipStreamDestroy(gone_stream));
  must(api.hipGraphAddEmptyNode(&gone_node, other, nullptr, 0));
  if (api.hipGraphDestroyNode != nullptr) must(api.hipGraphDestroyNode(gone_node));
  must(api.hipGraphCreate(&gone_graph, 0));
  must(api.hipGraphDestroy(gone_graph));
}

ErrorScene::Place ErrorScene::behind(hipGraphNode_t first) {
  list_ = {first, nullptr};
  return {&node_out, graph, list_.data(), 1};
}
ErrorScene::Place ErrorScene::behind(hipGraphNode_t first, hipGraphNode_t second) {
  list_ = {first, second};
  return {&node_out, graph, list_.data(), 2};
}

hipKernelNodeParams ErrorScene::kernel_params() {
  hipKernelNodeParams params{};
  params.func = function;
  params.gridDim = params.blockDim = dim3(1, 1, 1);
  params.kernelParams = arguments_.data();
  return params;
}

hipKernelNodeParams ErrorScene::unloaded_params() {
  hipKernelNodeParams params = kernel_params();
  params.func = unloaded_;
  return params;
}

void** ErrorScene::extra() {
  extra_ = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed_.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes_,
            HIP_LAUNCH_PARAM_END};
  return extra_.data();
}

hipMemcpy3DParms ErrorScene::copy_params() const {
  hipMemcpy3DParms params{};
  params.dstPtr = {a, kPitch, kRow, kBytes / kPitch};
  params.srcPtr = {b, kPitch, kRow, kBytes / kPitch};
  params.extent = {kRow, kBytes / kPitch, 1};
  params.kind = hipMemcpyDeviceToDevice;
  return params;
}

hipMemsetParams ErrorScene::memset_params() const {
  hipMemsetParams params{};
  params.dst = a;
  params.elementSize = sizeof kWord;
  params.width = kWords;
  params.height = 1;
  params.value = kWord;
  return params;
}

hipHostNodeParams ErrorScene::host_params() {
  return {&count_nothing, nullptr};
}

hipKernelNodeAttrValue* ErrorScene::window() {
  attribute = {};
  attribute.accessPolicyWindow.base_ptr = a;
  attribute.accessPolicyWindow.hitRatio = 0.5f;
  attribute.accessPolicyWindow.hitProp = hipAccessPropertyStreaming;
  attribute.accessPolicyWindow.missProp = hipAccessPropertyStreaming;
  return &attribute;
}

hipMemAllocNodeParams ErrorScene::alloc_params() const {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = kBytes;
  return params;
}

hipCtx_t ErrorScene::context() const {
  hipCtx_t current = nullptr;
  if (api.hipCtxGetCurrent != nullptr) (void)api.hipCtxGetCurrent(&current);
  // A runtime without contexts only compares with null.
  return current != nullptr ? current : reinterpret_cast<hipCtx_t>(function);
}

#if HGCHECK_HIP_AT_LEAST(6, 2)
hipGraphNodeParams ErrorScene::any_params() const {
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeMemset;
  params.memset = memset_params();
  return params;
}
hipError_t ErrorScene::set_driver_copy(hipGraphExec_t of, hipGraphNode_t node) {
  const HIP_MEMCPY3D params = driver_copy();
  return api.hipDrvGraphExecMemcpyNodeSetParams(of, node, &params, context());
}
hipError_t ErrorScene::set_driver_memset(hipGraphExec_t of, hipGraphNode_t node) {
  const hipMemsetParams params = memset_params();
  return api.hipDrvGraphExecMemsetNodeSetParams(of, node, driver_form(&params), context());
}
#endif

#if HGCHECK_HIP_AT_LEAST(6, 0)
const DriverMemset* ErrorScene::driver_form(const hipMemsetParams* params) {
  if (params == nullptr) return nullptr;
  driver_memset = {};
  driver_memset.dst = params->dst, driver_memset.pitch = params->pitch, driver_memset.value = params->value;
  driver_memset.elementSize = params->elementSize;
  driver_memset.width = params->width, driver_memset.height = params->height;
  return &driver_memset;
}
HIP_MEMCPY3D ErrorScene::driver_copy() const {
  const hipMemcpy3DParms plain = copy_params();
  HIP_MEMCPY3D params{};
  params.dstMemoryType = params.srcMemoryType = hipMemoryTypeDevice;
  params.dstDevice = a, params.dstPitch = plain.dstPtr.pitch, params.dstHeight = plain.dstPtr.ysize;
  params.srcDevice = b, params.srcPitch = plain.srcPtr.pitch, params.srcHeight = plain.srcPtr.ysize;
  params.WidthInBytes = plain.extent.width, params.Height = plain.extent.height, params.Depth = plain.extent.depth;
  return params;
}
hipError_t ErrorScene::add_driver_copy(hipGraphNode_t* node, hipGraph_t to, const hipGraphNode_t* list,
                                       std::size_t count) {
  const HIP_MEMCPY3D params = driver_copy();
  return api.hipDrvGraphAddMemcpyNode(node, to, list, count, &params, context());
}
hipError_t ErrorScene::add_driver_memset(hipGraphNode_t* node, hipGraph_t to, const hipGraphNode_t* list,
                                         std::size_t count) {
  const hipMemsetParams params = memset_params();
  return api.hipDrvGraphAddMemsetNode(node, to, list, count, driver_form(&params), context());
}
#endif

#if HGCHECK_HIP_AT_LEAST(6, 4)
hipBatchMemOpNodeParams ErrorScene::batch() {
  operations_[0].operation = hipStreamMemOpWriteValue32;
  operations_[0].writeValue.address = a;
  operations_[0].writeValue.value = 1;
  hipBatchMemOpNodeParams params{};
  params.ctx = context();
  params.count = 1;
  params.paramArray = operations_.data();
  return params;
}
#endif

Snapshot ErrorScene::look() const {
  Snapshot seen(api, [this](hipGraphNode_t, const hipKernelNodeParams& params) {
    if (params.func != static_cast<void*>(function)) return std::vector<std::size_t>();
    return std::vector<std::size_t>{sizeof n_, sizeof x_, sizeof y_};
  });
  struct Named {
    const char* name;
    hipGraph_t graph;
    hipGraphExec_t exec;
  };
  const Named all[] = {{"the graph", graph, exec},
                       {"the other graph", other, nullptr},
                       {"the child", leaf, nullptr},
                       {"the clone", clone, nullptr},
                       {"the graph of events", event_graph, event_exec},
                       {"the graph of batches", batch_graph, batch_exec},
                       {"the graph of symbols", symbol_graph, symbol_exec}};
  for (const Named& each : all) {
    if (each.graph != nullptr) seen.graph(each.name, each.graph);
    if (each.exec != nullptr)
      seen.exec(std::string("the instance of ") + each.name, each.exec, Snapshot::nodes_of(api, each.graph));
  }
  seen.stream("the stream", stream);
  seen.memory("a", a, kBytes);
  seen.memory("b", b, kBytes);
  seen.memory("small", small, kSmallBytes);
  seen.memory("pinned", pinned, kBytes);
  seen.thread();
  return seen;
}

hipGraphExec_t ErrorScene::exec_of(hipGraphNode_t node) const {
  if (node == record_node || node == wait_node) return event_exec;
  if (node == batch_node) return batch_exec;
  return node == to_symbol || node == from_symbol ? symbol_exec : exec;
}

bool ErrorScene::launches_right(hipGraphExec_t launched) {
  std::array<unsigned char, kBytes> expected{}, seen{};
  for (std::size_t i = 0; i < kBytes; ++i) expected[i] = i % kPitch < kRow ? kByteOfB : kByteOfA;
  for (std::size_t i = 0; i < kWords * sizeof kWord; ++i) expected[i] = i % sizeof kWord == 0 ? kWord : 0;
  return fill_with(a, kBytes, kByteOfA) == hipSuccess && api.hipGraphLaunch(launched, stream) == hipSuccess &&
         api.hipStreamSynchronize(stream) == hipSuccess &&
         api.hipMemcpy(seen.data(), a, kBytes, hipMemcpyDeviceToHost) == hipSuccess && seen == expected;
}

std::string ErrorScene::launch_again() {
  if (!launches_right(exec)) return "the executable graph does not launch right";
  hipGraphExec_t fresh = nullptr;
  if (api.hipGraphInstantiate(&fresh, graph, nullptr, nullptr, 0) != hipSuccess)
    return "the graph cannot be instantiated";
  execs_.push_back(fresh);
  return launches_right(fresh) ? "" : "the graph does not launch right";
}

std::string ErrorScene::release_object() {
  if (object == nullptr) return {};
  const Count& gone = s_objects_gone.at(number_ % kCounts);
  const std::uint64_t before = gone.load();
  const hipError_t released = api.hipUserObjectRelease(std::exchange(object, nullptr), 1);
  if (released != hipSuccess) return "the user object cannot be released";
  for (std::chrono::milliseconds slept(0); slept < kLate && gone.load() == before; slept += kPause)
    hip::sync::sleep_for(kPause);
  return gone.load() == before + 1 ? "" : "the count of the user object";
}

Snapshot Capturing::look() const {
  Snapshot seen(scene_.api);
  seen.stream("the stream", scene_.stream);
  return seen;
}
Snapshot Capturing::begin() const {
  (void)scene_.api.hipStreamBeginCapture(scene_.stream, hipStreamCaptureModeRelaxed);
  return look();
}
Capturing::Capturing(ErrorScene& scene) : scene_(scene), begun_(begin()) {}
Capturing::~Capturing() {
  scene_.capture_changed_ = Snapshot::difference(begun_, look());
  hipGraph_t captured = nullptr;
  if (scene_.api.hipStreamEndCapture(scene_.stream, &captured) == hipSuccess) {
    (void)scene_.api.hipGraphDestroy(captured);
  }
}

}  // namespace verify
