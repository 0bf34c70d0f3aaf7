// How the commands about virtual memory are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {
namespace {

std::string at_page(Id range, std::uint32_t page) {
  return page == 0 ? fmt::format("r{}", range) : fmt::format("r{} + {}", range, page * kPageBytes);
}

// The bytes of the mapping that begins at a page.
std::uint64_t bytes_mapped(const State& state, Id range, std::uint32_t page) {
  return state.ranges().at(range).mappings.at(page).pages * kPageBytes;
}

// The variable of the newest of so many handles.
std::string newest_handle(Id memory, std::uint32_t handles) {
  return handles <= 1 ? fmt::format("h{}", memory) : fmt::format("h{}_{}", memory, handles - 1);
}

std::string virtual_name(Exporter& out, const char* name) {
  return fmt::format("{}{}", name, out.text().number(LocalKind::kPool));
}

// Writes a descriptor of the right, and returns the name of it.
std::string describe_access(Exporter& out, Id device, AccessRight right) {
  static constexpr const char* kNames[] = {"hipMemAccessFlagsProtNone", "hipMemAccessFlagsProtRead",
                                           "hipMemAccessFlagsProtReadWrite"};
  const std::string access = virtual_name(out, "access");
  out.text().line(fmt::format("hipMemAccessDesc {}{{}};", access));
  out.text().line(fmt::format("{}.location = {{hipMemLocationTypeDevice, {}}};", access, device));
  out.text().line(fmt::format("{}.flags = {};", access, kNames[static_cast<std::size_t>(right)]));
  return access;
}

// Fills new memory through a mapping of its own.
void fill_physical(Exporter& out, const CreatePhysical& c, std::uint64_t bytes) {
  ReproducerText& text = out.text();
  text.wait();
  if (!out.memory().contents_matter()) return;
  text.need(HelperFunction::kFill);
  const std::string at = virtual_name(out, "at");
  text.line(fmt::format("char* {} = nullptr;", at));
  text.must(fmt::format("hipMemAddressReserve(reinterpret_cast<void**>(&{}), {}, 0, nullptr, 0)", at, bytes));
  text.must(fmt::format("hipMemMap({}, {}, 0, h{}, 0)", at, bytes, c.memory));
  const std::string access = describe_access(out, c.device, AccessRight::kReadWrite);
  text.must(fmt::format("hipMemSetAccess({}, {}, &{}, 1)", at, bytes, access));
  text.on_device(c.device,
                 [&] { text.line(fmt::format("fill({}, {}, {}, {});", at, bytes, c.memory, kSeedOfPhysical)); });
  text.must(fmt::format("hipMemUnmap({}, {})", at, bytes));
  text.must(fmt::format("hipMemAddressFree({}, {})", at, bytes));
}

}  // namespace

template <>
void export_command(Exporter& out, const ReserveRange& c) {
  out.needs().declare("[[maybe_unused]] char", fmt::format("*r{}", c.range));
  out.call(fmt::format("hipMemAddressReserve(reinterpret_cast<void**>(&r{}), {}, 0, nullptr, 0)", c.range,
                       c.pages * kPageBytes));
}

template <>
void export_command(Exporter& out, const FreeRange& c) {
  out.call(fmt::format("hipMemAddressFree(r{}, {})", c.range, out.before().ranges().at(c.range).pages * kPageBytes));
}

template <>
void export_command(Exporter& out, const CreatePhysical& c) {
  out.needs().declare("hipMemGenericAllocationHandle_t", fmt::format("h{}", c.memory));
  const std::string properties = virtual_name(out, "properties");
  out.text().line(fmt::format("hipMemAllocationProp {}{{}};", properties));
  out.text().line(fmt::format("{}.type = hipMemAllocationTypePinned;", properties));
  out.text().line(fmt::format("{}.location = {{hipMemLocationTypeDevice, {}}};", properties, c.device));
  const std::uint64_t bytes = c.pages * kPageBytes;
  out.call(fmt::format("hipMemCreate(&h{}, {}, &{}, 0)", c.memory, bytes, properties));
  fill_physical(out, c, bytes);
}

template <>
void export_command(Exporter& out, const ReleasePhysical& c) {
  out.call(fmt::format("hipMemRelease({})", newest_handle(c.memory, out.before().memories().at(c.memory).handles)));
}

template <>
void export_command(Exporter& out, const RetainMemory& c) {
  const Id memory = out.before().ranges().at(c.range).mappings.at(c.page).memory;
  const std::string handle = newest_handle(memory, out.before().memories().at(memory).handles + 1);
  out.needs().declare("hipMemGenericAllocationHandle_t", handle);
  out.call(fmt::format("hipMemRetainAllocationHandle(&{}, {})", handle, at_page(c.range, c.page)));
}

template <>
void export_command(Exporter& out, const MapMemory& c) {
  out.call(fmt::format("hipMemMap({}, {}, 0, {}, 0)", at_page(c.range, c.page),
                       bytes_mapped(out.after(), c.range, c.page),
                       newest_handle(c.memory, out.before().memories().at(c.memory).handles)));
}

template <>
void export_command(Exporter& out, const UnmapMemory& c) {
  out.call(fmt::format("hipMemUnmap({}, {})", at_page(c.range, c.page), bytes_mapped(out.before(), c.range, c.page)));
}

template <>
void export_command(Exporter& out, const SetAccess& c) {
  const std::string access = describe_access(out, c.device, c.right);
  out.call(fmt::format("hipMemSetAccess({}, {}, &{}, 1)", at_page(c.range, c.page),
                       bytes_mapped(out.before(), c.range, c.page), access));
  if (!out.expected().differs) return;
  const std::string flags = virtual_name(out, "flags");
  out.text().line(fmt::format("unsigned long long {} = 0;", flags));
  // hipMemGetAccess fails where hipMemSetAccess failed. 99 is no right.
  out.text().line(fmt::format("if (hipMemGetAccess(&{}, &{}.location, {}) != hipSuccess) {} = 99;", flags, access,
                              at_page(c.range, c.page), flags));
  out.text().equal(fmt::format("the right of device {} at {}", c.device, at_page(c.range, c.page)),
                   fmt::format("std::to_string(static_cast<int>({}.flags))", access),
                   fmt::format("std::to_string({})", flags));
  out.answered();
}

template <>
void export_command(Exporter& out, const DeclareView& c) {
  out.needs().declare("[[maybe_unused]] char", fmt::format("*b{}", c.buffer));
  out.text().line(fmt::format("b{} = {};", c.buffer, at_page(c.range, c.page)));
}

template void export_family(VirtualMemoryCommands, Exporter&, const Command&);

}  // namespace verify
