// The family of commands about streams: declaring them, giving them work, waiting for them and asking about them.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

struct DeclareStream {
  Id stream = 0;
  bool non_blocking = false;
  std::int32_t priority = 0;  // as written; a runtime clamps it to its range
  bool per_thread = false;    // hipStreamPerThread of the first thread, which exists already
  Id device = 0;
  static constexpr auto spec() {
    return describe_command(
               "stream",
               "A stream. Its flags and its priority (taken into the device's range) are observations. `s0` is the "
               "null stream and exists already. `per_thread` names `hipStreamPerThread` of the program's own thread.",
               kDrawnByHand, kDescribedByHand, NameField{&DeclareStream::stream, 's', kIsNew},
               FlagKey{"nonblocking", &DeclareStream::non_blocking, "non-blocking stream"},
               PriorityKey{"priority", &DeclareStream::priority, "stream with a priority"},
               FlagKey{"per_thread", &DeclareStream::per_thread, "per-thread stream"},
               field::device_key(&DeclareStream::device, "stream of another device"))
        .uncounted();
  }
  bool operator==(const DeclareStream&) const = default;
};
bool describe_events(EventEmitter& out, const DeclareStream& c);
struct Synchronize {
  Target target = Target::kDevice;
  Id id = 0;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command("sync", "`hipStreamSynchronize`, `hipEventSynchronize` or `hipDeviceSynchronize`.",
                            kDrawnByHand, kDescribedByFields,
                            field::target_or_device(&Synchronize::target, &Synchronize::id, "sv", "sync"),
                            field::thread_key(&Synchronize::thread));
  }
  bool operator==(const Synchronize&) const = default;
};
// Gives a node's work to a stream. It runs in the stream's order; on a stream that captures it becomes a node.
struct Enqueue {
  Id stream = 0;
  NodeParams params;
  Id thread = 0;
  bool wait = false;         // through the call that returns when the work is done
  bool by_hand = false;      // as a node that is added to the graph that the stream captures into
  bool cooperative = false;  // a kernel, all of whose workgroups run at once
  static constexpr auto spec() {
    return describe_command(
        "on",
        "Gives a node's work to a stream: `hipModuleLaunchKernel`, `hipMemcpyAsync`, `hipMemcpy3DAsync`, "
        "`hipMemset*Async`, `hipLaunchHostFunc`. It is done when its turn comes, a copy to pageable memory "
        "before the call returns. On a stream that captures it becomes a node. `eventrecord` and `eventwait` "
        "stand only on a stream that captures: `hipEventRecordWithFlags` and `hipStreamWaitEvent` with the "
        "flags `hipEventRecordExternal` and `hipEventWaitExternal`. `wait` takes the calls without `Async`, of "
        "the null stream: `hipMemcpy`, `hipMemcpy3D`, `hipMemset`; for a linear copy of another stream "
        "`hipMemcpyWithStream`. `by_hand` adds a node to the graph that the stream captures into: "
        "`hipStreamGetCaptureInfo_v2`, `hipGraphAdd*Node` behind the stream's dependencies, and "
        "`hipStreamUpdateCaptureDependencies`. It adds `empty` and `child`, too. `cooperative` launches a kernel by "
        "`hipModuleLaunchCooperativeKernel` or, `by_symbol`, `hipLaunchCooperativeKernel`; its node has the "
        "attribute.",
        kDrawnByHand, kDescribedByHand, NameField{&Enqueue::stream, 's', meets("give work to", Leaves::kNothing)},
        field::params(&Enqueue::params), field::thread_key(&Enqueue::thread),
        FlagKey{"wait", &Enqueue::wait, "host waits"},
        FlagKey{"by_hand", &Enqueue::by_hand, "node by hand in a capture"},
        FlagKey{"cooperative", &Enqueue::cooperative, "cooperative launch"});
  }
  bool operator==(const Enqueue&) const = default;
};
bool describe_events(EventEmitter& out, const Enqueue& c);
struct Query {
  Target target = Target::kStream;  // or an event
  Id id = 0;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command(
        "query",
        "`hipStreamQuery` or `hipEventQuery`. Stands only where the answer does not depend on time: all work "
        "is done, or the rules of capture refuse.",
        kDrawnByHand, kDescribedByFields, field::target(&Query::target, &Query::id, "sv", "query"),
        field::thread_key(&Query::thread));
  }
  bool operator==(const Query&) const = default;
};

using StreamsCommands = CommandList<DeclareStream, Synchronize, Enqueue, Query>;

}  // namespace verify
