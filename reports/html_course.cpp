// Two sections about time: how the campaign went (charts as plain SVG, with their numbers in a table), and how it
// compares with an earlier one.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/html_sections.h"
#include "reports/html_tables.h"

namespace reports {
namespace {

constexpr double kWidth = 560, kHeight = 180, kLeft = 64, kRight = 12, kTop = 12, kBottom = 28;
constexpr std::size_t kMaxRows = 12;     // rows of the table beside a chart
constexpr std::size_t kMaxOpenList = 5;  // findings

struct Series {
  const char* title;
  const char* unit;
  std::vector<double> values;  // one for each moment
  bool steps;                  // a count, which jumps
};

std::string number(double value) {
  if (value >= 10'000) return grouped(static_cast<std::uint64_t>(value));
  return value == static_cast<double>(static_cast<std::uint64_t>(value)) ? fmt::format("{:.0f}", value)
                                                                         : fmt::format("{:.1f}", value);
}

std::string path_of(const std::vector<verify::Moment>& moments, const Series& series, double end, double top) {
  std::string path;
  double last = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const double x = kLeft + (kWidth - kLeft - kRight) * moments[i].seconds / end;
    const double y = kHeight - kBottom - (kHeight - kTop - kBottom) * series.values[i] / top;
    if (i == 0) {
      path = fmt::format("M{:.1f} {:.1f}", x, y);
    } else if (series.steps) {
      path += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}", x, last, x, y);
    } else {
      path += fmt::format("L{:.1f} {:.1f}", x, y);
    }
    last = y;
  }
  return path;
}

void write_chart(HtmlWriter& page, const std::vector<verify::Moment>& moments, const Series& series) {
  const double end = std::max(moments.back().seconds, 1e-3);
  const double most = *std::ranges::max_element(series.values);
  const double top = most > 0 ? most : 1;
  page.open("figure", {{"class", "chart"}});
  page.element("figcaption", series.title);
  page.open("svg", {{"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                    {"role", "img"},
                    {"aria-label", fmt::format("{} over {} seconds: at most {} {}, {} at the end", series.title,
                                               number(end), number(most), series.unit, number(series.values.back()))}});
  const double floor = kHeight - kBottom;
  for (const double share : {0.0, 0.5, 1.0}) {
    const std::string y = fmt::format("{:.1f}", floor - (floor - kTop) * share);
    page.open("line", {{"class", "grid"},
                       {"x1", fmt::format("{}", kLeft)},
                       {"x2", fmt::format("{}", kWidth - kRight)},
                       {"y1", y},
                       {"y2", y}})
        .close();
    if (most > 0 || share == 0.0) {
      page.element("text", number(top * share), {{"x", fmt::format("{}", kLeft - 6)}, {"y", y}, {"class", "tick end"}});
    }
    const double x = kLeft + (kWidth - kLeft - kRight) * share;
    page.element("text", number(end * share) + " s",
                 {{"x", fmt::format("{:.1f}", x)},
                  {"y", fmt::format("{}", kHeight - 8)},
                  {"class", share == 0.0   ? "tick"
                            : share == 1.0 ? "tick end"
                                           : "tick middle"}});
  }
  page.open("path", {{"class", "series"}, {"d", path_of(moments, series, end, top)}}).close();
  page.close().close().line();
}

std::vector<Series> series_of(const std::vector<verify::Moment>& moments) {
  Series rate{"Programs a second", "programs a second", {}, false}, found{"Findings", "findings", {}, true},
      features{"Features met", "features", {}, true};
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const verify::Moment before = i == 0 ? verify::Moment{} : moments[i - 1];
    const double seconds = moments[i].seconds - before.seconds;
    const auto programs = static_cast<double>(moments[i].programs - std::min(before.programs, moments[i].programs));
    rate.values.push_back(seconds > 0 ? programs / seconds : 0);
    found.values.push_back(static_cast<double>(moments[i].findings));
    features.values.push_back(static_cast<double>(moments[i].features));
  }
  return {rate, found, features};
}

// A list of findings of one of the two campaigns, with its title.
struct List {
  const char* title;
  const char* style;
  const verify::CampaignResult& result;
  const std::vector<std::size_t>& findings;
  bool here;    // the findings are on this page
  bool folded;  // the list is folded when it is long; new findings stay open
};

void write_list(HtmlWriter& page, const List& list) {
  const auto write_title = [&] {
    page.open("h3").element("span", fmt::format("{}: {}", list.title, list.findings.size()), {{"class", list.style}});
    page.close();
  };
  if (list.findings.empty()) {
    page.open("p");
    write_title();
    page.close().line();
    return;
  }
  if (list.folded && list.findings.size() > kMaxOpenList) {
    page.open("details");
  } else {
    page.open("details", {{"open", "open"}});
  }
  page.open("summary");
  write_title();
  page.close().open("ul");
  for (const std::size_t index : list.findings) {
    const verify::Finding& finding = list.result.findings[index];
    page.open("li");
    if (list.here) {
      page.element("a", finding.id, {{"href", fmt::format("#finding-{}", index)}});
    } else {
      page.element("strong", finding.id);
    }
    page.text(" " + finding.summary).close();
  }
  page.close().close().line();
}

}  // namespace

void write_course(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "course", "Course of the campaign");
  const std::vector<verify::Moment>& moments = result.history;
  if (moments.size() < 2) {
    page.element("p", "It was over before there was anything to draw.", {{"class", "note"}}).close().line();
    return;
  }
  page.open("div", {{"class", "charts"}});
  for (const Series& series : series_of(moments)) write_chart(page, moments, series);
  page.close().open("details").element("summary", "As numbers");
  open_table(page, "What the campaign had come to after some time",
             {{"Seconds", true}, {"Programs", true}, {"Findings", true}, {"Features met", true}});
  const std::size_t step = (moments.size() + kMaxRows - 1) / kMaxRows;
  for (std::size_t i = moments.size() % step == 0 ? step - 1 : moments.size() % step - 1; i < moments.size();
       i += step) {
    page.open("tr").element("td", fmt::format("{:.1f}", moments[i].seconds), {{"class", "number"}});
    for (const std::uint64_t count : {moments[i].programs, moments[i].findings, moments[i].features}) {
      page.element("td", grouped(count), {{"class", "number"}});
    }
    page.close().line();
  }
  close_table(page);
  page.close().close().line();
}

void write_comparison(HtmlWriter& page, const verify::CampaignResult& result, const verify::CampaignResult& earlier) {
  const Comparison comparison = compare(earlier, result);
  open_section(page, "comparison", "Compared with an earlier campaign");
  page.element("p",
               fmt::format("Then: {} against {}, hgcheck {}, seed {}, {}. Now: {} against {}, hgcheck {}, seed {}, {}.",
                           earlier.subject, earlier.baseline, earlier.version, earlier.seed,
                           counted(earlier.programs, "program"), result.subject, result.baseline, result.version,
                           result.seed, counted(result.programs, "program")));
  write_list(page,
             {"New", comparison.fresh.empty() ? "state good" : "state bad", result, comparison.fresh, true, false});
  write_list(page, {"Still there", "state warn", result, comparison.remaining, true, true});
  write_list(page, {"Fixed, or not met again", "state good", earlier, comparison.fixed, false, true});
  if (!comparison.untested.empty()) {
    write_list(page, {"Not tested this time", "state warn", earlier, comparison.untested, false, true});
  }
  page.close().line();
}

}  // namespace reports
