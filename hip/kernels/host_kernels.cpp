// kernels.inc for the host: pointers that go through a HostMemory, and layouts from the parameter types.
//
// A kernel is compiled as an ordinary function of its C++ parameters. `run` copies each argument out of the packed
// block at its natural offset and calls the function. The memory that a kernel may access is kept in a thread-local
// variable during the call, so that a Ptr is 8 bytes and nothing else, as on the device.
#include "hip/kernels/host_kernels.h"

#include <array>
#include <cassert>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hg {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The memory that the kernel of this thread may access.
struct Access {
  HostMemory* memory = nullptr;
  bool faulted = false;
};
thread_local Access current_access;

// One kernel's access for the time of its call; a kernel may be run while another one runs (a host node that launches).
class AccessScope {
 public:
  explicit AccessScope(HostMemory& memory) : outer_(std::exchange(current_access, Access{&memory, false})) {}
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;
  ~AccessScope() { current_access = outer_; }

 private:
  Access outer_;
};

std::byte* reach(u64 address, std::size_t size, bool write) {
  assert(current_access.memory != nullptr);
  if (current_access.faulted) return nullptr;
  std::byte* bytes = current_access.memory->access(address, size, write);
  current_access.faulted = bytes == nullptr;
  return bytes;
}

template <class T>
T load(u64 address) {
  T value{};
  if (const std::byte* bytes = reach(address, sizeof(T), false)) std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// The target of a pointer to a non-const T: reads when converted, writes when assigned.
template <class T>
class Reference {
 public:
  explicit Reference(u64 address) : address_(address) {}
  operator T() const { return load<T>(address_); }  // NOLINT(google-explicit-constructor)
  const Reference& operator=(T value) const {       // NOLINT(misc-unconventional-assign-operator)
    if (std::byte* bytes = reach(address_, sizeof(T), true)) std::memcpy(bytes, &value, sizeof(T));
    return *this;
  }

 private:
  u64 address_;
};

// The address bits of the simulated machine and nothing else. Arithmetic wraps.
template <class T>
struct Ptr {
  u64 bits;

  auto operator[](u64 i) const {
    if constexpr (std::is_const_v<T>) {
      return load<std::remove_const_t<T>>(bits + i * sizeof(T));
    } else {
      return Reference<T>(bits + i * sizeof(T));
    }
  }
  auto operator*() const { return (*this)[0]; }
  Ptr& operator++() {
    bits += sizeof(T);
    return *this;
  }
  friend bool operator<(Ptr a, Ptr b) { return a.bits < b.bits; }
};

// One work item does the whole grid, and stops soon after a fault: it could only read zero and write nowhere from then
// on, which would take hours if the count is garbage.
constexpr u64 first_item() {
  return 0;
}
constexpr u64 stride() {
  return 1;
}
bool running() {
  return !current_access.faulted;
}

#define HG_KERNEL(name) void name
#define HG_INLINE inline
#include "hip/kernels/kernels.inc"

// The offsets of the pointers in a parameter of type A.
template <class A>
struct PointersIn {
  static constexpr std::array<u32, 0> kOffsets{};
};
template <class T>
struct PointersIn<Ptr<T>> {
  static constexpr std::array<u32, 1> kOffsets{0};
};
template <>
struct PointersIn<GatherArguments> {
  static constexpr std::array<u32, 2> kOffsets{offsetof(GatherArguments, out), offsetof(GatherArguments, in)};
};
template <>
struct PointersIn<NestedArguments> {
  static constexpr std::array<u32, 2> kOffsets{offsetof(NestedArguments, a.in), offsetof(NestedArguments, out)};
};
template <>
struct PointersIn<PackedArguments> {
  static constexpr std::array<u32, 2> kOffsets{offsetof(PackedArguments, out), offsetof(PackedArguments, in)};
};

template <class A>
constexpr bool kIsPointer = false;
template <class T>
constexpr bool kIsPointer<Ptr<T>> = true;

// The packed layout of a parameter list: each argument at the next multiple of its alignment.
template <class... A>
struct Layout {
  static constexpr std::size_t kCount = sizeof...(A);
  static constexpr std::size_t kPointerCount = (PointersIn<A>::kOffsets.size() + ... + 0);

  static constexpr std::array<HostArgument, kCount> kArguments = [] {
    std::array<HostArgument, kCount> all{};
    std::size_t end = 0;
    std::size_t index = 0;
    [[maybe_unused]] const auto place = [&]<class T>(std::type_identity<T>) {
      const std::size_t offset = (end + alignof(T) - 1) / alignof(T) * alignof(T);
      all[index++] = {static_cast<u32>(offset), static_cast<u32>(sizeof(T)), kIsPointer<T>};
      end = offset + sizeof(T);
    };
    (place(std::type_identity<A>{}), ...);
    return all;
  }();

  static constexpr std::array<u32, kPointerCount> kPointers = [] {
    std::array<u32, kPointerCount> all{};
    std::size_t index = 0;
    std::size_t argument = 0;
    [[maybe_unused]] const auto place = [&]<class T>(std::type_identity<T>) {
      for (const u32 inside : PointersIn<T>::kOffsets) all[index++] = kArguments[argument].offset + inside;
      ++argument;
    };
    (place(std::type_identity<A>{}), ...);
    return all;
  }();

  static constexpr u32 kBytes = sizeof...(A) == 0 ? 0 : kArguments.back().offset + kArguments.back().size;

  static std::tuple<A...> unpack(std::span<const std::byte> block) {
    assert(block.size() >= kBytes);
    std::tuple<A...> values;
    const auto take = [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::memcpy(&std::get<I>(values), block.data() + kArguments[I].offset, sizeof(A)), ...);
    };
    take(std::index_sequence_for<A...>{});
    return values;
  }
};

template <class... A>
constexpr Layout<A...> layout_of(void (*)(A...)) {
  return {};
}

template <auto kKernel>
void run_kernel(std::span<const std::byte> arguments, HostMemory& memory) {
  const AccessScope scope(memory);
  std::apply(kKernel, decltype(layout_of(kKernel))::unpack(arguments));
}

template <auto kKernel>
constexpr HostKernel describe(std::string_view name) {
  using L = decltype(layout_of(kKernel));
  return {name, L::kBytes, &run_kernel<kKernel>, L::kArguments, L::kPointers};
}

#define HG_DESCRIBED(name) describe<&name>(#name),
constexpr std::array kHostKernels{HG_KERNELS(HG_DESCRIBED)};

}  // namespace

std::span<const HostKernel> host_kernels() {
  return kHostKernels;
}

}  // namespace hg
