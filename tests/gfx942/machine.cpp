// The implicit arguments and the packet that a runtime would make; the contract is in the header.
#include "gfx942/machine.h"

#include <cstdlib>
#include <iostream>

namespace gfx942_test {
namespace {

constexpr u64 kGap = 0x100000;
constexpr u64 kLoadBase = 0x7e0000000000;
constexpr std::size_t kPacketBytes = 64;
constexpr std::size_t kImplicitBytes = 256;
constexpr u32 kDynamicStackBytes = 16384;

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

gfx942::Program load_or_abort(const std::string& path, TestMemory& memory) {
  auto loaded = gfx942::Program::load(file_bytes(path), kLoadBase);
  if (const auto* error = std::get_if<gfx942::LoadError>(&loaded)) {
    std::cerr << path << ": " << error->text << "\n";
    std::abort();
  }
  auto& program = std::get<gfx942::Program>(loaded);
  for (const gfx942::LoadedSegment& s : program.segments()) {
    memory.map(s.address, s.executable ? "code" : "data", s.bytes, s.writable);
  }
  return std::move(program);
}

// Code object version 5: counts, sizes and remainders of workgroups, then offsets and dimensions.
void put_implicit_arguments(std::vector<std::byte>& block, std::size_t at, const Shape& shape) {
  for (std::size_t i = 0; i < 3; ++i) {
    put<u32>(block, at + 4 * i, shape.grid[i] / shape.workgroup[i]);
    put<u16>(block, at + 12 + 2 * i, static_cast<u16>(shape.workgroup[i]));
    put<u16>(block, at + 18 + 2 * i, static_cast<u16>(shape.grid[i] % shape.workgroup[i]));
  }
  put<u16>(block, at + 64, 3);
}

std::vector<std::byte> packet(const Shape& shape) {
  std::vector<std::byte> bytes(kPacketBytes);
  for (std::size_t i = 0; i < 3; ++i) {
    put<u16>(bytes, 4 + 2 * i, static_cast<u16>(shape.workgroup[i]));
    put<u32>(bytes, 12 + 4 * i, shape.grid[i]);
  }
  return bytes;
}

}  // namespace

u64 TestMemory::allocate(std::string name, std::size_t size, bool writable) {
  const u64 address = next_;
  next_ += (size + kGap) / kGap * kGap + kGap;
  map(address, std::move(name), std::vector<std::byte>(size), writable);
  return address;
}

void TestMemory::map(u64 address, std::string name, std::vector<std::byte> bytes, bool writable) {
  const u64 size = bytes.size();
  live_[address] = Allocation{std::move(name), std::move(bytes), writable, size};
}

void TestMemory::free(u64 address) {
  auto node = live_.extract(address);
  node.mapped().bytes.clear();
  freed_.insert(std::move(node));
}

gfx942::Extent TestMemory::reach(u64 address, std::size_t size, bool write) {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return {};
  --it;
  Allocation& a = it->second;
  const u64 end = it->first + a.size;
  if (address >= end || size > end - address || (write && !a.writable)) return {};
  return {a.bytes.data(), it->first, end};
}

std::string TestMemory::explain(u64 address, std::size_t /*size*/, bool /*write*/) {
  for (const auto& [base, a] : freed_) {
    if (address >= base && address < base + a.size) return "inside of freed allocation '" + a.name + "'";
  }
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return "no allocation";
  --it;
  return "near allocation '" + it->second.name + "'";
}

Machine::Machine(const std::string& path) : program_(load_or_abort(path, memory_)) {}

gfx942::Outcome Machine::launch(std::string_view kernel, const std::vector<std::byte>& arguments, const Shape& shape,
                                const gfx942::Limits& limits) {
  std::vector<std::byte> block = arguments;
  const std::size_t implicit = (block.size() + 7) / 8 * 8;
  // Compilers load whole groups of argument words: the block ends at a multiple of 64 bytes.
  block.resize((implicit + kImplicitBytes + 63) / 64 * 64);
  put_implicit_arguments(block, implicit, shape);
  const u64 kernarg = memory_.upload("arguments", block);
  const u64 packet_address = memory_.upload("packet", packet(shape));
  gfx942::Dispatch d;
  d.kernel = program_.find_kernel(kernel);
  d.grid = shape.grid;
  d.workgroup = shape.workgroup;
  d.kernarg_address = kernarg;
  d.packet_address = packet_address;
  d.group_bytes = shape.group_bytes + (d.kernel != nullptr ? d.kernel->group_bytes : 0);
  // A runtime gives this much private memory to a kernel whose call depth the compiler could not bound.
  if (d.kernel != nullptr && d.kernel->dynamic_stack) d.private_bytes = kDynamicStackBytes;
  gfx942::Outcome outcome = gfx942::run(program_, d, memory_, limits);
  memory_.free(kernarg);
  memory_.free(packet_address);
  return outcome;
}

Machine& machine_of(const std::string& path) {
  static std::map<std::string, Machine> machines;
  return machines.try_emplace(path, path).first->second;
}

std::string fault_text(const gfx942::Outcome& outcome) {
  const auto* fault = std::get_if<gfx942::Fault>(&outcome);
  return fault == nullptr ? std::string() : fault->text;
}

}  // namespace gfx942_test
