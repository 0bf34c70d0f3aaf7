// Kernels of the project as plain HIP: cut out of the source that device code and host code are built from
// (kernels.inc, which the build turns into a string), with its macros expanded.
#include <fmt/format.h>

#include <regex>

#include "verify/export/kernels_inc.h"
#include "verify/export/text.h"

namespace verify {
namespace {

// From `start` to the end of the first line that is `last`.
std::string block(std::string_view source, std::size_t start, std::string_view last) {
  const std::size_t end = source.find(last, start);
  if (start == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string(source.substr(start, end + last.size() - start));
}

std::string written_out(std::string text) {
  static const std::pair<std::regex, const char*> kMacros[] = {
      {std::regex(R"(HG_EACH\(i, n\))"),
       "for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"},
      {std::regex(R"(HG_EACH\((\w), ([^{]*)\) \{)"),
       "for (u64 $1 = blockIdx.x * blockDim.x + threadIdx.x; $1 < ($2); $1 += gridDim.x * blockDim.x) {"},
      {std::regex(R"(HG_KERNEL\((\w+)\))"), "__global__ void $1"},
      {std::regex(R"(HG_INLINE)"), "__device__"},
      {std::regex(R"(Ptr<([^<>]*)>)"), "$1*"},
      {std::regex(R"( && running\(\))"), ""},
      {std::regex(R"(first_item\(\))"), "blockIdx.x + threadIdx.x"},
      {std::regex(R"(// clang-format (on|off)\n)"), ""}};
  for (const auto& [macro, plain] : kMacros) text = std::regex_replace(text, macro, plain);
  return text;
}

}  // namespace

std::string kernel_sources(const std::set<std::string>& names, bool plain_names) {
  if (names.empty()) return {};
  const std::string_view source(kKernelsInc);
  std::string kernels;
  for (const std::string& name : names) {
    std::size_t start = source.find(fmt::format("HG_KERNEL({})(", name));
    if (name == "many_args") start = source.find("// clang-format off\n#define HG_PAIRS(X)");
    std::string kernel = block(source, start, "\n}\n");
    if (std::smatch type; std::regex_search(kernel, type, std::regex(R"(\((\w+Arguments) )"))) {
      kernel = block(source, source.find(fmt::format("struct {} {{", type.str(1))), "\n};\n") + kernel;
    }
    kernels += kernel;
  }
  std::string out = "using u8 = unsigned char;\nusing u16 = unsigned short;\nusing u32 = unsigned;\n";
  out += "using u64 = unsigned long long;\n";
  if (kernels.find("absorb") != std::string::npos) {
    out += block(source, source.find("template <class W, class V>"), "\n}\n");
  }
  std::string text = written_out(out + kernels);
  if (plain_names) text = std::regex_replace(text, std::regex("__global__"), "extern \"C\" __global__");
  return text;
}

}  // namespace verify
