// hip::ReleaseQuirks: which operations are safe, on which release; and hip::chained.
#include "hip/release_quirks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hip/spread/stream_spread.h"

namespace {

using hip::BufferMemory;
using hip::QuirkyUse;
using hip::ReleaseQuirks;

// As hipRuntimeGetVersion answers.
constexpr int k72 = 70253211, k64 = 60443484, kOther = 60300000;

hip::RecordedNode memset_of(std::size_t rows, unsigned element = 1) {
  hip::MemsetRecord record;
  record.params.height = rows;
  record.params.elementSize = element;
  return {record, {}, {{hip::Field::kMemsetDestination, 0, 0, 0}}};
}
hip::RecordedNode copy_of(bool linear, hip::NodeForm form = hip::NodeForm::kTyped) {
  hip::CopyRecord record;
  record.linear = linear;
  return {record, {}, {{hip::Field::kCopyDestination, 0, 0, 0}, {hip::Field::kCopySource, 0, 1, 0}}, form};
}
hip::RecordedNode child_of(hip::Recording recording, std::vector<hip::NodeIndex> behind = {}) {
  return {hip::ChildRecord{std::make_shared<const hip::Recording>(std::move(recording))}, std::move(behind), {}};
}
hip::Recording of(std::vector<hip::RecordedNode> nodes) {
  hip::Recording recording;
  for (hip::RecordedNode& node : nodes) recording.add(std::move(node));
  return recording;
}
hip::RecordedNode empty(std::vector<hip::NodeIndex> behind = {}) {
  return {hip::EmptyRecord{}, std::move(behind), {}};
}
hip::QuirkContext all_in(BufferMemory memory) {
  return {[memory](hip::BufferIndex) { return memory; }, {}, false};
}
constexpr auto several_devices = [](hip::QuirkContext context) {
  context.several_devices = true;
  return context;
};
std::string id_of(const hip::ReleaseQuirk* quirk) {
  return quirk == nullptr ? "safe" : std::string(quirk->id);
}

TEST(ReleaseQuirks, CudasNumbersNameReleasesOfNvidias) {
  EXPECT_EQ(hip::release_name_of(13000), "nvidia-13.0");
  EXPECT_EQ(hip::release_name_of(12040), "nvidia-12.4");
  EXPECT_EQ(hip::release_name_of(70253211), "7.2");
  EXPECT_EQ(hip::find_release("nvidia-13.0"), hip::Release::kNvidia13_0);
  EXPECT_FALSE(hip::is_cuda_version(1)) << "chipStar's";
  // A release that is not listed has the quirks of its own vendor alone.
  const hip::RecordedNode copy = copy_of(false);
  const auto update_of = [&](int version) {
    return id_of(ReleaseQuirks::of_version(version).of_update(of({copy}), of({copy}), all_in(BufferMemory::kDevice)));
  };
  EXPECT_EQ(update_of(12040), "exec-copy-1d-only");
  EXPECT_EQ(update_of(13000), "exec-copy-1d-only");
  EXPECT_NE(update_of(70253211), "exec-copy-1d-only");
}

TEST(ReleaseQuirks, AReleaseHasItsOwnAndOneThatNobodyLookedAtHasAll) {
  const auto update = [](int version) {
    return id_of(ReleaseQuirks::of_version(version).of_update(of({copy_of(false)}), of({copy_of(false)}),
                                                              all_in(BufferMemory::kDevice)));
  };
  EXPECT_EQ(update(k72), "safe");
  EXPECT_EQ(id_of(ReleaseQuirks::of_version(k72).of_update(of({empty()}), of({empty()}), several_devices({}))),
            "update-created-elsewhere")
      << "a recording does not say where its graphs were created";
  EXPECT_EQ(update(k64), "copy-to-pageable-at-set");
  EXPECT_NE(update(kOther), "safe");
  EXPECT_NE(update(0), "safe");
  EXPECT_EQ(id_of(ReleaseQuirks().of_update(of({copy_of(false)}), of({empty()}), {})), "safe");
}

TEST(ReleaseQuirks, SettersAreHeldAgainstTheNodeAsItWasAndAsItIsToBe) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const hip::QuirkContext device = all_in(BufferMemory::kDevice);
  const auto in_exec = [&](const hip::RecordedNode& was, const hip::RecordedNode& now, const hip::QuirkContext& with) {
    return id_of(quirks.of_set(QuirkyUse::kSetInExec, was, now, 0, with));
  };
  const auto in_graph = [&](const hip::RecordedNode& was, const hip::RecordedNode& now) {
    return id_of(quirks.of_set(QuirkyUse::kSetInGraph, was, now, 0, device));
  };
  EXPECT_EQ(in_exec(copy_of(true), copy_of(true), device), "safe");
  EXPECT_EQ(in_exec(copy_of(false), copy_of(false, hip::NodeForm::kDriver), device), "driver-copy-set");
  EXPECT_EQ(in_graph(copy_of(true), copy_of(false)), "memcpy-graph-set-3d-on-1d");
  EXPECT_EQ(in_graph(copy_of(false), copy_of(true)), "memcpy-graph-set-1d-on-3d");
  EXPECT_EQ(in_graph(memset_of(2), memset_of(2)), "memset-2d-graph-set");
  EXPECT_EQ(in_exec(memset_of(2), memset_of(2), device), "safe");
  hip::RecordedNode generic = memset_of(2);
  generic.form = hip::NodeForm::kGeneric;
  EXPECT_EQ(in_exec(memset_of(2), generic, device), "generic-memset-2d-set");
  EXPECT_EQ(quirks.of_set(QuirkyUse::kSetInExec, memset_of(2), generic, 0, device)->way, hip::QuirkWay::kTyped);
  const hip::QuirkContext disabled{{}, {0}};
  EXPECT_EQ(in_exec(copy_of(true), copy_of(true), disabled), "disabled-set-lost");
  hip::QuirkContext beside = device;
  beside.disabled = {1};
  EXPECT_EQ(in_exec(memset_of(1), memset_of(1), beside), "set-beside-disabled");
  EXPECT_EQ(in_exec(copy_of(true), copy_of(true), beside), "safe");
}

