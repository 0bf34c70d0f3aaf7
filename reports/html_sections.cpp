#include "reports/html_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/graph_picture.h"

namespace reports {
namespace {

using std::string_view;

void open_section(HtmlWriter& page, string_view id, string_view title) {
  page.open("section", {{"id", id}, {"aria-labelledby", fmt::format("{}-title", id)}});
  page.element("h2", title, {{"id", fmt::format("{}-title", id)}}).line();
}

// A column of numbers is aligned to the right.
struct Column {
  string_view title;
  bool is_number = false;
};

void open_table(HtmlWriter& page, string_view caption, const std::vector<Column>& columns) {
  page.open("div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", caption}});
  page.open("table").element("caption", caption).open("thead").open("tr");
  for (const Column& column : columns) {
    page.element("th", column.title, {{"scope", "col"}, {"class", column.is_number ? "number" : "words"}});
  }
  page.close().close().open("tbody").line();
}

void close_table(HtmlWriter& page) {
  page.close().close().close().line();
}

void write_row(HtmlWriter& page, string_view name, string_view number) {
  page.open("tr").element("th", name, {{"scope", "row"}});
  page.element("td", number, {{"class", "number"}}).close().line();
}

void write_counts(HtmlWriter& page, string_view caption, string_view what,
                  const std::map<std::string, std::uint64_t>& counts) {
  open_table(page, caption, {{what}, {"Programs", true}});
  for (const auto& [name, count] : counts) write_row(page, name, grouped(count));
  close_table(page);
}

// --- values side by side -------------------------------------------------------------------------------------------

