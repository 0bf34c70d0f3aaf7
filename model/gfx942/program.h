// A loaded code object: its code, and the kernels that it belongs to.
//
// load() reads an ELF code object for gfx942 (code object version 4 or later), places its segments at `base`, applies
// relocations and keeps the code, which is decoded through LLVM's disassembler when it is first executed (code.h).
// The caller has to copy the segments into memory: a kernel reads its constants and writes its variables there.
//
// An instruction that the table does not have, or that the disassembler refuses, is kept and ends the launch when it is
// executed, not before. The bytes may be hostile: unreadable bytes are an error, nothing crashes. Executable segments
// that overlap, or that start between dwords, are an error, too.
// Not checked: the metadata note (hip/code_object reads it). Not supported: a relocation against a symbol that another
// object defines (load() refuses the code object).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/gfx942/types.h"

namespace gfx942 {

inline constexpr std::size_t kMaxCodeBytes = std::size_t{1} << 28;   // of one executable segment
inline constexpr std::size_t kMaxImageBytes = std::size_t{1} << 30;  // of all segments

// A kernel descriptor, by the fields of AMDGPU's usage document.
struct Kernel {
  std::string name;       // without ".kd"
  u64 descriptor = 0;     // its address, the kernel_object of a dispatch packet
  u64 entry = 0;          // the address of the first instruction
  u32 group_bytes = 0;    // LDS, static
  u32 private_bytes = 0;  // scratch of a work item
  u32 kernarg_bytes = 0;
  u32 vgprs = 0;         // allocated, accumulation registers included
  u32 accum_offset = 0;  // where the accumulation registers start
  u32 user_sgprs = 0;
  u32 mode = 0;            // the initial MODE: float rounding and denormals
  u32 preload_words = 0;   // of the kernel arguments, into user SGPRs
  u32 preload_offset = 0;  // in words
  bool dispatch_ptr = false;
  bool queue_ptr = false;
  bool kernarg_ptr = false;
  bool dispatch_id = false;
  bool flat_scratch_init = false;
  bool private_segment_size = false;
  bool private_segment_buffer = false;
  bool work_group_id[3] = {};
  bool work_group_info = false;
  bool dynamic_stack = false;
  bool wave32 = false;
};

// Bytes that the caller puts at `address` before a kernel runs; relocations are applied.
struct LoadedSegment {
  u64 address = 0;
  std::size_t size = 0;
  std::vector<std::byte> bytes;
  bool writable = false;
  bool executable = false;
};

// A named object of the code object, for hipModuleGetGlobal and the like.
struct Variable {
  std::string name;
  u64 address = 0;
  u64 size = 0;
};

struct LoadError {
  std::string text;
};

class Code;

class Program {
 public:
  // `base` is the address at which address 0 of the code object is placed; a multiple of 4096. `twin` is a load of the
  // same code object with base 0: its code is shared (if it really is the same).
  [[nodiscard]] static std::variant<Program, LoadError> load(std::span<const std::byte> elf, u64 base,
                                                             const Program* twin = nullptr);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  [[nodiscard]] std::span<const Kernel> kernels() const { return kernels_; }
  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;
  // Finds a kernel by the address of its descriptor.
  [[nodiscard]] const Kernel* kernel_at(u64 descriptor) const;
  [[nodiscard]] std::span<const Variable> variables() const { return variables_; }
  [[nodiscard]] std::span<const LoadedSegment> segments() const { return segments_; }
  // Frees the bytes of the segments, once they are copied. Their addresses and sizes (in segments()) stay.
  void drop_bytes();
  // The bytes of address space that the segments span, from `base`.
  [[nodiscard]] u64 extent() const { return extent_; }
  // The texts of the unknown instructions, each once, in order. A launch that reaches one of them ends there.
  [[nodiscard]] std::vector<std::string> unknown_instructions() const;
  // At addresses of a load at 0.
  [[nodiscard]] const Code& code() const { return *code_; }
  [[nodiscard]] u64 base() const { return base_; }

 private:
  Program();

  std::vector<Kernel> kernels_;
  std::vector<Variable> variables_;
  std::vector<LoadedSegment> segments_;
  u64 base_ = 0;
  u64 extent_ = 0;
  std::shared_ptr<const Code> code_;
};

}  // namespace gfx942
