#include "verify/systems/trace_work.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "verify/execute/records.h"
#include "verify/systems/argument_block.h"
#include "verify/systems/launcher_model.h"

namespace verify {
namespace {

constexpr std::size_t kArena = std::size_t{kTracePlaces} * kMaxTraceBytes;
constexpr unsigned char kWiped = 0xee;
constexpr int kKernel = 3;
constexpr std::string_view kKernelName = "packed_struct";
// The offsets of the buffers in two sets of shadows. All offsets differ, all distances between the sets differ, and the
// two offsets of a buffer differ in the lowest byte.
constexpr std::array<std::array<std::uint64_t, kTraceBuffers>, 2> kShadows = {
    {{0, 0x400, 0x800}, {0x1040, 0x1880, 0x20c0}}};
constexpr std::size_t kShadowBytes = 0x2400;

int value_of(int command, std::size_t buffer) {
  return 10 * (command + 1) + static_cast<int>(buffer);
}

hip::Recording& behind_the_last(hip::Recording& commands, hip::RecordedNode node) {
  const auto count = static_cast<hip::NodeIndex>(commands.nodes().size());
  if (count != 0) node.dependencies = {count - 1};
  commands.add(std::move(node));
  return commands;
}

ArgumentBlock arguments(std::uint64_t in, std::uint64_t out, std::uint32_t count, std::uint64_t frozen) {
  ArgumentBlock block(kKernelName);
  block.set("r.tag", std::uint8_t{3}).set("r.out", out).set("r.flag", std::uint16_t{5}).set("r.in", in);
  block.set("r.n", count).set("r.bias", frozen).set("k", std::uint32_t{7});
  return block;
}

}  // namespace

TraceWork::TraceWork(BenchContext& context) : context_(context) {
  const AtHome home(context.inner());
  static_cast<void>(context.inner().hipMalloc(&arena_, kArena));
  static_cast<void>(context.inner().hipMalloc(&shadows_, kShadowBytes));
  kernel_ = context.platform.function(ArgumentBlock(kKernelName).index(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = {++identities_, i, 64};
}

void TraceWork::finish() {
  const AtHome home(context_.inner());
  static_cast<void>(context_.inner().hipDeviceSynchronize());
  static_cast<void>(context_.inner().hipFree(arena_));
  static_cast<void>(context_.inner().hipFree(shadows_));
}

void TraceWork::replace(std::size_t buffer, std::size_t place, std::size_t bytes) {
  buffers_[buffer] = {++identities_, place, bytes};
  ++version_;
}

std::span<const std::size_t> TraceWork::buffers_of(int command) {
  static constexpr std::array<std::size_t, 2> kFirst = {0, 1}, kLast = {1, 2}, kOfKernel = {0, 2};
  constexpr std::span<const std::size_t> first(kFirst);
  if (command == 0) return first.first(1);
  return command == 1 ? first : std::span<const std::size_t>(command == kKernel ? kOfKernel : kLast);
}

std::uint64_t TraceWork::address(const Buffer& buffer) const {
  return reinterpret_cast<std::uint64_t>(arena_) + buffer.place * kMaxTraceBytes;
}

std::uint32_t TraceWork::elements() const {
  const std::span<const std::size_t> named = buffers_of(kKernel);
  return static_cast<std::uint32_t>(std::min(buffers_[named[0]].bytes, buffers_[named[1]].bytes) / 4);
}

bool TraceWork::works(int command) const {
  if (command == kKernel) return elements() != 0;
  const std::span<const std::size_t> named = buffers_of(command);
  return std::ranges::any_of(named, [&](std::size_t i) { return buffers_[i].bytes != 0; });
}

std::vector<hip::TraceBuffer> TraceWork::named_by(int command) const {
  std::vector<hip::TraceBuffer> named;
  for (const std::size_t i : buffers_of(command)) named.push_back({buffers_[i].identity, address(buffers_[i])});
  return named;
}

std::vector<hip::DeviceAddress> TraceWork::addresses() const {
  std::vector<hip::DeviceAddress> all;
  for (const Buffer& buffer : buffers_) all.push_back(address(buffer));
  return all;
}

bool TraceWork::same_footing(int command, std::span<const hip::DeviceAddress> before) const {
  const std::span<const std::size_t> named = buffers_of(command);
  if (named.size() == 1) return true;
  const std::uint64_t first = address(buffers_[named[0]]), second = address(buffers_[named[1]]);
  const bool together = before[named[0]] == before[named[1]] || first == second;
  return !together || before[named[0]] - before[named[1]] == first - second;
}

hip::Status TraceWork::launch(hipStream_t stream, std::uint64_t in, std::uint64_t out) const {
  ArgumentBlock block = arguments(in, out, elements(), reinterpret_cast<std::uint64_t>(arena_));
  return hip::call<&hip::Api::hipModuleLaunchKernel>(context_.inner(), kernel_, 1, 1, 1, 64, 1, 1, 0, stream,
                                                     block.pointers().data(), nullptr);
}

hip::Status TraceWork::enqueue(int command, hipStream_t stream, std::span<const std::uint64_t> addresses) const {
  if (command == kKernel) return elements() == 0 ? hip::Status() : launch(stream, addresses[0], addresses[1]);
  const std::span<const std::size_t> named = buffers_of(command);
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Buffer& buffer = buffers_[named[i]];
    if (buffer.bytes == 0) continue;
    const hipError_t status = context_.inner().hipMemsetAsync(reinterpret_cast<void*>(addresses[i]),
                                                              value_of(command, named[i]), buffer.bytes, stream);
    if (status != hipSuccess) return hip::called(status, "hipMemsetAsync");
  }
  return {};
}

void TraceWork::add_fills(int command, hip::Recording& commands) const {
  for (const std::size_t i : buffers_of(command)) {
    if (buffers_[i].bytes == 0) continue;
    hipMemsetParams params{};
    params.dst = reinterpret_cast<void*>(address(buffers_[i]));
    params.elementSize = 1;
    params.value = static_cast<unsigned>(value_of(command, i));
    params.width = params.pitch = buffers_[i].bytes;
    params.height = 1;
    behind_the_last(
        commands,
        {hip::MemsetRecord{params}, {}, {{hip::Field::kMemsetDestination, 0, static_cast<hip::BufferIndex>(i), 0}}});
  }
}

hip::RecordedNode TraceWork::traced(int command, Form form, hipStream_t capturing) const {
  hip::TracedWork work;
  work.command = version_ * kTraceCommands + static_cast<std::uint64_t>(command);
  work.stream = capturing;
  for (const std::size_t i : buffers_of(command)) work.buffers.push_back(static_cast<hip::BufferIndex>(i));
  work.work = [this, command](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    std::vector<std::uint64_t> addresses;
    for (const std::size_t i : buffers_of(command)) addresses.push_back(at[i]);
    return enqueue(command, on, addresses);
  };
  work.collective = form == Form::kCollective;
  work.errors = context_.sink();
  if (form == Form::kKnown) {
    hip::Shadows shadows;
    for (const auto& places : kShadows) {
      hip::AddressTable& table = shadows.tables.emplace_back();
      for (const std::uint64_t place : places) table.push_back(reinterpret_cast<std::uint64_t>(shadows_) + place);
    }
    for (const Buffer& buffer : buffers_) shadows.bytes.push_back(buffer.bytes);
    shadows.buffers = work.buffers;
    assert(hip::flaw_of(shadows) == nullptr);
    work.shadows = std::move(shadows);
    work.layouts = [kernel = kernel_](hipFunction_t function) -> std::optional<std::vector<hip::ArgumentSlot>> {
      if (function != kernel) return std::nullopt;
      return slots_of(*find_kernel(kKernelName));
    };
  }
  return hip::traced_command(std::move(work));
}

hip::Recording TraceWork::commands_of(int mask, Form form, hipStream_t capturing) const {
  hip::Recording commands;
  for (int command = 0; command < kTraceCommands; ++command) {
    if ((mask >> command & 1) == 0) continue;
    if (command < kFirstTraced) {
      add_fills(command, commands);
    } else {
      behind_the_last(commands, traced(command, form, capturing));
    }
  }
  return commands;
}

void TraceWork::wipe() const {
  const AtHome home(context_.inner());
  // A step that failed may have launched a part of its work, on a stream that a memset does not wait for.
  static_cast<void>(context_.inner().hipDeviceSynchronize());
  static_cast<void>(context_.inner().hipMemset(arena_, kWiped, kArena));
  static_cast<void>(context_.inner().hipDeviceSynchronize());
}

TraceWork::Bytes TraceWork::look() const {
  const AtHome home(context_.inner());
  Bytes seen(kArena);
  static_cast<void>(context_.inner().hipDeviceSynchronize());
  static_cast<void>(context_.inner().hipMemcpy(seen.data(), arena_, kArena, hipMemcpyDeviceToHost));
  return seen;
}

TraceWork::Bytes TraceWork::expected(int mask) const {
  Bytes bytes(kArena, kWiped);
  const auto here = [&](std::size_t buffer) { return bytes.data() + buffers_[buffer].place * kMaxTraceBytes; };
  for (int command = 0; command < kTraceCommands; ++command) {
    if ((mask >> command & 1) == 0) continue;
    const std::span<const std::size_t> named = buffers_of(command);
    if (command == kKernel) {
      const ArgumentBlock block =
          arguments(reinterpret_cast<std::uint64_t>(here(named[0])), reinterpret_cast<std::uint64_t>(here(named[1])),
                    elements(), reinterpret_cast<std::uint64_t>(arena_));
      if (elements() != 0) run_on_host(kKernelName, block.bytes());
      continue;
    }
    for (const std::size_t i : named) std::memset(here(i), value_of(command, i), buffers_[i].bytes);
  }
  return bytes;
}

}  // namespace verify
