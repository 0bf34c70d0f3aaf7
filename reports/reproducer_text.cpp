#include "reports/reproducer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace reports {
namespace {

constexpr std::size_t kColumns = 110;
constexpr std::string_view kWait = "hipDeviceSynchronize()", kWaitForAll = "synchronize_devices()";
// Of as many devices as the program has.
constexpr std::string_view kWaitHelper = R"(hipError_t synchronize_devices() {{
  hipError_t status = hipSuccess;
  for (int device = 0; device < {} && status == hipSuccess; ++device) {{
    status = hipSetDevice(device);
    if (status == hipSuccess) status = hipDeviceSynchronize();
  }}
  const hipError_t back = hipSetDevice(0);
  return status == hipSuccess ? back : status;
}}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The helpers, by Helper. Nothing that a reader of HIP would have to look up.
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
    R"(// A host function: counts itself and, given memory, mixes its tag into it.
struct Host { unsigned tag; char** memory; size_t offset, bytes; };
std::map<unsigned, int> runs;
void host(void* data) {
  const Host& h = *static_cast<Host*>(data);
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
hipError_t with_kernel(void (*kernel)(P...), unsigned grid, unsigned block, Use use, typename Same<P>::type... arguments) {
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
hipError_t with_extra(void (*kernel)(P...), unsigned grid, unsigned block, Use use, typename Same<P>::type... arguments) {
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
    R"(// A call that captures may forbid.
hipError_t unsafe_call() {
  void* memory = nullptr;
  const hipError_t error = hipMalloc(&memory, 64);
  return error == hipSuccess ? hipFree(memory) : error;
}
)",
    R"(// HIP 7 has no way to a context that is not deprecated, and its driver's functions ask for one.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
hipCtx_t context() {
  hipCtx_t current = nullptr;
  MUST(hipCtxGetCurrent(&current));
  return current;
}
)"};

// What each helper calls.
const std::pair<Helper, Helper> kUses[] = {
    {Helper::kFill, Helper::kStore}, {Helper::kHex, Helper::kLoad}, {Helper::kExtra, Helper::kKernel}};

constexpr std::string_view kHipMust = R"(#define MUST(...) must(hipSuccess, (__VA_ARGS__), #__VA_ARGS__)
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
// A call that fails after the process was damaged is the failure as well.
constexpr std::string_view kHipMustOrDie = R"(#define MUST(...) must(hipSuccess, (__VA_ARGS__), #__VA_ARGS__)
void must(hipError_t expected, hipError_t error, const char* call) {
  if (error == expected) return;
  printf("%s\n  expected %s\n  observed %s\n", call, hipGetErrorName(expected), hipGetErrorName(error));
  exit(error == hipErrorNoDevice ? 2 : 1);
}
)";
constexpr std::string_view kHipFails = R"(#define FAILS(error, ...) must(error, (__VA_ARGS__), #__VA_ARGS__)
)";
constexpr std::string_view kHipCheck = R"(int failures = 0;
void check(const char* what, const std::string& expected, const std::string& observed) {
  if (expected == observed) return;
  printf("%s\n  expected %s\n  observed %s\n", what, expected.c_str(), observed.c_str());
  ++failures;
}
)";
// The heap may be what broke, so nothing behind the signal allocates: printf's first call would, and abort again. The
// stack may have run over, so signals have one of their own.
constexpr std::string_view kHipDies = R"(  setbuf(stdout, nullptr);
  static char signal_stack[65536];
  stack_t own{};
  own.ss_sp = signal_stack;
  own.ss_size = sizeof signal_stack;
  sigaltstack(&own, nullptr);
  struct sigaction action{};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int number) {
    char said[80];
    const int size = snprintf(said, sizeof said, "the process\n  expected an end\n  observed signal %d (14: it hung)\n", number);
    _exit(write(1, said, size) == size ? 1 : 2);
  };
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(fatal, &action, nullptr);
  alarm(30);
)";

