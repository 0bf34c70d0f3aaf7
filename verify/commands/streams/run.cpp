// How commands about streams run. Calls for `thread=N` are made by a helper thread that takes turns with the program's
// own thread.
#include <fmt/format.h>

#include "hip/errors.h"
#include "hip/kernel_attributes.h"
#include "verify/execute/enqueue.h"
#include "verify/execute/inspector.h"
#include "verify/execute/own_graphs.h"
#include "verify/execute/records.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

std::string described(const hip::Api& api, hipStream_t stream, int asked) {
  if (api.hipStreamGetFlags == nullptr || api.hipStreamGetPriority == nullptr) return {};
  unsigned flags = 0;
  int priority = 0;
  const bool answered =
      api.hipStreamGetFlags(stream, &flags) == hipSuccess && api.hipStreamGetPriority(stream, &priority) == hipSuccess;
  if (!answered) return "neither flags nor priority";
  return fmt::format("flags {}, priority {}", flags, priority_as_asked(api, asked, priority));
}

hip::Status make_stream(Run& run, const DeclareStream& c) {
  const hip::Api& api = run.context.api;
  hipStream_t stream = nullptr;
  const unsigned flags = c.non_blocking ? hipStreamNonBlocking : hipStreamDefault;
  if (c.priority != 0 && api.hipStreamCreateWithPriority == nullptr)
    return run.unsupported("hipStreamCreateWithPriority");
  hip::Status status = c.priority != 0
                           ? hip::call<&hip::Api::hipStreamCreateWithPriority>(api, &stream, flags, c.priority)
                           : hip::call<&hip::Api::hipStreamCreateWithFlags>(api, &stream, flags);
  if (!status) return status;
  run.streams[c.stream] = stream;
  run.attempt.seen = described(run.interposer.inner(), stream, c.priority);
  return status;
}

hip::Status synchronize(Run& run, const Synchronize& c) {
  const hip::Api& api = run.context.api;
  if (c.target == Target::kStream) {
    if (!run.has_stream(c.id)) return missing_object();
    return hip::call<&hip::Api::hipStreamSynchronize>(api, run.stream(c.id));
  }
  if (c.target == Target::kEvent) {
    if (!run.events.contains(c.id)) return missing_object();
    return hip::call<&hip::Api::hipEventSynchronize>(api, run.events.at(c.id));
  }
  return synchronize_devices(api, run.context.devices);
}

// An opaque kernel is launched like any other kernel; less is known about it.
NodeParams plain(NodeParams params) {
  if (auto* kernel = std::get_if<KernelParams>(&params)) kernel->opaque = false;
  return params;
}

bool is_opaque(const NodeParams& params) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  return kernel != nullptr && kernel->opaque;
}

// A cooperative launch is a kernel with that attribute, which the captured node has as well.
hip::RecordedNode work_of(Run& run, const Enqueue& c) {
  hip::RecordedNode work = run.records.make(plain(c.params));
  if (c.cooperative) std::get<hip::KernelRecord>(work.record).attributes.cooperative = true;
  return work;
}

// The function that the runtime lacks for the attribute of a captured node, or null.
const char* missing_for_node(Run& run, const Enqueue& c) {
  if (!c.cooperative || run.captures.of(c.stream) == nullptr) return nullptr;
  return hip::missing_for_attributes(run.context.api, {.priority = {}, .cooperative = true, .window = {}});
}

hip::Status add_by_hand(Run& run, const Enqueue& c) {
  if (const char* function = missing_function(run.context.api, c.params)) return run.unsupported(function);
  hip::NodeExtras extras;
  hip::RecordedNode node = run.strategy.as_added(run.context, {}, run.records.make(plain(c.params)));
  hip::Status status = on_device(run.context.api, run.device_of_stream(c.stream),
                                 [&] { return run.captures.add_by_hand(c.stream, node, extras); });
  if (status) run.captures.add(c.stream, is_opaque(c.params) ? run.records.make(c.params) : std::move(node));
  return status;
}

std::optional<CopyOfPeers> peers_of(const Run& run, const NodeParams& params, const hip::NodeRecord& record) {
  const auto* copy = std::get_if<CopyParams>(&params);
  if (copy == nullptr || copy->peer == PeerCopy::kNone) return {};
  return CopyOfPeers{std::get<hip::CopyRecord>(record), static_cast<int>(run.memory.device(copy->dst.ref.buffer)),
                     static_cast<int>(run.memory.device(copy->src.ref.buffer)), copy->peer == PeerCopy::kBlocking};
}

}  // namespace

template <>
hip::Status run_command(Run& run, const DeclareStream& c) {
  if (c.per_thread) {
    run.streams[c.stream] = hipStreamPerThread;
    return {};
  }
  run.stream_devices[c.stream] = c.device;
  return on_device(run.context.api, c.device, [&] { return make_stream(run, c); });
}

template <>
hip::Status run_command(Run& run, const Synchronize& c) {
  hip::Status status = run.on_thread(c.thread, [&] { return synchronize(run, c); });
  if (status && c.target == Target::kDevice && !run.context.capturing) destroy_launched(run.context);
  if (status) {  // a refusal waits no longer
    run.platform.fail_below({}, 0);
    run.refusal_waits_below = false;
  }
  return status;
}

template <>
hip::Status run_command(Run& run, const Enqueue& c) {
  run.graph_memory.show_live();
  if (!run.has_stream(c.stream)) return missing_object();
  if (c.by_hand) return add_by_hand(run, c);
  if (const char* function = missing_for_node(run, c)) return run.unsupported(function);
  hip::RecordedNode eager = work_of(run, c);
  if (run.captures.of(c.stream) != nullptr) eager = run.strategy.as_added(run.context, {}, std::move(eager));
  const std::optional<CopyOfPeers> peers = peers_of(run, c.params, eager.record);
  EnqueueResult result;
  const hip::Api& api = run.context.api;
  const hipStream_t stream = run.stream(c.stream);
  hip::Status status = run.on_thread(c.thread, [&] {
    return on_device(api, run.device_of_stream(c.stream), [&] {
      result = peers    ? enqueue_peer(api, *peers, stream)
               : c.wait ? run_and_wait(api, eager.record, stream)
                        : enqueue(api, eager.record, stream);
      return result.status;
    });
  });
  if (!result.unsupported.empty()) return run.unsupported(result.unsupported.c_str());
  if (status && !c.wait)
    run.captures.add(c.stream, is_opaque(c.params) ? run.records.make(c.params) : std::move(eager));
  return status;
}

template <>
hip::Status run_command(Run& run, const Query& c) {
  run.graph_memory.show_live();
  const hip::Api& api = run.context.api;
  if (c.target == Target::kEvent) {
    const auto event = run.events.find(c.id);
    if (event == run.events.end()) return missing_object();
    return run.on_thread(c.thread, [&] { return hip::call<&hip::Api::hipEventQuery>(api, event->second); });
  }
  if (!run.has_stream(c.id)) return missing_object();
  return run.on_thread(c.thread, [&] { return hip::call<&hip::Api::hipStreamQuery>(api, run.stream(c.id)); });
}

template struct FamilyRun<StreamsCommands>;

}  // namespace verify
