// An ordinary HIP program with what the recorder keeps beside plain graphs: memory that graphs allocate, nodes that are
// added by hand to a graph while it is captured, handles that HIP is asked for, modules that come and go, and what a
// process does while it captures, memory that the host fills while the device works, and copies of rows.
//
//   kept CODE_OBJECT memory|hands|modules|variables|beside|turns|pinned|text|rows|forms|resources
// CODE_OBJECT has the kernel inplace_u32(data, n, k). Prints a sum of what it read back.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // hipCtxGetCurrent

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

constexpr unsigned kCells = 32;
constexpr size_t kBytes = kCells * sizeof(unsigned);

__global__ void put(unsigned* cells, unsigned value) {
  cells[threadIdx.x] = value + threadIdx.x;
}
__global__ void add(unsigned* cells, const unsigned* more) {
  cells[threadIdx.x] += more[threadIdx.x];
}
__device__ unsigned weights[kCells], turns = 5;
__constant__ unsigned factors[4];
__global__ void weigh(unsigned* cells) {
  cells[threadIdx.x] = cells[threadIdx.x] * factors[threadIdx.x % 4] + weights[threadIdx.x] + turns;
  if (threadIdx.x == 0) ++turns;
}
__global__ void say(unsigned value) {
  printf("the device says %u\n", value);
}

struct Cells {
  unsigned *at, first;
};
__global__ void put_in(Cells cells) {
  cells.at[threadIdx.x] = cells.first + threadIdx.x;
}

unsigned sum = 0;

void read_back(const void* cells, hipStream_t stream = nullptr) {
  unsigned out[kCells];
  if (stream == nullptr) HIP(hipMemcpy(out, cells, kBytes, hipMemcpyDeviceToHost));
  if (stream != nullptr) HIP(hipMemcpyWithStream(out, cells, kBytes, hipMemcpyDeviceToHost, stream));
  for (const unsigned cell : out) sum = sum * 31 + cell;
}

unsigned* cells_of(unsigned value) {
  unsigned* cells = nullptr;
  HIP(hipMalloc(&cells, kBytes));
  HIP(hipMemsetD32(cells, static_cast<int>(value), kCells));
  HIP(hipDeviceSynchronize());
  return cells;
}

hipGraphExec_t instance(hipGraph_t graph) {
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  return exec;
}

void run(hipGraphExec_t exec, hipStream_t stream) {
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
}

// A graph that frees what it allocates, written by a kernel first; memory that outlives its graphs; nodes by hand.
void graph_memory(hipStream_t stream) {
  unsigned *cells = cells_of(1), *own = nullptr, *kept = nullptr;
  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMallocAsync(reinterpret_cast<void**>(&own), kBytes, stream));
  put<<<1, kCells, 0, stream>>>(own, 5);
  HIP(hipMallocAsync(reinterpret_cast<void**>(&kept), kBytes, stream));
  HIP(hipMemsetAsync(kept, 7, kBytes, stream));
  add<<<1, kCells, 0, stream>>>(cells, own);
  HIP(hipFreeAsync(own, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  add<<<1, kCells, 0, stream>>>(cells, kept);
  read_back(cells, stream);
  const unsigned values[] = {3, 1, 4, 1, 5};
  HIP(hipMemcpy(kept, values, sizeof values, hipMemcpyHostToDevice));
  read_back(kept);
  HIP(hipFreeAsync(kept, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipDeviceGraphMemTrim(0));

  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = kBytes;
  hipGraphNode_t nodes[4];
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddMemAllocNode(&nodes[0], graph, nullptr, 0, &memory));
  hipMemsetParams set{};
  set.dst = memory.dptr;
  set.value = 9;
  set.elementSize = 4;
  set.width = kCells;
  set.height = 1;
  HIP(hipGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &set));
  HIP(hipGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, cells, memory.dptr, kBytes, hipMemcpyDeviceToDevice));
  HIP(hipGraphAddMemFreeNode(&nodes[3], graph, &nodes[2], 1, memory.dptr));
  exec = instance(graph);
  run(exec, stream);
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(cells));
}

