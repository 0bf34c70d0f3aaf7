// Statuses of HIP calls as values, and a sink for errors that cannot be returned to a caller.
//
// A destructor cannot return an error: its errors go to the ErrorSink of the object's options and are never dropped.
// A sink is called on the thread on which the error happened, possibly while other threads report too, and must not
// call back into the object that reports.
#pragma once

#include <utility>

#include "hip/api/api.h"
#include "hip/result/result.h"

namespace hip {

// Success, or an error that names the function and its status.
[[nodiscard]] Status called(hipError_t status, const char* function);
// The name of a function of HIP, by its member in the table hip::Api.
template <auto Function>
inline constexpr const char* kFunctionName = nullptr;
#define HIP_FUNCTION(name, ...) \
  template <>                   \
  inline constexpr const char* kFunctionName<&Api::name> = #name;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
// Calls this function of the table.
template <auto Function, class... Arguments>
[[nodiscard]] Status call(const Api& api, Arguments&&... arguments) {
  return called((api.*Function)(std::forward<Arguments>(arguments)...), kFunctionName<Function>);
}
// The name of the first of these functions that the table lacks, or null.
template <auto... Functions>
[[nodiscard]] const char* first_missing(const Api& api) {
  const char* missing = nullptr;
  const auto look = [&](bool there, const char* name) {
    if (!there && missing == nullptr) missing = name;
  };
  (look(api.*Functions != nullptr, kFunctionName<Functions>), ...);
  return missing;
}
[[nodiscard]] Error call_error(hipError_t status, const char* function);
// Success if both are; otherwise the first error, with the message of the other error, if any, appended.
[[nodiscard]] Status both(Status first, const Status& second);

// "hip: <message>", a line on the standard error stream.
void print_error(void* context, const Error& error);

struct ErrorSink {
  void (*report)(void* context, const Error& error) = print_error;
  void* context = nullptr;

  void operator()(const Error& error) const { report(context, error); }
  void operator()(const Status& status) const {
    if (!status) report(context, status.error());
  }
};

}  // namespace hip
