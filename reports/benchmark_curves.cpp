#include "reports/benchmark_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/html_tables.h"

namespace reports {
namespace {

constexpr double kCurveWidth = 560, kCurveHeight = 240, kCurveLeft = 64, kCurveRight = 96, kCurveTop = 12,
                 kCurveBottom = 28;
constexpr std::size_t kCurveStyles = 6;  // of curves (page_style.h); further curves begin again
constexpr double kLabelHeight = 12;

// Where a benchmark's time goes.
struct CurvePlace {
  std::string title, axis, curve;
  double size = 0;
  bool real = false;
};

std::vector<std::string_view> parts_of_name(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The place of "…/CURVE/AXIS:SIZE/…"; an empty axis for other names.
CurvePlace curve_place_of(const std::string& name) {
  std::vector<std::string_view> parts = parts_of_name(name);
  CurvePlace place;
  place.real = parts.back() == "real_time";
  if (place.real) parts.pop_back();
  std::string before, behind;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t colon = parts[i].find(':');
    const bool has_number = colon != std::string_view::npos && colon + 1 < parts[i].size();
    if (has_number && place.axis.empty() && i > 0) {
      const std::string_view digits = parts[i].substr(colon + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.size);
      if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(place.size) || place.size <= 0)
        return {};
      place.axis = parts[i].substr(0, colon);
      place.curve = parts[i - 1];
    } else if (!place.axis.empty()) {
      std::string part(parts[i]);
      if (has_number) part[colon] = ' ';
      behind += (behind.empty() ? "" : ", ") + part;
    } else if (i + 1 < parts.size() && parts[i + 1].find(':') == std::string_view::npos) {
      before += (before.empty() ? "" : ", ") + std::string(parts[i]);
    }
  }
  place.title = before + (before.empty() || behind.empty() ? "" : "; ") + behind;
  return place;
}

// The drawing of one chart: sizes and times to coordinates.
class CurveScale {
 public:
  explicit CurveScale(const CurveChart& chart) {
    for (const Curve& curve : chart.curves) {
      for (const CurvePoint& point : curve.points) {
        sizes_.insert(point.size);
        least_ = least_ == 0 ? point.nanoseconds : std::min(least_, point.nanoseconds);
        most_ = std::max(most_, point.nanoseconds);
      }
    }
    least_ = std::pow(10, std::floor(std::log10(least_)));
    most_ = std::max(std::pow(10, std::ceil(std::log10(most_))), 10 * least_);
  }
  [[nodiscard]] double x(double size) const {
    const double first = std::log(*sizes_.begin()), last = std::log(*sizes_.rbegin());
    return kCurveLeft + (kCurveWidth - kCurveLeft - kCurveRight) * (std::log(size) - first) / (last - first);
  }
  [[nodiscard]] double y(double nanoseconds) const {
    const double share = std::log(nanoseconds / least_) / std::log(most_ / least_);
    return kCurveHeight - kCurveBottom - (kCurveHeight - kCurveTop - kCurveBottom) * share;
  }
  [[nodiscard]] const std::set<double>& sizes() const { return sizes_; }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  std::set<double> sizes_;  // two or more
  double least_ = 0, most_ = 0;
};

std::string coordinate_text(double coordinate) {
  return fmt::format("{:.1f}", coordinate);
}

void write_curve_axes(HtmlWriter& page, const CurveChart& chart, const CurveScale& scale) {
  for (double time = scale.least(); time <= 1.001 * scale.most(); time *= 10) {
    const std::string y = coordinate_text(scale.y(time));
    page.open("line", {{"class", "grid"},
                       {"x1", coordinate_text(kCurveLeft)},
                       {"x2", coordinate_text(kCurveWidth - kCurveRight)},
                       {"y1", y},
                       {"y2", y}})
        .close();
    page.element("text", time_text(time), {{"x", coordinate_text(kCurveLeft - 6)}, {"y", y}, {"class", "tick end"}});
  }
  for (const double size : scale.sizes()) {
    const bool first = size == *scale.sizes().begin();
    page.element("text", fmt::format("{:.6g}{}", size, first ? " " + chart.axis : ""),
                 {{"x", coordinate_text(scale.x(size))},
                  {"y", coordinate_text(kCurveHeight - 8)},
                  {"class", first ? "tick" : "tick middle"}});
  }
}

// A curve's name stands at its end; names that would touch are moved down.
void write_curve_names(HtmlWriter& page, const CurveChart& chart, const CurveScale& scale) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < chart.curves.size(); ++i)
    ends.emplace_back(scale.y(chart.curves[i].points.back().nanoseconds), i);
  std::ranges::sort(ends);
  double free = kCurveTop;
  for (const auto& [y, i] : ends) {
    const double here = std::max(y, free);
    free = here + kLabelHeight;
    page.element("text", chart.curves[i].name,
                 {{"x", coordinate_text(scale.x(chart.curves[i].points.back().size) + 6)},
                  {"y", coordinate_text(here)},
                  {"class", fmt::format("tick name{}", i % kCurveStyles)}});
  }
}