bool is_hex(string_view text) {
  return !text.empty() && text.size() % 2 == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// What is compared one by one: bytes when both values are hexadecimal digits, words otherwise.
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

// The first unit to show: a few before the first that differs, so that a person sees where it starts.
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

void write_graphs(HtmlWriter& page, const verify::Finding& finding, std::size_t index) {
  if (finding.graphs.empty()) return;
  page.element("h4", "Graphs");
  if (index >= kMaxFindingsWithGraphs) {
    page.element(
        "p",
        fmt::format("Drawn for the first {} findings only; the others are in report.json.", kMaxFindingsWithGraphs),
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

void write_finding(HtmlWriter& page, const verify::CampaignResult& result, std::size_t index) {
  const verify::Finding& finding = result.findings[index];
  const std::string id = fmt::format("finding-{}", index);
  // A details element opens by the mere presence of its attribute.
  if (index < kMaxOpenFindings) {
    page.open("details", {{"class", "finding"}, {"id", id}, {"open", "open"}});
  } else {
    page.open("details", {{"class", "finding"}, {"id", id}});
  }
  page.open("summary").open("h3").element("span", finding.id, {{"class", "id"}}).text(finding.summary).close().close();
  write_property_of(page, finding, result);
  page.open("p", {{"class", "note"}});
  page.text(fmt::format("Seen in {}.", counted(finding.seen, "program")));
  if (!finding.fault.empty()) page.text(fmt::format(" Fault switched on: {}.", finding.fault));
  page.close();
  write_differences(page, finding);
  write_program(page, finding);
  write_replay(page, finding, index);
  write_graphs(page, finding, index);
  page.close().line();
}

// --- properties ----------------------------------------------------------------------------------------------------

// "P2" before "P10": by letters, then by number.
bool is_before(const std::string& left, const std::string& right) {
  const auto split = [](const std::string& id) {
    const std::size_t digits = std::min(id.find_first_of("0123456789"), id.size());
    return std::pair(string_view(id).substr(0, digits), string_view(id).substr(digits));
  };
  const auto [left_letters, left_number] = split(left);
  const auto [right_letters, right_number] = split(right);
  if (left_letters != right_letters) return left_letters < right_letters;
  if (left_number.size() != right_number.size()) return left_number.size() < right_number.size();
  return left_number < right_number;
}

std::pair<string_view, string_view> state_of(const verify::PropertyCount& count) {
  if (count.violated > 0) return {"violated", "state bad"};
  if (count.exercised == 0) return {"not exercised", "state warn"};
  return {"held", "state good"};
}

std::string share(std::uint64_t count, std::uint64_t all) {
  if (all == 0) return "\u2013";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(count) / static_cast<double>(all));
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string counted(std::uint64_t number, string_view one) {
  return fmt::format("{} {}{}", grouped(number), one, number == 1 ? "" : "s");
}

void write_findings(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "findings", fmt::format("Findings ({})", grouped(result.findings.size())));
  if (result.findings.empty()) page.element("p", "None.", {{"class", "note"}});
  for (std::size_t i = 0; i < result.findings.size(); ++i) write_finding(page, result, i);
  page.close().line();
}

void write_properties(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "properties", "Properties");
  std::vector<std::string> ids;
  ids.reserve(result.properties.size());
  for (const auto& property : result.properties) ids.push_back(property.first);
  std::sort(ids.begin(), ids.end(), is_before);
  open_table(page, "What must hold for every program, and how many programs put it to the test",
             {{"Property"}, {"State"}, {"Exercised", true}, {"Violated", true}});
  for (const std::string& id : ids) {
    const verify::PropertyCount& count = result.properties.at(id);
    const auto [state, style] = state_of(count);
    const auto sentence = result.property_sentences.find(id);
    page.open("tr").open("th", {{"scope", "row"}}).element("strong", id);
    if (sentence != result.property_sentences.end()) {
      page.text(" ").element("span", sentence->second, {{"class", "sentence"}});
    }
    page.close().element("td", state, {{"class", style}});
    page.element("td", grouped(count.exercised), {{"class", "number"}});
    page.element("td", grouped(count.violated), {{"class", "number"}}).close().line();
  }
  close_table(page);
  page.close().line();
}

void write_verdicts(HtmlWriter& page, const verify::CampaignResult& result) {
  const verify::VerdictCounts& counts = result.verdicts;
  const std::pair<string_view, std::uint64_t> rows[] = {
      {"Agree", counts.agree},
      {"Diverge", counts.diverge},
      {"Known quirk (a documented deviation of the subject)", counts.known_quirk},
      {"Poisoned (comparison had no meaning any more)", counts.poisoned},
      {"Unsupported (the subject lacks a function)", counts.unsupported},
      {"Discarded (the program was not valid)", counts.discarded},
      {"Harness error", counts.harness_error}};
  open_section(page, "verdicts", "Verdicts");
  open_table(page, "Every program has one verdict; only agreement is a pass",
             {{"Verdict"}, {"Programs", true}, {"Share", true}});
  for (const auto& [name, count] : rows) {
    page.open("tr").element("th", name, {{"scope", "row"}});
    page.element("td", grouped(count), {{"class", "number"}});
    page.element("td", share(count, result.programs), {{"class", "number"}}).close().line();
  }
  close_table(page);
  if (!result.reasons.empty()) write_counts(page, "Why programs neither agreed nor diverged", "Reason", result.reasons);
  if (!result.quirks.empty()) write_counts(page, "Known quirks that were met", "Quirk", result.quirks);
  page.close().line();
}

void write_coverage(HtmlWriter& page, const verify::CampaignResult& result) {
  std::vector<string_view> holes;
  for (const auto& [feature, count] : result.coverage) {
    if (count == 0) holes.push_back(feature);
  }
  open_section(page, "coverage", "Coverage");
  if (result.coverage.empty()) {
    page.element("p", "No feature was counted.", {{"class", "note"}}).close().line();
    return;
  }
  page.element("p", fmt::format("{} of {} features were met at least once.", result.coverage.size() - holes.size(),
                                result.coverage.size()));
  if (!holes.empty()) {
    page.open("h3").element("span", "Never met: ", {{"class", "state warn"}}).text(grouped(holes.size())).close();
    page.open("ul", {{"class", "holes"}});
    for (const string_view hole : holes) page.element("li", hole);
    page.close().line();
  }
  page.open("details").element("summary", "All features");
  open_table(page, "How often each feature was met", {{"Feature"}, {"Count", true}});
  for (const auto& [feature, count] : result.coverage)
    write_row(page, feature, count == 0 ? "0 (never)" : grouped(count));
  close_table(page);
  page.close().close().line();
}

void write_sampling(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "sampling", "Sampling");
  if (result.sampling.empty()) {
    page.element("p", "No check was sampled: each ran on every program that it applies to, or none was stated.");
  } else {
    open_table(page, "Checks that did not run on every program", {{"Check"}, {"Rate"}});
    for (const auto& [check, rate] : result.sampling) {
      page.open("tr").element("th", check, {{"scope", "row"}}).element("td", rate).close().line();
    }
    close_table(page);
  }
  page.close().line();
}

void write_messages(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "messages", "Messages");
  if (result.messages.empty()) page.element("p", "None.", {{"class", "note"}});
  if (!result.messages.empty()) {
    page.open("ul");
    for (const std::string& message : result.messages) page.element("li", message);
    page.close();
  }
  page.close().line();
}

}  // namespace reports
