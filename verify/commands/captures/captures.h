// The family of commands about stream capture. `thread` is the host thread that makes the call.
#pragma once

#include "verify/commands/fields.h"
#include "verify/commands/graphs/graphs.h"

namespace verify {

enum class CaptureMode : std::uint8_t { kGlobal, kThreadLocal, kRelaxed };  // HIP's numbers
inline constexpr std::array<std::string_view, 3> kCaptureModes = {"global", "thread", "relaxed"};
struct BeginCapture {
  Id stream = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  std::optional<Id> into;  // hipStreamBeginCaptureToGraph
  std::vector<Id> after;   // nodes of that graph
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command(
        "capture",
        "`hipStreamBeginCapture`, or `hipStreamBeginCaptureToGraph` into an existing graph, behind nodes of "
        "it.",
        kDrawnByHand, kDescribedByFields,
        NameField{&BeginCapture::stream, 's', meets("begin capture on", Leaves::kNothing)},
        ChoiceKey{"mode", &BeginCapture::mode, kCaptureModes, "a mode", "capture ", true},
        IntoGraphKey{&BeginCapture::into, &BeginCapture::after}, field::thread_key(&BeginCapture::thread));
  }
  bool operator==(const BeginCapture&) const = default;
};
// The capture becomes `graph`. Its nodes are named in the order of the capture, from n0 on. In a capture into a graph
// that exists the names continue after the names of that graph.
struct EndCapture {
  Id stream = 0;
  Id graph = 0;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command(
               "endcapture",
               "`hipStreamEndCapture`. Ends the capture, which becomes the graph; with `into`, that is the graph "
               "that was captured into. Its nodes are named in the order in which they were captured: n0, n1, ..., "
               "or on from the largest name in the graph. They are patched, set and updated like any others.",
               kDrawnByHand, kDescribedByFields,
               NameField{&EndCapture::stream, 's', meets("end capture on", Leaves::kNothing)},
               NameField{&EndCapture::graph, 'g', only_leaves(Leaves::kGraphChanged)},
               field::thread_key(&EndCapture::thread))
        .replaced_by([](const EndCapture& c) { return DeclareGraph{c.graph}; });
  }
  bool operator==(const EndCapture&) const = default;
};
struct CaptureInfo {
  Id stream = 0;
  static constexpr auto spec() {
    return describe_command(
        "capture_info",
        "`hipStreamGetCaptureInfo_v2`. The status, the graph, and the names of the nodes that the stream's "
        "next node depends on are observations.",
        drawn(Topic::kCaptures, 1), kDescribedByFields,
        NameField{&CaptureInfo::stream, 's', meets("ask for the capture of", Leaves::kNothing)});
  }
  bool operator==(const CaptureInfo&) const = default;
};
// hipStreamUpdateCaptureDependencies. `nodes` are nodes of the capture, by the names that EndCapture will give them.
struct CaptureAfter {
  Id stream = 0;
  std::vector<Id> nodes;
  bool add = false;  // false: the nodes replace the dependencies of the stream's next node
  static constexpr auto spec() {
    return describe_command(
        "capture_after",
        "`hipStreamUpdateCaptureDependencies`. The stream's next node depends on these nodes instead "
        "(`none`: on none), or with `add` on these as well.",
        kDrawnByHand, kDescribedByFields,
        NameField{&CaptureAfter::stream, 's', meets("change what comes before on", Leaves::kNothing)},
        NodesField{&CaptureAfter::nodes}, FlagKey{"add", &CaptureAfter::add, {}});
  }
  bool operator==(const CaptureAfter&) const = default;
};
struct ExchangeCaptureMode {
  CaptureMode mode = CaptureMode::kGlobal;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command("capture_mode", "`hipThreadExchangeStreamCaptureMode`. The old mode is an observation.",
                            kDrawnByHand, kDescribedByFields,
                            ChoiceField{&ExchangeCaptureMode::mode,
                                        kCaptureModes,
                                        "global, thread or relaxed",
                                        "a mode is global, thread or relaxed",
                                        {}},
                            field::thread_key(&ExchangeCaptureMode::thread));
  }
  bool operator==(const ExchangeCaptureMode&) const = default;
};
// The calls of a process beside its captures. Captures may forbid the ones before kMemoryInfo.
enum class BesideCall : std::uint8_t { kMalloc, kHostMalloc, kHostRegister, kMemoryInfo, kDeviceLimit };
inline constexpr std::array<std::string_view, 5> kBesideCalls = {"malloc", "host_malloc", "host_register",
                                                                 "memory_info", "device_limit"};
// An allocation is freed, and registered memory unregistered, if the first call succeeded.
struct UnsafeCall {
  BesideCall call = BesideCall::kMalloc;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command(
        "unsafe",
        "A call that a capture may forbid: `hipMalloc` of a few bytes and `hipFree`, `hipHostMalloc` and "
        "`hipHostFree`, or `hipHostRegister` and `hipHostUnregister`. No capture forbids `hipMemGetInfo` and "
        "`hipDeviceSetLimit`.",
        drawn(Topic::kForbidden, 1), kDescribedByFields,
        ChoiceKey{"call", &UnsafeCall::call, kBesideCalls, "a call", "unsafe ", true, "unsafe_call"},
        field::thread_key(&UnsafeCall::thread));
  }
  bool operator==(const UnsafeCall&) const = default;
};

using CapturesCommands =
    CommandList<BeginCapture, EndCapture, CaptureInfo, CaptureAfter, ExchangeCaptureMode, UnsafeCall>;

}  // namespace verify
