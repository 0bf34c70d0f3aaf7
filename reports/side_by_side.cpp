#include "reports/side_by_side.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "reports/bugs.h"
#include "reports/html_sections.h"
#include "reports/html_writer.h"

namespace reports {
namespace {

using Cell = std::function<std::string(const verify::CampaignResult&)>;

void write_header_row(HtmlWriter& page, std::string_view what, const std::vector<CampaignColumn>& columns) {
  page.open("thead").open("tr").element("th", what, {{"scope", "col"}});
  for (const CampaignColumn& column : columns) {
    page.open("th", {{"scope", "col"}});
    if (column.page.empty()) {
      page.text(column.result.subject);
    } else {
      page.element("a", column.result.subject, {{"href", column.page}});
    }
    page.close();
  }
  page.close().close();
}

void write_row(HtmlWriter& page, std::string_view name, const std::vector<CampaignColumn>& columns, const Cell& cell) {
  page.open("tr").element("th", name, {{"scope", "row"}});
  for (const CampaignColumn& column : columns) page.element("td", cell(column.result), {{"class", "number"}});
  page.close().line();
}

std::string share(std::uint64_t count) {
  return count == 0 ? "-" : grouped(count);
}

void write_totals(HtmlWriter& page, const std::vector<CampaignColumn>& columns) {
  page.open("table").element("caption", "What each campaign came to");
  write_header_row(page, "", columns);
  page.open("tbody");
  using Result = verify::CampaignResult;
  write_row(page, "baseline", columns, [](const Result& r) { return r.baseline; });
  write_row(page, "seed", columns, [](const Result& r) { return fmt::format("{}", r.seed); });
  write_row(page, "size", columns, [](const Result& r) { return fmt::format("{}", r.size); });
  write_row(page, "programs", columns, [](const Result& r) { return grouped(r.programs); });
  write_row(page, "programs/s", columns, [](const Result& r) {
    return r.seconds > 0 ? fmt::format("{:.0f}", static_cast<double>(r.programs) / r.seconds) : "-";
  });
  write_row(page, "agree", columns, [](const Result& r) { return grouped(r.verdicts.agree); });
  write_row(page, "unexplained divergences", columns, [](const Result& r) { return share(r.verdicts.diverge); });
  write_row(page, "known quirk", columns, [](const Result& r) { return share(r.verdicts.known_quirk); });
  write_row(page, "poisoned", columns, [](const Result& r) { return share(r.verdicts.poisoned); });
  write_row(page, "unsupported", columns, [](const Result& r) { return share(r.verdicts.unsupported); });
  write_row(page, "discarded", columns, [](const Result& r) { return share(r.verdicts.discarded); });
  write_row(page, "harness error", columns, [](const Result& r) { return share(r.verdicts.harness_error); });
  page.close().close().line();
}

void write_quirks(HtmlWriter& page, const std::vector<CampaignColumn>& columns) {
  std::set<std::string> ids;
  for (const CampaignColumn& column : columns) {
    for (const auto& [id, count] : column.result.quirks) ids.insert(id);
  }
  if (ids.empty()) {
    page.element("p", "No program met a known quirk.");
    return;
  }
  page.open("table").element("caption", "Programs that met each known quirk");
  write_header_row(page, "quirk", columns);
  page.open("tbody");
  for (const std::string& id : ids) {
    write_row(page, id, columns, [&id](const verify::CampaignResult& r) {
      const auto found = r.quirks.find(id);
      return share(found == r.quirks.end() ? 0 : found->second);
    });
  }
  page.close().close().line();
}

// The state of a property in one campaign, for example "violated by 3". The table shows properties that hold on one
// release and not on another.
std::string state_of(const verify::CampaignResult& result, const std::string& property) {
  const auto found = result.properties.find(property);
  if (found == result.properties.end() || found->second.exercised == 0) return "not exercised";
  return found->second.violated == 0 ? "held" : fmt::format("violated by {}", grouped(found->second.violated));
}

void write_properties(HtmlWriter& page, const std::vector<CampaignColumn>& columns) {
  std::set<std::string> ids;
  for (const CampaignColumn& column : columns) {
    for (const auto& [id, count] : column.result.properties) ids.insert(id);
  }
  if (ids.empty()) return;
  page.open("table").element("caption", "What held on each, and what did not");
  write_header_row(page, "property", columns);
  page.open("tbody");
  for (const std::string& id : ids) {
    write_row(page, id, columns, [&id](const verify::CampaignResult& r) { return state_of(r, id); });
  }
  page.close().close().line();
}

void write_bugs(HtmlWriter& page, const std::vector<CampaignColumn>& columns) {
  std::map<std::string, std::map<const verify::CampaignResult*, std::uint64_t>> seen;
  for (const CampaignColumn& column : columns) {
    for (const Bug& bug : bugs_of(column.result.findings)) seen[bug.name()][&column.result] = bug.seen;
  }
  if (seen.empty()) return;
  page.open("table").element("caption", "Programs that showed each bug (property; nodes; setters; first divergence)");
  write_header_row(page, "bug", columns);
  page.open("tbody");
  for (const auto& [name, counts] : seen) {
    write_row(page, name, columns, [&counts](const verify::CampaignResult& r) {
      const auto found = counts.find(&r);
      return share(found == counts.end() ? 0 : found->second);
    });
  }
  page.close().close().line();
}

void write_all_findings(HtmlWriter& page, const std::vector<CampaignColumn>& columns) {
  bool any = false;
  for (const CampaignColumn& column : columns) {
    for (const verify::Finding& finding : column.result.findings) {
      if (!any) page.element("h2", "Unexplained divergences").open("ul");
      any = true;
      page.open("li").element("strong", fmt::format("{} {}", column.result.subject, finding.id));
      page.text(": " + finding.summary).element("pre", finding.program_text).close();
    }
  }
  if (any) page.close();
}

}  // namespace

std::string side_by_side(const std::vector<CampaignColumn>& columns) {
  std::uint64_t unexplained = 0;
  for (const CampaignColumn& column : columns) unexplained += column.result.verdicts.diverge;
  const std::string line = unexplained == 0
                               ? "No unexplained divergence"
                               : fmt::format("{} diverged without explanation", counted(unexplained, "program"));
  HtmlWriter page;
  page.raw("<!DOCTYPE html>\n");
  page.open("html", {{"lang", "en"}}).open("head");
  fill_head(page, "hgcheck side by side: " + line);
  page.open("body").open("main").open("header");
  page.element("p", "hgcheck: releases and strategies side by side", {{"class", "kind"}});
  page.open("div", {{"class", unexplained == 0 ? "verdict good" : "verdict bad"}}).element("h1", line).close().close();
  page.open("div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", "Tables"}});
  write_totals(page, columns);
  write_bugs(page, columns);
  write_properties(page, columns);
  write_quirks(page, columns);
  page.close();
  write_all_findings(page, columns);
  page.close().close().close().line();
  return page.take();
}

}  // namespace reports
