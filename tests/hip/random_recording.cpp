#include "hip/random_recording.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

namespace fake {
namespace {

constexpr std::uint64_t kPoolBase = 0x7f12'3400'0000;
constexpr int kPoolSlots = kBuffers + 3;

bool one_in(int n) {
  return below(n) == n - 1;
}
template <class T>
T one_of(std::initializer_list<T> choices) {
  return choices.begin()[below(static_cast<int>(choices.size()))];
}

std::uint64_t pool(int slot) {
  return kPoolBase + static_cast<std::uint64_t>(slot) * kBufferBytes;
}
void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// A base, a slice, one past the end, or even before the start.
std::int64_t draw_addend() {
  return one_of<std::int64_t>({0, 0, 1, 512, static_cast<std::int64_t>(kBufferBytes), -8});
}

hip::Relocation draw_relocation(hip::Field field, std::uint32_t offset = 0) {
  return {field, offset, static_cast<hip::BufferIndex>(below(static_cast<int>(kBuffers))), draw_addend()};
}

class Drawer {
 public:
  Drawer(World& world, const RecordingShape& shape)
      : world_(world), shape_(shape), filler_(*rc::gen::arbitrary<std::uint32_t>()) {}

  hip::Recording recording(int depth) {
    hip::Recording result;
    const int nodes = below(shape_.max_nodes + 1);
    for (int i = 0; i < nodes; ++i) {
      hip::RecordedNode node = draw_node(depth);
      for (int earlier = 0; earlier < i; ++earlier) {
        if (one_in(3)) node.dependencies.push_back(static_cast<hip::NodeIndex>(earlier));
      }
      result.add(std::move(node));
    }
    return result;
  }

 private:
  hip::RecordedNode draw_node(int depth) {
    if (shape_.kernels_only) return kernel();
    switch (below(shape_.opaque ? 9 : 8)) {
      case 0:
        return memset();
      case 1:
        return copy(true);
      case 2:
        return copy(false);
      case 3:
        return {hip::HostRecord{{nullptr, pointer(filler_())}}, {}, {}};
      case 4:
        return {hip::EmptyRecord{}, {}, {}};
      case 5:
      case 6:
        if (depth == shape_.max_depth) return kernel();
        return {hip::ChildRecord{std::make_shared<const hip::Recording>(recording(depth + 1))}, {}, {}};
      case 8:
        return opaque();
      default:
        return kernel();
    }
  }

  hip::RecordedNode kernel() {
    std::vector<hip::Relocation> relocations;
    hip::KernelRecord record;
    record.style = one_of({hip::ArgumentStyle::kExtra, hip::ArgumentStyle::kParams});
    const int arguments = one_in(12) ? 70 : below(8);
    std::uint32_t end = 0;
    for (int i = 0; i < arguments; ++i) {
      // Beyond the first few only pointers, to have many without many choices.
      const std::uint32_t size = i < 8 ? one_of<std::uint32_t>({8, 1, 2, 4, 8, 12, 16, 24, 40}) : 8;
      const std::uint32_t alignment = i < 8 ? one_of<std::uint32_t>({8, 1, 2, 4, 16}) : 8;
      const std::uint32_t offset = (end + alignment - 1) / alignment * alignment;
      record.slots.push_back({offset, size});
      end = offset + size;
      if (size >= 8) relocate_argument(record.slots.back(), relocations);
    }
    record.arguments.resize(end);
    fill(record);
    record.function = world_.add_kernel({record.slots, end});
    record.grid = dim3(1 + filler_() % 9, 1 + filler_() % 3, 1);
    record.block = dim3(64, 1 + filler_() % 2, 1);
    record.shared_bytes = filler_() % 100;
    return {record, {}, relocations};
  }

  // Pointers at any byte of an argument: a struct that is passed by value need not align them.
  void relocate_argument(const hip::ArgumentSlot& slot, std::vector<hip::Relocation>& relocations) {
    std::uint32_t at = 0;
    while (at + 8 <= slot.size && !one_in(3)) {
      at += static_cast<std::uint32_t>(below(static_cast<int>(slot.size - 8 - at) + 1));
      relocations.push_back(draw_relocation(hip::Field::kKernelArgument, slot.offset + at));
      at += 8;
    }
  }

  // Bytes between arguments do not travel through kernelParams, so there they are zero.
  void fill(hip::KernelRecord& record) {
    std::vector<std::byte> noise(record.arguments.size());
    for (std::byte& byte : noise) byte = static_cast<std::byte>(filler_());
    for (std::size_t at = filler_() % 9; at + 8 <= noise.size(); at += 5 + filler_() % 13) {
      const std::uint64_t address = pool(static_cast<int>(filler_() % kPoolSlots)) + (filler_() % 2) * 512;
      std::memcpy(noise.data() + at, &address, sizeof(address));
    }
    if (record.style == hip::ArgumentStyle::kExtra) record.arguments = noise;
    for (const hip::ArgumentSlot& slot : record.slots) {
      std::copy_n(noise.begin() + slot.offset, slot.size, record.arguments.begin() + slot.offset);
    }
  }

