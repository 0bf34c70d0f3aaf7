// hgcheck-library-calls: cuBLAS GEMMs and an NCCL all-reduce, captured at three places of their buffers, attributed,
// run in several ways, and compared, byte for byte, with the same call captured again.
//
// Prints for each call what its graph holds, and a row for each way of running it (library_ways.h): whether it leaves
// the same bytes, the host's time of a step, and the time until the device is idle. A way that is not for the call, and
// a call that a library refuses, has the reason instead. Exit status 1: bytes differ, or a HIP call failed.
//
// The all-reduce is over one GPU and, where the machine has two, over two.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/library_calls/libraries.h"
#include "bench/library_calls/library_ways.h"
#include "hip/api/api.h"
#include "hip/errors.h"

namespace bench {
namespace {

constexpr std::size_t kPlaces = 3;
constexpr int kTimes = 200;
constexpr int kSide = 512;
constexpr std::size_t kMatrix = std::size_t{kSide} * kSide * sizeof(float);
constexpr std::size_t kWorkspace = std::size_t{64} << 20;
constexpr std::size_t kSlack = std::size_t{1} << 20;  // for places that differ in their lowest byte
constexpr int kStepCalls = 728;
constexpr int kMostGpus = 2;
constexpr hip::BufferIndex kStepMatrices = 12;  // of each of the three operands
// CUBLAS_OP_N, CUBLAS_OP_T, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT; ncclFloat32, ncclSum.
constexpr int kAsIs = 0, kTransposed = 1, kHalf = 2, kComputeFloat = 68, kDefault = -1, kNcclFloat = 7, kNcclSum = 0;
constexpr float kOne = 1, kZero = 0;

struct Call {
  std::string name;
  std::size_t buffers = 0;  // of kMatrix bytes
  hip::EnqueueAt enqueue;
  std::size_t buffers_a_gpu = buffers;  // the first so many are on GPU 0, the next on GPU 1, ...
};

float* at(std::span<const hip::DeviceAddress> addresses, std::size_t buffer) {
  return reinterpret_cast<float*>(static_cast<std::uintptr_t>(addresses[buffer]));
}

hip::Status answered(int status, const char* function) {
  if (status == 0) return {};
  return hip::Error{hipErrorUnknown, fmt::format("{} answered {}", function, status)};
}

// Small halves and floats: 0x3400 to 0x37ff are halves from 0.25 to 0.5, and as pairs floats near 1e-7.
std::vector<std::uint16_t> contents(std::size_t buffer) {
  std::vector<std::uint16_t> values(kMatrix / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint16_t>(0x3400 + (i * 7919 + buffer * 131) % 0x400);
  }
  return values;
}

class Bed {
 public:
  Bed(const hip::Api& api, const Driver& driver, hipStream_t stream) : api_(api), driver_(driver), stream_(stream) {}
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;
  ~Bed() {
    for (void* memory : memory_) {
      if (hip::Status status = hip::called(api_.hipFree(memory), "hipFree"); !status) {
        hip::print_error(nullptr, status.error());
      }
    }
  }

  // The rows of a call, one a way, and whether nothing is wrong with it.
  std::string run(const Call& call, bool* well) {
    hip::Result<std::string> rows = measured(call, well);
    if (rows) return rows.value();
    *well = *well && rows.error().code == hipErrorNotSupported;
    return fmt::format("| {} | {} |\n", call.name, rows.error().message);
  }

