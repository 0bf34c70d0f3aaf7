// verify::SystemAction: one operation on one of the systems around the patcher (hip/stream_cache, stream, event,
// scratch_buffer, launcher, address_stabilizer, trace_cache, command_buffer, remapped_buffers), as plain data.
//
// Actions name leases, streams, events and buffers by small numbers that are fixed up front, so that dropping one never
// renames another. The text form is the verb and its fields: "cache acquire 0 device=1 flags=0 priority=-1". The file
// docs/commands.md describes each action. SystemsState says which action may stand where; asking has no side effects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "verify/commands/fields.h"

namespace verify {

enum class SystemVerb : std::uint8_t {
  kDevice,
  kInject,
  kCacheAcquire,
  kCacheRelease,
  kCacheWork,
  kCacheSync,
  kCacheClear,
  kCacheClose,
  kStreamMake,
  kStreamDrop,
  kStreamWork,
  kStreamSync,
  kStreamQuery,
  kStreamRecord,
  kStreamWait,
  kEventSync,
  kEventQuery,
  kStreamEnter,
  kStreamLeave,
  kStreamThread,
  kScratchReserve,
  kScratchFill,
  kScratchCheck,
  kScratchPieces,
  kScratchMove,
  kScratchRelease,
  kLaunchResult,
  kLaunchInPlace,
  kLaunchIn,
  kLaunchAll,
  kLaunchDrain,
  kStableBuffer,
  kStableStep,
  kStableRefuse,
  kStableRelease,
  kTraceBuffer,
  kTraceMove,
  kTraceStep,
  kTraceRank,
  kTraceBody,
  kTraceKnown,
  kTraceCollective,
  kRemapStep,
  kRemapCheck,
  kRemapMemory,
  kRemapWithdraw,
  kRemapRefuse,
  kRemapClear,
};
inline constexpr std::size_t kSystemVerbs = static_cast<std::size_t>(SystemVerb::kRemapClear) + 1;

enum class System : std::uint8_t { kCache, kStreams, kScratch, kLauncher, kStabilizer, kTraces, kRemapper };
inline constexpr std::size_t kSystems = 7;

inline constexpr int kLeases = 6, kSystemStreams = 4, kSystemEvents = 3, kScratchBuffers = 3;
inline constexpr int kMaxScratchBytes = 65536, kMaxLaunchWords = 512;
inline constexpr int kStableCommands = 2, kStableBuffers = 3, kStableStreams = 3;
inline constexpr int kStablePlaces = 16, kStablePlaceBytes = 100, kMaxStableBytes = 1000;  // of the caller's memory
inline constexpr int kTraceCommands = 4, kTraceBuffers = 3, kTracePlaces = 6, kMaxTraceBytes = 256;
inline constexpr int kRemapCommands = 2, kRemapMemories = 3, kRemapStreams = 3;
inline constexpr int kTracePeers = 4;       // kinds of behaviour of a step's other ranks (docs/commands.md)
inline constexpr int kMaxStreamWorks = 64;  // in one scenario: the model keeps their order in words of 64 bits
// The functions that an injection may name: the functions that the systems call.
[[nodiscard]] std::span<const std::string_view> injectable_functions();

struct SystemAction {
  SystemVerb verb = SystemVerb::kDevice;
  std::array<std::int32_t, 4> fields{};  // one for each field of the verb; the rest are 0
  bool operator==(const SystemAction&) const = default;
};
// An action has no spec(). Its own system judges it, and no finding is about it.
template <>
inline constexpr Known kKnown<SystemAction> = kNoDeviation;

// One field of a verb: its bounds, and the name that it has in the text (empty: the value stands alone).
struct FieldOfAction {
  std::string_view name;
  std::int32_t lowest = 0, highest = 0;
  bool function = false;  // written by name: an index of injectable_functions()
};
struct VerbOfAction {
  std::string_view words;        // "cache acquire"
  std::optional<System> system;  // none: of no single system
  std::span<const FieldOfAction> fields;
  std::string_view meaning;  // Markdown, for the reference page
};
[[nodiscard]] const VerbOfAction& describe(SystemVerb verb);

// The device that an action names, 0 when it names none.
[[nodiscard]] int device_of(const SystemAction& action);
[[nodiscard]] std::string print_action(const SystemAction& action);
// Whether a line that begins with that word is an action.
[[nodiscard]] bool is_system_word(std::string_view word);
// The verb of a line that begins with these words; empty when the line is no action.
[[nodiscard]] std::optional<SystemVerb> verb_of(std::string_view first_word, std::string_view second_word);
// Parses the fields that follow the verb's words. On failure, the reason goes to `error`.
[[nodiscard]] std::optional<SystemAction> parse_action(SystemVerb verb, std::span<const std::string_view> fields,
                                                       std::string* error);

// The objects that earlier actions made, as far as the validity of an action depends on them. Injected failures change
// nothing here: an action on an object that could not be made does nothing.
class SystemsState {
 public:
  // Why `action` may not stand here, or nothing.
  [[nodiscard]] std::optional<std::string> check(const SystemAction& action) const;
  void apply(const SystemAction& action);
  [[nodiscard]] bool untouched() const { return untouched_; }

 private:
  [[nodiscard]] bool stream_lives(int stream) const {
    return stream == 0 || streams_[static_cast<std::size_t>(stream)];
  }

  std::array<bool, kLeases> leases_{};
  std::array<bool, kSystemStreams> streams_{};
  std::array<int, kMaxStreamWorks> scopes_{};  // the streams that were entered, the innermost one last
  int depth_ = 0;
  int works_ = 0;
  bool closed_ = false;  // the cache was closed
  bool untouched_ = true;
};

using SystemsCommands = CommandList<SystemAction>;

}  // namespace verify