// hipGraphLaunch, of a call that may stand in one of the helpers.
std::string_view function_in(std::string_view call) {
  const std::size_t hip = call.find("hip"), from = hip == std::string_view::npos ? 0 : hip;
  return call.substr(from, call.find('(', from) - from);
}

}  // namespace

std::string wrapped(const std::string& line, std::size_t indent) {
  std::string out(indent, ' ');
  std::size_t column = indent, from = 0;
  while (from < line.size()) {
    std::size_t end = line.find(", ", from);
    end = end == std::string::npos ? line.size() : end + 2;
    if (column > indent && column + end - from > kColumns) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += "\n" + std::string(indent + 4, ' ');
      column = indent + 4;
    }
    out.append(line, from, end - from);
    column += end - from;
    from = end;
  }
  return out + "\n";
}

void ReproducerText::must(std::string_view call) {
  line(fmt::format("{}({});", form_ == ReproducerForm::kHip ? "MUST" : "HIP_CHECK", call));
}

void ReproducerText::call(const ExpectedStatus& expected, std::string_view call) {
  if (form_ == ReproducerForm::kCatch2) {
    if (expected.error == "hipSuccess") return must(call);
    return line(fmt::format("HIP_CHECK_ERROR({}, {});", call, expected.error));
  }
  if (expected.differs) {
    checks_ = true;
    return line(fmt::format("check(\"{}\", \"{}\", hipGetErrorName({}));", function_in(call), expected.error, call));
  }
  if (expected.error == "hipSuccess") return must(call);
  fails_ = true;
  line(fmt::format("FAILS({}, {});", expected.error, call));
}

void ReproducerText::equal(std::string_view what, std::string_view expected, std::string_view value) {
  if (form_ == ReproducerForm::kCatch2) return line(fmt::format("REQUIRE({} == {});", value, expected));
  checks_ = true;
  line(fmt::format("check(\"{}\", {}, {});", what, expected, value));
}

std::string ReproducerText::on_thread(std::uint32_t thread, const std::string& call) {
  if (thread == 0) return call;
  need(Helper::kThread);
  return fmt::format("on_thread<{}>([&] {{ return {}; }})", thread, call);
}

void ReproducerText::wait() {
  const std::string_view wait = devices_ > 1 ? kWaitForAll : kWait;
  if (!lines_.empty() && lines_.back().find(wait) != std::string::npos) return;
  must(wait);
}

std::vector<std::string> ReproducerText::take(std::size_t from) {
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(from);
  std::vector<std::string> taken(std::make_move_iterator(begin), std::make_move_iterator(lines_.end()));
  lines_.erase(begin, lines_.end());
  return taken;
}

std::vector<std::string> looped(const std::vector<std::string>& lines) {
  constexpr std::size_t kWorthALoop = 3;
  // "MUST(hipGraphAddEmptyNode(" and what follows the node, of a line that adds one.
  const auto split = [](const std::string& line) {
    const std::size_t node = line.find("Node(&"), end = node == std::string::npos ? node : line.find(", ", node);
    if (end == std::string::npos || line.find("hipGraphAdd") != line.find("hipGraph"))
      return std::array<std::string, 3>{};
    return std::array<std::string, 3>{line.substr(0, node + 5), line.substr(node + 5, end - node - 5),
                                      line.substr(end)};
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < lines.size();) {
    const std::array<std::string, 3> first = split(lines[i]);
    std::string nodes = first[1];
    std::size_t end = i + 1;
    for (; end < lines.size() && !nodes.empty(); ++end) {
      const std::array<std::string, 3> next = split(lines[end]);
      if (next[0] != first[0] || next[2] != first[2]) break;
      nodes += ", " + next[1];
    }
    if (end - i < kWorthALoop) {
      out.push_back(lines[i++]);
      continue;
    }
    out.push_back(fmt::format("for (hipGraphNode_t* node : {{{}}}) {{", nodes));
    out.push_back(fmt::format("  {}node{}", first[0], first[2]));
    out.emplace_back("}");
    i = end;
  }
  return out;
}

