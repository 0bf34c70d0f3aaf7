// The kernel behind a handle or a host function: its name, its arguments, and its code object. Variables of device
// code.
//
// Known from the code that the program loads (hipModuleLoadData and the like) and registers (compiled-in kernels). A
// code object is kept as a file beside the log, once. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hip/recorder/log.h"

namespace hip::recorder {

// Holds the lock of this file while the process forks; see recorder.cpp.
void hold_kernels();
void let_go_of_kernels();

void module_loaded(hipModule_t module, const void* image);
void module_file_loaded(hipModule_t module, const char* path);
// The module ends: variables of a later module with the same handle are said again.
void module_ends(hipModule_t module);
void function_found(hipFunction_t function, hipModule_t module, const char* name);
void binary_registered(void** handle, const void* wrapper);
void function_registered(void** handle, const void* host_function, const char* name);

void variable_registered(void** handle, const void* symbol, const char* name, std::size_t bytes);
// Log that a variable of a module, or a registered one, is at this address: "variable ADDRESS BYTES NAME CODE_OBJECT
// MODULE", once for each address, so that the thread that named the variable first is its maker.
void variable_found(const void* address, std::size_t bytes, hipModule_t module, const char* name);
void symbol_found(const void* address, const void* symbol);
// Where a copy to or from a symbol begins. The log names the variable by its host symbol.
void* symbol_at(const void* symbol, std::size_t offset);

// Writes the kernel of a launch: " NAME CODE_OBJECT MODULE params|extra ARGUMENTS", or without arguments where there is
// no metadata; `function` is a hipFunction_t or a host function.
void describe_kernel(Line& line, const void* function, void** params, void** extra);
// Work that the program gives to the device, now or later, may write wherever an argument of this kernel points to, or
// a word of a struct among them. Addresses that the kernel finds in memory are not seen.
void kernel_may_write(const void* function, void** params, void** extra);

}  // namespace hip::recorder
