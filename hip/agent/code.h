// Executables: code objects loaded into an agent's memory, their symbols, and the kernel behind a packet's address.
//
// Code is decoded when it is first executed, and all loads of a code object (found again by its bytes) share what was
// decoded. A bounded number of code objects is kept: beyond it all are dropped, and a later load of the same bytes is
// read and decoded again. Each load gets addresses and variables of its own, which go away with the executable.
// Not supported: symbols that another object defines.
#pragma once

#include <hsa/hsa.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "hip/agent/heap.h"
#include "hip/agent/types.h"
#include "model/gfx942/program.h"

namespace agent {

struct Executable;

struct Symbol {
  std::string name;
  hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
  u32 agent = 0;
  u64 address = 0;  // of the variable, or of the kernel's descriptor
  u64 size = 0;
  const gfx942::Kernel* kernel = nullptr;
};

struct LoadedObject {
  u32 agent = 0;
  u64 base = 0;
  u64 extent = 0;
  std::shared_ptr<const gfx942::Program> program;
  std::vector<std::unique_ptr<Symbol>> symbols;
};

struct Executable {
  bool frozen = false;
  std::vector<LoadedObject> objects;
};

struct FoundKernel {
  std::shared_ptr<const gfx942::Program> program;
  const gfx942::Kernel* kernel = nullptr;
};

class Code {
 public:
  Code(AddressMap& map, std::vector<std::unique_ptr<Heap>>& heaps) : map_(map), heaps_(heaps) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();

  [[nodiscard]] Executable* create();
  hsa_status_t destroy(Executable* executable);
  hsa_status_t load(Executable& executable, u32 agent, std::span<const std::byte> bytes);
  [[nodiscard]] bool known(const Executable* executable) const;
  [[nodiscard]] FoundKernel kernel_at(u64 descriptor) const;
  [[nodiscard]] u64 live() const;
  [[nodiscard]] static u64 decoded();

 private:
  void unload(LoadedObject& object);

  AddressMap& map_;
  std::vector<std::unique_ptr<Heap>>& heaps_;
  mutable hip::sync::Mutex mutex_;
  std::map<const Executable*, std::unique_ptr<Executable>> executables_;
  std::unordered_map<u64, FoundKernel> kernels_;
};

}  // namespace agent
