#include "fuzz/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <fstream>
#include <string_view>

namespace fuzz {

namespace {

// The kernel's name of the processor; some architectures and containers have none.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "an unnamed processor";
}

// Counts the processors that this process may use: a container often has fewer than the machine.
int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

std::string machine() {
  utsname names{};
  std::string system = "an unnamed system";
  if (uname(&names) == 0) {
    const std::string_view release = names.release;  // the text behind the first '-' names the builder
    system = fmt::format("{} {} {}", names.sysname, release.substr(0, release.find('-')), names.machine);
  }
  const int count = processors();
  return fmt::format("{}, {} processor{}, {}", processor(), count, count == 1 ? "" : "s", system);
}

std::string node() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "";
}

}  // namespace fuzz
