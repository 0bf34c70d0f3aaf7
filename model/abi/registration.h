// The device code of a program, which compiler-generated calls register before main() and unregister at the end.
//
// A fat binary holds kernels and variables; the compiler's calls say which host function or variable stands for which
// of them. Registration only records this (it happens before a program can choose options). A fat binary is loaded for
// a device at the first request for one of its symbols there, so every device has its own variables. Managed variables
// are memory of the process, one for all devices, and can be used before anything is loaded.
#pragma once

#include "model/abi/context.h"

namespace model::abi {

// The kernel that `host_function` stands for, on `device`. Null: there is none; `*status` is the error.
[[nodiscard]] const Function* registered_kernel(State& state, const void* host_function, int device, Status* status);
// Null: the kernel was not loaded from registered code.
[[nodiscard]] const void* host_function_of_kernel(ObjectId function);
// The name of the kernel that `host_function` stands for, valid until its code is unregistered; null: none.
[[nodiscard]] const char* registered_name(const void* host_function);

// The variable that `symbol` stands for on the calling thread's device.
[[nodiscard]] Status registered_variable(State& state, const void* symbol, DeviceImage::Variable* out);

}  // namespace model::abi
