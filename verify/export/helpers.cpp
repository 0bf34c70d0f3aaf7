#include "verify/export/helpers.h"

#include <utility>

namespace verify {
namespace {

// The sources of the helpers, by HelperFunction, in terms that a HIP programmer knows.
constexpr std::string_view kHelpers[] = {
    R"(std::vector<char> load(const char* from, size_t bytes) {
  std::vector<char> contents(bytes);
  MUST(hipDeviceSynchronize());
  MUST(hipMemcpy(contents.data(), from, bytes, hipMemcpyDefault));
  return contents;
}
)",
    R"(std::string hex(const char* from, size_t bytes) {
  std::string text;
  for (unsigned char byte : load(from, bytes)) text += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
  return text;
}
)",
    R"(void store(char* to, const std::vector<char>& contents) {
  MUST(hipDeviceSynchronize());
  MUST(hipMemcpy(to, contents.data(), contents.size(), hipMemcpyDefault));
}
)",
    R"(// A fixed pattern (SplitMix64): the bytes that are expected below were computed from it.
void fill(char* to, size_t bytes, unsigned long long buffer, unsigned long long seed) {
  std::vector<char> contents(bytes);
  unsigned long long state = (seed + 1) * 0x9e3779b97f4a7c15ull + (buffer << 32);
  for (size_t at = 0; at < bytes; at += 8) {
    unsigned long long word = state += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    word ^= word >> 31;
    memcpy(&contents[at], &word, bytes - at < 8 ? bytes - at : 8);
  }
  store(to, contents);
}
)",
    R"(// A host function: counts itself and, given memory, mixes its tag into it. Several may run at the same time.
struct Host { unsigned tag; char** memory; size_t offset, bytes; };
std::mutex counting;
std::map<unsigned, int> runs;
void host(void* data) {
  const Host& h = *static_cast<Host*>(data);
  const std::lock_guard<std::mutex> lock(counting);
  ++runs[h.tag];
  for (unsigned i = 0; i < h.bytes; ++i) {
    char& byte = (*h.memory)[h.offset + i];
    byte = static_cast<char>(static_cast<unsigned char>(byte) * 31 + h.tag + i);
  }
}
)",
    R"(template <class T> struct Same { using type = T; };
// Hands `use` the parameters of a launch of `kernel`.
template <class... P, class Use>
hipError_t with_kernel(void (*kernel)(P...), unsigned grid, unsigned block, Use use,
                       typename Same<P>::type... arguments) {
  void* list[] = {&arguments..., nullptr};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(grid);
  params.blockDim = dim3(block);
  params.kernelParams = list;
  return use(&params);
}
)",
    R"(// The same with the arguments packed, in `extra`.
template <class... P, class Use>
hipError_t with_extra(void (*kernel)(P...), unsigned grid, unsigned block, Use use,
                      typename Same<P>::type... arguments) {
  unsigned char packed[4096];
  size_t size = 0;
  auto pack = [&](const auto& argument) {
    size = (size + alignof(decltype(argument)) - 1) / alignof(decltype(argument)) * alignof(decltype(argument));
    memcpy(packed + size, &argument, sizeof argument);
    size += sizeof argument;
  };
  (pack(arguments), ...);
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(grid);
  params.blockDim = dim3(block);
  params.extra = extra;
  return use(&params);
}
)",
    R"(// Makes a call on another thread of the host, which is the same one each time and waited for.
template <int kNumber>
hipError_t on_thread(std::function<hipError_t()> call) {
  struct Helper {
    std::function<hipError_t()> call;
    hipError_t answer = hipSuccess;
    sem_t given, done;
  };
  static Helper* helper = [] {
    auto* made = new Helper;
    sem_init(&made->given, 0, 0);
    sem_init(&made->done, 0, 0);
    std::thread([made] {
      for (;;) {
        while (sem_wait(&made->given) != 0) {}
        made->answer = made->call();
        sem_post(&made->done);
      }
    }).detach();
    return made;
  }();
  helper->call = std::move(call);
  sem_post(&helper->given);
  while (sem_wait(&helper->done) != 0) {}
  return helper->answer;
}
)",
    R"(// The node that a stream captured last.
