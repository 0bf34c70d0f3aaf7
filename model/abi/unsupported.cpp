// One weak function for every symbol of the table: a definition elsewhere in the library takes its place.
//
// The functions are declared without parameters, so this file must not see HIP's header. That is sound where the caller
// cleans up the arguments, as in every calling convention of the hosts that HIP supports.
#include "model/abi/unsupported.h"

#include <cstdio>
#include <set>
#include <string>

#include "hip/sync/sync.h"

// The weak functions lie in a section of their own: is_supported() tells them from the others by it.
#define HIP_FUNCTION(name, ...)                                              \
  extern "C" __attribute__((weak, noinline, section("hgmodel_unsupported"))) \
  __attribute__((visibility("default"))) int                                 \
  name() {                                                                   \
    return model::abi::unsupported(#name);                                   \
  }
#define OTHER_FUNCTION HIP_FUNCTION
#define IMPLICIT_FUNCTION HIP_FUNCTION
#include "hip/api/functions.inc"
#include "hip/api/other_functions.inc"
#undef HIP_FUNCTION

// The linker defines these symbols, because the section is never empty: the model always lacks some function.
extern "C" __attribute__((visibility("hidden"))) const char __start_hgmodel_unsupported[];
extern "C" __attribute__((visibility("hidden"))) const char __stop_hgmodel_unsupported[];

namespace model::abi {
namespace {

constexpr int kNotSupported = 801;  // hipErrorNotSupported

struct Symbol {
  std::string_view name;
  int (*function)();
};

constexpr Symbol kSymbols[] = {
#define HIP_FUNCTION(name, ...) {#name, &::name},
#include "hip/api/functions.inc"
#include "hip/api/other_functions.inc"
#undef HIP_FUNCTION
#undef OTHER_FUNCTION
#undef IMPLICIT_FUNCTION
};

const Symbol* find_symbol(std::string_view name) {
  for (const Symbol& symbol : kSymbols) {
    if (symbol.name == name) return &symbol;
  }
  return nullptr;
}

}  // namespace

void* find_function(std::string_view name) {
  const Symbol* symbol = find_symbol(name);
  return symbol == nullptr ? nullptr : reinterpret_cast<void*>(symbol->function);
}

bool is_supported(std::string_view name) {
  const Symbol* symbol = find_symbol(name);
  if (symbol == nullptr) return false;
  const char* at = reinterpret_cast<const char*>(symbol->function);
  return at < __start_hgmodel_unsupported || at >= __stop_hgmodel_unsupported;
}

int unsupported(const char* name) {
  static hip::sync::Mutex mutex;
  static std::set<std::string>* const said = new std::set<std::string>;  // programs call HIP from their destructors
  const hip::sync::LockGuard lock(mutex);
  if (said->insert(name).second) std::fprintf(stderr, "hgmodel: %s is not supported by the model\n", name);
  return kNotSupported;
}

}  // namespace model::abi
