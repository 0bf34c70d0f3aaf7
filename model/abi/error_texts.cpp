// hipGetErrorName and hipGetErrorString of libhgmodel.so.
//
// Both return text that lasts as long as the process. A number that HIP does not have is "hipErrorUnknown", "unknown
// error", as on AMD's runtime. The texts are the answers of AMD's 7.2.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "hip/api/api.h"

namespace {

struct ErrorText {
  int error;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
    {0, "no error"},
    {1, "invalid argument"},
    {2, "out of memory"},
    {3, "initialization error"},
    {4, "driver shutting down"},
    {5, "profiler disabled while using external profiling tool"},
    {6, "profiler is not initialized"},
    {7, "profiler already started"},
    {8, "profiler already stopped"},
    {9, "invalid configuration argument"},
    {12, "invalid pitch argument"},
    {13, "invalid device symbol"},
    {17, "invalid device pointer"},
    {21, "invalid copy direction for memcpy"},
    {35, "driver version is insufficient for runtime version"},
    {52, "__global__ function call is not configured"},
    {53, "unspecified launch failure in prior launch"},
    {98, "invalid device function"},
    {100, "no ROCm-capable device is detected"},
    {101, "invalid device ordinal"},
    {200, "device kernel image is invalid"},
    {201, "invalid device context"},
    {202, "context is already current context"},
    {205, "mapping of buffer object failed"},
    {206, "unmapping of buffer object failed"},
    {207, "array is mapped"},
    {208, "resource already mapped"},
    {209, "no kernel image is available for execution on the device"},
    {210, "resource already acquired"},
    {211, "resource not mapped"},
    {212, "resource not mapped as array"},
    {213, "resource not mapped as pointer"},
    {214, "uncorrectable ECC error encountered"},
    {215, "limit is not supported on this architecture"},
    {216, "exclusive-thread device already in use by a different thread"},
    {217, "peer access is not supported between these two devices"},
    {218, "invalid kernel file"},
    {219, "invalid OpenGL or DirectX context"},
    {300, "device kernel image is invalid"},
    {301, "file not found"},
    {302, "shared object symbol not found"},
    {303, "shared object initialization failed"},
    {304, "OS call failed or operation not supported on this OS"},
    {400, "invalid resource handle"},
    {401, "the operation cannot be performed in the present state"},
    {500, "named symbol not found"},
    {600, "device not ready"},
    {700, "an illegal memory access was encountered"},
    {701, "too many resources requested for launch"},
    {702, "the launch timed out and was terminated"},
    {704, "peer access is already enabled"},
    {705, "peer access has not been enabled"},
    {708, "cannot set while device is active in this process"},
    {709, "context is destroyed"},
    {710, "device-side assert triggered"},
    {712, "part or all of the requested memory range is already mapped"},
    {713, "pointer does not correspond to a registered memory region"},
    {719, "unspecified launch failure"},
    {720, "too many blocks in cooperative launch"},
    {801, "operation not supported"},
    {900, "operation not permitted when stream is capturing"},
    {901, "operation failed due to a previous error during capture"},
    {902, "operation would result in a merge of separate capture sequences"},
    {903, "capture was not ended in the same stream as it began"},
    {904, "capturing stream has unjoined work"},
    {905, "dependency created on uncaptured work in another stream"},
    {906, "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "operation not permitted on an event last recorded in a capturing stream"},
    {908, "attempt to terminate a thread-local capture sequence from another thread"},
    {910,
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {911, "invalid resource description of texture passed to the api"},
    {912, "invalid texture object passed to the api"},
    {1052, "runtime memory call returned error"},
    {1053, "runtime call other than memory returned error"},
    {1054, "unknown error"},
};

const ErrorText* find_text(hipError_t error) {
  const auto* found = std::ranges::find(kErrorTexts, static_cast<int>(error), &ErrorText::error);
  return found == std::end(kErrorTexts) ? nullptr : found;
}

// In the order of kErrorTexts. Never destroyed: a program may ask until it ends.
const std::vector<std::string>& names() {
  static const auto* const all = [] {
    auto* made = new std::vector<std::string>;
    for (const ErrorText& row : kErrorTexts) made->push_back(hip::status_name(row.error));
    return made;
  }();
  return *all;
}

}  // namespace

extern "C" const char* hipGetErrorName(hipError_t error) {
  const ErrorText* found = find_text(error);
  return found == nullptr ? "hipErrorUnknown" : names()[static_cast<std::size_t>(found - kErrorTexts)].c_str();
}

extern "C" const char* hipGetErrorString(hipError_t error) {
  const ErrorText* found = find_text(error);
  return found == nullptr ? "unknown error" : found->text;
}
