#include "reports/benchmarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/benchmark_curves.h"
#include "reports/html_sections.h"
#include "reports/html_tables.h"
#include "reports/html_writer.h"

namespace reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kInvalidValue = 1;      // hipErrorInvalidValue, without including HIP's headers
constexpr double kBarWidth = 160;     // pixels of the longest bar of a family
constexpr double kShortestBar = 1.5;  // pixels; still visible

// The keys that Google Benchmark writes for every benchmark; any other key with a number is a counter.
const std::set<std::string>& own_keys() {
  static const std::set<std::string> kKeys = {"family_index", "per_family_instance_index",
                                              "repetitions",  "repetition_index",
                                              "threads",      "iterations",
                                              "real_time",    "cpu_time"};
  return kKeys;
}

double nanoseconds_in(const std::string& unit) {
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  return unit == "s" ? 1e9 : 1;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

BenchmarkRun run_of(const Json& object) {
  BenchmarkRun run;
  run.name = text_of(object, "run_name");
  if (run.name.empty()) run.name = text_of(object, "name");
  run.label = text_of(object, "label");
  run.error = text_of(object, "error_message");
  const double unit = nanoseconds_in(text_of(object, "time_unit"));
  run.real = number_of(object, "real_time") * unit;
  run.processor = number_of(object, "cpu_time") * unit;
  for (const auto& item : object.items()) {
    if (item.value().is_number() && !own_keys().contains(item.key())) {
      run.counters[item.key()] = item.value().get<double>();
    }
  }
  return run;
}

// The family of a benchmark, "gemm" for "gemm/64". The times of one family are drawn to one scale.
std::string family_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

void write_bar(HtmlWriter& page, double share) {
  const double width = std::max(kShortestBar, kBarWidth * share);
  page.open("td").open("svg", {{"class", "bar"},
                               {"viewBox", fmt::format("0 0 {} 12", kBarWidth)},
                               {"width", fmt::format("{}", kBarWidth)},
                               {"height", "12"},
                               {"aria-hidden", "true"}});
  page.open("rect", {{"width", fmt::format("{:.1f}", width)}, {"height", "12"}}).close();
  page.close().close();
}

const BenchmarkRun* find(const BenchmarkResult* result, const std::string& name) {
  if (result == nullptr) return nullptr;
  const auto found = std::ranges::find(result->runs, name, &BenchmarkRun::name);
  return found == result->runs.end() || !found->error.empty() ? nullptr : &*found;
}

std::string change_text(const BenchmarkRun& now, const BenchmarkRun* before) {
  if (before == nullptr || before->processor <= 0) return "not there before";
  return fmt::format("{}, now {:.2f} times that", time_text(before->processor), now.processor / before->processor);
}

void write_run(HtmlWriter& page, const BenchmarkRun& run, double longest, const BenchmarkResult* earlier) {
  page.open("tr").element("th", run.name, {{"scope", "row"}});
  if (!run.error.empty()) {
    page.open("td", {{"colspan", earlier == nullptr ? "4" : "5"}})
        .element("span", "failed: ", {{"class", "state bad"}});
    page.text(run.error).close().close().line();
    return;
  }
  page.element("td", time_text(run.processor), {{"class", "number"}});
  write_bar(page, longest > 0 ? run.processor / longest : 0);
  page.element("td", time_text(run.real), {{"class", "number"}});
  if (earlier != nullptr) page.element("td", change_text(run, find(earlier, run.name)));
  std::string counters = run.label;
  for (const auto& [name, value] : run.counters) {
    counters += fmt::format("{}{} {:.6g}", counters.empty() ? "" : ", ", name, value);
  }
  page.element("td", counters, {{"class", "wide"}}).close().line();
}

// "gemm/8" before "gemm/64": digits are compared as numbers. Repetitions may have been taken in any order.
bool is_before(const std::string& left, const std::string& right) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && digit(text[end])) ++end;
    while (at + 1 < end && text[at] == '0') ++at;
    return text.substr(at, end - at);
  };
  std::size_t i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i]) ++i;
  while (i > 0 && digit(left[i - 1])) --i;  // the numbers that differ, from their first digit
  if (i < left.size() && i < right.size() && digit(left[i]) && digit(right[i])) {
    const std::string a = number_at(left, i), b = number_at(right, i);
    if (a.size() != b.size()) return a.size() < b.size();
    if (a != b) return a < b;
  }
  return left < right;
}

