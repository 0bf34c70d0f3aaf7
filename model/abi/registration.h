// The device code of a program, which compiler-generated calls register before main() and unregister at the end.
//
// A fat binary holds kernels and variables; the compiler tells which host function or variable stands for which of
// them. Registering only notes that down (it happens before a program can choose options). A fat binary is loaded for a
// device when something of it is first asked for there, so every device has variables of its own. Managed variables are
// memory of the process, one for all devices, and can be used before anything is loaded.
#pragma once

#include "model/abi/context.h"

namespace model::abi {

// The kernel that `host_function` stands for, on `device`. Null: none, and `*status` says why.
[[nodiscard]] const Function* registered_kernel(State& state, const void* host_function, int device, Status* status);
// The same on the calling thread's device, as State::kernel_of_host_function wants it.
[[nodiscard]] ObjectId kernel_of_host_function(State& state, const void* host_function);
// Null: the kernel was not loaded from registered code.
[[nodiscard]] const void* host_function_of_kernel(ObjectId function);
// The name of the kernel that `host_function` stands for, valid until its code is taken back; null: none.
[[nodiscard]] const char* registered_name(const void* host_function);

// The variable that `symbol` stands for on the calling thread's device.
[[nodiscard]] Status registered_variable(State& state, const void* symbol, DeviceImage::Variable* out);

}  // namespace model::abi