TEST(ReleaseQuirks, NodesAreAddedByTheFunctionThatTakesThemAtAnyDepth) {
  hip::RecordedNode generic = empty(), other = memset_of(1);
  generic.form = other.form = hip::NodeForm::kGeneric;
  EXPECT_EQ(id_of(ReleaseQuirks::of_version(k72).of_add(child_of(of({other, generic})), {})), "generic-empty-refused");
  hip::Recording recording = of({generic, other, child_of(of({generic}))});
  recording.connect(2, 0);  // an edge behind its node: recording keeps its place
  const auto forms_on = [&](int version) {
    const hip::Recording added = ReleaseQuirks::of_version(version).as_added(recording, {});
    const auto& inner = *std::get<hip::ChildRecord>(added.nodes()[2].record).graph;
    EXPECT_EQ(added.nodes()[0].dependencies, recording.nodes()[0].dependencies);
    return std::array{added.nodes()[0].form, added.nodes()[1].form, inner.nodes()[0].form};
  };
  using enum hip::NodeForm;
  EXPECT_EQ(forms_on(k72), (std::array{kTyped, kGeneric, kTyped}));
}

TEST(ReleaseQuirks, CopiesAreAddedByAKindThatTheReleaseDoesRightly) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const auto mixed = [](BufferMemory to, BufferMemory from) {
    return hip::QuirkContext{[to, from](hip::BufferIndex buffer) { return buffer == 0 ? to : from; }, {}, false};
  };
  const auto added = [&](hipMemcpyKind kind, bool linear, const hip::QuirkContext& context, bool symbol = false) {
    hip::RecordedNode node = copy_of(linear);
    auto& copy = std::get<hip::CopyRecord>(node.record);
    copy.params.kind = kind;
    if (symbol) {
      copy.symbol = {&quirks, 0, true};
      node.relocations = {{hip::Field::kCopySource, 0, 1, 0}};
    }
    const hip::RecordedNode once = quirks.as_added(node, context), twice = quirks.as_added(once, context);
    const auto& record = std::get<hip::CopyRecord>(once.record);
    EXPECT_EQ(kind_asked(record), kind);
    EXPECT_EQ(std::get<hip::CopyRecord>(twice.record).params.kind, record.params.kind);
    EXPECT_EQ(kind_asked(std::get<hip::CopyRecord>(twice.record)), kind);
    return record.params.kind;
  };
  using enum BufferMemory;
  for (const BufferMemory other : {kPinned, kManaged, kUnknown}) {
    EXPECT_EQ(added(hipMemcpyHostToHost, true, mixed(other, kPageable)), hipMemcpyDefault);
    EXPECT_EQ(added(hipMemcpyHostToHost, true, mixed(kPageable, other)), hipMemcpyDefault);
  }
  EXPECT_EQ(added(hipMemcpyHostToHost, true, all_in(kPageable)), hipMemcpyHostToHost);
  EXPECT_EQ(added(hipMemcpyHostToHost, true, mixed(kDevice, kPageable)), hipMemcpyHostToHost) << "a wrong direction";
  EXPECT_EQ(added(hipMemcpyHostToHost, true, mixed(kPinned, kPageable), true), hipMemcpyHostToHost) << "of a symbol";
  EXPECT_EQ(added(hipMemcpyHostToHost, true, mixed(kPinned, kManaged)), hipMemcpyHostToHost);
  EXPECT_EQ(added(hipMemcpyDeviceToDevice, false, mixed(kManaged, kDevice)), hipMemcpyDefault);
  EXPECT_EQ(added(hipMemcpyDeviceToDevice, false, {}), hipMemcpyDefault);
  EXPECT_EQ(added(hipMemcpyDeviceToDevice, true, mixed(kManaged, kDevice)), hipMemcpyDeviceToDevice);
  EXPECT_EQ(added(hipMemcpyDeviceToDevice, false, all_in(kDevice)), hipMemcpyDeviceToDevice);
  EXPECT_EQ(added(hipMemcpyDeviceToDevice, false, several_devices(all_in(kDevice))), hipMemcpyDefault);
  EXPECT_EQ(added(hipMemcpyDefault, true, all_in(kPageable), true), hipMemcpyHostToDevice);
  EXPECT_EQ(added(hipMemcpyDefault, true, all_in(kPinned), true), hipMemcpyDefault);
}