 private:
  hip::Result<std::string> measured(const Call& call, bool* well) {
    hip::Shadows shadows;
    if (hip::Status s = place(call, shadows); !s) return s.error();
    // A library's first call may do set-up that is not allowed during a capture.
    if (hip::Status s = call.enqueue(stream_, shadows.tables[0]); !s) return s.error();
    if (hip::Status s = wait(); !s) return s.error();
    LibraryStep step{api_, driver_, stream_, call.enqueue, shadows, {}, {}, {}};
    for (std::size_t i = 0; i < call.buffers; ++i) step.devices.push_back(static_cast<int>(i / call.buffers_a_gpu));
    step.fill = [this](const hip::AddressTable& table) { return fill(table); };
    step.read = [this](const hip::AddressTable& table) { return read(table); };
    std::string rows;
    {
      const hip::Result<LibraryGraph> graph = LibraryGraph::capture(api_, driver_, stream_, call.enqueue, shadows);
      if (!graph) return graph.error();
      rows = fmt::format("| {} | {} nodes, {} opaque, {} relocations, {} allocations |\n", call.name,
                         graph.value().seen().nodes.size(), graph.value().opaque_nodes(), graph.value().relocations(),
                         graph.value().seen().memory.size());
    }
    const hip::Result<std::vector<WayTimes>> ways = time_ways(step, kTimes);
    if (!ways) return ways.error();
    for (const WayTimes& way : ways.value()) {
      *well = *well && way.same_bytes;
      if (!way.refused.empty()) {
        rows += fmt::format("| {} | {} | {} |\n", call.name, way.name, way.refused);
      } else if (way.whole == 0) {
        rows += fmt::format("| {} | {} | | {:.2f} | |\n", call.name, way.name, way.host);
      } else {
        rows += fmt::format("| {} | {} | {} | {:.2f} | {:.2f} |\n", call.name, way.name,
                            way.same_bytes ? "equal" : "DIFFERENT", way.host, way.whole);
      }
    }
    return rows;
  }

  // Every buffer is elsewhere by another distance, and its lowest byte differs (hip::flaw_of).
  hip::Status place(const Call& call, hip::Shadows& shadows) {
    gpus_ = static_cast<int>(call.buffers / call.buffers_a_gpu);
    for (std::size_t k = 0; k < kPlaces; ++k) {
      hip::AddressTable table;
      for (std::size_t buffer = 0; buffer < call.buffers; ++buffer) {
        void* memory = nullptr;
        if (hip::Status s = use_gpu(static_cast<int>(buffer / call.buffers_a_gpu)); !s) return s;
        if (hip::Status s = hip::called(api_.hipMalloc(&memory, kMatrix + kSlack), "hipMalloc"); !s) return s;
        memory_.push_back(memory);
        table.push_back(reinterpret_cast<std::uintptr_t>(memory) + k * (64 + 4096 * (buffer + 1)));
      }
      shadows.tables.push_back(std::move(table));
    }
    for (std::size_t buffer = 0; buffer < call.buffers; ++buffer) {
      shadows.bytes.push_back(kMatrix);
      shadows.buffers.push_back(static_cast<hip::BufferIndex>(buffer));
    }
    for (const hip::AddressTable& table : shadows.tables) {
      if (hip::Status s = fill(table); !s) return s;
    }
    return {};
  }

  hip::Status use_gpu(int gpu) { return hip::called(api_.hipSetDevice(gpu), "hipSetDevice"); }

  // Waits for the device: a copy from pageable memory returns before its last bytes arrive (CUDA driver API, "API
  // synchronization behavior"), and the stream of the calls does not wait for it.
  hip::Status fill(const hip::AddressTable& table) {
    for (std::size_t buffer = 0; buffer < table.size(); ++buffer) {
      const std::vector<std::uint16_t> values = contents(buffer);
      hip::Status s =
          hip::called(api_.hipMemcpy(at(table, buffer), values.data(), kMatrix, hipMemcpyHostToDevice), "hipMemcpy");
      if (!s) return s;
    }
    for (int gpu = gpus_; gpu-- > 0;) {  // GPU 0 last: it stays the current one
      if (hip::Status s = use_gpu(gpu); !s) return s;
      if (hip::Status s = hip::called(api_.hipDeviceSynchronize(), "hipDeviceSynchronize"); !s) return s;
    }
    return {};
  }
  hip::Status wait() { return hip::called(api_.hipStreamSynchronize(stream_), "hipStreamSynchronize"); }

  hip::Result<std::vector<std::byte>> read(const hip::AddressTable& table) const {
    std::vector<std::byte> bytes(table.size() * kMatrix);
    for (std::size_t buffer = 0; buffer < table.size(); ++buffer) {
      hip::Status s = hip::called(
          api_.hipMemcpy(bytes.data() + buffer * kMatrix, at(table, buffer), kMatrix, hipMemcpyDeviceToHost),
          "hipMemcpy");
      if (!s) return s.error();
    }
    return bytes;
  }

