#include "hip/errors.h"

#include <cstdio>

#include "hip/api/api.h"

namespace hip {

Error call_error(hipError_t status, const char* function) {
  return Error{status, std::string(function) + " answered " + status_name(status)};
}

Status called(hipError_t status, const char* function) {
  if (status == hipSuccess) return {};
  return call_error(status, function);
}

Status both(Status first, const Status& second) {
  if (second.ok()) return first;
  if (first.ok()) return second;
  return Error{first.error().code, first.error().message + "; " + second.error().message};
}

void print_error(void*, const Error& error) {
  std::fprintf(stderr, "hip: %s\n", error.message.c_str());
}

}  // namespace hip