void write_family(HtmlWriter& page, const BenchmarkResult& result, const std::string& family,
                  const BenchmarkResult* earlier) {
  std::vector<const BenchmarkRun*> runs;
  double longest = 0;
  for (const BenchmarkRun& run : result.runs) {
    if (family_of(run.name) != family) continue;
    runs.push_back(&run);
    longest = std::max(longest, run.processor);
  }
  std::ranges::sort(
      runs, [](const BenchmarkRun* left, const BenchmarkRun* right) { return is_before(left->name, right->name); });
  std::vector<Column> columns = {{"Benchmark"}, {"Processor time", true}, {""}, {"Real time", true}};
  if (earlier != nullptr) columns.push_back({"Before"});
  columns.push_back({"Counters"});
  open_table(page, fmt::format("{}: one iteration", family), columns);
  for (const BenchmarkRun* run : runs) write_run(page, *run, longest, earlier);
  close_table(page);
}

std::string machine_of(const BenchmarkResult& result) {
  return fmt::format("{}, {} at {:.0f} MHz", result.date.empty() ? "no date" : result.date,
                     counted(result.processors, "processor"), result.mhz);
}

void write_first_screen(HtmlWriter& page, const BenchmarkResult& result, const BenchmarkResult* earlier) {
  const auto failed = static_cast<std::uint64_t>(
      std::ranges::count_if(result.runs, [](const auto& run) { return !run.error.empty(); }));
  page.open("header").element("p", "hgcheck: benchmarks", {{"class", "kind"}});
  page.open("div", {{"class", failed == 0 && !result.runs.empty() ? "verdict" : "verdict bad"}});
  page.element("h1", fmt::format("{}: {}{}", result.program, counted(result.runs.size(), "benchmark"),
                                 failed == 0 ? "" : fmt::format(", {} failed", grouped(failed))));
  page.element("p", "Clock readings of one machine: ratios within a table mean more than the numbers.");
  page.element("p", "Measured " + machine_of(result));
  if (earlier != nullptr) page.element("p", "Before: " + machine_of(*earlier));
  page.close().close().line();
}

}  // namespace

bool holds_benchmarks(const Json& json) {
  return json.is_object() && json.contains("benchmarks") && json.contains("context");
}

hip::Result<BenchmarkResult> read_benchmarks(const Json& json) {
  if (!holds_benchmarks(json) || !json["benchmarks"].is_array() || !json["context"].is_object()) {
    return hip::Error{kInvalidValue, "'context' or 'benchmarks' is missing: --benchmark_out writes both"};
  }
  const Json& context = json["context"];
  BenchmarkResult result;
  const std::string executable = text_of(context, "executable");
  result.program = executable.substr(executable.rfind('/') + 1);
  result.date = text_of(context, "date");
  result.processors = static_cast<std::uint64_t>(std::max(0.0, number_of(context, "num_cpus")));
  result.mhz = number_of(context, "mhz_per_cpu");
  const auto is_median = [](const Json& one) { return text_of(one, "aggregate_name") == "median"; };
  const bool repeated = std::any_of(json["benchmarks"].begin(), json["benchmarks"].end(), is_median);
  for (const Json& one : json["benchmarks"]) {
    if (!one.is_object() || text_of(one, "name").empty()) {
      return hip::Error{kInvalidValue, "'benchmarks' holds something without a name"};
    }
    const bool failed = !text_of(one, "error_message").empty();
    if (repeated ? is_median(one) || failed : text_of(one, "run_type") != "aggregate")
      result.runs.push_back(run_of(one));
  }
  return result;
}

std::string to_html(const BenchmarkResult& result, const BenchmarkResult* earlier) {
  HtmlWriter page;
  page.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head").line();
  fill_head(page, fmt::format("hgcheck benchmarks: {}", result.program));
  page.open("body");
  write_first_screen(page, result, earlier);
  page.open("main").line();
  write_curves(page, result);
  open_section(page, "benchmarks", "Benchmarks");
  if (result.runs.empty()) page.element("p", "None ran.", {{"class", "note"}});
  std::set<std::string> written;
  for (const BenchmarkRun& run : result.runs) {
    const std::string family = family_of(run.name);
    if (written.insert(family).second) write_family(page, result, family, earlier);
  }
  page.close().line().close().close().close().line();
  return page.take();
}

}  // namespace reports