TEST(ReleaseQuirks, BranchesAndChildrenAreOfOneDeviceOrChainedAndFlattened) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const hip::QuirkContext one = all_in(BufferMemory::kDevice), several = several_devices(one);
  const auto way = [&](const hip::Recording& recording, const hip::QuirkContext& context) {
    const hip::ReleaseQuirk* quirk = quirks.of_launch(recording, context);
    return quirk == nullptr ? std::nullopt : std::optional(quirk->way);
  };
  const hip::Recording fork = of({empty(), empty({0}), empty({0})});
  EXPECT_EQ(way(fork, one), std::nullopt);
  EXPECT_EQ(way(fork, several), hip::QuirkWay::kChain);
  EXPECT_EQ(way(hip::chained(fork), several), std::nullopt);
  const hip::Recording child = of({child_of(of({empty()}))});
  EXPECT_EQ(way(child, one), std::nullopt);
  EXPECT_EQ(way(child, several), hip::QuirkWay::kFlatten);
}

TEST(ReleaseQuirks, NoReleaseCapturesALaunch) {
  EXPECT_EQ(ReleaseQuirks().of_captured_launch(), nullptr);
  for (const int version : {k72, k64}) {
    EXPECT_EQ(id_of(ReleaseQuirks::of_version(version).of_captured_launch()), "launch-while-capturing");
  }
}

TEST(ReleaseQuirks, OneReleaseHasItsDeviceWaitedForBeforeAnExecutableGraphGoes) {
  EXPECT_EQ(ReleaseQuirks().of_destroy(), nullptr);
  EXPECT_EQ(ReleaseQuirks().of_launch_elsewhere(), nullptr);
  for (const int version : {k72, k64, kOther}) {
    const hip::ReleaseQuirk* elsewhere = ReleaseQuirks::of_version(version).of_launch_elsewhere();
    ASSERT_NE(elsewhere, nullptr);
    EXPECT_EQ(elsewhere->way, hip::QuirkWay::kOwnDevice);
  }
  const hip::ReleaseQuirk* quirk = ReleaseQuirks::of_version(k72).of_destroy();
  ASSERT_NE(quirk, nullptr);
  EXPECT_EQ(quirk->way, hip::QuirkWay::kDeviceFirst);
  EXPECT_EQ(ReleaseQuirks::of_version(k64).of_destroy(), nullptr);
  EXPECT_EQ(ReleaseQuirks::of_version(kOther).of_destroy(), quirk);
}