  const hip::Api& api_;
  const Driver& driver_;
  hipStream_t stream_;
  int gpus_ = 1;  // that the call uses
  std::vector<void*> memory_;
};

hip::Status sgemm(const Cublas& blas, void* handle, std::span<const hip::DeviceAddress> table, std::size_t a,
                  std::size_t b, std::size_t c) {
  return answered(blas.cublasSgemm_v2(handle, kAsIs, kAsIs, kSide, kSide, kSide, &kOne, at(table, a), kSide,
                                      at(table, b), kSide, &kZero, at(table, c), kSide),
                  "cublasSgemm");
}

std::vector<Call> cublas_calls(const Cublas& blas, void* handle) {
  using Table = std::span<const hip::DeviceAddress>;
  std::vector<Call> calls;
  calls.push_back({"sgemm 512", 3, [=](hipStream_t, Table table) { return sgemm(blas, handle, table, 0, 1, 2); }});
  calls.push_back({"half gemm 512, transposed", 3, [=](hipStream_t, Table table) {
                     return answered(blas.cublasGemmEx(handle, kAsIs, kTransposed, kSide, kSide, kSide, &kOne,
                                                       at(table, 0), kHalf, kSide, at(table, 1), kHalf, kSide, &kZero,
                                                       at(table, 2), kHalf, kSide, kComputeFloat, kDefault),
                                     "cublasGemmEx");
                   }});
  calls.push_back({"sgemm 64 x 8 x 512", 3, [=](hipStream_t, Table table) {
                     return answered(blas.cublasSgemm_v2(handle, kAsIs, kAsIs, 64, 8, kSide, &kOne, at(table, 0), kSide,
                                                         at(table, 1), kSide, &kZero, at(table, 2), kSide),
                                     "cublasSgemm");
                   }});
  calls.push_back({"sgemv 512", 3, [=](hipStream_t, Table table) {
                     return answered(blas.cublasSgemv_v2(handle, kAsIs, kSide, kSide, &kOne, at(table, 0), kSide,
                                                         at(table, 1), 1, &kZero, at(table, 2), 1),
                                     "cublasSgemv");
                   }});
  calls.push_back({fmt::format("step of {} sgemm", kStepCalls), 3 * kStepMatrices, [=](hipStream_t, Table table) {
                     for (std::size_t i = 0; i < kStepCalls; ++i) {
                       hip::Status s =
                           sgemm(blas, handle, table, i % kStepMatrices, kStepMatrices + i * 5 % kStepMatrices,
                                 2 * kStepMatrices + i * 7 % kStepMatrices);
                       if (!s) return s;
                     }
                     return hip::Status();
                   }});
  return calls;
}

// An all-reduce with one rank for each GPU, all driven by this thread. Each GPU but the first has a stream of its own,
// which events join to the first GPU's stream, so that a capture includes all of them. Buffer 2g of a table is the
// input of GPU g, buffer 2g+1 the place of its sum.
class AllReduce {
 public:
  AllReduce(const hip::Api& api, const Nccl& nccl) : api_(api), nccl_(nccl) {}
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;
  ~AllReduce() {
    for (void* communicator : communicators_) static_cast<void>(nccl_.ncclCommDestroy(communicator));
    for (const Peer& peer : peers_) {
      static_cast<void>(api_.hipStreamDestroy(peer.stream));
      static_cast<void>(api_.hipEventDestroy(peer.joined));
    }
    if (forked_ != nullptr) static_cast<void>(api_.hipEventDestroy(forked_));
  }

  hip::Status prepare(int gpus) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(gpu);
    std::vector<void*> communicators(devices.size());
    hip::Status s = answered(nccl_.ncclCommInitAll(communicators.data(), gpus, devices.data()), "ncclCommInitAll");
    if (!s) return s;
    communicators_ = std::move(communicators);
    if (s = event(&forked_); !s) return s;
    for (int gpu = 1; gpu < gpus && s; ++gpu) {
      Peer& peer = peers_.emplace_back();
      s = hip::called(api_.hipSetDevice(gpu), "hipSetDevice");
      if (s) s = hip::called(api_.hipStreamCreateWithFlags(&peer.stream, hipStreamNonBlocking), "hipStreamCreate");
      if (s) s = event(&peer.joined);
    }
    const hip::Status back = hip::called(api_.hipSetDevice(0), "hipSetDevice");
    return s ? back : s;
  }

