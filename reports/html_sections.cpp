#include "reports/html_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/html_tables.h"
#include "reports/page_style.h"

namespace reports {
namespace {

using std::string_view;

void write_row(HtmlWriter& page, string_view name, string_view number) {
  page.open("tr").element("th", name, {{"scope", "row"}});
  page.element("td", number, {{"class", "number"}}).close().line();
}

void write_counts(HtmlWriter& page, string_view caption, string_view what,
                  const std::map<std::string, std::uint64_t>& counts, string_view unit) {
  open_table(page, caption, {{what}, {unit, true}});
  for (const auto& [name, count] : counts) write_row(page, name, grouped(count));
  close_table(page);
}

// --- properties ----------------------------------------------------------------------------------------------------

// "P2" before "P10": compares letters, then numbers.
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

void fill_head(HtmlWriter& page, std::string_view title) {
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.empty("meta",
             {{"http-equiv", "Content-Security-Policy"}, {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
  page.element("title", title);
  page.open("style").raw(kPageStyle).close().close().line();
}

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

void write_properties(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "properties", "Properties");
  std::vector<std::string> ids;
  ids.reserve(result.properties.size());
  for (const auto& property : result.properties) ids.push_back(property.first);
  std::ranges::sort(ids, is_before);
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
  if (!result.reasons.empty())
    write_counts(page, "Why programs neither agreed nor diverged", "Reason", result.reasons, "Programs");
  if (!result.quirks.empty()) write_counts(page, "Known quirks that were met", "Quirk", result.quirks, "Programs");
  if (!result.steps.empty()) {
    write_counts(page, "What the steps of the command buffers did, by their own account", "Step", result.steps,
                 "Count");
  }
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

void write_costs(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "costs", "Costs");
  if (result.costs.empty()) {
    page.element("p", "No costs were measured.", {{"class", "note"}});
  } else {
    open_table(page, "How costs grow with the nodes of a graph, counted and not timed",
               {{"Operation"}, {"Measure"}, {"Exponent"}, {"At most"}, {"Counts"}});
    for (const verify::CostMeasurement& cost : result.costs) {
      std::string counts;
      for (std::size_t i = 0; i < cost.values.size() && i < cost.sizes.size(); ++i) {
        counts += fmt::format("{}{} for {}", counts.empty() ? "" : ", ", grouped(cost.values[i]), cost.sizes[i]);
      }
      page.open("tr").element("th", cost.operation, {{"scope", "row"}}).element("td", cost.measure);
      page.element("td", fmt::format("{:.2f}", cost.exponent)).element("td", fmt::format("{:.0f}", cost.bound));
      page.element("td", counts).close().line();
    }
    close_table(page);
  }
  page.close().line();
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
