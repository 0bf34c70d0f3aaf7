// Helpers of tests of hip::GraphPatcher: a graph on the fake HIP with a patcher of it, recordings made by hand, and the
// number of setter calls that moves are worth, stated without any code of the patcher.
//
// Asserts with RapidCheck's macros: a failure inside a property shrinks.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hip/fake_api.h"
#include "hip/graph_patcher.h"
#include "hip/random_recording.h"

namespace patching {

using fake::bits;
using fake::child_of;
using fake::nested;
using hip::AddressTable;
using hip::Field;
using hip::GraphPatcher;
using hip::Move;
using hip::PatchFailure;
using hip::Recording;

enum class Target : std::uint8_t { kExec, kGraph };

inline Target draw_target() {
  return *rc::gen::element(Target::kExec, Target::kGraph);
}

// Returns the description of the graph that is recorded again at `addresses`.
inline std::string recorded_again(const Recording& recording, const AddressTable& addresses) {
  const hip::Api table = fake::api();
  const auto recorded = hip::record_graph(table, recording, addresses);
  RC_ASSERT(recorded.ok());
  std::string picture = describe(fake::graph_of(recorded.value().graph));
  RC_ASSERT(table.hipGraphDestroy(recorded.value().graph) == hipSuccess);
  return picture;
}

// Returns nothing where the patch succeeded.
inline std::optional<PatchFailure> failure_of(const hip::PatchResult& result) {
  return result.ok() ? std::nullopt : std::optional(result.error().failure);
}

// A graph recorded from a recording, instantiated, with a patcher of one of the two.
struct Subject {
  Subject(const Recording& recorded_from, AddressTable at, Target which, hip::PatcherOptions options = {})
      : recording(recorded_from), addresses(std::move(at)), target(which) {
    auto recorded = hip::record_graph(table, recording, addresses);
    EXPECT_TRUE(recorded.ok());
    graph = recorded.value();
    EXPECT_EQ(table.hipGraphInstantiate(&exec, graph.graph, nullptr, nullptr, 0), hipSuccess);
    make_patcher(recording, addresses, std::move(options));
  }

  // Makes another patcher, which is told that the graph was recorded from `told` at `at`.
  void make_patcher(const Recording& told, const AddressTable& at, hip::PatcherOptions options = {}) {
    patcher.emplace(target == Target::kExec ? GraphPatcher::of_exec(table, told, graph, exec, at, std::move(options))
                                            : GraphPatcher::of_graph(table, told, graph, at, std::move(options)));
  }
  [[nodiscard]] fake::Graph& patched() const {
    return target == Target::kExec ? fake::graph_of(exec) : fake::graph_of(graph.graph);
  }
  [[nodiscard]] AddressTable known_addresses() const {
    const auto known = patcher->addresses();
    return {known.begin(), known.end()};
  }
  // A patch that may fail. `addresses` stay as they are.
  hip::PatchResult try_patch(const std::vector<Move>& moves) { return patcher->patch(moves); }
  // A patch that has to succeed.
  hip::PatchReport patch(const std::vector<Move>& moves) {
    const hip::PatchResult result = try_patch(moves);
    if (!result.ok()) RC_FAIL(result.error().message);
    addresses = fake::moved(addresses, moves);
    return result.report();
  }
  // A patch that has to succeed and to give the graph that recording again gives.
  hip::PatchReport patch_as_recorded_again(const std::vector<Move>& moves) {
    const hip::PatchReport report = patch(moves);
    RC_ASSERT(describe(patched()) == recorded_again(recording, addresses));
    RC_ASSERT(known_addresses() == addresses);
    return report;
  }

  hip::Api table = fake::api();
  Recording recording;
  AddressTable addresses;
  Target target;
  hip::RecordedGraph graph;
  hipGraphExec_t exec = nullptr;
  std::optional<GraphPatcher> patcher;
};

// Asserts that the patch fails for this reason before its first call and changes nothing.
inline void expect_refusal(const fake::World& world, Subject& subject, const std::vector<Move>& moves,
                           PatchFailure failure) {
  const std::string before = describe(subject.patched());
  const std::uint64_t calls = world.call_count;
  RC_ASSERT(failure_of(subject.try_patch(moves)) == failure);
  RC_ASSERT(world.call_count == calls);
  RC_ASSERT(describe(subject.patched()) == before);
  RC_ASSERT(subject.known_addresses() == subject.addresses);
}

struct InAFakeWorld : testing::Test {
  fake::World world;
};

// A patcher of a graph that is drawn afresh for each run of a property.
struct RandomPatcher : InAFakeWorld {
  Subject subject{fake::draw_recording(world), fake::draw_addresses(), draw_target()};
};

inline bool changes(const std::vector<Move>& moves, hip::BufferIndex buffer) {
  return std::any_of(moves.begin(), moves.end(),
                     [&](const Move& move) { return move.buffer == buffer && move.from != move.to; });
}

// How many setter calls the moves are worth.
struct Expected {
  std::uint32_t nodes = 0;
  std::uint32_t relocations = 0;
  std::uint32_t hand_overs = 0;
};

inline Expected expected_work(const Recording& recording, const std::vector<Move>& moves) {
  Expected work;
  for (const hip::RecordedNode& node : recording.nodes()) {
    std::uint32_t changed = 0;
    for (const hip::Relocation& relocation : node.relocations) changed += changes(moves, relocation.buffer) ? 1 : 0;
    work.relocations += changed;
    work.nodes += changed != 0 ? 1 : 0;
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
      const Expected inner = expected_work(*child->graph, moves);
      work.nodes += inner.nodes;
      work.relocations += inner.relocations;
      work.hand_overs += inner.nodes != 0 ? 1 : 0;  // of a child's child it is part of the child's
    }
  }
  return work;
}

inline bool is_setter(const fake::Call& call) {
  return call.function.find("SetParams") != std::string::npos;
}

inline hip::RecordedNode memset_of(hip::BufferIndex buffer, std::vector<hip::NodeIndex> dependencies = {}) {
  return {hip::MemsetRecord{}, std::move(dependencies), {{Field::kMemsetDestination, 0, buffer, 0}}};
}

inline Recording memsets(std::initializer_list<hip::BufferIndex> buffers) {
  Recording recording;
  for (const hip::BufferIndex buffer : buffers) recording.add(memset_of(buffer));
  return recording;
}

}  // namespace patching