  hip::Status enqueue(hipStream_t on, std::span<const hip::DeviceAddress> table) const {
    hip::Status s = hip::called(api_.hipEventRecord(forked_, on), "hipEventRecord");
    for (const Peer& peer : peers_) {
      if (s) s = hip::called(api_.hipStreamWaitEvent(peer.stream, forked_, 0), "hipStreamWaitEvent");
    }
    if (s) s = answered(nccl_.ncclGroupStart(), "ncclGroupStart");
    if (!s) return s;
    for (std::size_t gpu = 0; gpu < communicators_.size(); ++gpu) {
      const hipStream_t stream = gpu == 0 ? on : peers_[gpu - 1].stream;
      if (!s) break;
      s = answered(nccl_.ncclAllReduce(at(table, 2 * gpu), at(table, 2 * gpu + 1), kMatrix / sizeof(float), kNcclFloat,
                                       kNcclSum, communicators_[gpu], stream),
                   "ncclAllReduce");
    }
    const hip::Status ended = answered(nccl_.ncclGroupEnd(), "ncclGroupEnd");
    if (s) s = ended;
    for (const Peer& peer : peers_) {
      if (s) s = hip::called(api_.hipEventRecord(peer.joined, peer.stream), "hipEventRecord");
      if (s) s = hip::called(api_.hipStreamWaitEvent(on, peer.joined, 0), "hipStreamWaitEvent");
    }
    return s;
  }

 private:
  struct Peer {
    hipStream_t stream = nullptr;
    hipEvent_t joined = nullptr;
  };
  hip::Status event(hipEvent_t* made) const {
    return hip::called(api_.hipEventCreateWithFlags(made, hipEventDisableTiming), "hipEventCreate");
  }

  const hip::Api& api_;
  const Nccl& nccl_;
  std::vector<void*> communicators_;
  std::vector<Peer> peers_;  // GPU 1, ...
  hipEvent_t forked_ = nullptr;
};

int main_of(const std::string& path) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(path, {.minimum_version = 0});
  const hip::Result<Driver> driver = open_driver();
  const hip::Result<Cublas> blas = open_cublas();
  for (const hip::Error* error :
       {loaded ? nullptr : &loaded.error(), driver ? nullptr : &driver.error(), blas ? nullptr : &blas.error()}) {
    if (error == nullptr) continue;
    fmt::print(stderr, "hgcheck-library-calls: {}\n", error->message);
    return 2;
  }
  const hip::Api& api = loaded.value().api;
  hipStream_t stream = nullptr;
  void *workspace = nullptr, *handle = nullptr;
  hip::Status ready = hip::called(api.hipSetDevice(0), "hipSetDevice");
  if (ready) ready = hip::called(api.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreate");
  if (ready) ready = hip::called(api.hipMalloc(&workspace, kWorkspace), "hipMalloc");
  if (ready) ready = answered(blas.value().cublasCreate_v2(&handle), "cublasCreate");
  if (ready) ready = answered(blas.value().cublasSetStream_v2(handle, stream), "cublasSetStream");
  if (ready) ready = answered(blas.value().cublasSetWorkspace_v2(handle, workspace, kWorkspace), "cublasSetWorkspace");
  if (!ready) {
    fmt::print(stderr, "hgcheck-library-calls: {}\n", ready.error().message);
    return 2;
  }
  std::vector<Call> calls = cublas_calls(blas.value(), handle);
  const hip::Result<Nccl> nccl = open_nccl();
  std::vector<std::unique_ptr<AllReduce>> reductions;
  int devices = 0;
  ready = hip::called(api.hipGetDeviceCount(&devices), "hipGetDeviceCount");
  if (ready && !nccl) ready = nccl.error();
  for (int gpus = 1; ready && gpus <= std::min(devices, kMostGpus); ++gpus) {
    AllReduce& reduce = *reductions.emplace_back(std::make_unique<AllReduce>(api, nccl.value()));
    ready = reduce.prepare(gpus);
    if (!ready) break;
    calls.push_back(
        {fmt::format("all-reduce, GPUs: {}", gpus), 2 * static_cast<std::size_t>(gpus),
         [&reduce](hipStream_t on, std::span<const hip::DeviceAddress> table) { return reduce.enqueue(on, table); },
         2});
  }
  if (!ready) fmt::print("no all-reduce, or not over all GPUs: {}\n", ready.error().message);
  fmt::print(
      "| call | way | bytes | host us | until done us |\n"
      "| --- | --- | --- | --- | --- |\n");
  bool well = true;
  for (const Call& call : calls) fmt::print("{}", Bed(api, driver.value(), stream).run(call, &well));
  return well ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--library") {
    fmt::print(stderr, "usage: hgcheck-library-calls --library PATH/libhip-nvidia.so\n");
    return 2;
  }
  return bench::main_of(argv[2]);
}
