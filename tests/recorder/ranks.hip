// Ordinary HIP programs with threads that capture.
//
//   ranks pools|collectives|mixed [STEPS]
// pools: each thread has graphs by batch size that share one workspace; each graph allocates memory of its own, too.
// collectives: each thread captures a step on a stream and a side stream; threads wait for the events of others.
// mixed: threads capture, allocate in stream order, record events, and build graphs at the same time.
// Prints a sum of what it computed.
#include <hip/hip_runtime.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

constexpr unsigned kCells = 32, kThreads = 3;
constexpr size_t kBytes = kCells * sizeof(unsigned);

__global__ void add(unsigned* cells, unsigned value) {
  cells[threadIdx.x] += value;
}
__global__ void add_to(unsigned* to, const unsigned* from) {
  to[threadIdx.x] += from[threadIdx.x];
}

// Threads come together: no thread goes on before all have come.
class Meeting {
 public:
  void come() {
    std::unique_lock lock(mutex_);
    const unsigned round = round_;
    if (++come_ == kThreads) {
      come_ = 0;
      ++round_;
      all_.notify_all();
    }
    all_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  unsigned come_ = 0, round_ = 0;
};

struct Rank {
  hipStream_t stream = nullptr, side = nullptr;
  hipEvent_t forked = nullptr, joined = nullptr, done = nullptr;
  unsigned* cells = nullptr;
  Rank() {
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
    for (hipEvent_t* event : {&forked, &joined, &done}) HIP(hipEventCreateWithFlags(event, hipEventDisableTiming));
    HIP(hipMalloc(&cells, kBytes));
    HIP(hipMemset(cells, 0, kBytes));
  }
};

hipGraphExec_t captured(hipStream_t stream, auto work) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  work();
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP(hipGraphDestroy(graph));
  return exec;
}

void pools(Rank& rank, unsigned steps) {
  unsigned* workspace = nullptr;
  HIP(hipMalloc(&workspace, kBytes));
  std::vector<hipGraphExec_t> by_size;
  for (unsigned size = kCells; size >= 4; size /= 2) {
    by_size.push_back(captured(rank.stream, [&] {
      unsigned* own = nullptr;
      HIP(hipMallocAsync(reinterpret_cast<void**>(&own), kBytes, rank.stream));
      HIP(hipMemsetAsync(own, 1, kBytes, rank.stream));
      HIP(hipMemsetAsync(workspace, 2, size * 4, rank.stream));
      add_to<<<1, size, 0, rank.stream>>>(own, workspace);
      add_to<<<1, size, 0, rank.stream>>>(rank.cells, own);
      HIP(hipFreeAsync(own, rank.stream));
    }));
  }
  for (unsigned step = 0; step < steps; ++step) {
    HIP(hipGraphLaunch(by_size[step % by_size.size()], rank.stream));
    HIP(hipStreamSynchronize(rank.stream));
  }
  for (const hipGraphExec_t exec : by_size) HIP(hipGraphExecDestroy(exec));
  HIP(hipFree(workspace));
}

// A step of each thread adds to its own cells on both streams; then the cells of the next thread come in.
void collectives(std::array<Rank, kThreads>& ranks, unsigned number, unsigned steps, Meeting& meeting) {
  Rank& rank = ranks[number];
  const Rank& next = ranks[(number + 1) % kThreads];
  unsigned* seen = nullptr;
  HIP(hipMalloc(&seen, kBytes));
  hipGraphExec_t exec = nullptr;
  for (unsigned step = 0; step < steps; ++step) {
    if (exec != nullptr) HIP(hipGraphExecDestroy(exec));
    exec = captured(rank.stream, [&] {
      HIP(hipEventRecord(rank.forked, rank.stream));
      HIP(hipStreamWaitEvent(rank.side, rank.forked, 0));
      add<<<1, kCells / 2, 0, rank.stream>>>(rank.cells, step + number);
      add<<<1, kCells / 2, 0, rank.side>>>(rank.cells + kCells / 2, step);
      HIP(hipEventRecord(rank.joined, rank.side));
      HIP(hipStreamWaitEvent(rank.stream, rank.joined, 0));
    });
    HIP(hipGraphLaunch(exec, rank.stream));
    HIP(hipEventRecord(rank.done, rank.stream));
    meeting.come();
    HIP(hipStreamWaitEvent(rank.stream, next.done, 0));
    HIP(hipMemcpyAsync(seen, next.cells, kBytes, hipMemcpyDeviceToDevice, rank.stream));
    HIP(hipStreamSynchronize(rank.stream));
    meeting.come();
    add_to<<<1, kCells, 0, rank.stream>>>(rank.cells, seen);
    HIP(hipStreamSynchronize(rank.stream));
  }
  HIP(hipGraphExecDestroy(exec));
  HIP(hipFree(seen));
}

void beside(Rank& rank, const std::atomic<bool>& over, unsigned steps) {
  for (unsigned step = 0; step < steps && (step == 0 || !over); ++step) {
    void* memory = nullptr;
    HIP(hipMallocAsync(&memory, 4096, rank.stream));
    HIP(hipMemsetAsync(memory, 0, 4096, rank.stream));
    HIP(hipFreeAsync(memory, rank.stream));
    HIP(hipEventRecord(rank.done, rank.stream));
    HIP(hipStreamWaitEvent(rank.side, rank.done, 0));
    HIP(hipEventSynchronize(rank.done));
    add<<<1, kCells, 0, rank.side>>>(rank.cells, step);
    HIP(hipStreamSynchronize(rank.side));
    hipGraph_t graph = nullptr;
    hipGraphNode_t nodes[2];
    hipGraphExec_t exec = nullptr;
    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
    HIP(hipGraphAddEmptyNode(&nodes[1], graph, nodes, 1));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(exec, rank.stream));
    HIP(hipStreamSynchronize(rank.stream));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argv[1];
  const unsigned steps = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 8;
  std::array<Rank, kThreads> ranks;
  Rank other;
  HIP(hipDeviceSynchronize());
  Meeting meeting;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back(
        [&, i] { mode == "collectives" ? collectives(ranks, i, steps, meeting) : pools(ranks[i], steps); });
  }
  std::thread helper([&] {
    if (mode == "mixed") beside(other, over, 2 * steps);
  });
  for (std::thread& each : threads) each.join();
  over = true;
  helper.join();
  unsigned sum = 0, out[kCells];
  for (const Rank& rank : ranks) {
    HIP(hipMemcpy(out, rank.cells, kBytes, hipMemcpyDeviceToHost));
    for (const unsigned cell : out) sum = sum * 31 + cell;
  }
  std::printf("%s %u\n", mode.c_str(), sum);
}
