// hip::Api: HIP as a table of functions.
//
// Everything in this project that calls HIP does it through such a table, so that the same code runs on the host model,
// on AMD's runtime, on any other HIP runtime, and on a table that fails or counts calls on purpose. The entries are
// listed once, in functions.inc, with the types of HIP's own header (so a signature can never drift). A table is plain
// data: copying it copies function pointers; it does not keep a library loaded (LoadedApi does).
#pragma once

#include <hip/hip_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hip/result/result.h"

namespace hip {

// Some of HIP's functions are deprecated; a table may still name them (a runtime under test still has them).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct Api {
#define HIPAPI_FIRST(first, ...) first
#define HIP_FUNCTION(name, need, version, group, ...) \
  HIPAPI_FIRST(__VA_OPT__(std::type_identity_t<__VA_ARGS__>, ) decltype(&::name)) name = nullptr;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
#undef HIPAPI_FIRST
};
#pragma GCC diagnostic pop

// Which entries of a table are null, by name.
struct MissingFunctions {
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
};
[[nodiscard]] MissingFunctions missing_functions(const Api& api);

// A table filled from a shared library, which stays loaded as long as this object or a copy of it lives.
struct LoadedApi {
  Api api;
  MissingFunctions missing;       // required is always empty here
  std::shared_ptr<void> library;  // the dlopen handle
  std::string path;               // as given to load()
};

// The oldest release of AMD's that hip/ was tried on, HIP 6.4, as hipRuntimeGetVersion returns it (HIP_VERSION). It
// does not apply to CUDA's versions: hip/nvidia itself reports a driver that is too old.
inline constexpr int kOldestRuntime = 60400000;

// The requirements of a client on a runtime beyond the required functions.
struct LoadOptions {
  // An older runtime is refused. 0: any is taken, and its version is not queried, which would start it (chipStar: 1).
  int minimum_version = kOldestRuntime;
  std::vector<std::string_view> functions{};  // optional functions that this client needs
};

// Fills a table from the HIP runtime at `path` (a path or a soname, as for dlopen). An error names the path, every
// function that is needed and missing, and, where the runtime is too old, both versions.
[[nodiscard]] Result<LoadedApi> load_api(const std::string& path, const LoadOptions& options = {});

// The number of the runtime's release (hip/releases/releases.h): the result of hipRuntimeGetVersion. On NVIDIA, that is
// the version of CUDA's runtime library; the driver runs the graphs, so the number is the result of hipDriverGetVersion
// there. An error is the runtime's.
[[nodiscard]] Result<int> version_of_release(const Api& api);

// "7.2.53211" ("nvidia-13.0" on NVIDIA), from the number that hipRuntimeGetVersion returns.
[[nodiscard]] std::string version_name(int version);

// The name of a status as HIP spells it ("hipErrorInvalidValue"), from the header's enumeration and not from a
// runtime, so that every report spells it alike. Unknown numbers come back as "hipError_t(N)".
[[nodiscard]] std::string status_name(int status);

}  // namespace hip