  void* any_pointer() { return pointer(pool(static_cast<int>(filler_() % kPoolSlots))); }

  hip::RecordedNode copy(bool linear) {
    std::vector<hip::Relocation> relocations;
    hip::CopyRecord record;
    record.linear = linear;
    record.params.kind = one_of(
        {hipMemcpyDefault, hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice});
    record.params.extent = {1 + filler_() % 100, 1, 1};
    if (!linear) record.params.extent = {1 + filler_() % 100, 1 + filler_() % 9, 1 + filler_() % 5};
    const auto draw_end = [&](hip::Field field, hipPitchedPtr& memory, hipPos& position) {
      memory.ptr = any_pointer();
      if (!linear) {
        position = {filler_() % 7, filler_() % 7, filler_() % 7};
        memory.pitch = 128 + filler_() % 128;
        memory.xsize = filler_() % 128;
        memory.ysize = filler_() % 128;
      }
      if (!one_in(4)) relocations.push_back(draw_relocation(field));
    };
    draw_end(hip::Field::kCopyDestination, record.params.dstPtr, record.params.dstPos);
    draw_end(hip::Field::kCopySource, record.params.srcPtr, record.params.srcPos);
    return {record, {}, relocations};
  }

  hip::RecordedNode memset() {
    std::vector<hip::Relocation> relocations;
    hip::MemsetRecord record;
    record.params.dst = any_pointer();
    record.params.elementSize = one_of({1U, 2U, 4U});
    record.params.width = 1 + filler_() % 64;
    record.params.height = 1 + filler_() % 3;
    record.params.pitch = filler_() % 512;
    record.params.value = filler_();
    if (!one_in(4)) relocations.push_back(draw_relocation(hip::Field::kMemsetDestination));
    return {record, {}, relocations};
  }

  hip::RecordedNode opaque() {
    hip::OpaqueRecord record;
    record.record = [](const hip::Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                       std::span<const hip::DeviceAddress>, hip::Kept&) -> hip::Result<hipGraphNode_t> {
      hipGraphNode_t node = nullptr;
      const hipError_t status = api.hipGraphAddEmptyNode(&node, graph, dependencies.data(), dependencies.size());
      if (status != hipSuccess) return hip::Error{status, "hipGraphAddEmptyNode"};
      return node;
    };
    record.buffers = {static_cast<hip::BufferIndex>(below(static_cast<int>(kBuffers)))};
    record.reason = "it is a test";
    return {record, {}, {}};
  }

  World& world_;
  RecordingShape shape_;
  std::mt19937 filler_;
};

}  // namespace

int below(int bound) {
  // RapidCheck narrows ranges while its size is small; most of our choices are kinds, which want all their values.
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, bound));
}

hip::Recording draw_recording(World& world, const RecordingShape& shape) {
  return Drawer(world, shape).recording(0);
}

hip::AddressTable draw_addresses() {
  std::vector<int> slots(kPoolSlots);
  std::iota(slots.begin(), slots.end(), 0);
  hip::AddressTable addresses;
  for (hip::BufferIndex buffer = 0; buffer < kBuffers; ++buffer) {
    const int taken = below(static_cast<int>(slots.size()));
    addresses.push_back(pool(slots[static_cast<std::size_t>(taken)]));
    slots.erase(slots.begin() + taken);
  }
  return addresses;
}

std::vector<hip::Move> draw_moves(const hip::AddressTable& from) {
  if (one_in(3)) return draw_cycle(from);
  const hip::AddressTable to = draw_addresses();
  std::vector<hip::Move> moves;
  for (hip::BufferIndex buffer = 0; buffer < from.size(); ++buffer) {
    if (one_in(2)) moves.push_back({buffer, from[buffer], to[buffer]});
  }
  if (one_in(2)) std::reverse(moves.begin(), moves.end());
  return moves;
}

std::vector<hip::Move> draw_cycle(const hip::AddressTable& from) {
  const auto length = static_cast<std::size_t>(2 + below(static_cast<int>(from.size()) - 1));
  const auto first = static_cast<std::size_t>(below(static_cast<int>(from.size())));
  std::vector<hip::Move> moves;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t buffer = (first + i) % from.size();
    const std::size_t next = (first + (i + 1) % length) % from.size();
    moves.push_back({static_cast<hip::BufferIndex>(buffer), from[buffer], from[next]});
  }
  return moves;
}

hip::AddressTable moved(hip::AddressTable addresses, const std::vector<hip::Move>& moves) {
  for (const hip::Move& move : moves) addresses[move.buffer] = move.to;
  return addresses;
}

}  // namespace fake
