// `hgcheck export`: runs a program on the model and on the subject, finds the first divergence of the subject, and lets
// verify/export/reproducer.h write a file that shows exactly this divergence.
//
// Frozen addresses are written as numbers first, and the program is run as it is exported, so that the file expects the
// results of its own program. Everything behind the first divergence is left out of the file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "hip/api/api.h"
#include "verify/execute/placement.h"
#include "verify/export/freeze.h"
#include "verify/export/reproducer.h"
#include "verify/oracle/oracle.h"
#include "verify/program/blocks.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/quirks/quirk.h"

namespace fuzz {

namespace {

constexpr std::uint64_t kExportSchedules = 8;  // orders of the device in which the subject is looked at
constexpr std::uint64_t kMoreSchedules = 64;   // at most, where a known quirk has not shown yet
constexpr std::uint32_t kAttempts = 100;       // for a file that fails only in some orders
constexpr std::size_t kMaxExpected = 256;      // bytes of one buffer that a file checks
constexpr std::uint64_t kArenaFactor = 4;      // the same as in verify::BufferMemory

const verify::Quirk* quirk_of(const std::string& name) {
  for (const verify::Quirk& quirk : verify::quirks()) {
    if (quirk.id == name) return &quirk;
  }
  return nullptr;
}

// ---- the program as it is exported

// The places of the buffers in their arenas, as verify::BufferMemory assigns them, without a runtime.
// Only declaring, moving and freeing a buffer give or take places of an arena.
class ArenaLayout {
 public:
  explicit ArenaLayout(verify::Reproducer& out) : out_(out) {
    for (const verify::Step& step : out.program.steps) {
      const auto* c = std::get_if<verify::DeclareBuffer>(&step.command);
      if (c != nullptr && !c->symbol)
        out_.arena_bytes[arena_of(*c)] += verify::BestFit::rounded(c->bytes) * kArenaFactor;
    }
    for (const std::uint64_t bytes : out.arena_bytes) arenas_.emplace_back(0, bytes);
  }
  // False: the rounds of a block have different places.
  bool go() {
    for (const verify::Step& step : out_.program.steps) {
      if (step.in.round != round_) again_ = first_of_block_;
      if (step.in.round == 0 && step.in.block != block_) first_of_block_ = out_.places.size();
      block_ = step.in.block;
      round_ = step.in.round;
      for (std::uint32_t k = 0; k < verify::repeats_that_matter(step); ++k) follow(step.command);
    }
    return rounds_alike_;
  }

 private:
  struct Place {
    std::size_t arena = 0;
    std::uint64_t offset = 0, bytes = 0, capacity = 0;
  };

  void follow(const verify::Command& command) {
    if (const auto* declared = std::get_if<verify::DeclareBuffer>(&command)) declare(*declared);
    if (const auto* moved = std::get_if<verify::MoveBuffers>(&command)) move(*moved);
    if (const auto* freed = std::get_if<verify::Free>(&command)) free(*freed);
  }
  void declare(const verify::DeclareBuffer& c) {
    if (c.symbol) return;
    const std::size_t arena = arena_of(c);
    places_[c.buffer] = {arena, arenas_[arena].allocate(c.bytes).value_or(0), c.bytes, c.bytes};
    note(places_[c.buffer].offset);
  }
  void move(const verify::MoveBuffers& c) {
    std::vector<Place> targets;
    for (const verify::BufferMove& move : c.moves) {
      Place place = places_[move.buffer];
      place.capacity = move.onto ? places_[*move.onto].capacity : place.bytes;
      place.offset = move.onto ? places_[*move.onto].offset : arenas_[place.arena].allocate(place.bytes).value_or(0);
      targets.push_back(place);
      note(place.offset);
    }
    for (const verify::BufferMove& move : c.moves) {
      const Place& old = places_[move.buffer];
      const auto takes = [&](const Place& t) { return t.arena == old.arena && t.offset == old.offset; };
      if (std::ranges::none_of(targets, takes)) arenas_[old.arena].release(old.offset, old.capacity);
    }
    for (std::size_t i = 0; i < c.moves.size(); ++i) places_[c.moves[i].buffer] = targets[i];
  }
  void free(const verify::Free& c) {
    if (!places_.contains(c.buffer)) return;  // memory of a graph
    const Place& place = places_[c.buffer];
    arenas_[place.arena].release(place.offset, place.capacity);
  }
  // The first round of a block is written to the file, so the later rounds have to take the same places.
  void note(std::uint64_t offset) {
    if (round_ == 0) return out_.places.push_back(offset);
    rounds_alike_ = rounds_alike_ && out_.places[again_++] == offset;
  }
  static std::size_t arena_of(const verify::DeclareBuffer& c) { return verify::arena_of(c.memory, c.device); }