// Nodes by hand in a graph that is captured: behind the stream, then beside it, then a child. Then a setter of a
// captured node.
void hands(hipStream_t stream) {
  unsigned *cells = cells_of(2), *others = cells_of(3), *beside = cells_of(4);
  hipStreamCaptureStatus status;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* after = nullptr;
  hipGraphNode_t node = nullptr, side = nullptr;
  size_t count = 0;
  hipMemsetParams set{};
  set.dst = others;
  set.value = 6;
  set.elementSize = 4;
  set.width = kCells / 2;
  set.height = 1;
  hipGraph_t inner = nullptr;
  HIP(hipGraphCreate(&inner, 0));
  HIP(hipGraphAddMemsetNode(&node, inner, nullptr, 0, &set));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  put<<<1, kCells, 0, stream>>>(cells, 1);
  HIP(hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count));
  HIP(hipGraphAddMemsetNode(&node, graph, after, count, &set));
  HIP(hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies));
  add<<<1, kCells, 0, stream>>>(cells, others);
  set.dst = beside;
  HIP(hipGraphAddMemsetNode(&side, graph, nullptr, 0, &set));
  HIP(hipStreamUpdateCaptureDependencies(stream, &side, 1, hipStreamAddCaptureDependencies));
  add<<<1, kCells, 0, stream>>>(cells, beside);
  HIP(hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count));
  HIP(hipGraphAddChildGraphNode(&node, graph, after, count, inner));
  HIP(hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies));
  add<<<1, kCells, 0, stream>>>(cells, others);
  HIP(hipGraphDestroy(inner));
  hipGraph_t whole = nullptr;
  HIP(hipStreamEndCapture(stream, &whole));
  hipGraphExec_t exec = instance(whole);
  run(exec, stream);
  read_back(cells);

  hipGraphNode_t all[7];
  count = 7;
  HIP(hipGraphGetNodes(whole, all, &count));
  unsigned value = 40;
  void* arguments[] = {&cells, &value};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(put);
  params.gridDim = dim3(1);
  params.blockDim = dim3(kCells);
  params.kernelParams = arguments;
  HIP(hipGraphExecKernelNodeSetParams(exec, all[0], &params));
  HIP(hipGraphDestroy(whole));
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipFree(cells));
  HIP(hipFree(others));
  HIP(hipFree(beside));
}

// Variables of the program's code and of a module: copies to and from their symbols, at once, later, captured, by nodes
// and by setters; their addresses.
void variables(hipStream_t stream, const char* path) {
  unsigned *cells = cells_of(5), *others = cells_of(6), now = 0, host[kCells];
  for (unsigned i = 0; i < kCells; ++i) host[i] = i * 3;
  HIP(hipMemcpyToSymbol(factors, host + 1, sizeof factors));
  HIP(hipMemcpyToSymbolAsync(weights, host, kBytes / 2, kBytes / 2, hipMemcpyHostToDevice, stream));
  weigh<<<1, kCells, 0, stream>>>(cells);
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemcpyFromSymbol(&now, turns, sizeof now));
  sum += now;
  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMemcpyToSymbolAsync(weights, cells, kBytes, 0, hipMemcpyDeviceToDevice, stream));
  weigh<<<1, kCells, 0, stream>>>(cells);
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphNode_t all[2], node = nullptr;
  size_t count = 2;
  HIP(hipGraphGetNodes(graph, all, &count));
  HIP(hipGraphAddMemcpyNodeFromSymbol(&node, graph, &all[1], 1, others, weights, kBytes / 2, 0,
                                      hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  read_back(others);
  HIP(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, others, weights, kBytes / 2, kBytes / 2,
                                                hipMemcpyDeviceToDevice));
  run(exec, stream);
  read_back(others);
  void* address = nullptr;
  HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(weights)));
  add<<<1, kCells, 0, stream>>>(static_cast<unsigned*>(address), others);
  HIP(hipStreamSynchronize(stream));
  read_back(address);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));

  hipModule_t module = nullptr;
  size_t bytes = 0;
  HIP(hipModuleLoad(&module, path));
  for (int i = 0; i < 2; ++i) HIP(hipModuleGetGlobal(&address, &bytes, module, "hg_symbol1"));
  add<<<1, kCells, 0, stream>>>(static_cast<unsigned*>(address), others);
  HIP(hipStreamSynchronize(stream));
  read_back(address);
  HIP(hipModuleUnload(module));
  HIP(hipFree(cells));
  HIP(hipFree(others));
}