TEST(ReleaseQuirks, OneReleaseHasRangesOfAddressesKept) {
  EXPECT_EQ(ReleaseQuirks().of_free_addresses(), nullptr);
  EXPECT_EQ(ReleaseQuirks::of_version(k72).of_free_addresses(), nullptr);
  for (const int version : {k64, kOther}) {
    const hip::ReleaseQuirk* quirk = ReleaseQuirks::of_version(version).of_free_addresses();
    ASSERT_NE(quirk, nullptr);
    EXPECT_EQ(quirk->way, hip::QuirkWay::kKeepRange);
  }
}

TEST(ReleaseQuirks, OneReleaseHasTheHostWaitForALaunchWhoseStreamCapturesByNow) {
  for (const int version : {k72, k64, kOther}) {
    const hip::ReleaseQuirk* quirk = ReleaseQuirks::of_version(version).of_follow_capturing();
    EXPECT_EQ(id_of(quirk), version == k64 ? "safe" : "wait-for-stream-now-capturing") << version;
  }
  EXPECT_EQ(ReleaseQuirks().of_follow_capturing(), nullptr);
}

TEST(ReleaseQuirks, MemoryThatIsNotKnownMayBeAnyButStaysWhatItIs) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const hip::RecordedNode copy = copy_of(true);
  hip::RecordedNode other = copy;
  other.relocations[1].buffer = 2;
  const auto set = [&](const hip::RecordedNode& now, const hip::QuirkContext& with) {
    return id_of(quirks.of_set(QuirkyUse::kSetInExec, copy, now, 0, with));
  };
  EXPECT_EQ(set(copy, {}), "safe") << "a patch moves buffers, and they stay of their kind";
  EXPECT_EQ(set(other, {}), "memcpy-set-from-pageable");
  EXPECT_EQ(set(other, all_in(BufferMemory::kDevice)), "safe");
  EXPECT_EQ(set(other, all_in(BufferMemory::kPageable)), "safe");
  const hip::QuirkContext one_pageable{
      [](hip::BufferIndex buffer) { return buffer == 2 ? BufferMemory::kPageable : BufferMemory::kPinned; }, {}};
  EXPECT_EQ(set(other, one_pageable), "memcpy-set-from-pageable");
}

TEST(ReleaseQuirks, APatchIsHeldAgainstTheNodesThatHoldAMovedBufferAtAnyDepth) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const auto patch = [&](const hip::Recording& recording, const hip::Move& move) {
    return id_of(quirks.of_patch(QuirkyUse::kSetInExec, recording, {&move, 1}, {}));
  };
  const hip::Move moved{0, 100, 200}, other{7, 100, 200}, stays{0, 100, 100};
  const hip::Recording rows = of({child_of(of({memset_of(3)}))});
  EXPECT_EQ(patch(rows, moved), "memset-2d-graph-set");
  EXPECT_EQ(patch(rows, other), "safe");
  EXPECT_EQ(patch(rows, stays), "safe");
  EXPECT_EQ(patch(of({child_of(of({memset_of(1)}))}), moved), "safe");
  EXPECT_EQ(patch(of({child_of(of({child_of(of({memset_of(1)}))}))}), moved), "child-set-nested");
}

