#include "verify/generate/scenario.h"

#include <algorithm>

namespace verify {
namespace {

constexpr int kActionAttempts = 64;  // draws of one action until it is valid; most are at once
constexpr unsigned kInjectPercent = 10, kDevicePercent = 4;
constexpr std::array<std::int32_t, 10> kActionSizes = {0, 1, 100, 256, 257, 512, 1000, 4096, 5000, 65536};

constexpr std::array<std::int32_t, 6> kTraceSizes = {0, 0, 16, 64, 200, 256};  // without bytes there is no work

// Returns the functions that a system calls: an injected failure of any other function would never happen.
std::span<const std::string_view> functions_of(System system) {
  static constexpr std::array<std::string_view, 8> kCache = {
      "hipGetDevice",         "hipSetDevice",      "hipStreamCreateWithPriority", "hipStreamDestroy",
      "hipStreamGetPriority", "hipStreamGetFlags", "hipStreamGetDevice",          "hipStreamQuery"};
  static constexpr std::array<std::string_view, 12> kStreams = {
      "hipGetDevice",   "hipSetDevice",       "hipStreamCreateWithPriority", "hipStreamDestroy", "hipStreamSynchronize",
      "hipStreamQuery", "hipStreamWaitEvent", "hipEventCreateWithFlags",     "hipEventRecord",   "hipEventDestroy",
      "hipEventQuery",  "hipEventSynchronize"};
  static constexpr std::array<std::string_view, 4> kScratch = {"hipGetDevice", "hipSetDevice", "hipMallocAsync",
                                                               "hipFreeAsync"};
  static constexpr std::array<std::string_view, 13> kLauncher = {
      "hipGetDevice",        "hipSetDevice",         "hipMallocAsync",         "hipFreeAsync",  "hipHostMalloc",
      "hipHostFree",         "hipMemcpyAsync",       "hipModuleLaunchKernel",  "hipEventQuery", "hipEventRecord",
      "hipEventSynchronize", "hipStreamSynchronize", "hipEventCreateWithFlags"};
  static constexpr std::array<std::string_view, 10> kStabilizer = {"hipGetDevice",
                                                                   "hipSetDevice",
                                                                   "hipMalloc",
                                                                   "hipFree",
                                                                   "hipFree",
                                                                   "hipMemcpyAsync",
                                                                   "hipEventRecord",
                                                                   "hipEventDestroy",
                                                                   "hipStreamWaitEvent",
                                                                   "hipEventCreateWithFlags"};
  static constexpr std::array<std::string_view, 8> kTraces = {
      "hipStreamBeginCapture", "hipStreamEndCapture", "hipGraphInstantiate", "hipGraphLaunch",
      "hipGraphExecDestroy",   "hipGraphDestroy",     "hipEventRecord",      "hipEventCreateWithFlags"};
  static constexpr std::array<std::string_view, 10> kRemapper = {
      "hipMemAddressReserve", "hipMemAddressFree", "hipMemMap",       "hipMemMap",    "hipMemUnmap",
      "hipMemSetAccess",      "hipEventRecord",    "hipEventDestroy", "hipGetDevice", "hipStreamWaitEvent"};
  switch (system) {
    case System::kRemapper:
      return kRemapper;
    case System::kTraces:
      return kTraces;
    case System::kStabilizer:
      return kStabilizer;
    case System::kCache:
      return kCache;
    case System::kStreams:
      return kStreams;
    case System::kScratch:
      return kScratch;
    case System::kLauncher:
      break;
  }
  return kLauncher;
}

std::int32_t draw_function(Choices& choices, System system) {
  const std::span<const std::string_view> own = functions_of(system);
  const std::string_view name = own[choices.below(own.size())];
  const std::span<const std::string_view> all = injectable_functions();
  return static_cast<std::int32_t>(std::ranges::find(all, name) - all.begin());
}

// A value that is often the lowest or 0, so that keys and sizes repeat.
std::int32_t draw_field(Choices& choices, const FieldOfAction& field) {
  if (field.highest == kMaxScratchBytes) {
    return std::max(field.lowest, kActionSizes[choices.below(kActionSizes.size())]);
  }
  if (field.highest == kMaxTraceBytes) return kTraceSizes[choices.below(kTraceSizes.size())];
  const bool key = field.name == "device" || field.name == "flags" || field.name == "priority";
  if (key && choices.percent(65)) return 0;
  return field.lowest + static_cast<std::int32_t>(choices.below(static_cast<std::uint64_t>(field.highest) -
                                                                static_cast<std::uint64_t>(field.lowest) + 1));
}

SystemVerb draw_verb(Choices& choices, System system, const ScenarioOptions& options) {
  if (options.failures && choices.percent(kInjectPercent)) return SystemVerb::kInject;
  if (options.devices > 1 && choices.percent(kDevicePercent)) return SystemVerb::kDevice;
  std::array<SystemVerb, kSystemVerbs> verbs{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < kSystemVerbs; ++i) {
    const auto verb = static_cast<SystemVerb>(i);
    if (describe(verb).system == system) verbs[count++] = verb;
  }
  const SystemVerb verb = verbs[choices.below(count)];
  // A scenario can do little with a cache that is empty or closed.
  if (verb == SystemVerb::kCacheClear && !choices.percent(25)) return SystemVerb::kCacheRelease;
  // Only a step shows a result.
  if (verb == SystemVerb::kStableRelease && !choices.percent(50)) return SystemVerb::kStableStep;
  if (verb == SystemVerb::kStableRefuse && !choices.percent(30)) return SystemVerb::kStableStep;
  if (verb == SystemVerb::kTraceBuffer && !choices.percent(60)) return SystemVerb::kTraceStep;
  const bool of_remapper = verb >= SystemVerb::kRemapCheck && verb <= SystemVerb::kRemapClear;
  if (of_remapper && !choices.percent(50)) return SystemVerb::kRemapStep;
  if (verb == SystemVerb::kCacheClose && !choices.percent(15)) return SystemVerb::kCacheAcquire;
  return verb;
}

}  // namespace

SystemAction draw_action(Choices& choices, System system, const SystemsState& state, const ScenarioOptions& options) {
  for (int attempt = 0; attempt < kActionAttempts; ++attempt) {
    SystemAction action;
    action.verb = draw_verb(choices, system, options);
    const std::span<const FieldOfAction> fields = describe(action.verb).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      action.fields[i] = fields[i].function ? draw_function(choices, system) : draw_field(choices, fields[i]);
      if (fields[i].name == "device" && options.devices < 2) action.fields[i] = 0;
      if (fields[i].name == "nth") action.fields[i] = 1 + static_cast<std::int32_t>(choices.below(2));
    }
    if (!state.check(action)) return action;
  }
  return SystemAction{};  // "system device 0" may always stand
}

std::vector<SystemAction> draw_scenario(Choices& choices, System system, const ScenarioOptions& options) {
  ScenarioOptions chosen = options;
  chosen.failures = options.failures && choices.percent(50);
  if (!choices.percent(60)) chosen.devices = 1;
  std::vector<SystemAction> actions;
  SystemsState state;
  const std::uint64_t count = choices.between(1, std::max<std::uint32_t>(options.size, 1));
  while (actions.size() < count && !choices.exhausted()) {
    actions.push_back(draw_action(choices, system, state, chosen));
    state.apply(actions.back());
  }
  return actions;
}

}  // namespace verify
