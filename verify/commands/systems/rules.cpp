// The rules of the actions on systems, and their text.
#include <algorithm>
#include <cassert>
#include <charconv>

#include "verify/commands/define_rules.h"

namespace verify {
namespace {

constexpr std::array<std::string_view, 41> kInjectable = {"hipEventCreateWithFlags",
                                                          "hipEventQuery",
                                                          "hipEventRecord",
                                                          "hipEventSynchronize",
                                                          "hipFreeAsync",
                                                          "hipGetDevice",
                                                          "hipHostFree",
                                                          "hipHostMalloc",
                                                          "hipMallocAsync",
                                                          "hipMemcpyAsync",
                                                          "hipModuleLaunchKernel",
                                                          "hipSetDevice",
                                                          "hipStreamCreateWithPriority",
                                                          "hipStreamDestroy",
                                                          "hipStreamGetDevice",
                                                          "hipStreamGetFlags",
                                                          "hipStreamGetPriority",
                                                          "hipStreamQuery",
                                                          "hipStreamSynchronize",
                                                          "hipStreamWaitEvent",
                                                          "hipEventDestroy",
                                                          "hipFree",
                                                          "hipMalloc",
                                                          "hipStreamBeginCapture",
                                                          "hipStreamEndCapture",
                                                          "hipGraphInstantiate",
                                                          "hipGraphLaunch",
                                                          "hipGraphExecDestroy",
                                                          "hipGraphDestroy",
                                                          "hipGraphCreate",
                                                          "hipGraphAddChildGraphNode",
                                                          "hipGraphGetNodes",
                                                          "hipGraphNodeGetType",
                                                          "hipGraphKernelNodeGetParams",
                                                          "hipGraphExecKernelNodeSetParams",
                                                          "hipGraphExecChildGraphNodeSetParams",
                                                          "hipMemAddressReserve",
                                                          "hipMemAddressFree",
                                                          "hipMemMap",
                                                          "hipMemUnmap",
                                                          "hipMemSetAccess"};

constexpr FieldOfAction kLease{"", 0, kLeases - 1};
constexpr FieldOfAction kStream{"", 0, kSystemStreams - 1};
constexpr FieldOfAction kOwnStream{"", 1, kSystemStreams - 1};
constexpr FieldOfAction kEvent{"", 0, kSystemEvents - 1};
constexpr FieldOfAction kBuffer{"", 0, kScratchBuffers - 1};
constexpr FieldOfAction kOnDevice{"device", 0, 1}, kFlags{"flags", 0, 1}, kPriority{"priority", -2, 2};
constexpr FieldOfAction kBytes{"bytes", 0, kMaxScratchBytes};
constexpr FieldOfAction kWords{"words", 1, kMaxLaunchWords}, kOnStream{"stream", 0, kSystemStreams - 1};

constexpr std::array<FieldOfAction, 1> kDeviceFields = {{{"", 0, 1}}};
constexpr std::array<FieldOfAction, 2> kInjectFields = {{{"", 0, kInjectable.size() - 1, true}, {"nth", 1, 8}}};
constexpr std::array<FieldOfAction, 4> kAcquireFields = {kLease, kOnDevice, kFlags, kPriority};
constexpr std::array<FieldOfAction, 1> kLeaseFields = {kLease};
constexpr std::array<FieldOfAction, 4> kMakeFields = {kOwnStream, kOnDevice, kFlags, kPriority};
constexpr std::array<FieldOfAction, 1> kOwnStreamFields = {kOwnStream};
constexpr std::array<FieldOfAction, 1> kStreamFields = {kStream};
constexpr std::array<FieldOfAction, 1> kEventFields = {kEvent};
constexpr std::array<FieldOfAction, 2> kRecordFields = {kEvent, kOnStream};
constexpr std::array<FieldOfAction, 2> kWaitFields = {{{"", 0, kSystemStreams - 1}, {"event", 0, kSystemEvents - 1}}};
constexpr std::array<FieldOfAction, 2> kReserveFields = {kBuffer, kBytes};
constexpr std::array<FieldOfAction, 2> kFillFields = {{{"", 0, kScratchBuffers - 1}, {"value", 0, 255}}};
constexpr std::array<FieldOfAction, 1> kBufferFields = {kBuffer};
constexpr std::array<FieldOfAction, 3> kPiecesFields = {
    {{"", 0, kScratchBuffers - 1}, {"first", 1, kMaxScratchBytes}, {"second", 1, kMaxScratchBytes}}};
constexpr std::array<FieldOfAction, 2> kMoveFields = {{{"", 0, kScratchBuffers - 1}, {"to", 0, kScratchBuffers - 1}}};
constexpr FieldOfAction kCommand{"", 0, kStableCommands - 1};
constexpr std::array<FieldOfAction, 4> kStableBufferFields = {
    {{"", 0, kStableBuffers - 1}, {"at", 0, kStablePlaces - 1}, {"bytes", 0, kMaxStableBytes}, {"use", 0, 3}}};
constexpr std::array<FieldOfAction, 3> kStableStepFields = {
    {kCommand, {"stream", 0, kStableStreams - 1}, {"seed", 0, 255}}};
constexpr std::array<FieldOfAction, 1> kCommandFields = {kCommand};
constexpr std::array<FieldOfAction, 3> kTraceBufferFields = {
    {{"", 0, kTraceBuffers - 1}, {"at", 0, kTracePlaces - 1}, {"bytes", 0, kMaxTraceBytes}}};
constexpr std::array<FieldOfAction, 2> kTraceMoveFields = {{{"", 0, kTraceBuffers - 1}, {"at", 0, kTracePlaces - 1}}};
constexpr std::array<FieldOfAction, 1> kTraceStepFields = {{{"", 0, kTraceCommands - 1}}};
constexpr FieldOfAction kTraceMask{"commands", 0, (1 << kTraceCommands) - 1}, kPeer{"peer", 0, kTracePeers - 1};
constexpr std::array<FieldOfAction, 2> kTraceRankFields = {{{"", 0, kTraceCommands - 1}, kPeer}};
constexpr std::array<FieldOfAction, 1> kTraceBodyFields = {kTraceMask};
constexpr std::array<FieldOfAction, 2> kTraceCollectiveFields = {kTraceMask, kPeer};
constexpr FieldOfAction kRemapCommand{"", 0, kRemapCommands - 1};
constexpr std::array<FieldOfAction, 4> kRemapStepFields = {
    {kRemapCommand, {"in", 0, kRemapMemories - 1}, {"out", 0, kRemapMemories - 1}, {"stream", 0, kRemapStreams - 1}}};
constexpr std::array<FieldOfAction, 1> kRemapMemoryFields = {{{"", 0, kRemapMemories - 1}}};
constexpr std::array<FieldOfAction, 1> kRemapCommandFields = {kRemapCommand};
constexpr std::array<FieldOfAction, 2> kResultFields = {{kOnStream, {"seed", 0, 255}}};
constexpr std::array<FieldOfAction, 3> kLaunchFields = {{kOnStream, kWords, {"seed", 0, 255}}};

// In the order of SystemVerb.
constexpr std::array<VerbOfAction, kSystemVerbs> kVerbs = {{
    {"system device", std::nullopt, kDeviceFields, "Makes a device current for the thread."},
    {"system inject", std::nullopt, kInjectFields,
     "The nth call of that function from here on fails once. The command, or the error sink, has to report it; the "
     "command is not run again."},
    {"cache acquire", System::kCache, kAcquireFields,
     "A lease: a stream of that key from the cache, which keeps 3 idle ones."},
    {"cache release", System::kCache, kLeaseFields, "Gives the stream back."},
    {"cache work", System::kCache, kLeaseFields, "Gives the stream work that nobody waits for."},
    {"cache sync", System::kCache, kLeaseFields, "Waits for the stream."},
    {"cache clear", System::kCache, {}, "Empties the cache."},
    {"cache close", System::kCache, {}, "Ends the cache; leases stay."},
    {"streams make", System::kStreams, kMakeFields, "Makes a stream; 0 is the default stream."},
    {"streams drop", System::kStreams, kOwnStreamFields, "Drops a stream."},
    {"streams work", System::kStreams, kStreamFields, "Work that writes down when it ran."},
    {"streams sync", System::kStreams, kStreamFields, "Waits for the stream."},
    {"streams query", System::kStreams, kStreamFields, "Asks whether the stream is done."},
    {"streams record", System::kStreams, kRecordFields, "Records an event."},
    {"streams wait", System::kStreams, kWaitFields, "The stream waits for an event."},
    {"streams await", System::kStreams, kEventFields, "The host waits for an event."},
    {"streams done", System::kStreams, kEventFields, "Asks whether an event is done."},
    {"streams enter", System::kStreams, kStreamFields,
     "Enters a scope in which the stream is the thread's current stream."},
    {"streams leave", System::kStreams, {}, "Leaves the innermost scope."},
    {"streams thread", System::kStreams, kStreamFields,
     "Another thread enters a stream of its own, and both threads look at their current streams."},
    {"scratch reserve", System::kScratch, kReserveFields, "Reserves a buffer; 0 is on the default stream."},
    {"scratch fill", System::kScratch, kFillFields, "Writes every byte in the stream's order."},
    {"scratch check", System::kScratch, kBufferFields, "Waits and reads every byte."},
    {"scratch pieces", System::kScratch, kPiecesFields, "Two pieces at once, both written and read back."},
    {"scratch move", System::kScratch, kMoveFields, "Moves a buffer into another."},
    {"scratch release", System::kScratch, kBufferFields, "Gives a buffer's memory back."},
    {"launcher result", System::kLauncher, kResultFields, "A kernel that returns a result and has no arrays."},
    {"launcher inplace", System::kLauncher, kLaunchFields, "A kernel with an array in and back."},
    {"launcher in", System::kLauncher, kLaunchFields, "A kernel with an array in; its results stay on the device."},
    {"launcher all", System::kLauncher, kLaunchFields, "A kernel with an array in, one out, and a result."},
    {"launcher drain",
     System::kLauncher,
     {},
     "Waits for the device and compares the results that `launcher in` left there."},
    {"stable buffer", System::kStabilizer, kStableBufferFields,
     "From here on the caller's buffer lies there; `use` 0 in and out, 1 out, 2 in, 3 donated."},
    {"stable step", System::kStabilizer, kStableStepFields,
     "A step of a command over the caller's buffers, which may overlap."},
    {"stable refuse", System::kStabilizer, kCommandFields, "The command's next recording fails."},
    {"stable release", System::kStabilizer, kCommandFields, "The command's persistent buffers are given back."},
    {"traces buffer", System::kTraces, kTraceBufferFields,
     "Another buffer is the caller's buffer, in that place (which another may have had)."},
    {"traces move", System::kTraces, kTraceMoveFields, "The same buffer lies elsewhere."},
    {"traces step", System::kTraces, kTraceStepFields,
     "A command through a cache of 4 captured traces; without bytes it has nothing to do. 0 fills buffer 0, 1 fills 0 "
     "and 1, 2 fills 1 and 2, 3 is a kernel from 0 to 2 whose arguments are a packed struct."},
    {"traces rank", System::kTraces, kTraceRankFields,
     "The same through the cache of a rank. Its `peer`s 0 have traces, 1 have to record, 2 cannot record, 3 do not "
     "come."},
    {"traces body", System::kTraces, kTraceBodyFields,
     "The commands of a bit mask as one command buffer: launched, patched, updated or recorded again. 2 and 3 are "
     "traced there, and nobody can look into them."},
    {"traces known", System::kTraces, kTraceBodyFields, "The same where differential capture looks into them."},
    {"traces collective", System::kTraces, kTraceCollectiveFields, "The same where they are collectives."},
    {"remap step", System::kRemapper, kRemapStepFields,
     "A step of a command whose two buffers keep their addresses: physical memory of the caller is mapped there. Both "
     "may be the same memory. Command 1 has a number with the bits of an address of memory 0, and uses a second page."},
    {"remap check", System::kRemapper, {}, "Waits for the device and compares the caller's memory."},
    {"remap memory", System::kRemapper, kRemapMemoryFields,
     "The memory is withdrawn from all commands and released, and other memory is created in its place."},
    {"remap withdraw", System::kRemapper, kRemapMemoryFields,
     "The memory is withdrawn from all commands; a later step may use it again."},
    {"remap refuse", System::kRemapper, kRemapCommandFields, "The command's next recording fails."},
    {"remap clear", System::kRemapper, kRemapCommandFields, "The command's addresses are given back."},
}};

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int32_t> value_of(const FieldOfAction& field, std::string_view text) {
  if (!field.function) return number(text);
  const auto found = std::ranges::find(kInjectable, text);
  if (found == kInjectable.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - kInjectable.begin());
}

bool within(const FieldOfAction& field, std::int32_t value) {
  return value >= field.lowest && value <= field.highest;
}

}  // namespace

std::span<const std::string_view> injectable_functions() {
  return kInjectable;
}

const VerbOfAction& describe(SystemVerb verb) {
  return kVerbs[static_cast<std::size_t>(verb)];
}

int device_of(const SystemAction& action) {
  if (action.verb == SystemVerb::kDevice) return action.fields[0];
  const std::span<const FieldOfAction> fields = describe(action.verb).fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == "device") return action.fields[i];
  }
  return 0;
}

