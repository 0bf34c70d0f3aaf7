// hip::leaves_stream_out: how release 7.2 spreads a graph of 16 nodes and more over its streams, as far as one question
// needs it.
//
// Seen from outside, and in ROCm/rocm-systems (projects/clr, Graph::ScheduleOneNode): depth first from the roots, in
// the order in which nodes and edges were added; a node's first dependent goes on in its stream, the next ones in the
// streams behind it, four of them in a circle, whether or not they have a stream already. So a stream may be left out
// between two that have nodes, and launching such a graph may crash (docs/findings.md, spread-leaves-stream-out).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hip {

// From how many nodes on a graph is spread; smaller ones are cut into paths.
inline constexpr std::size_t kSpreadNodes = 16;

// `dependencies`: by node, the nodes that it depends on. False of a graph that is not spread. A node that waits for
// itself has no stream.
[[nodiscard]] inline bool leaves_stream_out(std::span<const std::vector<std::uint32_t>> dependencies) {
  constexpr std::size_t kStreams = 4;
  struct Visit {
    std::uint32_t node = 0;
    std::size_t next = 0;  // of its dependents
  };
  const std::size_t count = dependencies.size();
  if (count < kSpreadNodes) return false;
  std::vector<std::vector<std::uint32_t>> dependents(count);
  for (std::uint32_t node = 0; node < count; ++node) {
    for (const std::uint32_t before : dependencies[node]) dependents[before].push_back(node);
  }
  std::vector<std::optional<std::size_t>> streams(count);
  std::array<bool, kStreams> taken{};
  std::size_t roots = 0;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (!dependencies[root].empty()) continue;
    std::vector<Visit> path;
    const auto enter = [&](std::uint32_t node, std::size_t stream) {
      if (streams[node]) return;
      streams[node] = stream;
      taken.at(stream) = true;
      path.push_back({node, 0});
    };
    enter(root, roots++ % kStreams);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == dependents[visit.node].size()) {
        path.pop_back();
        continue;
      }
      const std::size_t stream = (*streams[visit.node] + visit.next) % kStreams;
      enter(dependents[visit.node][visit.next++], stream);
    }
  }
  std::size_t last = kStreams;
  while (last > 0 && !taken.at(last - 1)) --last;
  for (std::size_t stream = 0; stream < last; ++stream) {
    if (!taken.at(stream)) return true;
  }
  return false;
}

}  // namespace hip
