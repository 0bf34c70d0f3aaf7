// The initial state of a wave, by AMDGPU's usage document; the contract is in the header.
#include "model/gfx942/launch.h"

#include <algorithm>

#include "model/gfx942/code.h"
#include "model/gfx942/mode.h"
#include "model/gfx942/reach.h"

namespace gfx942 {
namespace {

constexpr u32 kScratchAlign = 16;

u32 private_bytes(const Dispatch& d) {
  const u32 bytes = std::max(d.kernel->private_bytes, d.private_bytes);
  return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign;
}

// User registers come in a fixed order; registers that the kernel does not request are left out.
class UserRegisters {
 public:
  explicit UserRegisters(Wave& w) : wave_(w) {}
  void add(bool wanted, u64 value) {
    if (!wanted) return;
    add32(true, static_cast<u32>(value));
    add32(true, static_cast<u32>(value >> 32));
  }
  void add32(bool wanted, u32 value) {
    if (wanted && next_ < kM0) wave_.sgpr[next_++] = value;
  }
  void skip_to(u32 index) { next_ = std::max(next_, index); }

 private:
  Wave& wave_;
  u32 next_ = 0;
};

void preload_arguments(const Dispatch& d, Wave& w, UserRegisters& registers) {
  const Kernel& k = *d.kernel;
  if (k.preload_words == 0) return;
  Reach reach(w, false);
  const std::byte* bytes = reach.global(kLanes, d.kernarg_address + k.preload_offset * 4, k.preload_words * 4);
  if (bytes == nullptr) return;
  for (u32 i = 0; i < k.preload_words; ++i) {
    u32 word = 0;
    std::memcpy(&word, bytes + i * 4, sizeof(word));
    registers.add32(true, word);
  }
}

void set_scalars(const Dispatch& d, const WorkgroupShape& shape, u32 number, Wave& w) {
  const Kernel& k = *d.kernel;
  w.sgpr.fill(0);
  UserRegisters registers(w);
  registers.add(k.private_segment_buffer, 0);
  registers.add(k.private_segment_buffer, 0);
  registers.add(k.dispatch_ptr, d.packet_address);
  registers.add(k.queue_ptr, d.queue_address);
  registers.add(k.kernarg_ptr, d.kernarg_address);
  registers.add(k.dispatch_id, d.dispatch_id);
  registers.add(k.flat_scratch_init, 0);
  registers.add32(k.private_segment_size, private_bytes(d));
  preload_arguments(d, w, registers);
  registers.skip_to(k.user_sgprs);
  for (u32 i = 0; i < 3; ++i) registers.add32(k.work_group_id[i], shape.id[i]);
  // Bit 31 marks the first wave; the number of waves is in the low bits.
  registers.add32(k.work_group_info, (number == 0 ? 1u << 31 : 0) | shape.waves());
}

void set_vectors(const Dispatch& d, const WorkgroupShape& shape, u32 number, Wave& w) {
  const std::size_t rows = std::min<std::size_t>(d.kernel->vgprs, w.vgpr.size());
  std::fill_n(w.vgpr.begin(), rows, Row{});
  u64 exec = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 item = number * kLanes + lane;
    if (item >= shape.items()) break;
    const u32 x = item % shape.size[0];
    const u32 y = item / shape.size[0] % shape.size[1];
    const u32 z = item / shape.size[0] / shape.size[1];
    w.vgpr[0].lane[lane] = x | y << 10 | z << 20;
    exec |= u64{1} << lane;
  }
  w.set_pair(kExec, exec);
}

}  // namespace

std::array<u32, 3> workgroup_counts(const Dispatch& d) {
  std::array<u32, 3> counts{};
  for (u32 i = 0; i < 3; ++i) counts[i] = (d.grid[i] - 1) / d.workgroup[i] + 1;
  return counts;
}

WorkgroupShape workgroup_shape(const Dispatch& d, u64 index) {
  const std::array<u32, 3> counts = workgroup_counts(d);
  WorkgroupShape shape;
  shape.id = {static_cast<u32>(index % counts[0]), static_cast<u32>(index / counts[0] % counts[1]),
              static_cast<u32>(index / counts[0] / counts[1])};
  for (u32 i = 0; i < 3; ++i) shape.size[i] = std::min(d.workgroup[i], d.grid[i] - shape.id[i] * d.workgroup[i]);
  return shape;
}

void start_wave(const Dispatch& d, const WorkgroupShape& shape, u32 number, Wave& w) {
  w.state = WaveState::kReady;
  w.scc = false;
  w.gpr_index = 0;
  w.accum_offset = d.kernel->accum_offset;
  w.private_bytes = private_bytes(d);
  w.scratch.assign(static_cast<std::size_t>(w.private_bytes) * kLanes, std::byte{0});
  w.vgpr.resize(kVectors + kSpareVectors);
  // A kernel with preloaded arguments starts with 256 bytes of code for firmware that cannot preload.
  constexpr u64 kPreloadPrologue = 256;
  const u64 entry = d.kernel->entry + (d.kernel->preload_words != 0 ? kPreloadPrologue : 0);
  w.pc = w.code->index_of(entry - w.code_base);
  w.current = w.pc;
  set_scalars(d, shape, number, w);
  set_vectors(d, shape, number, w);
  set_mode(w, d.kernel->mode);
}

std::string refuse(const Program& program, const Dispatch& d) {
  if (d.kernel == nullptr) return "no kernel";
  const Kernel& k = *d.kernel;
  u64 items = 1;
  for (u32 i = 0; i < 3; ++i) {
    if (d.grid[i] == 0 || d.workgroup[i] == 0) return "a dimension of the grid or of the workgroup is zero";
    if (d.workgroup[i] > kMaxWorkgroup) return "a workgroup of more than 1024 work items";
    items *= d.workgroup[i];
  }
  if (items > kMaxWorkgroup) return "a workgroup of more than 1024 work items";
  if (std::max(k.group_bytes, d.group_bytes) > kMaxGroupBytes) return "more than 64 KiB of LDS";
  if (private_bytes(d) > kMaxPrivateBytes) return "more scratch than this interpreter gives to a work item";
  if (k.wave32) return "a kernel for waves of 32";
  if (k.accum_offset > kVectors / 2) return "accumulation registers start behind the last register";
  const u64 prologue = k.preload_words != 0 ? 256 : 0;
  if (program.code().index_of(k.entry + prologue - program.base()) == kNoTarget) {
    return "no instruction starts at the kernel's entry";
  }
  return {};
}

}  // namespace gfx942
