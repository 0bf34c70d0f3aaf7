// The stand-in of stub_cuda.h, of one line each of hip/nvidia/cuda_functions.inc.
//
// Each exported symbol is a jump to an instance of Stub, which knows the function's type from CUDA's header; x86-64
// only, as the project is.
#include "nvidia/stub_cuda.h"

#include <array>
#include <string_view>
#include <type_traits>

#include "hip/nvidia/headers.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" [[gnu::visibility("default")]] stub::State* hgstub_state() {
  static stub::State state;
  return &state;
}

namespace {

// Which argument of a function gets the handle of a new thing, and which kind of thing it is.
struct Maker {
  std::string_view function;
  std::size_t argument;
  const char* kind;
};
constexpr std::array kMakers{
    Maker{"cudaMalloc", 0, "device memory"},
    Maker{"cudaMallocManaged", 0, "device memory"},
    Maker{"cudaMallocAsync", 0, "device memory"},
    Maker{"cudaMallocFromPoolAsync", 0, "device memory"},
    Maker{"cudaMallocPitch", 0, "device memory"},
    Maker{"cudaMalloc3D", 0, "device memory"},
    Maker{"cuMemAddressReserve", 0, "range of addresses"},
    Maker{"cuMemCreate", 0, "physical memory"},
    Maker{"cuMemRetainAllocationHandle", 0, "physical memory"},
    Maker{"cudaHostAlloc", 0, "pinned memory"},
    Maker{"cudaMallocHost", 0, "pinned memory"},
    Maker{"cudaStreamCreateWithPriority", 0, "stream"},
    Maker{"cudaEventCreate", 0, "event"},
    Maker{"cudaEventCreateWithFlags", 0, "event"},
    Maker{"cudaMemPoolCreate", 0, "pool"},
    Maker{"cudaMemPoolImportFromShareableHandle", 0, "pool"},
    Maker{"cudaUserObjectCreate", 0, "user object"},
    Maker{"cudaGraphCreate", 0, "graph"},
    Maker{"cudaGraphClone", 0, "graph"},
    Maker{"cudaStreamEndCapture", 1, "graph"},
    Maker{"cudaGraphInstantiate", 0, "executable graph"},
    Maker{"cudaGraphInstantiateWithFlags", 0, "executable graph"},
    Maker{"cudaGraphInstantiateWithParams", 0, "executable graph"},
    Maker{"cuModuleLoad", 0, "module"},
    Maker{"cuModuleLoadData", 0, "module"},
    Maker{"cuModuleLoadDataEx", 0, "module"},
    Maker{"cuModuleGetFunction", 0, "function"},
};

struct Ender {
  std::string_view function;
  const char* kind;
};
constexpr std::array kEnders{
    Ender{"cudaFree", "device memory"},       Ender{"cudaFreeAsync", "device memory"},
    Ender{"cudaFreeHost", "pinned memory"},   Ender{"cudaStreamDestroy", "stream"},
    Ender{"cudaEventDestroy", "event"},       Ender{"cudaMemPoolDestroy", "pool"},
    Ender{"cudaGraphDestroy", "graph"},       Ender{"cudaGraphExecDestroy", "executable graph"},
    Ender{"cuModuleUnload", "module"},        Ender{"cudaUserObjectRelease", "user object"},
    Ender{"cudaGraphDestroyNode", "node"},    Ender{"cuMemAddressFree", "range of addresses"},
    Ender{"cuMemRelease", "physical memory"},
};

thread_local int last_runtime_error = 0;

void write(void* to, std::uint64_t value) {
  if (to != nullptr) std::memcpy(to, &value, sizeof value);
}

// A function that adds a node is one of many; its first argument gets the handle.
bool adds_node(std::string_view function) {
  return function.find("GraphAdd") != std::string_view::npos && function.find("Dependencies") == std::string_view::npos;
}

// `to`: where each argument lets the function write, null where it does not.
template <std::size_t Count>
void make_and_end(std::string_view function, const std::array<void*, Count>& to) {
  stub::State& state = *hgstub_state();
  const auto make = [&](std::size_t argument, const char* kind) {
    if (argument >= Count || to[argument] == nullptr) return;
    write(to[argument], state.next_handle);
    state.next_handle += 0x10;
    ++state.alive[kind];
  };
  for (const Maker& maker : kMakers) {
    if (maker.function == function) make(maker.argument, maker.kind);
  }
  for (const Ender& ender : kEnders) {
    if (ender.function == function) --state.alive[ender.kind];
  }
  if (adds_node(function)) make(0, "node");
  if (function == "cuCtxGetCurrent") write(to[0], 0xc0ffee0);
}

// Answers queries for the stub's version and last error; returns -1 for an ordinary function.
int own_answer(std::string_view function, void* first) {
  constexpr int kVersion = HGSTUB_CUDA_VERSION;
  if (function == "cudaRuntimeGetVersion" || function == "cudaDriverGetVersion" || function == "cuDriverGetVersion") {
    if (first != nullptr) std::memcpy(first, &kVersion, sizeof kVersion);
    return 0;
  }
  if (function == "cudaGetLastError") return std::exchange(last_runtime_error, 0);
  if (function == "cudaPeekAtLastError") return last_runtime_error;
  return -1;
}

template <class T>
constexpr bool kHasSize = requires { sizeof(T); };

template <class P>
stub::Argument argument_of(P given) {
  stub::Argument argument;
  const auto copy = [&argument](const void* from, std::size_t size) {
    argument.pointee.resize(size);
    std::memcpy(argument.pointee.data(), from, size);
  };
  if constexpr (std::is_pointer_v<P>) {
    argument.word = reinterpret_cast<std::uint64_t>(given);
    using Pointee = std::remove_cv_t<std::remove_pointer_t<P>>;
    if constexpr (!std::is_function_v<Pointee> && !std::is_void_v<Pointee>) {
      if constexpr (kHasSize<Pointee>) {
        if (given != nullptr) copy(given, sizeof(Pointee));
      }
    }
  } else if constexpr (std::is_class_v<P>) {
    copy(&given, sizeof given);
  } else {
    argument.word = static_cast<std::uint64_t>(given);
  }
  return argument;
}

template <class P>
void* writable(P given) {
  if constexpr (std::is_pointer_v<P>) {
    using Pointee = std::remove_pointer_t<P>;
    if constexpr (!std::is_const_v<Pointee> && !std::is_function_v<Pointee>) {
      if constexpr (std::is_void_v<Pointee>) return given;
      if constexpr (!std::is_void_v<Pointee>) {
        if constexpr (kHasSize<Pointee>) return given;
      }
    }
  }
  return nullptr;
}

template <std::size_t Count>
int answer_of(const char* function, std::vector<stub::Argument> arguments, const std::array<void*, Count>& to) {
  void* first = nullptr;
  if constexpr (Count > 0) first = to[0];
  if (const int own = own_answer(function, first); own >= 0) return own;
  stub::State& state = *hgstub_state();
  state.calls.push_back({function, std::move(arguments)});
  const auto scripted = state.answers.find(function);
  if (scripted != state.answers.end() && scripted->second != 0) {
    if (std::string_view(function).starts_with("cuda")) last_runtime_error = scripted->second;
    return scripted->second;
  }
  if constexpr (Count > 0) make_and_end(function, to);
  for (std::size_t n = 0; n < Count; ++n) {
    const auto output = state.outputs.find({function, n});
    if (output == state.outputs.end() || to[n] == nullptr) continue;
    std::memcpy(to[n], output->second.data(), output->second.size());
  }
  return 0;
}

template <class Name, class Function>
struct Stub;
template <class Name, class Status, class... P>
struct Stub<Name, Status(P...)> {
  static Status call(P... given) {
    return static_cast<Status>(answer_of<sizeof...(P)>(Name::kName, {argument_of(given)...},
                                                       std::array<void*, sizeof...(P)>{writable(given)...}));
  }
};

}  // namespace

