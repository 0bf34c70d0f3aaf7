// The loader: a table filled from a shared library, and the names of statuses.
#include "hip/api/api.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "hip/releases/releases.h"

namespace hip {
namespace {

// The names are macro-expanded before they become strings, so that a function which HIP's header renames (such as
// hipGetDeviceProperties) is looked up, and reported, under the name that its library exports.
#define HGCHECK_SYMBOL(name) #name

enum class Need { kRequired, kOptional, kNotModelled };

struct StatusName {
  int status;
  const char* name;
};

// Aliases are left out: one number, one name.
#define HGCHECK_STATUS(name)      \
  StatusName {                    \
    static_cast<int>(name), #name \
  }
constexpr std::array kStatusNames{
    HGCHECK_STATUS(hipSuccess),
    HGCHECK_STATUS(hipErrorInvalidValue),
    HGCHECK_STATUS(hipErrorOutOfMemory),
    HGCHECK_STATUS(hipErrorNotInitialized),
    HGCHECK_STATUS(hipErrorDeinitialized),
    HGCHECK_STATUS(hipErrorProfilerDisabled),
    HGCHECK_STATUS(hipErrorProfilerNotInitialized),
    HGCHECK_STATUS(hipErrorProfilerAlreadyStarted),
    HGCHECK_STATUS(hipErrorProfilerAlreadyStopped),
    HGCHECK_STATUS(hipErrorInvalidConfiguration),
    HGCHECK_STATUS(hipErrorInvalidPitchValue),
    HGCHECK_STATUS(hipErrorInvalidSymbol),
    HGCHECK_STATUS(hipErrorInvalidDevicePointer),
    HGCHECK_STATUS(hipErrorInvalidMemcpyDirection),
    HGCHECK_STATUS(hipErrorInsufficientDriver),
    HGCHECK_STATUS(hipErrorMissingConfiguration),
    HGCHECK_STATUS(hipErrorPriorLaunchFailure),
    HGCHECK_STATUS(hipErrorInvalidDeviceFunction),
    HGCHECK_STATUS(hipErrorNoDevice),
    HGCHECK_STATUS(hipErrorInvalidDevice),
    HGCHECK_STATUS(hipErrorInvalidImage),
    HGCHECK_STATUS(hipErrorInvalidContext),
    HGCHECK_STATUS(hipErrorContextAlreadyCurrent),
    HGCHECK_STATUS(hipErrorMapFailed),
    HGCHECK_STATUS(hipErrorUnmapFailed),
    HGCHECK_STATUS(hipErrorArrayIsMapped),
    HGCHECK_STATUS(hipErrorAlreadyMapped),
    HGCHECK_STATUS(hipErrorNoBinaryForGpu),
    HGCHECK_STATUS(hipErrorAlreadyAcquired),
    HGCHECK_STATUS(hipErrorNotMapped),
    HGCHECK_STATUS(hipErrorNotMappedAsArray),
    HGCHECK_STATUS(hipErrorNotMappedAsPointer),
    HGCHECK_STATUS(hipErrorECCNotCorrectable),
    HGCHECK_STATUS(hipErrorUnsupportedLimit),
    HGCHECK_STATUS(hipErrorContextAlreadyInUse),
    HGCHECK_STATUS(hipErrorPeerAccessUnsupported),
    HGCHECK_STATUS(hipErrorInvalidKernelFile),
    HGCHECK_STATUS(hipErrorInvalidGraphicsContext),
    HGCHECK_STATUS(hipErrorInvalidSource),
    HGCHECK_STATUS(hipErrorFileNotFound),
    HGCHECK_STATUS(hipErrorSharedObjectSymbolNotFound),
    HGCHECK_STATUS(hipErrorSharedObjectInitFailed),
    HGCHECK_STATUS(hipErrorOperatingSystem),
    HGCHECK_STATUS(hipErrorInvalidHandle),
    HGCHECK_STATUS(hipErrorIllegalState),
    HGCHECK_STATUS(hipErrorNotFound),
    HGCHECK_STATUS(hipErrorNotReady),
    HGCHECK_STATUS(hipErrorIllegalAddress),
    HGCHECK_STATUS(hipErrorLaunchOutOfResources),
    HGCHECK_STATUS(hipErrorLaunchTimeOut),
    HGCHECK_STATUS(hipErrorPeerAccessAlreadyEnabled),
    HGCHECK_STATUS(hipErrorPeerAccessNotEnabled),
    HGCHECK_STATUS(hipErrorSetOnActiveProcess),
    HGCHECK_STATUS(hipErrorContextIsDestroyed),
    HGCHECK_STATUS(hipErrorAssert),
    HGCHECK_STATUS(hipErrorHostMemoryAlreadyRegistered),
    HGCHECK_STATUS(hipErrorHostMemoryNotRegistered),
    HGCHECK_STATUS(hipErrorLaunchFailure),
    HGCHECK_STATUS(hipErrorCooperativeLaunchTooLarge),
    HGCHECK_STATUS(hipErrorNotSupported),
    HGCHECK_STATUS(hipErrorStreamCaptureUnsupported),
    HGCHECK_STATUS(hipErrorStreamCaptureInvalidated),
    HGCHECK_STATUS(hipErrorStreamCaptureMerge),
    HGCHECK_STATUS(hipErrorStreamCaptureUnmatched),
    HGCHECK_STATUS(hipErrorStreamCaptureUnjoined),
    HGCHECK_STATUS(hipErrorStreamCaptureIsolation),
    HGCHECK_STATUS(hipErrorStreamCaptureImplicit),
    HGCHECK_STATUS(hipErrorCapturedEvent),
    HGCHECK_STATUS(hipErrorStreamCaptureWrongThread),
    HGCHECK_STATUS(hipErrorGraphExecUpdateFailure),
    // By number: HIP 6.4 has no enumerators for these.
    StatusName{911, "hipErrorInvalidChannelDescriptor"},
    StatusName{912, "hipErrorInvalidTexture"},
    HGCHECK_STATUS(hipErrorUnknown),
    HGCHECK_STATUS(hipErrorRuntimeMemory),
    HGCHECK_STATUS(hipErrorRuntimeOther),
    HGCHECK_STATUS(hipErrorTbd),
};

// Fills every entry that the library has; the others stay null.
Api fill_table(void* library) {
  Api api;
#define HIP_FUNCTION(name, ...) api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, HGCHECK_SYMBOL(name)));
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  return api;
}

// The missing functions that are required, and the missing optional functions that the client asks for.
std::vector<std::string_view> lacking_functions(const MissingFunctions& missing, const LoadOptions& options) {
  std::vector<std::string_view> lacking = missing.required;
  for (const std::string_view name : missing.optional) {
    if (std::ranges::find(options.functions, name) != options.functions.end()) {
      lacking.push_back(name);
    }
  }
  return lacking;
}

std::string dl_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given";
}

}  // namespace