std::string print_action(const SystemAction& action) {
  const VerbOfAction& verb = describe(action.verb);
  std::string text(verb.words);
  for (std::size_t i = 0; i < verb.fields.size(); ++i) {
    const FieldOfAction& field = verb.fields[i];
    text += " ";
    if (!field.name.empty()) text.append(field.name).append("=");
    text += field.function ? std::string(kInjectable[static_cast<std::size_t>(action.fields[i])])
                           : std::to_string(action.fields[i]);
  }
  return text;
}

bool is_system_word(std::string_view word) {
  return std::ranges::any_of(
      kVerbs, [word](const VerbOfAction& verb) { return verb.words.substr(0, verb.words.find(' ')) == word; });
}

std::optional<SystemVerb> verb_of(std::string_view first_word, std::string_view second_word) {
  for (std::size_t i = 0; i < kVerbs.size(); ++i) {
    const std::string_view words = kVerbs[i].words;
    const std::size_t space = words.find(' ');
    if (words.substr(0, space) == first_word && words.substr(space + 1) == second_word) {
      return static_cast<SystemVerb>(i);
    }
  }
  return std::nullopt;
}

std::optional<SystemAction> parse_action(SystemVerb verb, std::span<const std::string_view> fields,
                                         std::string* error) {
  const VerbOfAction& described = describe(verb);
  if (fields.size() != described.fields.size()) {
    *error = std::string(described.words) + " takes " + std::to_string(described.fields.size()) + " fields";
    return std::nullopt;
  }
  SystemAction action;
  action.verb = verb;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldOfAction& field = described.fields[i];
    std::string_view text = fields[i];
    const std::string prefix = field.name.empty() ? std::string() : std::string(field.name) + "=";
    const bool named = text.starts_with(prefix);
    if (named) text.remove_prefix(prefix.size());
    const std::optional<std::int32_t> value = named ? value_of(field, text) : std::nullopt;
    if (!value || !within(field, *value)) {
      *error = "'" + std::string(fields[i]) + "' is not a field ";
      if (!prefix.empty()) *error += "'" + prefix + "' ";
      error->append("of ").append(described.words);
      *error += field.function ? ": a function that scenarios call"
                               : ": " + std::to_string(field.lowest) + " to " + std::to_string(field.highest);
      return std::nullopt;
    }
    action.fields[i] = *value;
  }
  return action;
}