// The same code object twice; its kernels in a graph, and on a stream. The first module goes before the second.
void modules(hipStream_t stream, const char* path) {
  unsigned* cells = cells_of(4);
  for (unsigned round = 0; round < 2; ++round) {
    hipModule_t module[2];
    hipFunction_t function[2];
    unsigned n = kCells, k = 3 + round;
    void* arguments[] = {&cells, &n, &k};
    for (unsigned i = 0; i < 2; ++i) {
      HIP(hipModuleLoad(&module[i], path));
      HIP(hipModuleGetFunction(&function[i], module[i], "inplace_u32"));
    }
    hipGraph_t graph = nullptr;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    HIP(hipModuleLaunchKernel(function[0], 1, 1, 1, kCells, 1, 1, 0, stream, arguments, nullptr));
    HIP(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t exec = instance(graph);
    run(exec, stream);
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipModuleUnload(module[0]));
    HIP(hipModuleLaunchKernel(function[1], 1, 1, 1, kCells, 1, 1, 0, stream, arguments, nullptr));
    HIP(hipStreamSynchronize(stream));
    HIP(hipModuleUnload(module[1]));
    read_back(cells);
  }
  HIP(hipFree(cells));
}

// Copies, memory and work of another stream while a stream captures; then a capture that fails.
void beside(hipStream_t stream) {
  unsigned *cells = cells_of(5), *other = nullptr, *more = nullptr;
  hipStream_t side = nullptr;
  hipGraph_t graph = nullptr;
  const unsigned values[] = {2, 7, 1, 8};
  HIP(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
  HIP(hipMallocAsync(reinterpret_cast<void**>(&other), kBytes, side));
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  HIP(hipThreadExchangeStreamCaptureMode(&mode));
  put<<<1, kCells, 0, stream>>>(cells, 6);
  HIP(hipMalloc(&more, kBytes));
  HIP(hipMemcpyWithStream(more, cells, kBytes, hipMemcpyDeviceToDevice, side));
  HIP(hipMemcpyWithStream(more, values, sizeof values, hipMemcpyHostToDevice, side));
  read_back(more, side);
  put<<<1, kCells, 0, side>>>(other, 8);
  read_back(other, side);
  HIP(hipFreeAsync(other, side));
  HIP(hipStreamSynchronize(side));
  HIP(hipFree(more));
  HIP(hipThreadExchangeStreamCaptureMode(&mode));
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  read_back(cells);

  hipGraph_t none = nullptr;
  HIP(hipStreamBeginCapture(side, hipStreamCaptureModeGlobal));
  put<<<1, kCells, 0, side>>>(cells, 9);
  if (hipMalloc(&more, kBytes) == hipSuccess || hipStreamEndCapture(side, &none) == hipSuccess) std::exit(1);
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(side));
  HIP(hipFree(cells));
}