MissingFunctions missing_functions(const Api& api) {
  MissingFunctions missing;
#define HIP_FUNCTION(name, need, ...)                                                    \
  if (api.name == nullptr) {                                                             \
    auto& list = Need::k##need == Need::kRequired ? missing.required : missing.optional; \
    list.emplace_back(HGCHECK_SYMBOL(name));                                             \
  }
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  return missing;
}

Result<LoadedApi> load_api(const std::string& path, const LoadOptions& options) {
  // dlopen("") opens the program itself, and a caller that names a runtime never means the program.
  if (path.empty()) return Error{hipErrorInvalidValue, "cannot load a HIP runtime: the path is empty"};
  // RTLD_LOCAL, so that two runtimes in one process do not take each other's symbols. RTLD_NOW, so that a library with
  // undefined symbols fails here and not in the middle of a program.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{hipErrorSharedObjectInitFailed, "cannot load the HIP runtime '" + path + "': " + dl_error()};
  }
  LoadedApi loaded;
  loaded.library = std::shared_ptr<void>(handle, [](void* library) {
    // If that fails, the library stays loaded: nothing depends on it, and no caller is left to report it to.
    static_cast<void>(dlclose(library));
  });
  loaded.path = path;
  loaded.api = fill_table(handle);
  loaded.missing = missing_functions(loaded.api);
  const std::vector<std::string_view> lacking = lacking_functions(loaded.missing, options);
  std::string lacks;
  for (const std::string_view name : lacking) lacks.append(" ").append(name);
  if (loaded.api.hipRuntimeGetVersion != nullptr && options.minimum_version > 0) {
    int version = 0;
    const hipError_t status = loaded.api.hipRuntimeGetVersion(&version);
    if (status != hipSuccess) return Error{status, "'" + path + "' does not say its version: " + status_name(status)};
    if (version < options.minimum_version && !is_cuda_version(version)) {
      return Error{hipErrorInsufficientDriver, "'" + path + "' is HIP " + version_name(version) + ", and at least " +
                                                   version_name(options.minimum_version) + " is needed" +
                                                   (lacks.empty() ? "" : "; it lacks" + lacks)};
    }
  }
  if (lacking.empty()) return loaded;
  if (dlsym(handle, "hgpatcher_abi") != nullptr) {  // hip/patcher_abi.h
    return Error{hipErrorSharedObjectSymbolNotFound, "'" + path +
                                                         "' is no HIP runtime but a patcher for one; remedy: " +
                                                         "name the runtime before it, as in model:lib=" + path};
  }
  return Error{hipErrorSharedObjectSymbolNotFound,
               "'" + path + "' is not a HIP runtime that can be used here; it lacks" + lacks};
}

Result<int> version_of_release(const Api& api) {
  int version = 0;
  hipError_t status = api.hipRuntimeGetVersion(&version);
  if (status != hipSuccess) return Error{status, "hipRuntimeGetVersion answered " + status_name(status)};
  if (!is_cuda_version(version)) return version;
  status = api.hipDriverGetVersion(&version);
  if (status != hipSuccess) return Error{status, "hipDriverGetVersion answered " + status_name(status)};
  return version;
}

std::string version_name(int version) {
  if (is_cuda_version(version)) return release_name_of(version);
  constexpr int kMajor = 10000000, kMinor = 100000;
  return std::to_string(version / kMajor) + "." + std::to_string(version % kMajor / kMinor) + "." +
         std::to_string(version % kMinor);
}

std::string status_name(int status) {
  for (const StatusName& known : kStatusNames) {
    if (known.status == status) return known.name;
  }
  return "hipError_t(" + std::to_string(status) + ")";
}

}  // namespace hip