TEST(ReleaseQuirks, AnUpdateToAnotherShapeIsNotSafeOnAnyRelease) {
  const hip::QuirkContext one_device{{}, {}, false};
  const std::vector<hip::Recording> shapes = {of({empty(), empty({0})}), of({empty(), empty()}),
                                              of({empty(), memset_of(1)}), of({empty()}),
                                              of({child_of(of({empty()}))})};
  for (const int version : {k72, k64}) {
    const ReleaseQuirks quirks = ReleaseQuirks::of_version(version);
    for (std::size_t from = 0; from < shapes.size(); ++from) {
      for (std::size_t to = 0; to < shapes.size(); ++to) {
        const bool child_lost = from == to && from == 4;
        EXPECT_EQ(quirks.of_update(shapes[from], shapes[to], one_device) == nullptr, from == to && !child_lost)
            << version << ": " << from << " to " << to;
      }
    }
  }
}

TEST(ReleaseQuirks, WhatNobodyCanLookIntoIsNotUpdatedUnlessItIsAKernelOfItsOwn) {
  hip::OpaqueRecord library;
  library.record = [](const hip::Api&, hipGraph_t, auto, auto, auto&) {
    return hip::Error{hipErrorUnknown, "not here"};
  };
  library.reason = "enqueued by a library";
  hip::OpaqueRecord kernel = library;
  kernel.kernel = true;
  const hip::QuirkContext one_device{{}, {}, false};
  for (const int version : {k72, k64, kOther}) {
    const ReleaseQuirks quirks = ReleaseQuirks::of_version(version);
    const auto update = [&](const hip::OpaqueRecord& record) {
      const hip::Recording recording = of({{record, {}, {}}});
      return id_of(quirks.of_update(recording, recording, one_device));
    };
    EXPECT_EQ(update(library), "child-update-lost") << version;
    EXPECT_EQ(update(kernel), "safe") << version;
  }
}

TEST(ReleaseQuirks, LaunchesAreHeldAgainstTheWholeGraphAndItsChildren) {
  const auto launch = [](int version, const hip::Recording& recording) {
    return id_of(ReleaseQuirks::of_version(version).of_launch(recording, all_in(BufferMemory::kDevice)));
  };
  const hip::Recording wide = of({empty(), empty()}), chain = of({empty(), empty({0})});
  EXPECT_EQ(launch(k72, chain), "safe");
  EXPECT_EQ(launch(k72, wide), "side-roots-unordered");
  EXPECT_EQ(launch(k64, wide), "relaunch-crash");
  EXPECT_EQ(launch(k72, of({child_of(wide)})), "side-roots-unordered");
  EXPECT_EQ(launch(k64, of({child_of(chain)})), "safe");
  EXPECT_EQ(launch(k64, of({child_of(chain), empty({0})})), "child-successors-unordered");
  hip::OpaqueRecord unknown;
  unknown.record = [](const hip::Api&, hipGraph_t, auto, auto, auto&) { return hip::Error{hipErrorNotSupported, ""}; };
  hip::OpaqueRecord one_kernel = unknown;
  one_kernel.kernel = true;
  EXPECT_EQ(launch(k64, of({{unknown, {}, {}}, empty({0})})), "child-successors-unordered")
      << "what nobody knows may be a child";
  EXPECT_EQ(launch(k64, of({{one_kernel, {}, {}}, empty({0})})), "safe");
  hip::Recording many = of({child_of(chain)});
  for (hip::NodeIndex i = 0; i < 15; ++i) many.add(empty({i}));
  EXPECT_EQ(launch(k72, many), "child-16");
  hip::Recording fan = of({empty()});
  for (hip::NodeIndex i = 0; i < 15; ++i) fan.add(empty({0}));
  EXPECT_EQ(launch(k72, fan), "fifth-dependent-unordered");
  EXPECT_EQ(launch(k64, fan), "relaunch-crash") << "also behind one root";
  // 14 or 15 nodes behind one root, with seven leaves or eight.
  const auto behind_a_chain = [](hip::NodeIndex nodes, hip::NodeIndex leaves) {
    hip::Recording graph = of({empty()});
    const hip::NodeIndex last = nodes - leaves - 1;
    for (hip::NodeIndex i = 1; i < nodes; ++i) graph.add(empty({std::min(i - 1, last)}));
    return graph;
  };
  EXPECT_EQ(launch(k72, behind_a_chain(13, 12)), "safe");
  EXPECT_EQ(launch(k72, behind_a_chain(14, 7)), "safe");
  EXPECT_EQ(launch(k72, behind_a_chain(14, 8)), "side-leaves-unordered");
  EXPECT_EQ(launch(k72, behind_a_chain(15, 8)), "side-leaves-unordered");
  EXPECT_EQ(launch(k64, behind_a_chain(15, 8)), "relaunch-crash");
}

