// Makes hip::RecordedNode objects of a program's nodes: packs arguments, freezes scalars, states relocations.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hip/recording.h"
#include "verify/program/program.h"

namespace verify {

// The addresses and functions from which a record is made.
struct RecordContext {
  const hip::AddressTable& addresses;  // by buffer id
  const hip::AddressTable& frozen;     // the addresses that addr() scalars take
  std::function<hipFunction_t(const KernelParams&)> function;
  // A host function's parameters; the executor owns the object that user data points at.
  std::function<hipHostNodeParams(const HostParams&)> host;
  std::function<std::shared_ptr<const hip::Recording>(const ChildParams&)> child;
  std::function<hipEvent_t(Id)> event;
  std::function<hipExternalSemaphore_t(Id)> semaphore;
  std::function<Id(Id)> device;           // the device of a buffer's memory
  std::function<const void*(Id)> symbol;  // HIP's name of a buffer that is a variable
};

// The arguments of a kernel as a layout for differential capture.
[[nodiscard]] std::vector<hip::ArgumentSlot> slots_of(const KernelSpec& spec);

// The name of a function that nodes of this type need and that the runtime lacks, or null.
[[nodiscard]] const char* missing_function(const hip::Api& api, const NodeParams& params);

// Leaves the node's dependencies empty.
[[nodiscard]] hip::RecordedNode make_record(const NodeParams& params, const RecordContext& context);

}  // namespace verify
