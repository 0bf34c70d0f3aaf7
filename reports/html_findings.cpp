// The section on findings: one card for each bug, with its smallest program first and its other forms folded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/bugs.h"
#include "reports/graph_picture.h"
#include "reports/html_sections.h"
#include "reports/html_tables.h"

namespace reports {
namespace {

using std::string_view;

// --- values side by side -------------------------------------------------------------------------------------------

bool is_hex(string_view text) {
  return !text.empty() && text.size() % 2 == 0 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// The units of a comparison: bytes when both values are hexadecimal digits, words otherwise.
std::vector<string_view> units_of(string_view value, bool as_bytes) {
  std::vector<string_view> units;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = as_bytes ? at + 2 : std::min(value.find(' ', at), value.size());
    if (end > at) units.push_back(value.substr(at, end - at));
    at = as_bytes ? end : end + 1;
  }
  return units;
}

struct Comparison {
  std::vector<string_view> expected, observed;
  std::vector<bool> differs;
  std::size_t different = 0, first = 0;
};

Comparison compare(const verify::Difference& difference) {
  const bool as_bytes = is_hex(difference.expected) && is_hex(difference.observed);
  Comparison comparison{units_of(difference.expected, as_bytes), units_of(difference.observed, as_bytes), {}};
  const std::size_t count = std::max(comparison.expected.size(), comparison.observed.size());
  comparison.first = count;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_in_both = i < comparison.expected.size() && i < comparison.observed.size();
    const bool differs = !is_in_both || comparison.expected[i] != comparison.observed[i];
    comparison.differs.push_back(differs);
    if (differs && comparison.different++ == 0) comparison.first = i;
  }
  return comparison;
}

// The first unit to show: a few units before the first difference, so that a person sees where it starts.
std::size_t window_start(const Comparison& comparison) {
  constexpr std::size_t kBefore = 8;
  if (comparison.differs.size() <= kMaxShownUnits || comparison.first <= kBefore) return 0;
  return comparison.first - kBefore;
}

void write_value(HtmlWriter& page, string_view label, const std::vector<string_view>& units,
                 const Comparison& comparison) {
  const std::size_t start = window_start(comparison);
  const std::size_t end = std::min(units.size(), start + kMaxShownUnits);
  page.open("div").element("span", label, {{"class", "label"}}).open("div", {{"class", "mono"}});
  if (units.empty()) page.element("span", "(nothing)", {{"class", "note"}});
  if (start > 0) page.element("span", fmt::format("\u2026 {} before ", start), {{"class", "note"}});
  for (std::size_t i = start; i < end; ++i) {
    if (i > start) page.text(" ");
    if (comparison.differs[i]) {
      page.element("mark", units[i]);
    } else {
      page.text(units[i]);
    }
  }
  if (end < units.size()) page.element("span", fmt::format(" \u2026 {} more", units.size() - end), {{"class", "note"}});
  page.close().close();
}

void write_difference(HtmlWriter& page, const verify::Difference& difference) {
  const Comparison comparison = compare(difference);
  const bool as_bytes = is_hex(difference.expected) && is_hex(difference.observed);
  page.open("div", {{"class", "values"}});
  page.open("p").element("strong", difference.where);
  if (!difference.command.empty()) page.text(" at ").element("code", difference.command);
  if (comparison.differs.size() > 1) {
    page.element("span",
                 fmt::format(" \u2013 {} of {} differ, the first at {} {}", comparison.different,
                             counted(comparison.differs.size(), as_bytes ? "byte" : "word"), as_bytes ? "byte" : "word",
                             comparison.first),
                 {{"class", "note"}});
  }
  page.close();
  write_value(page, "Expected (baseline)", comparison.expected, comparison);
  write_value(page, "Observed (subject)", comparison.observed, comparison);
  page.close().line();
}

void write_differences(HtmlWriter& page, const verify::Finding& finding) {
  page.element("h4", "Expected against observed");
  if (finding.differences.empty()) page.element("p", "No single place was named.", {{"class", "note"}});
  const std::size_t shown = std::min(finding.differences.size(), kMaxShownDifferences);
  for (std::size_t i = 0; i < shown; ++i) write_difference(page, finding.differences[i]);
  if (shown < finding.differences.size()) {
    page.element("p", counted(finding.differences.size() - shown, "more difference") + " in report.json.",
                 {{"class", "note"}});
  }
}

// --- graphs --------------------------------------------------------------------------------------------------------

std::string faults_of(const verify::GraphPicture& graph) {
  std::string names;
  for (const auto& node : graph.nodes) {
    if (!node.at_fault) continue;
    if (!names.empty()) names += ", ";
    names += node.name;
  }
  return names;
}

void write_graph_as_text(HtmlWriter& page, const verify::GraphPicture& graph) {
  page.open("details").element("summary", fmt::format("{} as text", graph.name)).open("ul");
  for (const auto& node : graph.nodes) {
    page.element("li", fmt::format("{}: {}{}", node.name, node.label, node.at_fault ? " (at fault)" : ""));
  }
  for (const auto& edge : graph.edges) page.element("li", fmt::format("{} before {}", edge.from, edge.to));
  page.close().close();
}

void write_graph(HtmlWriter& page, const verify::GraphPicture& graph) {
  const std::string faults = faults_of(graph);
  page.open("figure", {{"tabindex", "0"}}).open("figcaption");
  page.element("strong", graph.name);
  page.text(fmt::format(": {}, {}", counted(graph.nodes.size(), "node"), counted(graph.edges.size(), "edge")));
  if (!faults.empty()) page.text(fmt::format("; at fault (thick border): {}", faults));
  page.close();
  if (const auto svg = draw_graph(graph)) {
    page.raw(*svg);
    write_graph_as_text(page, graph);
  } else if (graph.nodes.empty()) {
    page.element("p", "An empty graph.", {{"class", "note"}});
  } else {
    page.element("p", "Too large to draw: its nodes and edges are in report.json.", {{"class", "note"}});
  }
  page.close().line();
}

void write_graphs(HtmlWriter& page, const verify::Finding& finding, bool drawn) {
  if (finding.graphs.empty()) return;
  page.element("h4", "Graphs");
  if (!drawn) {
    page.element(
        "p", fmt::format("Drawn for the first {} bugs only; the others are in report.json.", kMaxFindingsWithGraphs),
        {{"class", "note"}});
    return;
  }
  page.open("div", {{"class", "graphs"}});
  for (const verify::GraphPicture& graph : finding.graphs) write_graph(page, graph);
  page.close();
}

// --- findings ------------------------------------------------------------------------------------------------------

void write_property_of(HtmlWriter& page, const verify::Finding& finding, const verify::CampaignResult& result) {
  const auto sentence_of = [&](const std::string& id) {
    const auto found = result.property_sentences.find(id);
    return found == result.property_sentences.end() ? std::string() : found->second;
  };
  page.open("p").text("Breaks ").element("strong", finding.property);
  if (const std::string sentence = sentence_of(finding.property); !sentence.empty()) page.text(": " + sentence);
  page.close();
  for (const std::string& id : finding.also) {
    page.open("p", {{"class", "note"}}).text("Also breaks ").element("strong", id);
    if (const std::string sentence = sentence_of(id); !sentence.empty()) page.text(": " + sentence);
    page.close();
  }
}

void write_program(HtmlWriter& page, const verify::Finding& finding) {
  page.element("h4", fmt::format("Program, shrunk from {} to {}", counted(finding.original_commands, "command"),
                                 counted(finding.commands, "command")));
  const string_view text = string_view(finding.program_text).substr(0, kMaxShownProgramBytes);
  page.open("pre", {{"tabindex", "0"}, {"aria-label", "Program"}}).element("code", text).close();
  if (text.size() < finding.program_text.size()) {
    page.element("p",
                 fmt::format("The first {} of {} bytes; all of it is in the file.", grouped(text.size()),
                             grouped(finding.program_text.size())),
                 {{"class", "note"}});
  }
  if (!finding.program_path.empty()) {
    page.open("p", {{"class", "note"}}).text("File: ").element("code", finding.program_path).close();
  }
}

void write_replay(HtmlWriter& page, const verify::Finding& finding, std::size_t index) {
  const std::string id = fmt::format("replay-{}", index);
  page.element("h4", "Replay").open("div", {{"class", "replay"}});
  page.open("pre", {{"tabindex", "0"}, {"aria-label", "Replay command"}});
  page.element("code", finding.replay, {{"id", id}}).close();
  page.element("button", "Copy",
               {{"type", "button"},
                {"data-copy", id},
                {"hidden", "hidden"},
                {"aria-label", fmt::format("Copy the replay command of {}", finding.id)}});
  page.close().line();
}

// The data for a bug tracker, as text to be copied.
void write_bug_report(HtmlWriter& page, const verify::CampaignResult& result, const verify::Finding& finding,
                      std::size_t index) {
  const std::string id = fmt::format("bug-{}", index);
  std::string text = fmt::format("{}: {}\n\nSubject: {} against {} (hgcheck {}, seed {})\n", finding.id,
                                 finding.summary, result.subject, result.baseline, result.version, result.seed);
  const auto sentence = result.property_sentences.find(finding.property);
  if (sentence != result.property_sentences.end())
    text += fmt::format("Breaks {}: {}\n", finding.property, sentence->second);
  for (std::size_t i = 0; i < std::min(finding.differences.size(), kMaxBugDifferences); ++i) {
    const verify::Difference& d = finding.differences[i];
    text +=
        fmt::format("\n{} at '{}'\n  expected {}\n  observed {}\n", d.where, d.command,
                    string_view(d.expected).substr(0, kMaxBugValue), string_view(d.observed).substr(0, kMaxBugValue));
  }
  text += fmt::format("\nReplay: {}\n\n{}", finding.replay,
                      string_view(finding.program_text).substr(0, kMaxShownProgramBytes));
  page.open("details").element("summary", "As text for a bug tracker").open("div", {{"class", "replay"}});
  page.open("pre", {{"tabindex", "0"}, {"aria-label", "Bug report"}}).element("code", text, {{"id", id}}).close();
  page.element("button", "Copy",
               {{"type", "button"},
                {"data-copy", id},
                {"hidden", "hidden"},
                {"aria-label", fmt::format("Copy the bug report of {}", finding.id)}});
  page.close().close().line();
}

// The related entries of a finding: known quirks of the release, and faults that break the same sentence.
void write_related(HtmlWriter& page, const verify::Finding& finding) {
  if (finding.related.empty()) return;
  page.element("h4", "Related").open("ul", {{"class", "related"}});
  for (const verify::Related& related : finding.related) {
    page.open("li").text(related.kind == "quirk" ? "Its program meets the known quirk "
                                                 : "The same sentence breaks under the fault ");
    page.element("strong", related.id).text(": " + related.title).close();
  }
  page.close().line();
}

// `detailed`: with drawings of its graphs and a text for a bug tracker.
void write_finding(HtmlWriter& page, const verify::CampaignResult& result, std::size_t index, bool open,
                   bool detailed) {
  const verify::Finding& finding = result.findings[index];
  const std::string id = fmt::format("finding-{}", index);
  // A details element is open if it has the attribute, whatever its value.
  if (open) {
    page.open("details", {{"class", "finding"}, {"id", id}, {"open", "open"}});
  } else {
    page.open("details", {{"class", "finding"}, {"id", id}});
  }
  page.open("summary").open("h3").element("span", finding.id, {{"class", "id"}}).text(finding.summary).close().close();
  write_property_of(page, finding, result);
  page.open("p", {{"class", "note"}});
  page.text(fmt::format("Seen in {}.", counted(finding.seen, "program")));
  if (const verify::Sighting& first = finding.first; !first.time.empty()) {
    page.text(fmt::format(" First {} in shard {}/{}{}{}, session {}.", first.time, first.shard, first.shards,
                          first.node.empty() ? "" : " on ", first.node, first.session));
  }
  if (!finding.fault.empty()) page.text(fmt::format(" Fault switched on: {}.", finding.fault));
  page.close();
  write_program(page, finding);
  write_graphs(page, finding, detailed);
  write_differences(page, finding);
  write_replay(page, finding, index);
  if (detailed) write_bug_report(page, result, finding, index);
  write_related(page, finding);
  page.close().line();
}

// --- bugs ----------------------------------------------------------------------------------------------------------

// The common part of a bug's findings: "memset nodes, after set and update: status".
std::string description_of(const Bug& bug) {
  std::string text = bug.nodes.empty() ? "no nodes" : fmt::format("{}", fmt::join(bug.nodes, ", "));
  if (!bug.setters.empty()) text += fmt::format(", after {}", fmt::join(bug.setters, ", "));
  if (bug.divergence == "-") return text;
  return fmt::format("{}: {}", text, bug.divergence == "b#+#" ? "bytes of a buffer" : bug.divergence);
}

void write_bug(HtmlWriter& page, const verify::CampaignResult& result, const Bug& bug, std::size_t index) {
  page.open("article", {{"class", "bug"}, {"id", fmt::format("bug-of-{}", index)}, {"data-property", bug.property}});
  page.open("p", {{"class", "common"}}).element("strong", bug.property).text(" in " + description_of(bug)).close();
  write_finding(page, result, bug.findings.front(), index < kMaxOpenFindings, index < kMaxFindingsWithGraphs);
  if (bug.findings.size() > 1) {
    page.open("details", {{"class", "forms"}});
    page.element("summary", fmt::format("{} of the same bug, {} in all", counted(bug.findings.size() - 1, "other form"),
                                        counted(bug.seen, "program")));
    for (std::size_t i = 1; i < bug.findings.size(); ++i) {
      write_finding(page, result, bug.findings[i], false, false);
    }
    page.close();
  }
  page.close().line();
}

// The filters are hidden until the script shows them.
void write_filters(HtmlWriter& page, const std::vector<Bug>& bugs) {
  std::set<std::string> properties;
  for (const Bug& bug : bugs) properties.insert(bug.property);
  page.open("form", {{"class", "filters"}, {"id", "filters"}, {"hidden", "hidden"}, {"role", "search"}});
  page.element("label", "Containing", {{"for", "filter-text"}});
  page.empty("input", {{"type", "search"}, {"id", "filter-text"}, {"autocomplete", "off"}});
  page.element("label", "Property", {{"for", "filter-property"}});
  page.open("select", {{"id", "filter-property"}}).element("option", "all", {{"value", ""}});
  for (const std::string& property : properties) page.element("option", property, {{"value", property}});
  page.close();
  page.element("span", fmt::format("{} shown", counted(bugs.size(), "bug")),
               {{"id", "filter-status"}, {"role", "status"}, {"class", "note"}});
  page.close().line();
}

}  // namespace

void write_findings(HtmlWriter& page, const verify::CampaignResult& result) {
  const std::vector<Bug> bugs = bugs_of(result.findings);
  open_section(page, "findings", fmt::format("Findings ({})", grouped(result.findings.size())));
  if (bugs.empty()) page.element("p", "None.", {{"class", "note"}});
  if (!bugs.empty()) {
    page.element("p",
                 fmt::format("{}: findings of one property, with nodes and setters of the same types and the same "
                             "first divergence, are taken for one bug; its smallest program comes first.",
                             counted(bugs.size(), "bug")),
                 {{"class", "note"}});
  }
  if (bugs.size() > 1) write_filters(page, bugs);
  for (std::size_t i = 0; i < bugs.size(); ++i) write_bug(page, result, bugs[i], i);
  page.close().line();
}

}  // namespace reports
