// hip/release_quirks.h against the catalogue of quirks, and docs/safe-operations.md against it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hip/release_quirks.h"
#include "verify/quirks/quirk.h"

namespace {

constexpr std::array<std::string_view, 2> kReleases = {"7.2", "6.4"};

// In the table and not in the catalogue, because no program meets it: programs wait for their devices before they
// destroy, and name the nodes of the children that they set. Their sources alone show them (tests/findings).
constexpr std::array<std::string_view, 2> kNoPrograms = {"destroyed-exec-deadlock", "child-set-edges-unchecked"};
bool shown_by_no_program(std::string_view id) {
  return std::find(kNoPrograms.begin(), kNoPrograms.end(), id) != kNoPrograms.end();
}

// Met by a program through waits of its own, which no strategy goes around.
constexpr std::array<std::string_view, 1> kOwnWaits = {"wait-for-stream-now-capturing"};

const verify::Quirk* find_quirk(std::string_view id) {
  const auto all = verify::quirks();
  const auto found = std::find_if(all.begin(), all.end(), [id](const verify::Quirk& quirk) { return quirk.id == id; });
  return found == all.end() ? nullptr : &*found;
}

bool lists(std::string_view releases, std::string_view release) {
  return releases.find(release) != std::string_view::npos;
}

TEST(ReleaseQuirks, EachIsAQuirkOfTheCatalogueOnNoReleaseThatDoesNotHaveIt) {
  for (const hip::ReleaseQuirk& quirk : hip::release_quirks()) {
    const verify::Quirk* known = find_quirk(quirk.id);
    if (shown_by_no_program(quirk.id)) {
      EXPECT_EQ(known, nullptr);
      EXPECT_TRUE(std::filesystem::exists(FINDINGS + std::string("/") + std::string(quirk.id) + ".hip"));
      continue;
    }
    ASSERT_NE(known, nullptr) << quirk.id;
    bool any = false;
    for (const std::string_view release : kReleases) {
      if (!lists(quirk.releases, release)) continue;
      any = true;
      // 6.4 grows by less than the cycles of a program show.
      if (quirk.use == hip::QuirkyUse::kSetOften && release == "6.4") continue;
      EXPECT_TRUE(verify::shows_on(*known, release)) << quirk.id << " " << release;
    }
    EXPECT_TRUE(any) << quirk.id;
  }
}

// What the catalogue has of the calls that a command buffer makes (it adds, sets, patches, updates, instantiates and
// launches): what is not in the table is what whoever records meets just as well, and each is named here.
TEST(ReleaseQuirks, NoneThatTheCatalogueHasOfACommandBuffersCallsIsMissing) {
  constexpr std::array<std::string_view, 16> kNotInTheTable = {
      // A command buffer's own, and nothing that it could do is right.
      "launch-across-devices",     // until peer access is enabled, which is the process's to decide
      "rows-elsewhere-unordered",  // of several devices: recorded row by row it is wrong as well
      "clone-other-device",        // children of other devices, on 6.4
      "clone-keeps-parent",        // where the heap puts a graph is nobody's to know, and the setter answers an error
      // Ordered by hip::LastLaunch, whatever the release.
      "launches-overlap",
      // Of what a program does besides.
      "null-stream-in-capture", "cooperative-other-device", "wait-for-gone-stream", "instantiate-flags-combined",
      "instantiate-result-cycle", "refused-circle-keeps-objects",
      // Graphs that allocate memory.
      "graph-memory-freed-relaunch", "auto-free-frees-others", "graph-memory-instantiate-again",
      "graph-memory-freed-add"};
  const auto changes = [](const verify::Quirk& quirk) {
    constexpr std::array<std::string_view, 6> kCalls = {"add", "set", "patch", "update", "instantiate", "launch"};
    const std::string triggers = ";" + std::string(quirk.triggers);
    return std::any_of(kCalls.begin(), kCalls.end(), [&](std::string_view call) {
      return triggers.find(";op=" + std::string(call) + " ") != std::string::npos;
    });
  };
  std::size_t held = 0;
  for (const verify::Quirk& quirk : verify::quirks()) {
    const bool met = std::find(kNotInTheTable.begin(), kNotInTheTable.end(), quirk.id) != kNotInTheTable.end();
    if (!changes(quirk)) continue;
    for (const std::string_view release : kReleases) {
      if (!verify::shows_on(quirk, release)) continue;
      const auto all = hip::release_quirks();
      const bool there = std::any_of(all.begin(), all.end(), [&](const hip::ReleaseQuirk& each) {
        return each.id == quirk.id && lists(each.releases, release);
      });
      EXPECT_NE(there, met) << quirk.id << " " << release;
      ++held;
    }
  }
  EXPECT_GE(held, 60u);
}

TEST(ReleaseQuirks, AreWhatTheStrategyCarefulIsNotExcusedFor) {
  std::set<std::string_view> table;
  for (const hip::ReleaseQuirk& quirk : hip::release_quirks()) {
    // What a program reads of captured nodes it reads itself, and its own memory it frees; and its own executable
    // graphs it keeps.
    const bool own = std::find(kOwnWaits.begin(), kOwnWaits.end(), quirk.id) != kOwnWaits.end() ||
                     quirk.use == hip::QuirkyUse::kRead || quirk.use == hip::QuirkyUse::kSetOften ||
                     quirk.use == hip::QuirkyUse::kFreeAsync;
    if (!shown_by_no_program(quirk.id) && !own) table.insert(quirk.id);
  }
  const auto around = verify::gone_around();
  EXPECT_EQ(std::set<std::string_view>(around.begin(), around.end()), table);
}

// ---- the page

using Cells = std::array<std::string, kReleases.size()>;

std::string page() {
  std::string text = R"(# Which operations are safe on which release

What releases of AMD's runtime do right to graphs that are changed, launched or destroyed, and to memory of streams, and where they do not. The table is that of
`hip/release_quirks.h`: a command buffer that is given it (`CommandBufferOptions::quirks`) takes the way of the last column, and its
step says for which quirk it recorded. (Launches into captures are not a command buffer's: `hip/captured_launch.h`; nor is what a scratch buffer gives back: `ScratchOptions::free_async`.) Each quirk has its story in [findings.md](findings.md). A test holds this page to the table, and the
table to the catalogue of quirks.

An operation is safe on a release where no row that fits it names a quirk. A release that is not here counts as having all of them,
and memory of which nothing is known as being of any kind (save where a row says "known to be": the host cannot write what may be a device's).

| operation | node | when | 7.2 | 6.4 | instead |
| --- | --- | --- | --- | --- | --- |
)";
  std::vector<std::string> order;
  std::map<std::string, std::pair<Cells, std::string>> rows;
  for (const hip::ReleaseQuirk& quirk : hip::release_quirks()) {
    std::string when;
    for (unsigned state = 0; state < static_cast<unsigned>(hip::QuirkyState::kCount); ++state) {
      if (!quirk.states.has(static_cast<hip::QuirkyState>(state))) continue;
      when.append(when.empty() ? "" : ", ").append(words_for(static_cast<hip::QuirkyState>(state)));
    }
    const std::string key = "| " + std::string(words_for(quirk.use)) + " | " + std::string(words_for(quirk.node)) +
                            " | " + (when.empty() ? "always" : when) + " |";
    if (!rows.contains(key)) order.push_back(key);
    auto& [cells, way] = rows[key];
    way = words_for(quirk.way);
    for (std::size_t i = 0; i < kReleases.size(); ++i) {
      if (!lists(quirk.releases, kReleases[i])) continue;
      cells[i].append(cells[i].empty() ? "" : ", ").append(quirk.id);
    }
  }
  for (const std::string& key : order) {
    text += key;
    for (const std::string& cell : rows[key].first) text += " " + (cell.empty() ? "-" : cell) + " |";
    text += " " + rows[key].second + " |\n";
  }
  text += R"(
A copy that is recorded by another kind keeps the one that was asked for (`CopyRecord::asked`): updates are held to that.

Not in the table is what is wrong however a graph is recorded, whoever records it: nodes of several devices without access to each other
(`launch-across-devices`), what waits for rows of another device (`rows-elsewhere-unordered`), copies from pageable memory that a host node
writes, with several devices (`pageable-copy-early`), and what 6.4 does to children of other devices. [findings.md](findings.md) says what to do instead. Launches of one graph on several streams, which no release orders
(`launches-overlap`), a command buffer orders itself. Where the last launch's stream captures by now, a launch on another one is refused on 6.4, whose
host cannot wait for it either (`wait-for-stream-now-capturing`): launch behind the capture.

## The strategy `careful`

`--subject RUNTIME:careful` adds, patches, sets, updates and launches the graphs of any program by this table: where a row fits, it takes the row's way,
and where none does it is `patch`. A graph that is launched wrongly is recorded flat or as a chain when the program instantiates it; a chain is
patched and set in place. Under this strategy the quirks of the table explain nothing: `hgcheck` counts what looks like one of them as a
divergence, and programs do not steer around them. What remains a `KnownQuirk` is what recording itself gets wrong and what a program's other
commands meet (captures, queries, switching nodes off and on, memory of graphs). A test runs every program that shows a quirk of the table under
this strategy, in 24 orders, on each release that has the quirk: all agree.

Nothing of the table is out of its reach. What it needs more than `patch`: a graph that holds user objects and is launched in another shape has an
executable graph of no nodes beside it that holds them, and a launch into a capture (`hip/captured_launch.h`) is a child graph node of a graph
that is recorded for it, because a capture is to hold the program's own.

## The strategy `command-buffer`

`--subject RUNTIME:command-buffer` launches each executable graph of a program as a `hip::CommandBuffer` that knows the release, those with odd
numbers flattened: it patches, updates or records again by this table when it is launched. It is held to the same as `careful`, by the same test.
Another test makes programs of nothing but what a command buffer stands for (on one device: no captures, events, memory of graphs), on each
release, and all have to agree, none as a known quirk.
Graphs that allocate memory and definitions of graphs are under `careful`.

A command buffer of its own, which no program stands for, does more: what a library enqueued and differential capture knows becomes nodes of the
buffer's, to which the table applies; what nobody can look into goes into executable graphs that the release launches rightly, one behind the
other; and a graph that was set as often as `CommandBufferOptions::renew_after` says is recorded again. The bytes of what a library enqueued and
nobody can look into are taken to be right where it is launched by itself.

## The strategies `patch` and `stabilise`

`patch` is the bare patcher: what a release's setters do wrong it meets, and `careful` is the same with this table. `stabilise` needs no table for setters and
updates, because a graph with stable addresses is never patched: the test runs the programs of those rows under it on each release, and all agree. What a
release launches wrongly a stabiliser launches as it was recorded (how it waits for the step before it takes from this table): where that matters, let a command buffer that is given this table record its commands.
)";
  return text;
}

TEST(SafeOperations, ThePageSaysWhatTheTableSays) {
  std::ifstream file(SAFE_OPERATIONS);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page());
}

}  // namespace
