// A small machine around the interpreter: memory with named allocations, and launches with the implicit arguments that
// a HIP runtime would fill in.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hip/file_bytes.h"
#include "model/gfx942/run.h"

namespace gfx942_test {

using gfx942::u16;
using gfx942::u32;
using gfx942::u64;
using gfx942::u8;

// Allocations at addresses of its own, far apart, so that one byte too far is outside of everything.
class TestMemory : public gfx942::Memory {
 public:
  // Returns the address. The contents are zero.
  u64 allocate(std::string name, std::size_t size, bool writable = true);
  void map(u64 address, std::string name, std::vector<std::byte> bytes, bool writable);
  void free(u64 address);
  [[nodiscard]] std::vector<std::byte>& bytes(u64 address) { return live_.at(address).bytes; }

  gfx942::Extent reach(u64 address, std::size_t size, bool write) override;
  std::string explain(u64 address, std::size_t size, bool write) override;

  template <class T>
  u64 upload(std::string name, const std::vector<T>& values) {
    const u64 address = allocate(std::move(name), values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes(address).data(), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(u64 address) {
    std::vector<T> values(bytes(address).size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes(address).data(), values.size() * sizeof(T));
    return values;
  }

 private:
  struct Allocation {
    std::string name;
    std::vector<std::byte> bytes;
    bool writable = true;
    u64 size = 0;
  };
  std::map<u64, Allocation> live_;
  std::map<u64, Allocation> freed_;
  u64 next_ = 0x7f0000000000;
};

// Explicit arguments, each at the next multiple of its alignment.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(T... values) {
    (add(values), ...);
  }
  template <class T>
  void add(T value) {
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct Shape {
  std::array<u32, 3> grid{1, 1, 1};
  std::array<u32, 3> workgroup{1, 1, 1};
  u32 group_bytes = 0;
};

class Machine {
 public:
  // Aborts the test program when the file is not a code object: the build made it.
  explicit Machine(const std::string& path);

  [[nodiscard]] TestMemory& memory() { return memory_; }
  [[nodiscard]] const gfx942::Program& program() const { return program_; }
  gfx942::Outcome launch(std::string_view kernel, const std::vector<std::byte>& arguments, const Shape& shape,
                         const gfx942::Limits& limits = {});

 private:
  TestMemory memory_;
  gfx942::Program program_;
};

// The machine of a code object. It is made when it is first asked for.
[[nodiscard]] Machine& machine_of(const std::string& path);

// The text of a fault; empty for a launch that finished.
[[nodiscard]] std::string fault_text(const gfx942::Outcome& outcome);

}  // namespace gfx942_test