// Pinned memory that the host fills while the device works, in turn; a setter with the values of the node itself.
void in_turn(hipStream_t stream) {
  unsigned *cells = cells_of(6), *batch[2];
  for (unsigned*& each : batch) HIP(hipHostMalloc(reinterpret_cast<void**>(&each), kBytes, 0));
  for (unsigned step = 0; step < 4; ++step) {
    for (unsigned i = 0; i < kCells; ++i) batch[step % 2][i] = step * 100 + i;
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpyAsync(cells, batch[step % 2], kBytes, hipMemcpyHostToDevice, stream));
  }
  HIP(hipStreamSynchronize(stream));
  read_back(cells);
  for (unsigned* each : batch) HIP(hipHostFree(each));

  unsigned value = 5;
  void* arguments[] = {&cells, &value};
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(put);
  params.gridDim = dim3(1);
  params.blockDim = dim3(kCells);
  params.kernelParams = arguments;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  HIP(hipGraphKernelNodeGetParams(node, &params));
  params.blockDim = dim3(kCells / 2);
  HIP(hipGraphKernelNodeSetParams(node, &params));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(cells));
}

// Copies and memsets of rows: of memory with a pitch, at once and later, eager and captured, of a piece of an image.
void rows(hipStream_t stream) {
  constexpr size_t kWidth = 40, kHeight = 6, kPitch = 48;
  unsigned char *image = nullptr, *tight = nullptr, host[kPitch * kHeight], piece[20 * 4], all[kWidth * kHeight];
  size_t pitch = 0;
  for (size_t i = 0; i < sizeof host; ++i) host[i] = static_cast<unsigned char>(i * 7 + 1);
  HIP(hipMallocPitch(reinterpret_cast<void**>(&image), &pitch, kWidth, kHeight));
  HIP(hipMalloc(&tight, sizeof all));
  HIP(hipMemset2D(image, pitch, 3, kWidth, kHeight));
  HIP(hipMemset3D(hipPitchedPtr{tight, kWidth, kWidth, 3}, 4, hipExtent{kWidth, 3, 2}));
  HIP(hipMemcpy2D(image + 2 * pitch + 8, pitch, host + 5, kPitch, 20, 4, hipMemcpyHostToDevice));
  HIP(hipMemcpy2DAsync(tight + 20, kWidth, image + 8, pitch, 20, kHeight, hipMemcpyDeviceToDevice, stream));
  HIP(hipMemcpy2DAsync(image, pitch, host + 3, kPitch, 16, kHeight, hipMemcpyHostToDevice, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemcpy2D(all, kWidth, tight, kWidth, kWidth, kHeight, hipMemcpyDeviceToHost));
  for (const unsigned char each : all) sum = sum * 31 + each;

  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMemcpy2DAsync(tight, kWidth, image, pitch, 30, kHeight, hipMemcpyDeviceToDevice, stream));
  HIP(hipMemset2DAsync(tight, kWidth, 9, 10, kHeight, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  hipMemcpy3DParms copy{};
  copy.srcPtr = {tight, kWidth, kWidth, kHeight};
  copy.srcPos = {25, 2, 0};
  copy.dstPtr = {piece, 20, 20, 4};
  copy.extent = {15, 4, 1};
  copy.kind = hipMemcpyDeviceToHost;
  HIP(hipMemcpy3D(&copy));
  for (unsigned char row = 0; row < 4; ++row) sum = sum * 31 + piece[20 * row + 14];
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(image));
  HIP(hipFree(tight));
}

void text(hipStream_t stream) {
  say<<<1, 1, 0, stream>>>(7);
  HIP(hipStreamSynchronize(stream));
}

// Nodes and setters by the functions that take any type and by the driver's; attributes.
void forms(hipStream_t stream) {
  unsigned *cells = cells_of(7), *others = cells_of(8), value = 11;
  void* arguments[] = {&cells, &value};
  hipGraph_t graph = nullptr;
  hipGraphNode_t nodes[3];
  hipGraphNodeParams kernel{}, set{};
  kernel.type = hipGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(put);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(kCells);
  kernel.kernel.kernelParams = arguments;
  set.type = hipGraphNodeTypeMemset;
  set.memset.dst = others;
  set.memset.value = 12;
  set.memset.elementSize = 4;
  set.memset.width = kCells / 2;
  set.memset.height = 1;
  hipCtx_t context = nullptr;
  HIP(hipCtxGetCurrent(&context));
  HIP_MEMCPY3D copy{};
  copy.dstMemoryType = copy.srcMemoryType = hipMemoryTypeDevice;
  copy.dstDevice = cells;
  copy.srcDevice = others;
  copy.dstPitch = copy.srcPitch = kBytes / 2;
  copy.dstHeight = copy.srcHeight = copy.Height = copy.Depth = 1;
  copy.WidthInBytes = kBytes / 4;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddNode(&nodes[0], graph, nullptr, 0, &kernel));
  HIP(hipGraphAddNode(&nodes[1], graph, &nodes[0], 1, &set));
  HIP(hipDrvGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &copy, context));
  value = 13;
  HIP(hipGraphNodeSetParams(nodes[0], &kernel));
  hipKernelNodeAttrValue alone{};
  alone.cooperative = 0;
  HIP(hipGraphKernelNodeSetAttribute(nodes[0], hipKernelNodeAttributeCooperative, &alone));
  hipGraphExec_t exec = instance(graph);
  run(exec, stream);
  read_back(cells);
  set.memset.value = 14;
  HIP(hipGraphExecNodeSetParams(exec, nodes[1], &set));
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(cells));
  HIP(hipFree(others));
}

