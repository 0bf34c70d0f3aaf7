#include "verify/run/run.h"

#include "verify/program/state_devices.h"

namespace verify {

namespace {

template <class Object>
Object* live(std::map<Id, Object>& objects, Id id) {
  const auto found = objects.find(id);
  return found == objects.end() || !found->second.alive ? nullptr : &found->second;
}

}  // namespace

hip::Status missing_object() {
  return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
}

Run::Run(const Environment& environment, const Program& program, const AddressScript& script)
    : platform(environment.platform),
      interposer(environment.interposer),
      strategy(environment.strategy),
      options(environment.options),
      memory(platform, program, {program.setting.placement, options.fresh_addresses, strategy.maps_memory()}, script),
      context{.api = interposer.table(),
              .interposer = interposer,
              .patchers = environment.patchers,
              .poison = options.poison,
              .addresses = memory.addresses(),
              .buffer_bytes = std::vector<std::uint64_t>(memory.size(), 0),
              .memory = std::vector<hip::BufferMemory>(memory.size(), hip::BufferMemory::kUnknown),
              .devices = devices_needed(program),
              .buffer_devices = std::vector<Id>(memory.size(), 0),
              .mapped = memory.mapped(),
              .most_buffer_bytes = memory.most_device_bytes()},
      detectors(platform, interposer, observation),
      system_parts(environment.systems),
      graph_memory(context, memory),
      stream_memory(context, memory),
      mapped_memory(context, memory, platform),
      user_objects(context),
      records(*this),
      captures(*this, program) {}

GraphObject* Run::live_graph(Id id) {
  return live(graphs, id);
}

ExecObject* Run::live_exec(Id id) {
  return live(execs, id);
}

hipStream_t Run::stream(Id id) const {
  const auto found = streams.find(id);
  return found == streams.end() ? nullptr : found->second;
}

Id Run::device_of_stream(Id id) const {
  const auto found = stream_devices.find(id);
  return found == stream_devices.end() ? 0 : found->second;
}

hip::StreamRef Run::stream_ref(Id id) const {
  return {context.api, stream(id), static_cast<int>(device_of_stream(id))};
}

hip::Status Run::on_thread(Id on, const std::function<hip::Status()>& body) {
  if (on == 0 || on == thread) return body();
  hip::Status status;
  platform.on_thread(on, [&] {
    const Interposer::Scope scope(interposer);
    status = body();
  });
  return status;
}

void Run::check_visibility(const BytesSeen& seen) {
  if (!options.inspect || memory.memory(seen.buffer) != MemoryKind::kPinned) return;
  std::vector<std::byte> copied;
  if (!memory.read_by_runtime(seen.buffer, copied)) return;  // a failing runtime is noticed elsewhere
  if (detect_p12({seen.step, seen.buffer, seen.bytes, copied}, observation.violations))
    detectors.count(PropertyId::kP12);
}

hip::Status Run::unsupported(const char* function) {
  observation.unsupported = function;
  return {};
}

}  // namespace verify
