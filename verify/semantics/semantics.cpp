// The page of semantics; the contract is in the header.
#include "verify/semantics/semantics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "hip/api/api.h"
#include "hip/releases/releases.h"
#include "verify/errors/error_cases.h"
#include "verify/program/coverage.h"
#include "verify/program/page_item.h"
#include "verify/quirks/quirk.h"
#include "verify/semantics/call_counts.h"

namespace verify {
namespace {

// Behaviour that HIP and CUDA document differently and in which NVIDIA's runtime follows CUDA: a defect of neither.
// Each rule is a folder of verify/findings ([platform]).
struct PlatformRule {
  std::string_view id, hip, hip_source, cuda, cuda_source, instead;
};
constexpr PlatformRule kPlatformRules[] = {
#include "findings/platform_rules.inc"
};

// The groups of hip/api/functions.inc, in the order of the page.
enum class Group { kGraphs, kNodes, kExecs, kCapture, kStreams, kPools, kDevices, kOther };
constexpr auto kTitles = std::to_array<std::string_view>({"Graphs", "Nodes", "Executable graphs", "Capture",
                                                          "Stream attributes and memory operations",
                                                          "Stream-ordered memory", "Devices and peers"});
static_assert(kTitles.size() == static_cast<std::size_t>(Group::kOther));  // kOther has no section

struct Row {
  const char* name;
  Group group;
};
constexpr Row kRows[] = {
#define HIP_FUNCTION(name, need, version, group, ...) {#name, Group::k##group},
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether the text has the name as a word of its own.
bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_name_character(text[at - 1]);
    const std::size_t end = at + name.size();
    if (begins && (end == text.size() || !is_name_character(text[end]))) return true;
  }
  return false;
}

bool is_of_devices(const std::string& name) {
  for (const char* one :
       {"hipSetDevice", "hipGetDevice", "hipDeviceGet", "hipDeviceCanAccessPeer", "hipDeviceEnablePeerAccess",
        "hipDeviceDisablePeerAccess", "hipMemcpyPeer", "hipMemcpyPeerAsync"}) {
    if (name == one) return true;
  }
  return false;
}

bool is_of_graphs(const std::string& name) {
  if (name.starts_with("hipGraphics")) return false;
  for (const char* family : {"hipGraph", "hipDrvGraph", "hipUserObject", "hipStreamWaitValue", "hipStreamWriteValue"}) {
    if (name.starts_with(family)) return true;
  }
  for (const char* part : {"GraphMem", "StreamCapture", "StreamBatchMemOp", "MemPool", "hipMallocAsync",
                           "hipMallocFromPool", "hipFreeAsync"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return name.starts_with("hipStream") &&
         (name.find("Captur") != std::string::npos || name.find("Attribute") != std::string::npos);
}

// The texts of the tests' sources.
std::vector<std::string> sources_of(const std::filesystem::path& folder) {
  std::vector<std::string> sources;
  for (const char* room : {"model", "verify", "hip", "programs"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder / room)) {
      const std::filesystem::path& path = file.path();
      if (path.extension() == ".cpp" || path.extension() == ".hip") {
        sources.push_back(text_of(path));
      }
    }
  }
  return sources;
}

// Whether a quirk's triggers are about the function.
bool is_about(const Quirk& quirk, const std::string& function) {
  struct Words {
    std::string_view trigger;
    std::string_view part;  // of the function's name
  };
  constexpr Words kTypes[] = {{"node=kernel", "Kernel"}, {"node=memcpy", "Memcpy"}, {"node=memset", "Memset"},
                              {"node=host", "Host"},     {"node=child", "Child"},   {"node=empty", "Empty"}};
  std::istringstream alternatives{std::string(quirk.triggers)};
  for (std::string one; std::getline(alternatives, one, ';');) {
    const auto says = [&](std::string_view word) { return one.find(word) != std::string::npos; };
    if (says("op=launch") && function == "hipGraphLaunch") return true;
    if (says("op=update") && function == "hipGraphExecUpdate") return true;
    if (says("op=instantiate") && function == "hipGraphInstantiate") return true;
    const bool sets = says("op=set") || says("op=patch");
    const bool of_exec = function.starts_with("hipGraphExec") && !says("target=graph");
    const bool of_graph = !function.starts_with("hipGraphExec") && !says("target=exec");
    const bool setter = sets && function.find("SetParams") != std::string::npos && (of_exec || of_graph);
    const bool adder = says("op=add") && function.starts_with("hipGraphAdd");
    if (!setter && !adder) continue;
    for (const Words& type : kTypes) {
      if (says(type.trigger) && function.find(type.part) != std::string::npos) return true;
    }
  }
  return false;
}

class Page {
 public:
  explicit Page(const SemanticsInput& input)
      : functions_(graph_functions_of(text_of(input.header))),
        sources_(sources_of(input.tests)),
        counts_(count_calls(input.programs)) {}

  SemanticsPage write() {
    check_classified();
    fmt::format_to(
        out_,
        "# Semantics: what is known of each function\n\n"
        "Written by `hgcheck-semantics`; a test fails when it is out of date, or when HIP's header declares a function "
        "that is\nnot here. To write it again: `build/bin/hgcheck-semantics > docs/semantics.md`.\n\n"
        "*Called*: programs of a sample call it; `bad`: they call it only with wrong arguments\n"
        "([program-language.md](program-language.md)); "
        "`-`: the model lacks it. *Errors*: how many documented errors are rows of\n"
        "`verify/errors/cases.inc`, each with its source. A row of errors or a source under `tests/` names each "
        "function.\n");
    for (std::size_t i = 0; i < kTitles.size(); ++i) write_group(static_cast<Group>(i));
    write_findings();
    write_states();
    write_platform_rules();
    write_deviations();
    return {std::move(text_), std::move(flaws_)};
  }

 private:
  void check_classified() {
    std::set<std::string> classified;
    for (const Row& row : kRows) {
      if (row.group != Group::kOther) classified.insert(row.name);
    }
    const std::set<std::string> declared(functions_.begin(), functions_.end());
    for (const std::string& name : declared) {
      if (!classified.contains(name)) flaws_.push_back(name + " is declared by the header and classified by nobody");
    }
    for (const std::string& name : classified) {
      if (!declared.contains(name)) flaws_.push_back(name + " is classified, but the header does not declare it");
    }
  }

  void write_group(Group group) {
    fmt::format_to(out_, "\n## {}\n\n```\n{:<50}called  errors\n", kTitles[static_cast<std::size_t>(group)],
                   "function");
    std::set<std::string> names;
    for (const Row& row : kRows) {
      if (row.group == group) names.insert(row.name);
    }
    for (const std::string& name : names) write_function(name);
    fmt::format_to(out_, "```\n");
  }

  void write_function(const std::string& name) {
    const std::span<const ErrorCase> cases = error_cases();
    const auto rows =
        std::count_if(cases.begin(), cases.end(), [&](const ErrorCase& one) { return one.function == name; });
    const bool tested =
        std::any_of(sources_.begin(), sources_.end(), [&](const std::string& text) { return mentions(text, name); });
    if (rows == 0 && !tested) flaws_.push_back(name + " is pinned by no test");
    fmt::format_to(out_, "{:<50}{:<8}{}\n", name, called(name, rows != 0), rows);
  }

  [[nodiscard]] std::string_view called(const std::string& name, bool has_errors) const {
    const auto counted = counts_.find(name);
    if (counted == counts_.end()) return "-";
    if (counted->second > 0) return "yes";
    return has_errors ? "bad" : "no";
  }

  void write_findings() {
    fmt::format_to(out_, "\n## Findings about functions\n\n[findings.md](findings.md) has each.\n\n");
    std::map<std::string, std::set<std::string>> functions;  // by their findings
    for (const Row& row : kRows) {
      const std::string findings = findings_about(row.name);
      if (row.group != Group::kOther && !findings.empty()) functions[findings].insert(row.name);
    }
    for (const auto& [findings, names] : functions)
      text_ += page_item(fmt::format("{}: {}", fmt::join(names, ", "), findings));
  }

  static std::string findings_about(const std::string& function) {
    std::set<std::string_view> all;
    for (const Quirk& quirk : quirks()) {
      if (is_about(quirk, function)) all.insert(quirk.id);
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  void write_states() {
    fmt::format_to(out_, "\n## States in which an operation can meet its object\n\n");
    fmt::format_to(out_, "Campaigns count each pair of an operation and a state (`verify/program/coverage.h`).\n\n");
    std::string object;
    std::string states;  // of the object
    for (const StateMeaning& state : object_states()) {
      const std::string name(state.name);  // "graph: empty"
      const std::size_t colon = name.find(": ");
      if (name.substr(0, colon) != object) {
        if (!object.empty()) text_ += page_item(fmt::format("{}{}", object, std::exchange(states, "")));
        object = name.substr(0, colon);
      }
      fmt::format_to(std::back_inserter(states), "{} {} ({})", states.empty() ? ":" : ";", name.substr(colon + 2),
                     state.meaning);
    }
    text_ += page_item(object + states);
  }

  void write_platform_rules() {
    fmt::format_to(
        out_,
        "\n## Rules by platform\n\n"
        "HIP and CUDA document these differently, and NVIDIA's runtime does as CUDA says. On the subject `nvidia` a "
        "program\nthat meets one ends as a known quirk of that name; `careful` and `command-buffer` do what the last "
        "sentence says.\n\n");
    for (const PlatformRule& rule : kPlatformRules) {
      text_ += page_item(fmt::format("**{}**. HIP: {} ({}) CUDA: {} ({}) Instead: {}", rule.id, rule.hip,
                                     rule.hip_source, rule.cuda, rule.cuda_source, rule.instead));
    }
  }

  static std::string answer_text(const ErrorDeviation* deviation) {
    if (deviation == nullptr) return "";
    if (deviation->answer == kAnswerCrash) return "crashes";
    if (deviation->answer == kAnswerHang) return "hangs";
    if (deviation->answer == kAnswerUndefined) return "undefined";
    if (deviation->answer == kAnswerLeavesNode) return "refused, but leaves the node";
    if (deviation->answer == kAnswerTakesEdges) return "refused, but takes edges";
    if (deviation->answer == kAnswerNoEffect) return "success without effect";
    if (deviation->answer == kAnswerHalfDone) return "success, but half done";
    std::string text = hip::status_name(deviation->answer);
    if (deviation->last_error != deviation->answer) {
      text += fmt::format(", last {}", hip::status_name(deviation->last_error));
    }
    return text;
  }

  // Writes for each answer which functions give it in which cases.
  void write_deviations() {
    fmt::format_to(
        out_,
        "\n## Errors that releases answer otherwise\n\n"
        "Each title has the documented error and the answers of releases; below it stand cases and functions.\n"
        "*last*: what hipGetLastError answers after the call, where that is another error.\n"
        "*undefined*: a handle of what is gone, or a node of another type, is used as if it were right: the release "
        "reads or\nwrites memory that is not its own.\n");
    std::map<std::string, std::map<std::string, std::vector<std::string>>> functions;  // by answer and cases
    for (const auto& [key, cases] : deviations()) {
      functions[key.first][fmt::format("{}", fmt::join(cases, ", "))].push_back(key.second);
    }
    for (const auto& [answer, by_cases] : functions) {
      fmt::format_to(out_, "\n### {}\n\n", answer);
      for (const auto& [cases, names] : by_cases)
        text_ += page_item(fmt::format("{}: {}", cases, fmt::join(names, ", ")));
    }
  }

  // The cases of each answer ("hipErrorInvalidValue is documented; 7.2 crashes") and function.
  using Deviations = std::map<std::pair<std::string, std::string>, std::vector<std::string_view>>;
  static Deviations deviations() {
    Deviations all;
    for (const ErrorCase& one : error_cases()) {
      std::map<std::string, std::vector<std::string_view>> releases;  // by answer
      for (const std::string_view release : hip::kReleaseNames) {
        const std::string answer = answer_text(find_error_deviation(release, one.function, one.name));
        if (!answer.empty()) releases[answer].push_back(release);
      }
      if (releases.empty()) continue;
      std::string answers =
          one.open == OpenKind::kNone ? hip::status_name(one.expected) : "refused without a change, or done in full";
      for (const auto& [answer, which] : releases) answers += fmt::format("; {}: {}", fmt::join(which, ", "), answer);
      all[{answers, std::string(one.function)}].push_back(one.name);
    }
    return all;
  }

  std::vector<std::string> functions_;
  std::vector<std::string> sources_;
  CallCounts counts_;
  std::string text_;
  std::back_insert_iterator<std::string> out_{text_};
  std::vector<std::string> flaws_;
};

}  // namespace

std::vector<std::string> graph_functions_of(const std::string& header) {
  std::vector<std::string> names;
  std::istringstream lines(header);
  constexpr std::string_view kBegin = "hipError_t ";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find('(');
    if (!line.starts_with(kBegin) || at == std::string::npos) continue;
    const std::string name = line.substr(kBegin.size(), at - kBegin.size());
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!known && (is_of_graphs(name) || is_of_devices(name))) names.push_back(name);
  }
  return names;
}

SemanticsPage semantics_page(const SemanticsInput& input) {
  return Page(input).write();
}

}  // namespace verify
