// Compiled once a release, against that release's headers: prints the release of the headers and the one that the
// runtime library (its name is the argument) says it is, `6.4 6.4`. Ends with 1 when the library cannot be used.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstdio>

int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  using VersionFunction = decltype(&hipRuntimeGetVersion);
  const auto version_of = reinterpret_cast<VersionFunction>(dlsym(library, "hipRuntimeGetVersion"));
  int version = 0;
  // Release 7 answers without a device. Earlier releases return an error without one, but still write the version.
  if (version_of == nullptr || (version_of(&version) != hipSuccess && version == 0)) return 1;
  std::printf("%d.%d %d.%d\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR, version / 10'000'000, version / 100'000 % 100);
  return 0;
}