hipGraphNode_t last_captured(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  size_t count = 0;
  MUST(hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
  return count == 1 ? nodes[0] : nullptr;
}
)",
    R"(// The graph that a stream captures into.
hipGraph_t captured_into(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  MUST(hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, nullptr, nullptr));
  return graph;
}
)",
    R"(// A call that captures may forbid.
hipError_t unsafe_call() {
  void* memory = nullptr;
  const hipError_t error = hipMalloc(&memory, 64);
  return error == hipSuccess ? hipFree(memory) : error;
}
)",
    R"(// A call that captures may forbid.
hipError_t pinned_call() {
  void* memory = nullptr;
  const hipError_t error = hipHostMalloc(&memory, 64, 0);
  return error == hipSuccess ? hipHostFree(memory) : error;
}
)",
    R"(// A call that captures may forbid.
hipError_t register_call() {
  static char memory[64];
  const hipError_t error = hipHostRegister(memory, sizeof memory, 0);
  return error == hipSuccess ? hipHostUnregister(memory) : error;
}
)",
    R"(hipError_t memory_info_call() {
  size_t unused = 0, total = 0;
  return hipMemGetInfo(&unused, &total);
}
)",
    R"(// The device code of this program, which hipcc puts at the beginning of a page: an image for hipModuleLoadData.
const void* own_code() {
  const void* code = nullptr;
  dl_iterate_phdr([](dl_phdr_info* program, size_t, void* out) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const auto& part = program->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      const size_t begin = program->dlpi_addr + part.p_vaddr, end = begin + part.p_filesz;
      for (size_t at = (begin + 4095) / 4096 * 4096; at + 24 <= end; at += 4096) {
        const void* page = reinterpret_cast<const void*>(at);
        if (memcmp(page, "__CLANG_OFFLOAD_BUNDLE__", 24) != 0 && memcmp(page, "CCOB", 4) != 0) continue;
        *static_cast<const void**>(out) = page;
      }
    }
    return 1;  // the other objects are libraries
  }, &code);
  return code;
}
)",
    R"(// The kernel of that name in a module: a handle for calls that take the address of a kernel, too.
template <class... P>
auto of_module(hipModule_t module, const char* name, void (*)(P...)) {
  hipFunction_t function = nullptr;
  MUST(hipModuleGetFunction(&function, module, name));
  return reinterpret_cast<void (*)(P...)>(function);
}
)",
    R"(// HIP 7 has no way to a context that is not deprecated, and its driver's functions ask for one.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
hipCtx_t context() {
  hipCtx_t current = nullptr;
  MUST(hipCtxGetCurrent(&current));
  return current;
}
)",
    R"(// The external semaphores: imported before main(), with the value 100. The process keeps them.
struct Semaphores {
  hipExternalSemaphore_t all[8];
  Semaphores() {
    for (hipExternalSemaphore_t& one : all) {
      hipExternalSemaphoreHandleDesc handle{};
      handle.type = hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
      handle.handle.fd = eventfd(0, 0);
      MUST(hipImportExternalSemaphore(&one, &handle));
      hipExternalSemaphoreSignalParams start{};
      start.params.fence.value = 100;
      MUST(hipSignalExternalSemaphoresAsync(&one, &start, 1, nullptr));
    }
    MUST(hipDeviceSynchronize());
  }
} semaphores;
)",
    R"(// The statements with attributes of the file that hipGraphDebugDotPrint writes: names, and attributes.
