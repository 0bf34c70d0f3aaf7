// How the commands about stream-ordered and plain memory and pools are written as HIP calls
// (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {
namespace {

const char* hip_name(PoolAttribute attribute) {
  static constexpr const char* kNames[] = {"hipMemPoolReuseFollowEventDependencies",
                                           "hipMemPoolReuseAllowOpportunistic",
                                           "hipMemPoolReuseAllowInternalDependencies",
                                           "hipMemPoolAttrReleaseThreshold",
                                           "hipMemPoolAttrReservedMemCurrent",
                                           "hipMemPoolAttrReservedMemHigh",
                                           "hipMemPoolAttrUsedMemCurrent",
                                           "hipMemPoolAttrUsedMemHigh"};
  return kNames[static_cast<std::size_t>(attribute)];
}

// Declares the variable of the buffer; returns the argument by which HIP puts the address there.
std::string new_pointer(Exporter& out, Id buffer) {
  out.needs().declare("[[maybe_unused]] char", fmt::format("*b{}", buffer));
  return fmt::format("reinterpret_cast<void**>(&b{})", buffer);
}

std::string local_name(Exporter& out, const char* name) {
  return fmt::format("{}{}", name, out.text().number(LocalKind::kPool));
}

}  // namespace

template <>
void export_command(Exporter& out, const MallocAsync& c) {
  const std::string stream = stream_name(c.stream);
  const std::string place = new_pointer(out, c.buffer);
  if (c.by_hand) return out.add_by_hand(c.stream);
  out.call(c.pool ? fmt::format("hipMallocFromPoolAsync({}, {}, p{}, {})", place, c.bytes, *c.pool, stream)
                  : fmt::format("hipMallocAsync({}, {}, {})", place, c.bytes, stream));
  out.captures().captured(out.before(), out.after(), c.stream);
}

template <>
void export_command(Exporter& out, const Malloc& c) {
  out.call(fmt::format("hipMalloc({}, {})", new_pointer(out, c.buffer), c.bytes));
}

template <>
void export_command(Exporter& out, const FreeAsync& c) {
  if (c.by_hand) return out.add_by_hand(c.stream);
  out.call(fmt::format("hipFreeAsync(b{}, {})", c.buffer, stream_name(c.stream)));
  out.captures().captured(out.before(), out.after(), c.stream);
}

template <>
void export_command(Exporter& out, const DeclarePool& c) {
  const std::string pool = fmt::format("p{}", c.pool);
  out.needs().declare("hipMemPool_t", pool);
  if (c.of_device) return out.call(fmt::format("hipDeviceGetDefaultMemPool(&{}, 0)", pool));
  const std::string properties = local_name(out, "pool");
  out.text().line(fmt::format("hipMemPoolProps {}{{}};", properties));
  out.text().line(fmt::format("{}.allocType = hipMemAllocationTypePinned;", properties));
  out.text().line(fmt::format("{}.location = {{hipMemLocationTypeDevice, 0}};", properties));
  out.call(fmt::format("hipMemPoolCreate(&{}, &{})", pool, properties));
}

template <>
void export_command(Exporter& out, const AskPool& c) {
  const std::string value = local_name(out, "value");
  out.text().line(fmt::format("uint64_t {} = {};", value, c.value.value_or(0)));
  const std::string arguments = fmt::format("(p{}, {}, &{})", c.pool, hip_name(c.attribute), value);
  if (c.value) out.call("hipMemPoolSetAttribute" + arguments);
  out.text().line(value + " = 0;");
  if (c.value) {
    out.text().must("hipMemPoolGetAttribute" + arguments);
  } else {
    out.call("hipMemPoolGetAttribute" + arguments);
  }
  // Marks and counts depend on how the runtime keeps memory, so the file does not check them.
  if (!out.expected().only_seen_differs || !is_kept(c.attribute)) return;
  out.text().equal(fmt::format("{} of p{}", hip_name(c.attribute), c.pool), fmt::format("\"{}\"", out.expected().seen),
                   fmt::format("std::to_string({})", value));
  out.answered();
}

template <>
void export_command(Exporter& out, const TrimPool& c) {
  out.call(fmt::format("hipMemPoolTrimTo(p{}, {})", c.pool, c.bytes));
}

template <>
void export_command(Exporter& out, const AccessPool& c) {
  const std::string access = local_name(out, "access");
  out.text().line(fmt::format("hipMemAccessDesc {}{{}};", access));
  out.text().line(fmt::format("{}.location = {{hipMemLocationTypeDevice, 0}};", access));
  out.text().line(fmt::format("{}.flags = hipMemAccessFlagsProtReadWrite;", access));
  out.call(fmt::format("hipMemPoolSetAccess(p{}, &{}, 1)", c.pool, access));
  out.text().must(fmt::format("hipMemPoolGetAccess(&{0}.flags, p{1}, &{0}.location)", access, c.pool));
  if (!out.expected().only_seen_differs) return;
  out.text().equal(fmt::format("rights to p{}", c.pool), "std::to_string(int{hipMemAccessFlagsProtReadWrite})",
                   fmt::format("std::to_string(static_cast<int>({}.flags))", access));
  out.answered();
}

template <>
void export_command(Exporter& out, const UsePool& c) {
  if (c.pool) return out.call(fmt::format("hipDeviceSetMemPool(0, p{})", *c.pool));
  const std::string pool = local_name(out, "default");
  out.text().line(fmt::format("hipMemPool_t {} = nullptr;", pool));
  out.text().must(fmt::format("hipDeviceGetDefaultMemPool(&{}, 0)", pool));
  out.call(fmt::format("hipDeviceSetMemPool(0, {})", pool));
}

template <>
void export_command(Exporter& out, const DestroyPool& c) {
  out.call(fmt::format("hipMemPoolDestroy(p{})", c.pool));
}

template <>
void export_command(Exporter& out, const ManageGraphMemory& c) {
  static constexpr const char* kNames[] = {"hipGraphMemAttrUsedMemCurrent", "hipGraphMemAttrUsedMemHigh",
                                           "hipGraphMemAttrReservedMemCurrent", "hipGraphMemAttrReservedMemHigh"};
  out.text().wait();
  if (c.call == GraphMemoryCall::kTrim) return out.call("hipDeviceGraphMemTrim(0)");
  const std::string value = local_name(out, "value");
  out.text().line(fmt::format("uint64_t {} = 0;", value));
  const std::string arguments = fmt::format("(0, {}, &{})", kNames[static_cast<std::size_t>(c.call)], value);
  if (c.reset) out.text().must("hipDeviceSetGraphMemAttribute" + arguments);
  out.call("hipDeviceGetGraphMemAttribute" + arguments);
}

template void export_family(StreamMemoryCommands, Exporter&, const Command&);

}  // namespace verify
