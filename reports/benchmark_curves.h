// Curves of benchmarks whose names say sizes: "step/model/remap/commands:256/moved:10/bytes:4096".
//
// The first component with a number ("commands:256") is the axis, the component before it ("remap") names the curve,
// and benchmarks that agree in all other components share a chart. A chart has at least two curves with two points
// each. Both axes are logarithmic. Where two curves cross is told in words beside the chart: between two measured
// sizes, the point is drawn from the straight lines of the chart. Failed benchmarks and times of 0 have no point.
#pragma once

#include <string>
#include <vector>

#include "reports/benchmarks.h"
#include "reports/html_writer.h"

namespace reports {

struct CurvePoint {
  double size = 0, nanoseconds = 0;
};
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by size
};
struct CurveChart {
  std::string title;  // "step, model; moved 10, bytes 4096"
  std::string axis;   // "commands"
  std::vector<Curve> curves;
};
// `below` takes less time than `above` just below `size`, and more just above.
struct Crossing {
  std::string below, above;
  double size = 0;
};

// In the order of the first benchmark of each. Real time for benchmarks that were registered with it, else processor
// time.
[[nodiscard]] std::vector<CurveChart> charts_of(const BenchmarkResult& result);
[[nodiscard]] std::vector<Crossing> crossings_of(const CurveChart& chart);

// Writes a section of the charts; nothing where there is none.
void write_curves(HtmlWriter& page, const BenchmarkResult& result);

// "3.5 us"
[[nodiscard]] std::string time_text(double nanoseconds);

}  // namespace reports
