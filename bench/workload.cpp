#include "bench/workload.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <numeric>
#include <utility>

namespace bench {

namespace {

constexpr hip::DeviceAddress kHere = 0x7f1000000000;
constexpr hip::DeviceAddress kThere = 0x7f2000000000;

// A generator of its own, because the standard leaves the numbers of its distributions open.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((state_ >> 33) % bound);
  }

 private:
  std::uint64_t state_;
};

std::vector<std::uint32_t> shuffled(std::uint32_t count, Numbers& numbers) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[numbers.below(i)]);
  return order;
}

using Uses = std::vector<std::array<hip::BufferIndex, kBuffersOfKernel>>;

bool holds(const std::array<hip::BufferIndex, kBuffersOfKernel>& buffers, std::uint32_t count,
           hip::BufferIndex buffer) {
  return std::find(buffers.begin(), buffers.begin() + count, buffer) != buffers.begin() + count;
}

// One shuffle an argument, so every buffer comes up once an argument. Where a kernel would hold a buffer twice, it
// trades with the next kernel for which that is right on both sides.
Uses draw_uses(std::uint32_t nodes, Numbers& numbers) {
  Uses uses(nodes);
  for (std::uint32_t argument = 0; argument < kBuffersOfKernel; ++argument) {
    std::vector<std::uint32_t> order = shuffled(nodes, numbers);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      for (std::uint32_t step = 1; holds(uses[node], argument, order[node]); ++step) {
        assert(step < nodes && "a workload needs more kernels than a kernel has buffers");
        const std::uint32_t other = (node + step) % nodes;
        if (holds(uses[node], argument, order[other]) || holds(uses[other], argument, order[node])) continue;
        std::swap(order[node], order[other]);
      }
    }
    for (std::uint32_t node = 0; node < nodes; ++node) uses[node][argument] = order[node];
  }
  return uses;
}

hip::RecordedNode kernel_node(hipFunction_t function, std::uint32_t index,
                              const std::array<hip::BufferIndex, kBuffersOfKernel>& buffers) {
  hip::KernelRecord kernel;
  kernel.function = function;
  kernel.block = dim3(64, 1, 1);
  kernel.arguments.resize(kArgumentBytes);
  const std::uint32_t scalars[] = {64, 64, 64, index};  // rows, columns, depth, a number
  static_assert(kBuffersOfKernel * sizeof(hip::DeviceAddress) + sizeof scalars == kArgumentBytes);
  std::memcpy(kernel.arguments.data() + kBuffersOfKernel * sizeof(hip::DeviceAddress), scalars, sizeof scalars);
  hip::RecordedNode node;
  node.record = std::move(kernel);
  if (index != 0) node.dependencies.push_back(index - 1);
  for (std::uint32_t i = 0; i < kBuffersOfKernel; ++i) {
    node.relocations.push_back({hip::Field::kKernelArgument, i * 8, buffers[i], 0});
  }
  return node;
}

}  // namespace

Workload make_workload(hipFunction_t kernel, std::uint32_t nodes, std::uint32_t percent) {
  Numbers numbers(nodes);
  Workload workload;
  const Uses uses = draw_uses(nodes, numbers);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    workload.recording.add(kernel_node(kernel, i, uses[i]));
    workload.here.push_back(kHere + i * kBufferSpacing);
    workload.there.push_back(workload.here.back());
  }
  workload.buffer_bytes.assign(nodes, kBufferBytes);

  std::vector<std::uint32_t> moved = shuffled(nodes, numbers);
  moved.resize(std::max(1U, (nodes * percent + 50) / 100));
  std::ranges::sort(moved);  // as an allocator's table lists them
  for (const std::uint32_t buffer : moved) {
    workload.there[buffer] = kThere + buffer * kBufferSpacing;
    workload.away.push_back({buffer, workload.here[buffer], workload.there[buffer]});
    workload.back.push_back({buffer, workload.there[buffer], workload.here[buffer]});
  }
  workload.nodes_that_change = static_cast<std::uint32_t>(std::ranges::count_if(uses, [&](const auto& held) {
    return std::ranges::any_of(held, [&](hip::BufferIndex b) { return std::ranges::binary_search(moved, b); });
  }));
  return workload;
}

}  // namespace bench
