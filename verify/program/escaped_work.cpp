// Finds work that escapes a capture; the contract is in the header.
#include "verify/program/escaped_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

namespace {

struct Work {
  std::size_t step = 0;
  std::vector<ByteRange> ranges;
};

struct Escape {
  std::string work;  // up to the name of the graph
  Id graph = 0;
  std::set<std::string> shared;    // buffers that the graph uses, too
  std::set<std::string> launched;  // executable graphs of the graph
};

class Escapes {
 public:
  explicit Escapes(const Program& program) : program_(program) {}

  [[nodiscard]] std::vector<std::string> find() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) take(i);
    std::vector<std::string> sentences;
    for (const Escape& escape : escapes_) {
      if (sentences.size() == kMostEscapes) break;
      sentences.push_back(sentence(escape));
    }
    if (escapes_.size() > kMostEscapes)
      sentences.push_back(fmt::format("{} more commands escaped a capture", escapes_.size() - kMostEscapes));
    return sentences;
  }

 private:
  static std::string sentence(const Escape& escape) {
    std::string text = fmt::format("{} and is not in g{}", escape.work, escape.graph);
    if (!escape.shared.empty()) text += fmt::format(", though both use {}", fmt::join(escape.shared, ", "));
    if (!escape.launched.empty())
      text += fmt::format(": launches of {} do not do it", fmt::join(escape.launched, ", "));
    return text;
  }

  void take(std::size_t i) {
    const Step& step = program_.steps[i];
    std::visit([&](const auto& command) { note(command, i); }, step.command);
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state_.apply(step.command);
  }

  [[nodiscard]] bool succeeds(std::size_t i) const { return state_.answer(program_.steps[i].command).status == 0; }

  void note(const auto&, std::size_t) {}
  void note(const BeginCapture&, std::size_t i) {
    if (succeeds(i)) begun_[state_.captures_begun() + 1] = i;
  }
  void note(const Enqueue& c, std::size_t i) { note_work(c.stream, i, state_.ranges_of(c.params, 1)); }
  void note(const Launch& c, std::size_t i) {
    const auto graph = graphs_.find(c.exec);
    for (Escape& escape : escapes_) {
      if (graph != graphs_.end() && escape.graph == graph->second) escape.launched.insert(fmt::format("e{}", c.exec));
    }
    note_work(c.stream, i, state_.exec(c.exec)->graph.ranges());
  }
  void note(const Instantiate& c, std::size_t) { graphs_[c.exec] = c.graph; }
  void note(const Update& c, std::size_t) {
    if (update_outcome(state_.exec(c.exec)->graph, *state_.graph(c.graph)) == UpdateOutcome::kSuccess)
      graphs_[c.exec] = c.graph;
  }
  void note(const EndCapture& c, std::size_t i) {
    const CaptureState* capture = state_.capture_of(c.stream);
    if (capture == nullptr || !succeeds(i)) return;
    const auto line = [&](std::size_t step) { return program_.steps[step].line; };
    for (const Work& work : beside_[capture->serial]) {
      const std::string words = fmt::format("line {} '{}' ran beside the capture of s{} (lines {} to {})",
                                            line(work.step), print_command(program_.steps[work.step].command), c.stream,
                                            line(begun_.at(capture->serial)), line(i));
      escapes_.push_back({words, c.graph, shared(work.ranges, capture->graph.ranges()), {}});
    }
  }

  void note_work(Id stream, std::size_t i, const std::vector<ByteRange>& ranges) {
    if (program_.steps[i].in.round != 0) return;  // the first round has told of it
    if (state_.captures().empty() || state_.capture_of(stream) != nullptr || !succeeds(i)) return;
    for (const CaptureState& capture : state_.captures()) beside_[capture.serial].push_back({i, ranges});
  }

  static std::set<std::string> shared(const std::vector<ByteRange>& work, const std::vector<ByteRange>& graph) {
    std::set<std::string> buffers;
    for (const ByteRange& range : work) {
      if (range.buffer != kAnyView && conflict({range}, graph)) buffers.insert(fmt::format("b{}", range.buffer));
    }
    return buffers;
  }

  const Program& program_;
  State state_;
  std::map<std::uint64_t, std::size_t> begun_;         // serial of a capture -> the step that began it
  std::map<std::uint64_t, std::vector<Work>> beside_;  // serial of a capture -> work beside it
  std::map<Id, Id> graphs_;                            // executable graph -> the graph whose work it does
  std::vector<Escape> escapes_;
};

}  // namespace

std::vector<std::string> escaped_work(const Program& program) {
  const bool captures = std::ranges::any_of(
      program.steps, [](const Step& step) { return std::holds_alternative<BeginCapture>(step.command); });
  return captures ? Escapes(program).find() : std::vector<std::string>();
}

}  // namespace verify