std::string curve_path(const Curve& curve, const CurveScale& scale) {
  std::string path;
  for (const CurvePoint& point : curve.points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', scale.x(point.size), scale.y(point.nanoseconds));
  return path;
}

std::string curve_names(const CurveChart& chart) {
  std::string names;
  for (const Curve& curve : chart.curves) names += (names.empty() ? "" : ", ") + curve.name;
  return names;
}

void write_curve_chart(HtmlWriter& page, const CurveChart& chart) {
  const CurveScale scale(chart);
  page.open("figure", {{"class", "chart"}}).element("figcaption", chart.title);
  page.open("svg", {{"viewBox", fmt::format("0 0 {} {}", kCurveWidth, kCurveHeight)},
                    {"role", "img"},
                    {"aria-label", fmt::format("time over {}: {}", chart.axis, curve_names(chart))}});
  write_curve_axes(page, chart, scale);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    page.open("path",
              {{"class", fmt::format("series curve{}", i % kCurveStyles)}, {"d", curve_path(chart.curves[i], scale)}})
        .close();
  }
  write_curve_names(page, chart, scale);
  page.close();
  for (const Crossing& crossing : crossings_of(chart)) {
    page.element("p",
                 fmt::format("{} and {} cross at about {:.3g} {}: {} is faster just below", crossing.below,
                             crossing.above, crossing.size, chart.axis, crossing.below),
                 {{"class", "note"}});
  }
  page.close().line();
}

// Where two curves cross, over the sizes that both have.
void add_crossings(const Curve& one, const Curve& other, std::vector<Crossing>& out) {
  double size_before = 0, ratio_before = 0;  // the logarithm of the ratio of the times
  for (const CurvePoint& point : one.points) {
    const auto found = std::ranges::find(other.points, point.size, &CurvePoint::size);
    if (found == other.points.end()) continue;
    const double ratio = std::log(point.nanoseconds / found->nanoseconds);
    if (ratio_before * ratio < 0) {
      const double share = ratio_before / (ratio_before - ratio);
      const double size = std::exp(std::log(size_before) + share * (std::log(point.size) - std::log(size_before)));
      const bool one_is_below = ratio_before < 0;
      out.push_back({one_is_below ? one.name : other.name, one_is_below ? other.name : one.name, size});
    }
    if (ratio != 0) {
      size_before = point.size;
      ratio_before = ratio;
    }
  }
}

}  // namespace

std::string time_text(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) return "not measured";
  if (nanoseconds >= 1e9) return fmt::format("{:.3g} s", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  if (nanoseconds >= 1e3) return fmt::format("{:.3g} us", nanoseconds / 1e3);
  return fmt::format("{:.3g} ns", nanoseconds);
}

std::vector<CurveChart> charts_of(const BenchmarkResult& result) {
  std::vector<CurveChart> charts;
  for (const BenchmarkRun& run : result.runs) {
    const CurvePlace place = curve_place_of(run.name);
    const double time = place.real ? run.real : run.processor;
    if (place.axis.empty() || !run.error.empty() || !std::isfinite(time) || time <= 0) continue;
    const auto same_chart = [&](const CurveChart& chart) {
      return chart.title == place.title && chart.axis == place.axis;
    };
    auto chart = std::ranges::find_if(charts, same_chart);
    if (chart == charts.end()) chart = charts.insert(charts.end(), {place.title, place.axis, {}});
    auto curve = std::ranges::find(chart->curves, place.curve, &Curve::name);
    if (curve == chart->curves.end()) curve = chart->curves.insert(curve, {place.curve, {}});
    if (std::ranges::find(curve->points, place.size, &CurvePoint::size) == curve->points.end())
      curve->points.push_back({place.size, time});
  }
  for (CurveChart& chart : charts) {
    std::erase_if(chart.curves, [](const Curve& curve) { return curve.points.size() < 2; });
    for (Curve& curve : chart.curves) std::ranges::sort(curve.points, {}, &CurvePoint::size);
  }
  std::erase_if(charts, [](const CurveChart& chart) { return chart.curves.size() < 2; });
  return charts;
}

std::vector<Crossing> crossings_of(const CurveChart& chart) {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    for (std::size_t k = i + 1; k < chart.curves.size(); ++k) add_crossings(chart.curves[i], chart.curves[k], all);
  }
  return all;
}

void write_curves(HtmlWriter& page, const BenchmarkResult& result) {
  const std::vector<CurveChart> charts = charts_of(result);
  if (charts.empty()) return;
  open_section(page, "curves", "Curves");
  page.open("div", {{"class", "charts"}}).line();
  for (const CurveChart& chart : charts) write_curve_chart(page, chart);
  page.close().close().line();
}

}  // namespace reports