  verify::Reproducer& out_;
  std::uint32_t block_ = 0, round_ = 0;         // of the step that is followed
  std::size_t first_of_block_ = 0, again_ = 0;  // in out_.places
  bool rounds_alike_ = true;
  std::map<verify::Id, Place> places_;
  std::vector<verify::BestFit> arenas_;
};

// ---- differences

// The answer of the catalogue of quirks for the program on the subject's release.
struct Known {
  bool quirk = false;    // the program meets a quirk
  bool damages = false;  // the program meets a quirk that damages its process
};

struct Seen {
  std::optional<verify::Divergence> first;
  verify::Observation expected;                                            // by the model, laid out like the subject
  std::vector<std::pair<verify::Observation, verify::Observation>> pairs;  // one for each order that shows it
  std::uint64_t orders = 0;                                                // number of orders that were tried
  std::vector<verify::Difference> differences;
};

// One order of the device's work, in a process of its own or in the one that ran the program before.
struct Order {
  verify::Observation subject, baseline;
  std::optional<verify::Divergence> divergence;
};

Order try_order(Setup& setup, verify::Runner& model, const verify::Program& program, std::uint64_t seed, bool afresh) {
  verify::RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  options.schedule_seed = seed;
  if (afresh) setup.subject().start_afresh();
  verify::RunResult subject = setup.subject().run(program, options);
  options.schedule_seed = 0;
  verify::RunResult baseline = model.run(program, options, subject.script);
  const std::optional<verify::Divergence> divergence =
      verify::first_divergence(program, baseline.observation, subject.observation);
  return {std::move(subject.observation), std::move(baseline.observation), divergence};
}

// Only a fresh process counts as evidence. A process that ran the program already is believed where it agrees with the
// first one, because a start costs as much as tens of programs; where it does not agree, a fresh process decides,
// because the difference may come from an earlier run. A program that damages its process is never run twice in one.
Seen look(Setup& setup, verify::Runner& model, const verify::Program& program, const Known& known) {
  Seen seen;
  const auto enough = [&] {
    return seen.orders >= (known.quirk && seen.pairs.empty() ? kMoreSchedules : kExportSchedules);
  };
  for (std::uint64_t seed = 1; !enough(); ++seed) {
    const bool afresh = seed == 1 || known.damages;
    Order order = try_order(setup, model, program, seed, afresh);
    if (!afresh && order.divergence != seen.first) order = try_order(setup, model, program, seed, true);
    ++seen.orders;
    if (seed == 1) seen.expected = order.baseline;
    if (!order.divergence) continue;
    if (seen.pairs.empty()) {
      seen.first = order.divergence;
      seen.differences = verify::compare(program, order.baseline, order.subject);
    }
    seen.pairs.emplace_back(std::move(order.baseline), std::move(order.subject));
  }
  return seen;
}

std::string hex(const std::vector<std::byte>& bytes, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

// Expects the bytes of one read that differ in some order, or, if no byte differs, all bytes, up to the bound.
void expect_bytes(const verify::BytesSeen& expected, const std::vector<const verify::BytesSeen*>& observed,
                  verify::Reproducer& out) {
  std::size_t from = expected.bytes.size(), to = 0;
  for (const verify::BytesSeen* other : observed) {
    for (std::size_t i = 0; i < std::min(expected.bytes.size(), other->bytes.size()); ++i) {
      if (expected.bytes[i] == other->bytes[i]) continue;
      from = std::min(from, i);
      to = std::max(to, i + 1);
    }
  }
  if (observed.empty()) from = 0, to = expected.bytes.size();
  if (from >= to) return;
  to = std::min(to, from + kMaxExpected);
  out.bytes.push_back({expected.step, expected.buffer, from, hex(expected.bytes, from, to)});
}

void expect_reads(const Seen& seen, verify::Reproducer& out) {
  for (std::size_t i = 0; i < seen.expected.reads.size(); ++i) {
    const verify::BytesSeen& expected = seen.expected.reads[i];
    std::vector<const verify::BytesSeen*> observed;
    for (const auto& pair : seen.pairs) {
      if (i < pair.second.reads.size()) observed.push_back(&pair.second.reads[i]);
    }
    expect_bytes(expected, observed, out);
  }
}

// Cuts the program behind the first divergence: the later steps work on the state that it left behind.
void cut(verify::Reproducer& out, std::size_t step) {
  if (step >= out.program.steps.size()) return;
  out.program.steps.resize(step + 1);
  out.statuses.resize(step + 1);
}

Known known_of(const std::string& subject, const verify::Program& program) {
  const hip::Result<verify::SubjectName> name = verify::parse_subject(subject);
  if (!name) return {};
  const std::string& runtime = name.value().runtime;
  const verify::QuirkSet known(runtime.substr(runtime.find('@') + 1));
  const verify::StrategyKind strategy = name.value().strategy;
  const verify::Divergence any{program.steps.size(), verify::Effect::kBytes, 0};
  return {known.explain(program, strategy, any) != nullptr, known.corrupts(program, strategy)};
}

bool calls_host(const verify::Program& program) {
  return std::ranges::any_of(program.steps, [](const verify::Step& step) {
    const auto* add = std::get_if<verify::AddNode>(&step.command);
    return add != nullptr && std::holds_alternative<verify::HostParams>(add->params);
  });
}

// Marks the command whose answer differs, in its status or only in other values that it answers.
void mark(const Seen& seen, verify::Reproducer& out) {
  const std::size_t step = seen.first->step;
  const verify::StepStatus& expected = seen.pairs.front().first.statuses[step];
  const verify::StepStatus& observed = seen.pairs.front().second.statuses[step];
  out.statuses[step].differs = true;
  out.statuses[step].only_seen_differs =
      expected.code == observed.code && expected.update_result == observed.update_result;
  out.statuses[step].saw = observed.seen;
  // The file has the first round of a block, in a loop.
  out.statuses[verify::in_first_round(out.program, step)] = out.statuses[step];
}

// Graphs into which a capture failed: hgcheck does not use them again, but the file can.
void expect_owned(verify::Reproducer& out) {
  for (std::size_t i = 0; i < out.program.steps.size(); ++i) {
    const auto* end = std::get_if<verify::EndCapture>(&out.program.steps[i].command);
    if (end == nullptr || out.statuses[i].error != "hipErrorStreamCaptureInvalidated") continue;
    const auto into = [&](const verify::Step& step) {
      const auto* begin = std::get_if<verify::BeginCapture>(&step.command);
      return begin != nullptr && begin->stream == end->stream && begin->into == end->graph;
    };
    if (std::ranges::any_of(out.program.steps, into)) out.owned.push_back(end->graph);
  }
}

// Where a damaged process dies, and whether, depends on its heap: on another machine the same file may run on to its
// end, with wrong bytes. So such a file is whole, tears down, and checks every buffer as well.
void expect_damage(const Seen& seen, verify::Reproducer& out) {
  out.dies = out.tears_down = true;
  for (const verify::BytesSeen& expected : seen.expected.reads) expect_bytes(expected, {}, out);
}

// `damaged`: the program meets a quirk that damages its process.
void expect(const Seen& seen, bool damaged, verify::Reproducer& out) {
  for (const verify::StepStatus& status : seen.expected.statuses) {
    out.statuses.push_back({hip::status_name(status.code), std::max(status.update_result, 0), status.seen});
  }
  out.statuses.resize(out.program.steps.size());
  if (!seen.first) {
    expect_owned(out);
    return expect_reads(seen, out);
  }
  const verify::Observation& subject = seen.pairs.front().second;
  switch (seen.first->effect) {
    case verify::Effect::kStatus:
      mark(seen, out);
      cut(out, seen.first->step);
      break;
    case verify::Effect::kCrash:
      expect_damage(seen, out);
      break;
    case verify::Effect::kHang:
      out.dies = true;
      out.tears_down = seen.first->step >= out.program.steps.size();
      cut(out, seen.first->step);
      break;
    case verify::Effect::kHost:
      out.checks_host_functions = true;
      out.attempts = kAttempts;  // no order can be requested for the host's own threads
      out.host_functions = seen.expected.host_tags;
      for (const auto& [tag, count] : subject.host_tags) out.host_functions.emplace(tag, 0);
      break;
    case verify::Effect::kTopology:
      for (const verify::TopologySeen& graph : seen.expected.topology) {
        out.topology.push_back({graph.graph, graph.types.size(), graph.edges.size()});
      }
      break;
    case verify::Effect::kBytes:
    case verify::Effect::kTeardown:
    case verify::Effect::kGrowth:  // not visible in a pair of runs
      if (damaged) {
        expect_damage(seen, out);
      } else {
        expect_reads(seen, out);
      }
      break;
  }
  // A failure that depends on a host function's timing, or that some orders hide, needs many attempts to show.
  if (seen.pairs.size() < seen.orders || (seen.first->effect == verify::Effect::kBytes && calls_host(out.program))) {
    out.attempts = kAttempts;
  }
}

// ---- the comment in the file

std::vector<std::string> folded(const std::string& text) {
  constexpr std::size_t kColumns = 112;
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = text.size() - from <= kColumns ? text.size() : text.rfind(' ', from + kColumns);
    if (end == std::string::npos || end <= from) end = std::min(text.size(), from + kColumns);
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

// `whole`: the program before it was cut.
void describe(const ExportCommand& command, const Seen& seen, const verify::Quirk* quirk, bool froze,
              const verify::Program& whole, verify::Reproducer& out) {
  const auto say = [&out](const std::string& text) {
    for (std::string& line : folded(text)) out.comment.push_back(std::move(line));
  };
  say(quirk != nullptr ? fmt::format("{}: {}.", quirk->id, quirk->title) : fmt::format("{}.", out.name));
  out.comment.emplace_back();
  for (const verify::Difference& difference : seen.differences) {
    say(fmt::format("At '{}', {}:", difference.command, difference.where));
    say(fmt::format("  expected {}", difference.expected));
    say(fmt::format("  observed {}", difference.observed));
  }
  for (const verify::Id graph : out.owned) {
    say(fmt::format("At the end, hipGraphDestroy(g{}): expected hipSuccess, for the program made that graph.", graph));
  }
  if (seen.differences.empty() && out.owned.empty())
    say("Nothing differs there: the file checks every buffer at its end.");
  say(fmt::format(
          "on {}{}", command.setup.subject,
          seen.pairs.size() < seen.orders && !seen.pairs.empty()
              ? fmt::format(", in {} of {} orders of the device's work that were tried", seen.pairs.size(), seen.orders)
              : std::string()) +
      ".");
  if (quirk != nullptr) {
    say(fmt::format("Documented: {}", quirk->documented));
    say(fmt::format("Releases that show it: {}.", quirk->releases.names()));
  }
  if (froze) say("Arguments that held an address as a plain number hold another number here.");
  out.comment.emplace_back();
  std::string variables;
  for (const auto& [name, value] : out.program.setting.environment) variables += fmt::format("{}={} ", name, value);
  if (command.form == "hip") {
    say(fmt::format("  hipcc {0}.hip -o {0} && {1}./{0}", out.name, variables));
    say("Exit status: 0 as documented, 1 the failure shows, 2 it could not run.");
  } else if (!variables.empty()) {
    say(fmt::format("In the test's environment: {}", variables));
  }
  say(fmt::format("Written by hgcheck {} (hgcheck export) from this program:", command.version));
  const std::string text = verify::print_program(verify::has_blocks(out.program) ? whole : out.program);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    out.comment.push_back("  " + text.substr(from, end - from));
    from = end + 1;
  }
}

// The name of verify/findings/ID/finding.program is ID.
std::string name_of_program(const std::filesystem::path& file) {
  return file.stem() == "finding" ? file.parent_path().filename().string() : file.stem().string();
}

// The subject on which a program of the catalogue shows its quirk; otherwise the subject of --subject.
void choose_subject(ExportCommand& command, const verify::Quirk* quirk) {
  if (!command.setup.subject.empty()) return;
  if (quirk == nullptr) {
    command.setup.subject = SetupOptions().subject;
    return;
  }
  const std::string releases = quirk->releases.names();
  command.setup.subject =
      fmt::format("rocm-soft@{}:{}", releases.substr(0, releases.find(' ')), verify::strategy_name(quirk->strategy));
}

verify::ReproducerStrategy strategy_of(const std::string& subject) {
  const hip::Result<verify::SubjectName> name = verify::parse_subject(subject);
  if (!name || name.value().strategy == verify::StrategyKind::kPatch) return verify::ReproducerStrategy::kPatch;
  return name.value().strategy == verify::StrategyKind::kUpdate ? verify::ReproducerStrategy::kUpdate
                                                                : verify::ReproducerStrategy::kRebuild;
}

}  // namespace

int run(ExportCommand command) {
  if (const hip::Status status = writable("-o", command.output); !status) return complain(status.error().message);
  const hip::Result<verify::Program> program = load_program(command.file);
  if (!program) return complain(program.error().message);
  verify::Reproducer out;
  out.name = name_of_program(command.file);
  const verify::Quirk* quirk = quirk_of(out.name);
  if (quirk != nullptr && verify::only_grows(*quirk)) {
    return complain(fmt::format(
        "{}: what shows after many cycles only has no stand-alone form yet; verify/findings/{}/finding.hip measures it",
        command.file, quirk->id));
  }
  choose_subject(command, quirk);
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(command.setup);
  if (!setup) return complain(setup.error().message);
  const auto model = verify::Subject::make({"model", verify::StrategyKind::kRebuild});
  if (!model) return complain(model.error().message);

  out.program = program.value();
  out.strategy = strategy_of(command.setup.subject);
  const bool froze = verify::freeze_addresses(out.program);
  if (out.program.setting.placement == verify::Placement::kArena && !ArenaLayout(out).go()) {
    return complain(
        fmt::format("{}: buffers are in other places in each round of a block: such a block has no stand-alone form",
                    command.file));
  }
  const Known known = known_of(command.setup.subject, out.program);
  const Seen seen = look(*setup.value(), model.value()->runner(), out.program, known);
  if (!seen.expected.harness_error.empty()) return complain(seen.expected.harness_error);
  expect(seen, known.damages, out);
  describe(command, seen, quirk, froze, program.value(), out);
  const hip::Result<std::string> text = verify::to_reproducer(
      out, command.form == "hip" ? verify::ReproducerForm::kHip : verify::ReproducerForm::kCatch2);
  if (!text) return complain(fmt::format("{}: {}", command.file, text.error().message));
  if (const hip::Status status = write_text(command.output.empty() ? "-" : command.output, text.value()); !status) {
    return complain(status.error().message);
  }
  if (!seen.first && out.owned.empty()) {
    std::cerr << fmt::format(
        "hgcheck: {} shows nothing on {}: the file checks what every buffer holds at its end; "
        "'--subject' names another runtime ('hgcheck subjects' lists them)\n",
        command.file, command.setup.subject);
  }
  return kAgreed;
}

}  // namespace fuzz
