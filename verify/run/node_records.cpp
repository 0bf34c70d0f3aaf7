#include "verify/run/node_records.h"

#include "hip/semaphore_nodes.h"
#include "verify/execute/records.h"
#include "verify/run/run.h"

namespace verify {

hip::Status NodeRecords::load_code_objects(const Program& program) {
  hip::Status status = code_objects_.load(run_.platform.api(), program);
  if (!status) {
    code_objects_.unload();
    return status;
  }
  code_objects_.for_each([this](const KernelSpec& kernel, hipFunction_t function) {
    run_.interposer.know_kernel(function, &kernel);
    run_.platform.know_kernel(function, kernel);
  });
  return status;
}

hip::RecordedNode NodeRecords::make(const NodeParams& params) {
  const RecordContext context{
      .addresses = run_.memory.addresses(),
      .frozen = run_.memory.frozen_addresses(),
      .function = [this](const KernelParams& kernel) { return function(kernel); },
      .host = [this](const HostParams& host) { return host_call(host); },
      .child = [this](const ChildParams& child) { return nested(child); },
      .event = [this](Id event) { return run_.events.contains(event) ? run_.events.at(event) : nullptr; },
      .semaphore = [this](Id id) { return run_.semaphores.at(id); },
      .device = [this](Id buffer) { return run_.memory.device(buffer); },
      .symbol = [this](Id buffer) { return run_.memory.symbol(buffer); }};
  return make_record(params, context);
}

void NodeRecords::unload_code_objects() {
  code_objects_.unload();
  // As above, a refusal cannot be reported any more.
  for (const auto& [id, module] : modules_) static_cast<void>(run_.platform.api().hipModuleUnload(module));
  modules_.clear();
  run_.platform.forget_symbols();
}

hip::Status NodeRecords::load_module(Id id) {
  hipModule_t module = nullptr;
  hip::Status status = hip::call<&hip::Api::hipModuleLoadData>(run_.context.api, &module, project_code());
  if (status) modules_[id] = module;
  return status;
}

hip::Status NodeRecords::unload_module(Id id) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return missing_object();
  hip::Status status = hip::call<&hip::Api::hipModuleUnload>(run_.context.api, found->second);
  if (status) modules_.erase(found);
  return status;
}

hipModule_t NodeRecords::module(Id id) const {
  const auto found = modules_.find(id);
  return found == modules_.end() ? nullptr : found->second;
}

const char* NodeRecords::import_semaphores(const Program& program) {
  const hip::Api& api = run_.platform.api();
  for (const Step& step : program.steps) {
    const auto* add = std::get_if<AddNode>(&step.command);
    const auto* set = std::get_if<SetNode>(&step.command);
    const NodeParams* params = add != nullptr ? &add->params : set != nullptr ? &set->params : nullptr;
    const SemaphoreParams* semaphores = params == nullptr ? nullptr : semaphores_in(*params);
    if (semaphores == nullptr) continue;
    if (const char* missing = hip::missing_semaphore_function(api)) return missing;
    for (const SemaphoreValue& each : semaphores->list) {
      if (run_.semaphores.contains(each.semaphore)) continue;
      const hip::Result<hipExternalSemaphore_t> made = hip::import_semaphore(api, kSemaphoreStart);
      if (!made) return "hipImportExternalSemaphore";
      run_.semaphores[each.semaphore] = made.value();
    }
  }
  return nullptr;
}

// Null where the module is not there: HIP refuses a kernel without a function.
hipFunction_t NodeRecords::function_of_module(const std::string& name, Id module) const {
  hipFunction_t function = nullptr;
  const hipModule_t loaded = this->module(module);
  if (loaded == nullptr) return nullptr;
  const hipError_t code = run_.platform.api().hipModuleGetFunction(&function, loaded, name.c_str());
  return code == hipSuccess ? function : nullptr;
}

hipFunction_t NodeRecords::function(const KernelParams& kernel) {
  const KernelSpec& spec = *kernel.kernel;
  if (kernel.by_symbol) return symbol_of(spec);
  if (spec.object != nullptr) return code_objects_.function(spec, kernel.device);
  const auto index = static_cast<std::size_t>(&spec - kernel_catalogue().data());
  hipFunction_t& function = functions_[{index, kernel.device, kernel.module}];
  if (function == nullptr) {
    function =
        kernel.module ? function_of_module(spec.name, *kernel.module) : run_.platform.function(index, kernel.device);
    if (function == nullptr) return nullptr;
    run_.interposer.know_kernel(function, &spec);
    run_.platform.know_kernel(function, spec);
  }
  return function;
}

// Where HIP takes a kernel's handle, it takes the symbol as well (hipKernelNodeParams::func is a plain pointer).
hipFunction_t NodeRecords::symbol_of(const KernelSpec& spec) {
  const auto symbol = static_cast<hipFunction_t>(const_cast<void*>(run_.platform.kernel_symbol(spec)));
  if (symbol == nullptr) {
    static_cast<void>(run_.unsupported("kernels by symbol"));
    return nullptr;
  }
  run_.interposer.know_symbol(symbol, &spec);
  run_.platform.know_kernel(symbol, spec);
  return symbol;
}

hipHostNodeParams NodeRecords::host_call(const HostParams& params) {
  host_calls_.push_back({*this, params, 0});
  return {[](void* data) {
            auto* call = static_cast<HostCall*>(data);
            call->records.host_function(*call);
          },
          &host_calls_.back()};
}

// nest=N: the graph inside N-1 graphs that hold nothing else.
std::shared_ptr<const hip::Recording> NodeRecords::nested(const ChildParams& child) {
  const GraphObject* graph = run_.live_graph(child.graph);
  auto recording = graph == nullptr ? std::make_shared<const hip::Recording>()
                                    : std::make_shared<const hip::Recording>(graph->recording);
  for (std::uint32_t i = 1; i < child.nest; ++i) {
    hip::Recording wrapper;
    wrapper.add({hip::ChildRecord{recording}, {}, {}});
    recording = std::make_shared<const hip::Recording>(std::move(wrapper));
  }
  return recording;
}

void NodeRecords::host_function(HostCall& call) {
  const hip::sync::LockGuard lock(host_functions_);
  const HostParams& params = call.params;
  ++call.runs;
  ++run_.observation.host_tags[params.tag];
  if (!params.memory) return;
  const hip::DeviceAddress address =
      run_.memory.address(params.memory->buffer) + static_cast<std::uint64_t>(params.memory->offset);
  std::byte* bytes = run_.platform.host_view(address, params.bytes);
  for (std::uint32_t i = 0; bytes != nullptr && i < params.bytes; ++i) {
    bytes[i] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[i]) * 31 + params.tag + i);
  }
}

std::uint64_t NodeRecords::runs_of(const hip::HostRecord& host) {
  return static_cast<const HostCall*>(host.params.userData)->runs;
}

void note_addresses(GraphObject& graph, const hip::RecordedNode& node, const hip::AddressTable& current) {
  for (const hip::Relocation& relocation : node.relocations) {
    graph.addresses[relocation.buffer] = current[relocation.buffer];
  }
  if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
    for (const Id buffer : opaque->buffers) graph.addresses[buffer] = current[buffer];
  }
  if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
    for (const hip::RecordedNode& inner : child->graph->nodes()) note_addresses(graph, inner, current);
  }
}

}  // namespace verify
