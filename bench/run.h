// bench::run: Google Benchmark with options of our own before the caller's, and a summary after the last result.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace bench {

// Processor time of one iteration in nanoseconds (elapsed time where a benchmark asks for it), by benchmark name:
// medians where there are repetitions. Benchmarks that were filtered out or failed are missing.
using Times = std::map<std::string, double>;

// Runs the registered benchmarks and returns the exit code. Options in `argv` override `defaults`. The summary goes to
// standard output, or to standard error where another format than the console's has standard output for itself.
int run(int argc, char** argv, std::vector<std::string> defaults,
        const std::function<void(std::ostream&, const Times&)>& summarise);

}  // namespace bench
