// The page of an exploration of schedules.
#include <fmt/format.h>

#include "reports/html.h"
#include "reports/html_sections.h"
#include "reports/html_tables.h"
#include "reports/html_writer.h"

namespace reports {
namespace {

std::string headline(const verify::RaceResult& result) {
  std::string line;
  if (!result.fault.empty()) {
    line = fmt::format("The fault {} was {}", result.fault, result.findings.empty() ? "not found" : "found");
  } else if (result.plans.empty()) {
    line = "No schedule ran: nothing was explored";
  } else if (result.findings.empty()) {
    line = fmt::format("No race found in {} schedules", grouped(result.schedules));
  } else {
    line = fmt::format("{} among threads", counted(result.findings.size(), "finding"));
  }
  return result.interrupted ? line + " (interrupted: this is what was found so far)" : line;
}

const char* mood(const verify::RaceResult& result) {
  if (result.plans.empty()) return "warn";
  return result.findings.empty() == result.fault.empty() ? "good" : "bad";
}

void write_block(HtmlWriter& page, std::string_view label, std::string_view text) {
  page.element("h4", label);
  page.open("pre", {{"tabindex", "0"}, {"aria-label", label}}).element("code", text).close().line();
}

void write_finding(HtmlWriter& page, const verify::RaceFinding& finding) {
  page.open("details", {{"class", "finding"}, {"id", finding.id}, {"open", "open"}});
  page.element("summary", fmt::format("{}: {}", finding.id, finding.failure));
  page.open("p").text("Breaks ").element("strong", finding.property).text(fmt::format(" in {}", finding.scenario));
  page.close();
  page.element("p", finding.summary, {{"class", "sentence"}});
  page.element("p",
               fmt::format("{}, {}, {}, {} from thread to thread; shown after {} ({:.3f} s).",
                           counted(finding.threads, "thread"), counted(finding.calls, "call"),
                           counted(finding.preemptions, "preemption"), counted(finding.switches, "change"),
                           counted(finding.found_after, "schedule"), finding.found_in),
               {{"class", "note"}});
  write_block(page, "Interleaving", finding.interleaving);
  write_block(page, "Program", finding.program_text);
  if (!finding.program_path.empty()) {
    page.open("p", {{"class", "note"}}).text("File: ").element("code", finding.program_path).close();
  }
  if (!finding.replay.empty()) write_block(page, "Replay command", finding.replay);
  page.close().line();
}

void write_plans(HtmlWriter& page, const verify::RaceResult& result) {
  open_section(page, "plans", "Plans");
  open_table(page, "What was explored",
             {{"Scenario"}, {"Plan"}, {"Explored"}, {"Schedules", true}, {"Choices", true}, {"Seconds", true}, {""}});
  for (const verify::RacePlanResult& plan : result.plans) {
    page.open("tr").element("th", plan.scenario, {{"scope", "row"}});
    page.element("td", plan.plan).element("td", plan.explored);
    page.element("td", grouped(plan.schedules), {{"class", "number"}});
    page.element("td", grouped(plan.choices), {{"class", "number"}});
    page.element("td", fmt::format("{:.2f}", plan.seconds), {{"class", "number"}});
    page.element("td", plan.fails ? "fails" : "clean").close().line();
  }
  close_table(page);
  page.close().line();
}

}  // namespace

std::string to_html(const verify::RaceResult& result) {
  HtmlWriter page;
  page.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head").line();
  fill_head(page, fmt::format("hgcheck race: {}", headline(result)));
  page.open("body").open("header").element("p", "hgcheck race: threads that share a system", {{"class", "kind"}});
  page.open("div", {{"class", std::string("verdict ") + mood(result)}}).element("h1", headline(result));
  page.element(
      "p", fmt::format("{}; {} in {:.2f} s", result.explore, counted(result.schedules, "schedule"), result.seconds));
  page.close().close().line().open("main").line();
  open_section(page, "findings", "Findings");
  if (result.findings.empty()) page.element("p", "None.");
  for (const verify::RaceFinding& finding : result.findings) write_finding(page, finding);
  page.close().line();
  write_plans(page, result);
  page.close().open("footer").element("p", fmt::format("Written by hgcheck {}.", result.version)).close();
  page.close().close().line();
  return page.take();
}

}  // namespace reports