// The symbol `symbol` leads to a stub that records its calls under `plain`, the function's name in cuda_functions.inc.
// The driver's names are macros for newer symbols, so `name` may be a newer symbol here.
#define HGSTUB_EXPORT(name, plain, symbol, type)                                                              \
  namespace {                                                                                                 \
  struct Name_##name {                                                                                        \
    static constexpr const char* kName = plain;                                                               \
  };                                                                                                          \
  }                                                                                                           \
  extern "C" {                                                                                                \
  [[gnu::visibility("hidden"), gnu::used]] auto* hgstub_to_##name = &Stub<Name_##name, type>::call;           \
  }                                                                                                           \
  asm(".pushsection .text\n.globl " symbol "\n.type " symbol ", @function\n" symbol ": jmp *hgstub_to_" #name \
      "(%rip)\n.popsection\n");
#define HGSTUB_TEXT(text) #text
#define HGSTUB_SYMBOL(name) HGSTUB_TEXT(name)

#define CUDA_RUNTIME(name) HGSTUB_EXPORT(name, #name, #name, decltype(::name))
#define CUDA_DRIVER(name) HGSTUB_EXPORT(name, #name, HGSTUB_SYMBOL(name), decltype(::name))
#if HGSTUB_CUDA_VERSION >= 13000
#define CUDA_RUNTIME_AS(name, in_12, in_13, ...) HGSTUB_EXPORT(name, #name, in_13, std::type_identity_t<__VA_ARGS__>)
#else
#define CUDA_RUNTIME_AS(name, in_12, in_13, ...) HGSTUB_EXPORT(name, #name, in_12, std::type_identity_t<__VA_ARGS__>)
#endif
#define CUDA_DRIVER_AS(name, symbol, ...) HGSTUB_EXPORT(name, #name, symbol, std::type_identity_t<__VA_ARGS__>)
#include "hip/nvidia/cuda_functions.inc"
