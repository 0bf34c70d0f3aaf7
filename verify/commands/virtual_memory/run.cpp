// How the commands about virtual memory run. Statuses are observed, and the rights that HIP reports.
#include <fmt/format.h>

#include "hip/errors.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

// The function that a program with virtual memory needs and the runtime lacks, or null.
const char* lacking_virtual_memory(const hip::Api& api) {
  if (api.hipMemAddressReserve == nullptr || api.hipMemAddressFree == nullptr) return "hipMemAddressReserve";
  if (api.hipMemCreate == nullptr || api.hipMemRelease == nullptr) return "hipMemCreate";
  if (api.hipMemMap == nullptr || api.hipMemUnmap == nullptr) return "hipMemMap";
  if (api.hipMemSetAccess == nullptr || api.hipMemGetAccess == nullptr) return "hipMemSetAccess";
  return api.hipMemGetAllocationGranularity == nullptr ? "hipMemGetAllocationGranularity" : nullptr;
}

// Unsupported, if the runtime lacks a function or its pages have another size.
hip::Status pages_fit(Run& run, Id device) {
  if (const char* function = lacking_virtual_memory(run.context.api)) return run.unsupported(function);
  const hip::Result<std::size_t> granularity = run.mapped_memory.granularity(device);
  if (!granularity) return granularity.error();
  return granularity.value() == kPageBytes ? hip::Status() : run.unsupported("mappings of 4096 bytes");
}

}  // namespace

template <>
hip::Status run_command(Run& run, const ReserveRange& c) {
  hip::Status fits = pages_fit(run, c.device);
  return fits ? run.mapped_memory.reserve(c) : fits;
}

template <>
hip::Status run_command(Run& run, const FreeRange& c) {
  return run.mapped_memory.unreserve(c);
}

template <>
hip::Status run_command(Run& run, const CreatePhysical& c) {
  hip::Status fits = pages_fit(run, c.device);
  return fits ? run.mapped_memory.create(c) : fits;
}

template <>
hip::Status run_command(Run& run, const ReleasePhysical& c) {
  return run.mapped_memory.release(c);
}

template <>
hip::Status run_command(Run& run, const RetainMemory& c) {
  if (run.context.api.hipMemRetainAllocationHandle == nullptr) return run.unsupported("hipMemRetainAllocationHandle");
  return run.mapped_memory.retain(c);
}

template <>
hip::Status run_command(Run& run, const MapMemory& c) {
  return run.mapped_memory.map(c);
}

template <>
hip::Status run_command(Run& run, const UnmapMemory& c) {
  return run.mapped_memory.unmap(c);
}

template <>
hip::Status run_command(Run& run, const SetAccess& c) {
  const hip::Result<hipMemAccessFlags> flags = run.mapped_memory.set_access(c);
  if (!flags) return flags.error();
  switch (flags.value()) {
    case hipMemAccessFlagsProtNone:
      run.attempt.seen = "none";
      return {};
    case hipMemAccessFlagsProtRead:
      run.attempt.seen = "read";
      return {};
    case hipMemAccessFlagsProtReadWrite:
      run.attempt.seen = "readwrite";
      return {};
  }
  run.attempt.seen = fmt::format("flags {}", static_cast<int>(flags.value()));
  return {};
}

template <>
hip::Status run_command(Run& run, const DeclareView& c) {
  return run.mapped_memory.view(c);
}

template struct FamilyRun<VirtualMemoryCommands>;

}  // namespace verify