std::optional<std::string> SystemsState::check(const SystemAction& action) const {
  const VerbOfAction& verb = describe(action.verb);
  for (std::size_t i = 0; i < verb.fields.size(); ++i) {
    if (!within(verb.fields[i], action.fields[i])) return "a field is out of its bounds";
  }
  const auto first = static_cast<std::size_t>(action.fields[0]);
  switch (action.verb) {
    case SystemVerb::kCacheAcquire:
      if (closed_) return "the cache is closed";
      if (leases_[first]) return "that lease is out already";
      break;
    case SystemVerb::kCacheRelease:
    case SystemVerb::kCacheWork:
    case SystemVerb::kCacheSync:
      if (!leases_[first]) return "there is no such lease";
      break;
    case SystemVerb::kCacheClear:
    case SystemVerb::kCacheClose:
      if (closed_) return "the cache is closed";
      break;
    case SystemVerb::kStreamMake:
      if (streams_[first]) return "that stream exists already";
      break;
    case SystemVerb::kStreamDrop:
      if (!streams_[first]) return "there is no such stream";
      if (std::count(scopes_.begin(), scopes_.begin() + depth_, action.fields[0]) != 0) {
        return "the stream is some scope's current stream";
      }
      break;
    case SystemVerb::kStreamWork:
      if (works_ == kMaxStreamWorks) return "a scenario has no more work than that";
      [[fallthrough]];
    case SystemVerb::kStreamSync:
    case SystemVerb::kStreamQuery:
    case SystemVerb::kStreamWait:
    case SystemVerb::kStreamThread:
      if (!stream_lives(action.fields[0])) return "there is no such stream";
      break;
    case SystemVerb::kStreamRecord:
      if (!stream_lives(action.fields[1])) return "there is no such stream";
      break;
    case SystemVerb::kStreamEnter:
      if (!stream_lives(action.fields[0])) return "there is no such stream";
      if (depth_ == kMaxStreamWorks) return "scopes nest no deeper than that";
      break;
    case SystemVerb::kStreamLeave:
      if (depth_ == 0) return "there is no scope to leave";
      break;
    case SystemVerb::kScratchMove:
      if (action.fields[0] == action.fields[1]) return "a buffer is not moved into itself";
      break;
    case SystemVerb::kDevice:
    case SystemVerb::kInject:
    case SystemVerb::kEventSync:
    case SystemVerb::kEventQuery:
    case SystemVerb::kScratchReserve:
    case SystemVerb::kScratchFill:
    case SystemVerb::kScratchCheck:
    case SystemVerb::kScratchPieces:
    case SystemVerb::kScratchRelease:
    case SystemVerb::kLaunchResult:
    case SystemVerb::kLaunchInPlace:
    case SystemVerb::kLaunchIn:
    case SystemVerb::kLaunchAll:
    case SystemVerb::kLaunchDrain:
    case SystemVerb::kStableBuffer:
    case SystemVerb::kStableStep:
    case SystemVerb::kStableRefuse:
    case SystemVerb::kStableRelease:
    case SystemVerb::kTraceBuffer:
    case SystemVerb::kTraceMove:
    case SystemVerb::kTraceStep:
    case SystemVerb::kTraceRank:
    case SystemVerb::kTraceBody:
    case SystemVerb::kTraceKnown:
    case SystemVerb::kTraceCollective:
    case SystemVerb::kRemapStep:
    case SystemVerb::kRemapCheck:
    case SystemVerb::kRemapMemory:
    case SystemVerb::kRemapWithdraw:
    case SystemVerb::kRemapRefuse:
    case SystemVerb::kRemapClear:
      break;  // no condition but the bounds of their fields
  }
  return std::nullopt;
}

