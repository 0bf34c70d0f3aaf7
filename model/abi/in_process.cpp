// The table, and which instance its functions act on; the contract is in the header.
#include "model/abi/in_process.h"

#include <utility>

#include "model/abi/context.h"

namespace model::abi {
namespace {

thread_local InProcess* current = nullptr;

hip::Api make_table() {
  hip::Api api;
  fill_device(api);
  fill_peers(api);
  fill_memory(api);
  fill_copies(api);
  fill_variables(api);
  fill_modules(api);
  fill_streams(api);
  fill_graphs(api);
  fill_nodes(api);
  fill_event_nodes(api);
  fill_memory_nodes(api);
  fill_execs(api);
  fill_generic_forms(api);
  fill_captures(api);
  fill_attributes(api);
  fill_node_attributes(api);
  fill_user_objects(api);
  fill_driver_nodes(api);
  fill_memory_operations(api);
  fill_semaphores(api);
  fill_pools(api);
  return api;
}

}  // namespace

const hip::Api& InProcess::api() {
  static const hip::Api table = make_table();
  return table;
}

Activate::Activate(InProcess& instance) : previous_(std::exchange(current, &instance)) {}
Activate::~Activate() {
  current = previous_;
}

InProcess* active() {
  return current;
}

// HIP forbids calls from inside a host function (hipLaunchHostFunc); they are refused and do nothing.
Entry::Entry() {
  if (current == nullptr) return;
  if (current->runtime().in_host_function()) {
    refusal_ = hipErrorNotSupported;
    return;
  }
  state_ = &current->state();
}
Entry::~Entry() = default;

}  // namespace model::abi