TEST(ReleaseQuirks, NodesOfRowsThatAreLaunchedWronglyAreSpelledOutRowByRow) {
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const hip::QuirkContext device = all_in(BufferMemory::kDevice), pageable = all_in(BufferMemory::kPageable);
  const auto launch = [&](const hip::Recording& recording, const hip::QuirkContext& with) {
    return id_of(quirks.of_launch(recording, with));
  };
  hip::RecordedNode rows = memset_of(3, 2);
  std::get<hip::MemsetRecord>(rows.record).params.width = 4;
  std::get<hip::MemsetRecord>(rows.record).params.pitch = 16;
  EXPECT_EQ(launch(of({memset_of(3, 1)}), device), "safe");
  EXPECT_EQ(launch(of({memset_of(1, 2)}), device), "safe");
  EXPECT_EQ(launch(of({rows}), device), "memset-2d-element") << "a chain of one node is no help";
  EXPECT_EQ(launch(of({child_of(of({rows}))}), device), "memset-2d-element");
  EXPECT_EQ(launch(of({copy_of(false)}), device), "safe");
  EXPECT_EQ(launch(of({copy_of(true)}), pageable), "safe");
  EXPECT_EQ(launch(of({copy_of(false)}), pageable), "memcpy-3d-host-linear");

  hip::Recording recording = of({memset_of(1), child_of(of({rows}), {0}), empty({1})});
  rows.dependencies = {2};
  recording.add(rows);
  hip::Places places;
  const hip::Recording spelled = hip::flattened(recording, places, quirks.spelling(device, {}));
  EXPECT_EQ(launch(spelled, device), "safe");
  EXPECT_EQ(places, (hip::Places{{0}, {}, {4}, {5, 6, 7}}));
  ASSERT_EQ(spelled.nodes().size(), 8u);
  for (hip::NodeIndex i = 1; i < spelled.nodes().size(); ++i) {
    EXPECT_EQ(spelled.nodes()[i].dependencies, std::vector<hip::NodeIndex>{i - 1}) << i;
  }
  EXPECT_EQ(spelled.nodes()[3].relocations[0].addend, 32);
}

// The host does the work only where the memory is known, because the host cannot write memory that may be a device's.
TEST(ReleaseQuirks, WhatIsDoneTooEarlyIsDoneByTheHost) {
  hip::RecordedNode copy = copy_of(true), line = memset_of(1), rows = memset_of(2);
  std::get<hip::CopyRecord>(copy.record).params.extent = {64, 1, 1};
  std::get<hip::MemsetRecord>(line.record).params.width = std::get<hip::MemsetRecord>(rows.record).params.width = 8;
  const auto launch = [](int version, const hip::RecordedNode& node, BufferMemory memory) {
    return id_of(ReleaseQuirks::of_version(version).of_launch(of({node}), all_in(memory)));
  };
  for (const BufferMemory memory : {BufferMemory::kUnknown, BufferMemory::kDevice, BufferMemory::kManaged}) {
    EXPECT_EQ(launch(k72, copy, memory), "safe");
    EXPECT_EQ(launch(k64, line, memory), "safe");
  }
  EXPECT_EQ(launch(k72, copy, BufferMemory::kPageable), "pageable-copy-early");
  EXPECT_EQ(launch(k72, copy_of(true), BufferMemory::kPageable), "safe") << "of no bytes";
  EXPECT_EQ(launch(k64, copy, BufferMemory::kPageable), "pageable-copy-early");
  EXPECT_EQ(launch(k64, line, BufferMemory::kPinned), "memset-pinned-early");
  EXPECT_EQ(launch(k72, rows, BufferMemory::kPinned), "safe");

  hip::QuirkContext several = all_in(BufferMemory::kPageable);
  several.several_devices = true;
  EXPECT_EQ(id_of(ReleaseQuirks::of_version(k72).of_launch(of({copy}), several)), "safe");

  std::size_t nodes = 0;
  const auto spell = [&](const hip::RecordedNode& node, hip::BufferMemory to, hip::BufferMemory from) {
    const hip::QuirkContext memory{[=](hip::BufferIndex buffer) { return buffer == 0 ? to : from; }, {}, false};
    const ReleaseQuirks quirks = ReleaseQuirks::of_version(k64);
    hip::Places places;
    const hip::Recording recording = hip::flattened(of({node, empty({0})}), places, quirks.spelling(memory, {}));
    EXPECT_EQ(id_of(quirks.of_launch(recording, memory)), "safe");
    ASSERT_FALSE(places[0].empty());
    EXPECT_TRUE(std::holds_alternative<hip::OpaqueRecord>(recording.nodes()[places[0].front()].record))
        << "a host node, which cannot be switched off";
    for (hip::NodeIndex i = 1; i < recording.nodes().size(); ++i) {
      EXPECT_EQ(recording.nodes()[i].dependencies, std::vector<hip::NodeIndex>{i - 1}) << i;
    }
    nodes = recording.nodes().size();
  };
  copy.relocations = {{hip::Field::kCopyDestination, 0, 0, 0}, {hip::Field::kCopySource, 0, 1, 0}};
  spell(copy, BufferMemory::kDevice, BufferMemory::kPageable);
  EXPECT_EQ(nodes, 3u) << "through pinned memory";
  spell(copy, BufferMemory::kPinned, BufferMemory::kPageable);
  EXPECT_EQ(nodes, 2u);
  spell(line, BufferMemory::kPinned, BufferMemory::kPinned);
  EXPECT_EQ(nodes, 2u);
}