void SystemsState::apply(const SystemAction& action) {
  assert(!check(action));
  untouched_ = false;
  const auto first = static_cast<std::size_t>(action.fields[0]);
  switch (action.verb) {
    case SystemVerb::kCacheAcquire:
      leases_[first] = true;
      break;
    case SystemVerb::kCacheRelease:
      leases_[first] = false;
      break;
    case SystemVerb::kCacheClose:
      closed_ = true;
      break;
    case SystemVerb::kStreamMake:
      streams_[first] = true;
      break;
    case SystemVerb::kStreamDrop:
      streams_[first] = false;
      break;
    case SystemVerb::kStreamWork:
      ++works_;
      break;
    case SystemVerb::kStreamEnter:
      scopes_[static_cast<std::size_t>(depth_++)] = action.fields[0];
      break;
    case SystemVerb::kStreamLeave:
      --depth_;
      break;
    case SystemVerb::kDevice:
    case SystemVerb::kInject:
    case SystemVerb::kCacheWork:
    case SystemVerb::kCacheSync:
    case SystemVerb::kCacheClear:
    case SystemVerb::kStreamSync:
    case SystemVerb::kStreamQuery:
    case SystemVerb::kStreamRecord:
    case SystemVerb::kStreamWait:
    case SystemVerb::kEventSync:
    case SystemVerb::kEventQuery:
    case SystemVerb::kStreamThread:
    case SystemVerb::kScratchReserve:
    case SystemVerb::kScratchFill:
    case SystemVerb::kScratchCheck:
    case SystemVerb::kScratchPieces:
    case SystemVerb::kScratchMove:
    case SystemVerb::kScratchRelease:
    case SystemVerb::kLaunchResult:
    case SystemVerb::kLaunchInPlace:
    case SystemVerb::kLaunchIn:
    case SystemVerb::kLaunchAll:
    case SystemVerb::kLaunchDrain:
    case SystemVerb::kStableBuffer:
    case SystemVerb::kStableStep:
    case SystemVerb::kStableRefuse:
    case SystemVerb::kStableRelease:
    case SystemVerb::kTraceBuffer:
    case SystemVerb::kTraceMove:
    case SystemVerb::kTraceStep:
    case SystemVerb::kTraceRank:
    case SystemVerb::kTraceBody:
    case SystemVerb::kTraceKnown:
    case SystemVerb::kTraceCollective:
    case SystemVerb::kRemapStep:
    case SystemVerb::kRemapCheck:
    case SystemVerb::kRemapMemory:
    case SystemVerb::kRemapWithdraw:
    case SystemVerb::kRemapRefuse:
    case SystemVerb::kRemapClear:
      break;  // the state does not know what they change
  }
}

// Some actions have a bound on how often they may be done, so repetitions are applied up to one past that bound.
template <>
constexpr Traits kTraits<SystemAction>{kLegalInCapture, kSucceeds,           kNeverRefused, kNothingSeen,
                                       kNamesDevices,   kMaxStreamWorks + 1, kOnce};

template <>
Reason check(const State& state, const SystemAction& c) {
  return state.parts().systems.check(c);
}

template <>
Id highest_device(const SystemAction& c) {
  return static_cast<Id>(device_of(c));
}

template <>
void apply(State& state, const SystemAction& c) {
  state.change().systems.apply(c);
}

template struct Rules<SystemAction>;

}  // namespace verify
