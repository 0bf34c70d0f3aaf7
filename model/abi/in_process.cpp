// The table, and which instance its functions act on; the contract is in the header.
#include "model/abi/in_process.h"

#include <type_traits>
#include <utility>

#include "model/abi/context.h"

#define HGMODEL_IF_Required(...) __VA_ARGS__
#define HGMODEL_IF_Optional(...) __VA_ARGS__
#define HGMODEL_IF_NotModelled(...)

namespace model::abi {

// The functions that the files of this folder define, with the types of the table. A function without a definition does
// not link.
namespace functions {
#define HIP_FUNCTION(name, need, ...) HGMODEL_IF_##need(std::remove_pointer_t<decltype(hip::Api::name)> name;)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
}  // namespace functions

namespace {

thread_local InProcess* current = nullptr;

hip::Api make_table() {
  hip::Api api;
#define HIP_FUNCTION(name, need, ...) HGMODEL_IF_##need(api.name = functions::name;)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
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
