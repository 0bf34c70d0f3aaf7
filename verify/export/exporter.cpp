#include "verify/export/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "verify/commands/export.h"
#include "verify/language/foreign_kernels.h"
#include "verify/program/names.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"
#include "verify/program/threads.h"

namespace verify {

// Each family's export.cpp instantiates its own.
extern template void export_family(BuffersCommands, Exporter&, const Command&);
extern template void export_family(GraphsCommands, Exporter&, const Command&);
extern template void export_family(NodesCommands, Exporter&, const Command&);
extern template void export_family(ExecsCommands, Exporter&, const Command&);
extern template void export_family(StreamsCommands, Exporter&, const Command&);
extern template void export_family(EventsCommands, Exporter&, const Command&);
extern template void export_family(CapturesCommands, Exporter&, const Command&);
extern template void export_family(StreamMemoryCommands, Exporter&, const Command&);
extern template void export_family(VirtualMemoryCommands, Exporter&, const Command&);
extern template void export_family(ModulesCommands, Exporter&, const Command&);
extern template void export_family(DevicesCommands, Exporter&, const Command&);
extern template void export_family(UserObjectsCommands, Exporter&, const Command&);
extern template void export_family(FailuresCommands, Exporter&, const Command&);
extern template void export_family(SystemsCommands, Exporter&, const Command&);

namespace {

constexpr int kNotSupported = 801;            // hipErrorNotSupported, without including HIP's headers
constexpr std::uint32_t kMaxWrittenOut = 64;  // repetitions that cannot be a loop

template <class... Families>
struct ExportOneOf {
  static void write(Exporter& out, const Command& command) { (export_family(Families{}, out, command), ...); }
};

}  // namespace

Exporter::Exporter(const Reproducer& reproducer, ReproducerForm form, const NeedsOfFile& known)
    : reproducer_(reproducer),
      text_(form),
      memory_(text_, needs_, reproducer),
      nodes_(text_, names_),
      captures_(text_, known.uses_captured_nodes()),
      strategies_(*this, reproducer.strategy),
      checks_(*this, reproducer),
      devices_(devices_needed(reproducer.program)) {
  text_.use_devices(devices_);
  if (reproducer.checks_host_functions) text_.line("runs.clear();");
  declare_variables(known);
}

void Exporter::declare_variables(const NeedsOfFile& known) {
  memory_.declare_arenas(known);
  for (const auto& [type, variables] : known.variables()) {
    text_.line(fmt::format("{} {};", type, list_of(variables)));
  }
}

hip::Status Exporter::write() {
  const std::vector<Step>& steps = reproducer_.program.steps;
  for (step_ = 0; step_ < steps.size() && error_.empty();) {
    if (steps[step_].in.thread != 0) {
      write_threads();
    } else if (steps[step_].in.block != 0) {
      write_block();
    } else {
      write_step(steps[step_]);
      ++step_;
    }
  }
  if (!error_.empty()) return hip::Error{kNotSupported, error_};
  write_end();
  return {};
}

namespace {

std::vector<Id> buffers_made_by(const Step& step) {
  std::vector<Id> made;
  Command command = step.command;
  for_each_name(command, [&made](char letter, const Id& id, bool is_made) {
    if (letter == 'b' && is_made) made.push_back(id);
  });
  return made;
}

// The numbers that the buffers which a block makes have in its later rounds. `length`: of a round.
std::map<Id, ReproducerMemory::LaterNumbers> later_numbers(const std::vector<Step>& steps, std::size_t begin,
                                                           std::size_t length) {
  std::map<Id, ReproducerMemory::LaterNumbers> numbers;
  for (std::size_t i = begin; i < begin + length && i + length < steps.size(); ++i) {
    const std::vector<Id> first = buffers_made_by(steps[i]), second = buffers_made_by(steps[i + length]);
    const bool more = i + 2 * length < steps.size() && steps[i + 2 * length].in.round == 2;
    const std::vector<Id> third = more ? buffers_made_by(steps[i + 2 * length]) : second;
    for (std::size_t k = 0; k < first.size() && k < second.size() && k < third.size(); ++k)
      numbers[first[k]] = {second[k], third[k] - second[k]};
  }
  return numbers;
}

}  // namespace

// The first round of a block is written, in a loop. A program that was cut in a later round ends there with the loop,
// which runs that round last.
void Exporter::write_block() {
  const std::vector<Step>& steps = reproducer_.program.steps;
  const InBlock in = steps[step_].in;
  const std::size_t from = text_.size(), begin = step_;
  const BeforeBlock before = before_block();
  const auto in_round = [&](std::uint32_t round) {
    return step_ < steps.size() && steps[step_].in.block == in.block && steps[step_].in.round == round;
  };
  bool makes_user_objects = false, makes_memory = false;
  for (; in_round(0); ++step_) {
    makes_user_objects = makes_user_objects || std::holds_alternative<DeclareUserObject>(steps[step_].command);
    makes_memory = makes_memory || std::holds_alternative<CreatePhysical>(steps[step_].command);
  }
  const std::size_t length = step_ - begin;
  if (in_round(1)) {
    // An answer names the objects that went, and they have another name in each round.
    if (makes_user_objects) return fail_block("a block makes user objects");
    // Its first contents depend on its number, which is another one in each round.
    if (makes_memory) return fail_block("a block creates physical memory");
    memory_.in_rounds(later_numbers(steps, begin, length));
    text_.begin_rounds();
  }
  for (step_ = begin; in_round(0) && error_.empty(); ++step_) write_step(steps[step_]);
  memory_.in_rounds({});
  if (!error_.empty() || !in_round(1)) return;
  if (const Reason flaw = flaw_of_round(before)) return fail_block(*flaw);
  for (const auto& [patch, due] : before.due) {
    if (strategies_.due(patch) != due)
      return fail_block(fmt::format(
          "'{}' has other moved buffers to patch in later rounds of a block than in the first", print_command(patch)));
  }
  follow_rounds(begin, length, before);
  if (error_.empty()) text_.in_loop(from, "round", steps[step_ - 1].in.round + 1);
}

void Exporter::write_threads() {
  const std::vector<Step>& steps = reproducer_.program.steps;
  if (text_.form() == ReproducerForm::kCatch2) return fail_block("Catch2 checks only in its own thread");
  const std::size_t from = text_.size(), begin = step_, end = end_of_block(reproducer_.program, begin);
  std::set<Id> threads;
  for (std::size_t i = begin; i < end; ++i) threads.insert(steps[i].in.thread);
  for (const Id thread : threads) {
    const std::size_t first = text_.size();
    text_.begin_thread(thread, threads.size());
    for (step_ = begin; step_ < end && error_.empty(); ++step_) {
      if (steps[step_].in.thread == thread) write_step(steps[step_]);
    }
    if (!error_.empty()) return;
    text_.end_thread(first);
  }
  text_.in_threads(from, threads);
}

Exporter::BeforeBlock Exporter::before_block() const {
  const std::vector<Step>& steps = reproducer_.program.steps;
  BeforeBlock before{names_, nodes_of_captures(), {}, mapped_pages()};
  for (std::size_t i = step_; i < steps.size() && steps[i].in.block == steps[step_].in.block; ++i) {
    const auto* patch = std::get_if<Patch>(&steps[i].command);
    if (patch == nullptr || steps[i].in.round != 0) continue;
    const bool in_exec = patch->target == Target::kExec;
    if (in_exec ? names_.execs.contains(patch->id) : names_.graphs.contains(patch->id))
      before.due.emplace_back(*patch, strategies_.due(*patch));
  }
  return before;
}

std::map<std::uint64_t, std::size_t> Exporter::nodes_of_captures() const {
  std::map<std::uint64_t, std::size_t> nodes;
  for (const CaptureState& capture : after_.captures()) nodes[capture.serial] = capture.graph.nodes.size();
  return nodes;
}

std::map<std::pair<Id, std::uint32_t>, std::uint32_t> Exporter::mapped_pages() const {
  std::map<std::pair<Id, std::uint32_t>, std::uint32_t> pages;
  for (const auto& [id, range] : after_.ranges()) {
    for (const auto& [page, mapping] : range.mappings) pages[{id, page}] = mapping.pages;
  }
  return pages;
}

Reason Exporter::flaw_of_round(const BeforeBlock& before) const {
  if (nodes_of_captures() != before.captures)
    return "a block begins or ends a capture that it does not contain, or gives nodes to it";
  if (mapped_pages() != before.mapped) return "a block leaves mappings of other sizes than it found";
  const auto renamed = [](const auto& had, const auto& has) {
    return std::ranges::find_if(had, [&has](const auto& each) { return has.at(each.first) != each.second; });
  };
  constexpr const char* kRecorded = "a block records {}{} again, which was made before the block";
  const auto graph = renamed(before.names.graphs, names_.graphs);
  if (graph != before.names.graphs.end()) return fmt::format(kRecorded, 'g', graph->first);
  const auto exec = renamed(before.names.execs, names_.execs);
  if (exec != before.names.execs.end()) return fmt::format(kRecorded, 'e', exec->first);
  return {};
}

void Exporter::follow_rounds(std::size_t begin, std::size_t length, const BeforeBlock& before) {
  const std::vector<Step>& steps = reproducer_.program.steps;
  for (std::size_t k = 0; step_ < steps.size() && steps[step_].in.block == steps[begin].in.block; ++k, ++step_) {
    if (!ends_alike(begin + k % length, step_))
      return fail_block(
          fmt::format("the rounds of a block end differently at '{}' (command {})", command_text(), step_ + 1));
    after_.apply(steps[step_].command);
    if ((k + 1) % length != 0) continue;
    if (const Reason flaw = flaw_of_round(before)) return fail_block(*flaw);
  }
}

void Exporter::fail_block(const std::string& reason) {
  fail(fmt::format("{}: such a block has no stand-alone form; replay the program instead", reason));
}

bool Exporter::ends_alike(std::size_t step, std::size_t other) const {
  const ExpectedStatus& one = reproducer_.statuses[step];
  const ExpectedStatus& two = reproducer_.statuses[other];
  const auto bytes_at = [this](std::size_t at) {
    std::vector<std::pair<std::uint64_t, std::string>> bytes;
    for (const ExpectedBytes& each : reproducer_.bytes) {
      if (each.step == at) bytes.emplace_back(each.offset, each.hex);
    }
    return bytes;
  };
  return one.error == two.error && one.update_result == two.update_result && one.seen == two.seen &&
         bytes_at(step) == bytes_at(other);
}

void Exporter::write_step(const Step& step) {
  const std::size_t from = text_.size();
  written_out_ = false;
  write_once(step.command);
  if (written_out_ && step.repeat > kMaxWrittenOut) {
    return fail(fmt::format("'repeat {} {}' has no stand-alone form: at most {} repetitions are written out",
                            step.repeat, command_text(), kMaxWrittenOut));
  }
  if (written_out_) {
    for (std::uint32_t k = 1; k < step.repeat && error_.empty(); ++k) write_once(step.command);
  } else if (step.repeat != 1) {
    text_.in_loop(from, "k", step.repeat);
  }
}

void Exporter::write_once(const Command& command) {
  before_ = after_;
  after_.apply(command);
  answered_ = !expected().only_seen_differs;
  ForFamilies<ExportOneOf>::write(*this, command);
  checks_.user_objects();
  if (answered_ || !error_.empty()) return;
  fail(
      fmt::format("what '{}' answers (expected '{}', observed '{}') has no stand-alone form yet; replay the program "
                  "instead",
                  command_text(), expected().seen, expected().saw));
}

void Exporter::write_end() {
  // Where a status shows the failure, ending open captures and waiting would be no part of it.
  const bool shown = captures_begun_ && std::ranges::any_of(reproducer_.statuses, &ExpectedStatus::differs);
  if (!shown) {
    captures_.abandon(after_);
    text_.wait();
  }
  checks_.bytes(step_);
  checks_.host_functions();
  checks_.topology();
  checks_.owned_graphs();
  if (reproducer_.tears_down) checks_.tear_down();
}

void Exporter::use_nodes_of(const GraphState& graph) {
  if (std::ranges::any_of(graph.nodes, &NodeState::captured)) {
    needs_.use_captured_nodes();
  }
}

void Exporter::add_by_hand(Id stream) {
  needs_.use_captured_nodes();
  const CaptureState& capture = *after_.capture_of(stream);
  std::vector<std::string>& nodes = captures_.names(capture).nodes;
  nodes.push_back(fmt::format("c{}_n{}", capture.serial, capture.graph.nodes.back().id));
  const std::string node = nodes.back();
  const GraphNames names{fmt::format("by_hand{}", text_.number(LocalKind::kCapture)), nodes};
  text_.need(HelperFunction::kCapturedInto);
  text_.line(fmt::format("hipGraph_t {} = captured_into({});", names.graph, stream_name(stream)));
  text_.line(fmt::format("hipGraphNode_t {} = nullptr;", node));
  nodes_.add(after_, capture.graph, capture.graph.nodes.size() - 1, names, expected());
  call(fmt::format("hipStreamUpdateCaptureDependencies({}, &{}, 1, hipStreamSetCaptureDependencies)",
                   stream_name(stream), node));
}

void Exporter::check_attributes(const std::string& node, std::uint32_t fan) {
  if (!expected().only_seen_differs) return;
  nodes_.check_attributes(expected().seen, node, fan);
  answered();
}

std::string Exporter::command_text() const {
  return print_command(reproducer_.program.steps[step_].command);
}

void Exporter::refuse_command() {
  fail(
      fmt::format("'{}' (command {}) has no stand-alone form: take it out and see whether the program still "
                  "diverges (hgcheck replay), then export it",
                  command_text(), step_ + 1));
}

void Exporter::refuse(const std::string& reason) {
  fail(fmt::format("'{}' (command {}): {}", command_text(), step_ + 1, reason));
}

hip::Result<std::string> to_reproducer(const Reproducer& reproducer, ReproducerForm form) {
  assert(reproducer.statuses.size() == reproducer.program.steps.size());
  if (const auto foreign = foreign_kernels_of(reproducer.program); !foreign.empty()) {
    return hip::Error{1, fmt::format("kernel {} has no stand-alone form: only its code object is known, and not its "
                                     "source; replay the program instead",
                                     foreign.front()->name)};
  }
  Exporter draft(reproducer, form, {});
  if (const hip::Status status = draft.write(); !status) return status.error();
  Exporter exporter(reproducer, form, draft.needs());
  if (const hip::Status status = exporter.write(); !status) return status.error();
  return exporter.file();
}

}  // namespace verify