// A pool of the program's own, for captured memory and for a stream's; a user object that a graph keeps.
void resources(hipStream_t stream) {
  unsigned *cells = cells_of(9), *own = nullptr, *others = nullptr;
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool = nullptr;
  uint64_t threshold = 1 << 20;
  HIP(hipMemPoolCreate(&pool, &properties));
  HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  HIP(hipMallocFromPoolAsync(reinterpret_cast<void**>(&others), kBytes, pool, stream));
  put<<<1, kCells, 0, stream>>>(others, 4);
  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMallocFromPoolAsync(reinterpret_cast<void**>(&own), kBytes, pool, stream));
  HIP(hipMemsetAsync(own, 5, kBytes, stream));
  add<<<1, kCells, 0, stream>>>(cells, own);
  add<<<1, kCells, 0, stream>>>(cells, others);
  HIP(hipFreeAsync(own, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  hipUserObject_t object = nullptr;
  HIP(hipUserObjectCreate(&object, &sum, [](void*) {}, 1, hipUserObjectNoDestructorSync));
  HIP(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
  hipGraphExec_t exec = instance(graph);
  HIP(hipGraphDestroy(graph));
  run(exec, stream);
  read_back(cells);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipFreeAsync(others, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemPoolTrimTo(pool, 0));
  HIP(hipMemPoolDestroy(pool));
  HIP(hipFree(cells));
}

// Memory of the host that a kernel finds in a struct, a copy, a memset and the host write to, one after the other.
void pinned(hipStream_t stream) {
  unsigned *source = cells_of(9), *cells = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&cells), kBytes, 0));
  put_in<<<1, kCells, 0, stream>>>({cells, 5});
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemcpy(cells, source, kBytes / 2, hipMemcpyDeviceToHost));
  cells[kCells - 1] = 77;
  HIP(hipMemset(cells, 3, kBytes / 4));
  read_back(cells);
  HIP(hipHostFree(cells));
  HIP(hipFree(source));
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  hipStream_t stream = nullptr;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  if (mode == "memory") graph_memory(stream);
  if (mode == "hands") hands(stream);
  if (mode == "variables") variables(stream, argv[1]);
  if (mode == "modules") modules(stream, argv[1]);
  if (mode == "beside") beside(stream);
  if (mode == "turns") in_turn(stream);
  if (mode == "pinned") pinned(stream);
  if (mode == "text") text(stream);
  if (mode == "rows") rows(stream);
  if (mode == "forms") forms(stream);
  if (mode == "resources") resources(stream);
  HIP(hipStreamDestroy(stream));
  std::printf("%s %u\n", mode.c_str(), sum);
}
