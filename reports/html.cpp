#include "reports/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/bugs.h"
#include "reports/comparison.h"
#include "reports/html_sections.h"
#include "reports/html_writer.h"
#include "reports/page_style.h"

namespace reports {
namespace {

// The outcome of the campaign: one line, and a class of the style sheet.
struct Headline {
  const char* mood;
  std::string line;
};

Headline faultless_headline(const verify::CampaignResult& result) {
  if (result.programs == 0) return {"warn", "No program ran: nothing was checked"};
  if (!result.fault.empty()) return {"bad", fmt::format("The fault {} was not found", result.fault)};
  if (result.verdicts.harness_error > 0) {
    return {"bad", fmt::format("No divergence found, but {} failed in the harness",
                               counted(result.verdicts.harness_error, "program"))};
  }
  if (result.verdicts.agree == 0) return {"warn", "No divergence found, but no program agreed either"};
  return {result.messages.empty() ? "good" : "warn", "No divergence found"};
}

Headline headline(const verify::CampaignResult& result) {
  Headline head = faultless_headline(result);
  if (!result.findings.empty()) {
    const std::size_t bugs = bugs_of(result.findings).size();
    const std::string findings = counted(result.findings.size(), "finding");
    const std::string count =
        bugs < result.findings.size() ? fmt::format("{} of {}", findings, counted(bugs, "bug")) : findings;
    if (result.fault.empty()) {
      head = {"bad", fmt::format("{}: the subject differs from the baseline", count)};
    } else {
      head = {"good", fmt::format("The fault {} was found: {}", result.fault, count)};
    }
  } else if (result.verdicts.diverge > 0) {
    head = {"bad", fmt::format("{} diverged", counted(result.verdicts.diverge, "program"))};
  }
  if (result.interrupted) head.line += " (interrupted: this is what was found so far)";
  return head;
}

void write_fact(HtmlWriter& page, std::string_view term, std::string_view value, std::string_view style = "short") {
  page.open("div", {{"class", style}}).element("dt", term).element("dd", value).close();
}

void write_facts(HtmlWriter& page, const verify::CampaignResult& result) {
  const bool is_timed = std::isfinite(result.seconds) && result.seconds > 0;
  const double rate = is_timed ? static_cast<double>(result.programs) / result.seconds : 0.0;
  page.open("dl", {{"class", "facts"}});
  write_fact(page, "Subject", result.subject);
  if (!result.release.empty()) write_fact(page, "Release", result.release);
  write_fact(page, "Baseline", result.baseline);
  if (!result.fault.empty()) write_fact(page, "Fault switched on", result.fault);
  write_fact(page, "Findings", grouped(result.findings.size()));
  write_fact(page, "Programs", grouped(result.programs));
  write_fact(page, "Commands", grouped(result.commands));
  write_fact(page, "Rate", is_timed ? fmt::format("{:.1f} programs/s", rate) : "not measured");
  write_fact(page, "Time", is_timed ? fmt::format("{:.1f} s", result.seconds) : "not measured");
  write_fact(page, "A program",
             result.judge_us > 0
                 ? fmt::format("{:.0f} us to generate, {:.0f} us to run and judge", result.generate_us, result.judge_us)
                 : "not measured");
  write_fact(page, "Seed", fmt::format("{}", result.seed));
  write_fact(page, "Size", fmt::format("{}", result.size));
  write_fact(page, "Jobs", fmt::format("{}", result.jobs));
  write_fact(page, "hgcheck version", result.version);
  if (!result.machine.empty()) write_fact(page, "Machine", result.machine, "long");
  page.close().line();
}

void write_first_screen(HtmlWriter& page, const verify::CampaignResult& result, const verify::CampaignResult* earlier,
                        bool has_races) {
  const Headline head = headline(result);
  const auto unexercised =
      std::ranges::count_if(result.properties, [](const auto& property) { return property.second.exercised == 0; });
  page.open("header");
  page.element("p", "hgcheck: is a patched graph still the graph that recording again would give?",
               {{"class", "kind"}});
  page.open("div", {{"class", std::string("verdict ") + head.mood}});
  page.element("h1", head.line);
  page.element("p", fmt::format("{} against {}", result.subject, result.baseline));
  if (unexercised > 0) {
    page.element("p", fmt::format("{} of {} properties were never exercised, and so have not passed.", unexercised,
                                  result.properties.size()));
  }
  if (earlier != nullptr) {
    page.element("p", fmt::format("Against an earlier campaign: {}.", summary_of(compare(*earlier, result))));
  }
  page.close();
  write_facts(page, result);
  page.open("nav", {{"aria-label", "Sections"}}).open("ul");
  for (const auto& [anchor, name] : {std::pair{"#findings", "Findings"},
                                     {"#properties", "Properties"},
                                     {"#verdicts", "Verdicts"},
                                     {"#coverage", "Coverage"},
                                     {"#states", "States"},
                                     {"#costs", "Costs"},
                                     {"#course", "Course"},
                                     {"#sampling", "Sampling"},
                                     {"#messages", "Messages"}}) {
    page.open("li").element("a", name, {{"href", anchor}}).close();
  }
  if (!result.shards.empty()) page.open("li").element("a", "Shards", {{"href", "#shards"}}).close();
  if (earlier != nullptr) page.open("li").element("a", "Comparison", {{"href", "#comparison"}}).close();
  if (has_races) page.open("li").element("a", "Races", {{"href", "races.html"}}).close();
  page.close().close().close().line();
}

void write_head(HtmlWriter& page, const verify::CampaignResult& result) {
  page.open("head").line();
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  // With this policy a program's text could load nothing, even if escaping were wrong.
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"}});
  page.element("title", fmt::format("hgcheck: {}", headline(result).line));
  page.open("style").raw(kPageStyle).close().line();
  page.close().line();
}

}  // namespace

std::string to_html(const verify::CampaignResult& result, const verify::CampaignResult* earlier, bool has_races) {
  HtmlWriter page;
  page.raw("<!DOCTYPE html>\n");
  page.open("html", {{"lang", "en"}}).line();
  write_head(page, result);
  page.open("body").line();
  page.element("a", "Skip to the findings", {{"class", "skip"}, {"href", "#findings"}}).line();
  write_first_screen(page, result, earlier, has_races);
  page.open("main").line();
  if (earlier != nullptr) write_comparison(page, result, *earlier);
  write_findings(page, result);
  write_properties(page, result);
  write_verdicts(page, result);
  write_coverage(page, result);
  write_states(page, result);
  write_costs(page, result);
  write_course(page, result);
  write_shards(page, result);
  write_sampling(page, result);
  write_messages(page, result);
  page.element("p", "", {{"id", "copy-status"}, {"role", "status"}, {"class", "unseen"}});
  page.close().line();
  page.open("footer");
  page.element(
      "p",
      fmt::format("Written by hgcheck {}. The same data: report.json, report.sarif and junit.xml beside this page.",
                  result.version));
  page.close().line();
  page.open("script").raw(kPageScript).close().line();
  page.close().close().line();
  return page.take();
}

}  // namespace reports