void ReproducerText::write_includes(std::string& out, bool dies) const {
  const bool catch2 = form_ == ReproducerForm::kCatch2;
  const auto any = [this](std::initializer_list<Helper> helpers) {
    return std::any_of(helpers.begin(), helpers.end(), [this](Helper h) { return helpers_.contains(h); });
  };
  out += catch2 ? "#include <hip_test_common.hh>\n\n" : "#include <hip/hip_runtime.h>\n\n";
  std::set<std::string> headers = headers_;
  headers.insert("cstdlib");
  if (!catch2) headers.insert("cstdio");
  if (dies && !catch2) headers.insert({"csignal", "unistd.h"});
  if (any({Helper::kFill, Helper::kExtra})) headers.insert("cstring");
  if (any({Helper::kHost})) headers.insert("map");
  if (checks_ || catch2) headers.insert("string");
  if (any({Helper::kHex, Helper::kLoad, Helper::kStore})) headers.insert("vector");
  if (any({Helper::kThread})) headers.insert({"functional", "semaphore.h", "thread", "utility"});
  for (const std::string& header : headers) out += fmt::format("#include <{}>\n", header);
  out += "\n";
}

void ReproducerText::write_helpers(std::string& out) const {
  if (devices_ > 1) out += fmt::format(kWaitHelper, devices_);
  std::set<Helper> needed = helpers_;
  for (const auto& [helper, used] : kUses) {
    if (needed.contains(helper)) needed.insert(used);
  }
  for (const Helper helper : needed) {
    std::string text(kHelpers[static_cast<std::size_t>(helper)]);
    if (devices_ > 1) replace_all(text, kWait, kWaitForAll);
    if (form_ == ReproducerForm::kCatch2) replace_all(text, "MUST(", "HIP_CHECK(");
    out += text;
  }
}

void ReproducerText::write_checks(std::string& out, bool dies) const {
  out += dies ? kHipMustOrDie : kHipMust;
  if (fails_) out += kHipFails;
  if (checks_) out += kHipCheck;
}

std::string ReproducerText::need_symbol(std::uint32_t n) {
  symbols_.insert(n);
  return fmt::format("HIP_SYMBOL(symbol{})", n);
}

std::string ReproducerText::file(const Reproducer& reproducer) const {
  const bool catch2 = form_ == ReproducerForm::kCatch2;
  std::string out;
  for (const std::string& each : reproducer.comment) out += each.empty() ? "//\n" : fmt::format("// {}\n", each);
  write_includes(out, reproducer.dies);
  if (catch2) {
    out += "namespace {\n";
  } else {
    write_checks(out, reproducer.dies);
  }
  write_helpers(out);
  out += kernel_sources(kernels_);
  for (const std::uint32_t n : symbols_) {
    out += fmt::format("__device__ __attribute__((aligned(256))) char symbol{}[{}];\n", n, verify::kSymbolBytes);
  }
  if (catch2) {
    std::string name = reproducer.name;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    out += fmt::format("}}  // namespace\n\nTEST_CASE(\"Unit_hipGraph_{}\") {{\n", name);
  } else {
    out += reproducer.attempts > 1 ? "\nvoid attempt() {\n" : "\nint main() {\n";
    if (reproducer.attempts == 1 && reproducer.dies) out += kHipDies;
  }
  for (const std::string& each : looped(lines_)) out += wrapped(each, 2);
  if (!catch2 && reproducer.attempts > 1) {
    out += "}\n\nint main() {\n";
    if (reproducer.dies) out += kHipDies;
    const std::string_view failed = checks_ ? "failures == 0" : "true";
    out += fmt::format("  // It depends on timing.\n  for (int i = 0; i < {} && {}; ++i) attempt();\n",
                       reproducer.attempts, failed);
  }
  if (!catch2) {
    out += checks_ ? "  puts(failures == 0 ? \"as documented\" : \"the failure shows\");\n  return failures != 0;\n"
                   : "  puts(\"as documented\");\n  return 0;\n";
  }
  return out + "}\n";
}

}  // namespace reports