// The graph shape of spread-leaves-stream-out, and the chain of the same nodes, which runs instead.
TEST(StreamSpread, AShapeLeavesAStreamOutOrDoesNot) {
  using Shape = std::vector<std::vector<std::uint32_t>>;
  const Shape crashes = {{}, {0}, {0, 1}, {0}, {3}, {0}, {3}, {5, 6}, {7}, {8}, {9}, {8}, {9}, {11, 12}, {7}, {13, 14}};
  EXPECT_TRUE(hip::leaves_stream_out(crashes)) << "streams 0, 2 and 3";
  Shape one_edge_less = crashes;
  one_edge_less[2] = {0};
  EXPECT_FALSE(hip::leaves_stream_out(one_edge_less));
  EXPECT_FALSE(hip::leaves_stream_out(Shape{{}, {0}, {1}}));
  EXPECT_FALSE(hip::leaves_stream_out(Shape{{}, {}, {}, {}, {}}));
  EXPECT_FALSE(hip::leaves_stream_out(Shape{}));
  EXPECT_FALSE(hip::leaves_stream_out(Shape{{1}, {0}})) << "a circle has no root";

  hip::Recording recording;
  for (const auto& dependencies : crashes) recording.add(empty(dependencies));
  const ReleaseQuirks quirks = ReleaseQuirks::of_version(k72);
  const hip::QuirkContext device = all_in(BufferMemory::kDevice);
  EXPECT_EQ(id_of(quirks.of_launch(recording, device)), "spread-leaves-stream-out");
  EXPECT_EQ(id_of(quirks.of_launch(hip::chained(recording), device)), "safe");
}

TEST(Chained, EveryNodeIsOnceInAnOrderThatHonoursWhatItWaitedFor) {
  hip::Recording recording = of({empty(), empty(), empty({0}), empty({0, 1}), empty()});
  recording.connect(4, 0);  // an earlier node behind a later one
  const hip::Recording chain = hip::chained(recording);
  const std::vector<std::vector<hip::NodeIndex>> expected = {{4}, {}, {0}, {2}, {1}};
  ASSERT_EQ(chain.nodes().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(chain.nodes()[i].dependencies, expected[i]) << i;
  EXPECT_EQ(ReleaseQuirks::of_version(0).of_launch(chain, {}), nullptr);
  hip::Recording circle = of({empty(), empty({0})});
  circle.connect(1, 0);
  EXPECT_EQ(hip::chained(circle).nodes()[0].dependencies, circle.nodes()[0].dependencies);
}

}  // namespace
