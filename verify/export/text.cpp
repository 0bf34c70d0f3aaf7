#include "verify/export/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>

namespace verify {
namespace {

constexpr std::size_t kColumns = 110;
constexpr std::string_view kWait = "hipDeviceSynchronize()", kWaitForAll = "synchronize_devices()";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The name of the HIP function in a call, which may stand inside of a helper: "hipGraphLaunch".
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
  if (thread == 0 || thread == thread_) return call;
  need(HelperFunction::kThread);
  return fmt::format("on_thread<{}>([&] {{ return {}; }})", thread, call);
}

void ReproducerText::wait() {
  if (thread_ != 0) return;  // another thread may capture
  const std::string_view wait = devices_ > 1 ? kWaitForAll : kWait;
  if (lines_.size() > begun_ && lines_.back().find(wait) != std::string::npos) return;
  must(wait);
}

std::vector<std::string> ReproducerText::take(std::size_t from) {
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(from);
  std::vector<std::string> taken(std::make_move_iterator(begin), std::make_move_iterator(lines_.end()));
  lines_.erase(begin, lines_.end());
  return taken;
}

void ReproducerText::begin_thread(std::uint32_t thread, std::size_t count) {
  need(HelperFunction::kThread);
  need_header("atomic");
  thread_ = thread;
  line(fmt::format("for (++begun; begun < {};) {{}}", count));
  begin_rounds();
}

void ReproducerText::end_thread(std::size_t from) {
  const std::vector<std::string> lines = take(from);
  line(fmt::format("std::thread thread{0}([&] {{ static_cast<void>(on_thread<{0}>([&] {{", thread_));
  for (const std::string& each : lines) line("  " + each);
  line("  return hipSuccess;");
  line("})); });");
  thread_ = 0;
}

void ReproducerText::in_threads(std::size_t from, const std::set<std::uint32_t>& threads) {
  const std::vector<std::string> lines = take(from);
  line("{");
  line("  std::atomic<int> begun{0};");
  for (const std::string& each : lines) line("  " + each);
  for (const std::uint32_t thread : threads) line(fmt::format("  thread{}.join();", thread));
  line("}");
  begin_rounds();
}

void ReproducerText::in_loop(std::size_t from, std::string_view variable, std::uint32_t times) {
  const std::vector<std::string> lines = take(from);
  line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", variable, times));
  for (const std::string& each : lines) line("  " + each);
  line("}");
}

std::vector<std::string> looped(const std::vector<std::string>& lines) {
  constexpr std::size_t kWorthALoop = 3;
  // Splits a line that adds a node into "MUST(hipGraphAddEmptyNode(", the node, and the rest.
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

void ReproducerText::write_includes(std::string& out, const Reproducer& reproducer) const {
  const bool catch2 = form_ == ReproducerForm::kCatch2;
  const auto any = [this](std::initializer_list<HelperFunction> helpers) {
    return std::ranges::any_of(helpers, [this](HelperFunction h) { return helpers_.contains(h); });
  };
  out += catch2 ? "#include <hip_test_common.hh>\n\n" : "#include <hip/hip_runtime.h>\n\n";
  std::set<std::string> headers = headers_;
  headers.insert("cstdlib");
  if (!catch2) headers.insert("cstdio");
  if (reproducer.dies && !catch2) headers.insert({"csignal", "unistd.h"});
  if (!catch2 && !reproducer.program.setting.environment.empty()) headers.insert("cstring");
  if (any({HelperFunction::kFill, HelperFunction::kExtra})) headers.insert("cstring");
  if (any({HelperFunction::kHost})) headers.insert({"map", "mutex"});
  if (checks_ || catch2) headers.insert("string");
  if (any({HelperFunction::kHex, HelperFunction::kLoad, HelperFunction::kStore})) headers.insert("vector");
  if (any({HelperFunction::kThread})) headers.insert({"functional", "semaphore.h", "thread", "utility"});
  if (any({HelperFunction::kDot})) headers.insert({"algorithm", "fstream", "iterator", "map", "unistd.h"});
  for (const std::string& header : headers) out += fmt::format("#include <{}>\n", header);
  out += "\n";
}

void ReproducerText::write_helpers(std::string& out) const {
  if (devices_ > 1) out += fmt::format(kWaitHelper, devices_);
  for (const HelperFunction helper : with_used(helpers_)) {
    std::string text(source_of(helper));
    if (devices_ > 1) replace_all(text, kWait, kWaitForAll);
    if (form_ == ReproducerForm::kCatch2) replace_all(text, "MUST(", "HIP_CHECK(");
    out += text;
  }
}

void ReproducerText::write_checks(std::string& out, bool dies) const {
  out += dies ? kMustOrDie : kMust;
  if (fails_) out += kFails;
  if (checks_) out += kCheck;
}

std::string ReproducerText::variable_of(std::uint32_t buffer) const {
  return fmt::format("symbol{}", variables_.at(buffer));
}

static void require_variables(std::string& out, const Reproducer& reproducer) {
  for (const auto& [name, value] : reproducer.program.setting.environment) {
    out += fmt::format("  REQUIRE(std::string(getenv(\"{0}\") == nullptr ? \"\" : getenv(\"{0}\")) == \"{1}\");\n",
                       name, value);
  }
}

static void begin_main(std::string& out, const Reproducer& reproducer) {
  for (const auto& [name, value] : reproducer.program.setting.environment) {
    out += fmt::format(
        "  if (getenv(\"{0}\") == nullptr || strcmp(getenv(\"{0}\"), \"{1}\") != 0) {{\n"
        "    puts(\"start it with {0}={1} in its environment\");\n    return 2;\n  }}\n",
        name, value);
  }
  if (reproducer.dies) out += kDies;
}

std::string ReproducerText::file(const Reproducer& reproducer) const {
  const bool catch2 = form_ == ReproducerForm::kCatch2;
  std::string out;
  for (const std::string& each : reproducer.comment) out += each.empty() ? "//\n" : fmt::format("// {}\n", each);
  write_includes(out, reproducer);
  if (catch2) {
    out += "namespace {\n";
  } else {
    write_checks(out, reproducer.dies);
  }
  write_helpers(out);
  // A module finds its kernels and variables by name, so they are not in an anonymous namespace.
  const bool outside = catch2 && helpers_.contains(HelperFunction::kOwnCode);
  if (outside) out += "}  // namespace\n\n";
  out += kernel_sources(kernels_, helpers_.contains(HelperFunction::kOfModule));
  std::set<std::string> variables;
  for (const auto& [buffer, n] : variables_) variables.insert(variable_of(buffer));
  for (const std::string& name : variables)
    out += fmt::format("__device__ __attribute__((aligned(256))) char {}[{}];\n", name, kSymbolBytes);
  if (outside) out += "\nnamespace {\n";
  if (catch2) {
    std::string name = reproducer.name;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    out += fmt::format("}}  // namespace\n\nTEST_CASE(\"Unit_hipGraph_{}\") {{\n", name);
    require_variables(out, reproducer);
  } else {
    out += reproducer.attempts > 1 ? "\nvoid attempt() {\n" : "\nint main() {\n";
    if (reproducer.attempts == 1) begin_main(out, reproducer);
  }
  for (const std::string& each : looped(lines_)) out += wrapped(each, 2);
  if (!catch2 && reproducer.attempts > 1) {
    out += "}\n\nint main() {\n";
    begin_main(out, reproducer);
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

}  // namespace verify
