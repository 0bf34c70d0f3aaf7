#include "reports/reproducer_pools.h"

#include <fmt/format.h>

namespace reports {

namespace {

const char* hip_name(verify::PoolAttribute attribute) {
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

}  // namespace

void ReproducerPools::write(const verify::MallocAsync& c, const std::string& stream, const ExpectedStatus& expected) {
  const std::string out = fmt::format("reinterpret_cast<void**>(&b{})", c.buffer);
  text_.call(expected, c.pool ? fmt::format("hipMallocFromPoolAsync({}, {}, p{}, {})", out, c.bytes, *c.pool, stream)
                              : fmt::format("hipMallocAsync({}, {}, {})", out, c.bytes, stream));
}

void ReproducerPools::write(const verify::DeclarePool& c, const ExpectedStatus& expected) {
  if (c.of_device) return text_.call(expected, fmt::format("hipDeviceGetDefaultMemPool(&p{}, 0)", c.pool));
  const std::string properties = fmt::format("pool{}", ++locals_);
  text_.line(fmt::format("hipMemPoolProps {}{{}};", properties));
  text_.line(fmt::format("{}.allocType = hipMemAllocationTypePinned;", properties));
  text_.line(fmt::format("{}.location = {{hipMemLocationTypeDevice, 0}};", properties));
  text_.call(expected, fmt::format("hipMemPoolCreate(&p{}, &{})", c.pool, properties));
}

void ReproducerPools::write(const verify::TrimPool& c, const ExpectedStatus& expected) {
  text_.call(expected, fmt::format("hipMemPoolTrimTo(p{}, {})", c.pool, c.bytes));
}

void ReproducerPools::write(const verify::UsePool& c, const ExpectedStatus& expected) {
  if (c.pool) return text_.call(expected, fmt::format("hipDeviceSetMemPool(0, p{})", *c.pool));
  const std::string pool = fmt::format("default{}", ++locals_);
  text_.line(fmt::format("hipMemPool_t {} = nullptr;", pool));
  text_.must(fmt::format("hipDeviceGetDefaultMemPool(&{}, 0)", pool));
  text_.call(expected, fmt::format("hipDeviceSetMemPool(0, {})", pool));
}

void ReproducerPools::write(const verify::DestroyPool& c, const ExpectedStatus& expected) {
  text_.call(expected, fmt::format("hipMemPoolDestroy(p{})", c.pool));
}

bool ReproducerPools::write(const verify::AskPool& c, const ExpectedStatus& expected) {
  const std::string value = fmt::format("value{}", ++locals_);
  text_.line(fmt::format("uint64_t {} = {};", value, c.value.value_or(0)));
  const std::string arguments = fmt::format("(p{}, {}, &{})", c.pool, hip_name(c.attribute), value);
  if (c.value) text_.call(expected, "hipMemPoolSetAttribute" + arguments);
  text_.line(value + " = 0;");
  if (c.value) {
    text_.must("hipMemPoolGetAttribute" + arguments);
  } else {
    text_.call(expected, "hipMemPoolGetAttribute" + arguments);
  }
  if (!expected.only_seen_differs || !verify::is_kept(c.attribute)) return !expected.only_seen_differs;
  text_.equal(fmt::format("{} of p{}", hip_name(c.attribute), c.pool), fmt::format("\"{}\"", expected.seen),
              fmt::format("std::to_string({})", value));
  return true;
}

bool ReproducerPools::write(const verify::AccessPool& c, const ExpectedStatus& expected) {
  const std::string access = fmt::format("access{}", ++locals_);
  text_.line(fmt::format("hipMemAccessDesc {}{{}};", access));
  text_.line(fmt::format("{}.location = {{hipMemLocationTypeDevice, 0}};", access));
  text_.line(fmt::format("{}.flags = hipMemAccessFlagsProtReadWrite;", access));
  text_.call(expected, fmt::format("hipMemPoolSetAccess(p{}, &{}, 1)", c.pool, access));
  text_.must(fmt::format("hipMemPoolGetAccess(&{0}.flags, p{1}, &{0}.location)", access, c.pool));
  if (!expected.only_seen_differs) return true;
  text_.equal(fmt::format("rights to p{}", c.pool), "std::to_string(int{hipMemAccessFlagsProtReadWrite})",
              fmt::format("std::to_string(static_cast<int>({}.flags))", access));
  return true;
}

}  // namespace reports
