#include "reports/bugs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace reports {
namespace {

const std::set<std::string>& node_words() {
  static const std::set<std::string> kNodes = {"alloc", "kernel", "memcpy", "memcpy3d",    "memset",
                                               "host",  "empty",  "child",  "eventrecord", "eventwait"};
  return kNodes;
}

// The words of commands that change a graph, and of the systems beside graphs.
const std::set<std::string>& setter_words() {
  static const std::set<std::string> kSetters = {"patch",   "set",     "update",   "enable",     "disable",
                                                 "edge",    "unedge",  "remove",   "endcapture", "cache",
                                                 "streams", "scratch", "launcher", "stable",     "traces"};
  return kSetters;
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '(') break;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string Bug::name() const {
  return fmt::format("{}; {}; {}; {}", property, joined(nodes), joined(setters), divergence);
}

Bug bug_of(const verify::Finding& finding) {
  std::set<std::string> nodes, setters;
  std::istringstream lines(finding.program_text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first == "on") words >> first;
    if (node_words().contains(first)) nodes.insert(first);
    if (setter_words().contains(first)) setters.insert(first);
  }
  Bug bug;
  bug.property = finding.property;
  bug.nodes.assign(nodes.begin(), nodes.end());
  bug.setters.assign(setters.begin(), setters.end());
  bug.divergence = finding.differences.empty() ? "-" : without_numbers(finding.differences.front().where);
  while (bug.divergence.ends_with(' ')) bug.divergence.pop_back();
  return bug;
}

std::vector<Bug> bugs_of(const std::vector<verify::Finding>& findings) {
  std::vector<Bug> bugs;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    Bug bug = bug_of(findings[i]);
    const auto [place, is_new] = places.emplace(bug.name(), bugs.size());
    if (is_new) bugs.push_back(std::move(bug));
    bugs[place->second].findings.push_back(i);
    bugs[place->second].seen += findings[i].seen;
  }
  for (Bug& bug : bugs) {
    std::ranges::sort(bug.findings, [&](std::size_t left, std::size_t right) {
      return std::pair(findings[left].commands, left) < std::pair(findings[right].commands, right);
    });
  }
  return bugs;
}

}  // namespace reports
