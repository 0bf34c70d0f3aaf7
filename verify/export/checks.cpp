#include "verify/export/checks.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"
#include "verify/program/state_devices.h"

namespace verify {
namespace {

constexpr std::size_t kHexALine = 96;

}  // namespace

void ReproducerChecks::bytes(std::size_t step) {
  for (const ExpectedBytes& bytes : reproducer_.bytes) {
    if (bytes.step != step) continue;
    out_.text().need(HelperFunction::kHex);
    const std::string at =
        bytes.offset == 0 ? fmt::format("b{}", bytes.buffer) : fmt::format("b{} + {}", bytes.buffer, bytes.offset);
    std::string literal;
    for (std::size_t i = 0; i < bytes.hex.size(); i += kHexALine) {
      literal += fmt::format("{}\"{}\"", i == 0 ? "" : "\n         ", bytes.hex.substr(i, kHexALine));
    }
    out_.text().on_device(device_of_view(out_.after(), bytes.buffer), [&] {
      out_.text().equal(fmt::format("the bytes at {}", at), literal,
                        fmt::format("hex({}, {})", at, bytes.hex.size() / 2));
    });
  }
}

// "u0 went": its function ran.
void ReproducerChecks::user_objects() {
  const ExpectedStatus& expected = out_.expected();
  for (const auto& [id, held] : out_.after().user_objects()) {
    const std::string went = fmt::format("u{} went", id);
    const bool should = expected.seen.find(went) != std::string::npos;
    const bool did = expected.saw.find(went) != std::string::npos;
    wents_[id] += should ? 1 : 0;
    if (!expected.only_seen_differs || did == should) continue;
    out_.text().equal(fmt::format("runs of the function of u{}", id), fmt::format("\"{}\"", wents_[id]),
                      fmt::format("std::to_string(u{}_went.load())", id));
    out_.answered();
  }
}

void ReproducerChecks::host_functions() {
  if (!reproducer_.checks_host_functions) return;
  out_.text().need(HelperFunction::kHost);
  for (const auto& [tag, count] : reproducer_.host_functions) {
    out_.text().equal(fmt::format("runs of the host function {}", tag), fmt::format("std::to_string({})", count),
                      fmt::format("std::to_string(runs[{}])", tag));
  }
}

void ReproducerChecks::topology() {
  ExpectedStatus listed;  // the status of a getter that refuses the graph may differ
  listed.differs = true;
  for (const ExpectedTopology& topology : reproducer_.topology) {
    const std::string& graph = out_.names().graphs[topology.graph].graph;
    out_.text().line(fmt::format("size_t {0}_nodes = 0, {0}_edges = 0;", graph));
    out_.text().call(listed, fmt::format("hipGraphGetNodes({0}, nullptr, &{0}_nodes)", graph));
    out_.text().call(listed, fmt::format("hipGraphGetEdges({0}, nullptr, nullptr, &{0}_edges)", graph));
    out_.text().equal(fmt::format("nodes and edges of {}", graph),
                      fmt::format("\"{} {}\"", topology.nodes, topology.edges),
                      fmt::format("std::to_string({0}_nodes) + \" \" + std::to_string({0}_edges)", graph));
  }
}

void ReproducerChecks::owned_graphs() {
  ExpectedStatus destroyed;
  destroyed.differs = true;
  for (const Id graph : reproducer_.owned) {
    out_.text().call(destroyed, fmt::format("hipGraphDestroy({})", out_.names().graphs[graph].graph));
  }
}

void ReproducerChecks::tear_down() {
  for (const auto& [id, exec] : out_.names().execs) {
    if (out_.after().exec(id)->alive) out_.text().must(fmt::format("hipGraphExecDestroy({})", exec.exec));
  }
  for (const auto& [id, graph] : out_.names().graphs) {
    if (out_.after().graph(id)->alive) out_.text().must(fmt::format("hipGraphDestroy({})", graph.graph));
  }
  out_.text().must("hipDeviceReset()");
}

}  // namespace verify