std::map<std::string, std::string> dot_statements(hipGraph_t graph, unsigned flags) {
  char path[] = "/tmp/hgcheck-dot-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) exit(2);
  close(file);
  MUST(hipGraphDebugDotPrint(graph, path, flags));
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  unlink(path);
  std::map<std::string, std::string> statements;
  for (size_t begin = 0, end; (end = text.find("];", begin)) != std::string::npos; begin = end + 2) {
    const size_t open = text.find('[', begin);
    if (open < end) statements[text.substr(begin, open - begin)] = text.substr(open, end - open);
  }
  return statements;
}
// A quotation mark that is missing, or fewer than `about` nodes with more text than without flags, or "nothing".
std::string dot_flaw(hipGraph_t graph, unsigned flags, size_t about) {
  const std::map<std::string, std::string> plain = dot_statements(graph, 0), flagged = dot_statements(graph, flags);
  size_t longer = 0;
  for (const auto& [name, text] : flagged) {
    if (std::count(text.begin(), text.end(), '"') % 2 != 0) return "a quotation mark is missing";
    const auto found = plain.find(name);
    longer += found != plain.end() && text.size() > found->second.size();
  }
  return longer < about ? "the flags say nothing about some nodes" : "nothing";
}
)"};

// Pairs of a helper and the helper that it calls.
const std::pair<HelperFunction, HelperFunction> kUses[] = {{HelperFunction::kFill, HelperFunction::kStore},
                                                           {HelperFunction::kHex, HelperFunction::kLoad},
                                                           {HelperFunction::kExtra, HelperFunction::kKernel}};

}  // namespace

std::string_view source_of(HelperFunction helper) {
  return kHelpers[static_cast<std::size_t>(helper)];
}

std::set<HelperFunction> with_used(std::set<HelperFunction> helpers) {
  for (const auto& [helper, used] : kUses) {
    if (helpers.contains(helper)) helpers.insert(used);
  }
  return helpers;
}

const std::string_view kMust = R"(#define MUST(...) must(hipSuccess, (__VA_ARGS__), #__VA_ARGS__)
void must(hipError_t expected, hipError_t error, const char* call) {
  if (error == expected) return;
  // A device that faulted is the failure, whichever call notices it.
  if (error == hipErrorIllegalAddress || error == hipErrorLaunchFailure) {
    printf("%s\n  expected %s\n  observed %s\n", call, hipGetErrorName(expected), hipGetErrorName(error));
    exit(1);
  }
  printf("could not run: %s: %s\n", call, hipGetErrorName(error));
  exit(2);
}
)";
const std::string_view kMustOrDie = R"(#define MUST(...) must(hipSuccess, (__VA_ARGS__), #__VA_ARGS__)
void must(hipError_t expected, hipError_t error, const char* call) {
  if (error == expected) return;
  printf("%s\n  expected %s\n  observed %s\n", call, hipGetErrorName(expected), hipGetErrorName(error));
  exit(error == hipErrorNoDevice ? 2 : 1);
}
)";
const std::string_view kFails = R"(#define FAILS(error, ...) must(error, (__VA_ARGS__), #__VA_ARGS__)
)";
const std::string_view kCheck = R"(int failures = 0;
void check(const char* what, const std::string& expected, const std::string& observed) {
  if (expected == observed) return;
  printf("%s\n  expected %s\n  observed %s\n", what, expected.c_str(), observed.c_str());
  ++failures;
}
)";
// The process may be broken, so the handler formats nothing with libc: it only writes. The stack may have overflowed,
// so signals have a stack of their own.
const std::string_view kDies = R"(  setbuf(stdout, nullptr);
  static char signal_stack[65536];
  stack_t own{};
  own.ss_sp = signal_stack;
  own.ss_size = sizeof signal_stack;
  sigaltstack(&own, nullptr);
  struct sigaction action{};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int number) {
    static const char begin[] = "the process\n  expected an end\n  observed signal ";
    static const char end[] = " (14: it hung)\n";
    const char digits[] = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
    const size_t skipped = number < 10 ? 1 : 0;
    const bool written = write(1, begin, sizeof begin - 1) > 0 && write(1, digits + skipped, 2 - skipped) > 0 &&
                         write(1, end, sizeof end - 1) > 0;
    _exit(written ? 1 : 2);
  };
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(fatal, &action, nullptr);
  alarm(30);
)";

}  // namespace verify
