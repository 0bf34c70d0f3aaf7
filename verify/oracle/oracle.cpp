#include "verify/oracle/oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/api/api.h"
#include "verify/program/text.h"

namespace verify {

namespace {

constexpr std::size_t kShownBytes = 16;

std::string hex_bytes(const std::vector<std::byte>& bytes, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < std::min(bytes.size(), from + kShownBytes); ++i) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(bytes[i]));
  }
  return text;
}

std::string status_text(const StepStatus& status) {
  std::string text = hip::status_name(status.code);
  if (status.repetition > 0) text += fmt::format(" of repetition {}", status.repetition);
  if (status.update_result > 0) text += fmt::format(", update result {}", status.update_result);
  if (!status.seen.empty()) text += fmt::format(", saw '{}'", status.seen);
  return text;
}

class Comparison {
 public:
  Comparison(const Program& program, const Observation& expected, const Observation& observed)
      : program_(program), expected_(expected), observed_(observed) {}

  std::vector<Difference> run() {
    if (observed_.death || expected_.death) {
      const auto end = [](const Observation& observation) {
        return observation.death ? observation.death->text() : "an end";
      };
      add("process", std::max(observed_.death_step, expected_.death_step), end(expected_), end(observed_),
          Difference::Place::kProcess);
      return std::move(found_);
    }
    statuses();
    reads();
    topology();
    if (expected_.host_tags != observed_.host_tags) {
      add("host functions", program_.steps.size(), tags(expected_), tags(observed_));
    }
    // A device fault is a difference even if the runtime was not told of it or did not report it.
    if (found_.empty() && expected_.notes.fault.empty() && !observed_.notes.fault.empty()) {
      add("device fault", program_.steps.size(), "none", observed_.notes.fault);
    }
    return std::move(found_);
  }

 private:
  void add(std::string where, std::size_t step, std::string expected, std::string observed,
           Difference::Place place = Difference::Place::kOther, Id buffer = 0) {
    if (found_.size() == kMaxDifferences) return;
    const std::string command = step < program_.steps.size() ? print_command(program_.steps[step].command) : "the end";
    found_.push_back({std::move(where), command, std::move(expected), std::move(observed), place, buffer});
  }

  void statuses() {
    const std::size_t count = std::min(expected_.statuses.size(), observed_.statuses.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (expected_.statuses[i] == observed_.statuses[i]) continue;
      add("status", i, status_text(expected_.statuses[i]), status_text(observed_.statuses[i]),
          Difference::Place::kStatus);
    }
  }
  // Both lists are in the order of the program, each read at most once (a repeated read reads the same).
  void reads() {
    std::size_t i = 0, j = 0;
    while (i < expected_.reads.size() || j < observed_.reads.size()) {
      const BytesSeen* expected = i < expected_.reads.size() ? &expected_.reads[i] : nullptr;
      const BytesSeen* observed = j < observed_.reads.size() ? &observed_.reads[j] : nullptr;
      if (observed == nullptr || (expected != nullptr && before(*expected, *observed))) {
        add(fmt::format("b{}", expected->buffer), expected->step, size_text(*expected), "could not be read",
            Difference::Place::kBuffer, expected->buffer);
        ++i;
      } else if (expected == nullptr || before(*observed, *expected)) {
        add(fmt::format("b{}", observed->buffer), observed->step, "could not be read", size_text(*observed),
            Difference::Place::kBuffer, observed->buffer);
        ++j;
      } else {
        bytes(expected_.reads[i++], observed_.reads[j++]);
      }
    }
  }
  static std::string size_text(const BytesSeen& seen) { return fmt::format("{} bytes", seen.bytes.size()); }
  static bool before(const BytesSeen& a, const BytesSeen& b) {
    return a.step != b.step ? a.step < b.step : a.buffer < b.buffer;
  }
  void bytes(const BytesSeen& expected, const BytesSeen& observed) {
    if (expected.bytes == observed.bytes) return;
    const auto [at, other] =
        std::mismatch(expected.bytes.begin(), expected.bytes.end(), observed.bytes.begin(), observed.bytes.end());
    const auto offset = static_cast<std::size_t>(at - expected.bytes.begin());
    std::size_t differing = 0;
    for (std::size_t i = 0; i < std::min(expected.bytes.size(), observed.bytes.size()); ++i) {
      differing += expected.bytes[i] != observed.bytes[i] ? 1 : 0;
    }
    add(fmt::format("b{}+{} ({} bytes differ)", expected.buffer, offset, differing), expected.step,
        hex_bytes(expected.bytes, offset), hex_bytes(observed.bytes, offset), Difference::Place::kBuffer,
        expected.buffer);
  }
  void topology() {
    for (std::size_t i = 0; i < std::max(expected_.topology.size(), observed_.topology.size()); ++i) {
      if (i < expected_.topology.size() && i < observed_.topology.size() &&
          expected_.topology[i] == observed_.topology[i])
        continue;
      const auto text = [i](const Observation& observation) {
        return i < observation.topology.size() ? fmt::format("{} nodes, {} edges", observation.topology[i].types.size(),
                                                             observation.topology[i].edges.size())
                                               : std::string("no graph");
      };
      const Id graph = i < expected_.topology.size() ? expected_.topology[i].graph : observed_.topology[i].graph;
      add(fmt::format("topology of g{}", graph), program_.steps.size(), text(expected_), text(observed_));
    }
  }
  static std::string tags(const Observation& observation) {
    std::string text;
    for (const auto& [tag, count] : observation.host_tags)
      text += fmt::format("{}tag {} x{}", text.empty() ? "" : ", ", tag, count);
    return text.empty() ? "none ran" : text;
  }

  const Program& program_;
  const Observation& expected_;
  const Observation& observed_;
  std::vector<Difference> found_;
};

}  // namespace

std::optional<Divergence> first_divergence(const Program& program, const Observation& expected,
                                           const Observation& observed) {
  const std::size_t end = program.steps.size();
  if (observed.death) {
    return Divergence{observed.death_step, observed.death->kind == Death::Kind::kHung ? Effect::kHang : Effect::kCrash,
                      0};
  }
  std::optional<Divergence> first;
  const auto note = [&](const Divergence& divergence) {
    if (!first || divergence.step < first->step) first = divergence;
  };
  for (std::size_t i = 0; i < std::min(expected.statuses.size(), observed.statuses.size()); ++i) {
    if (expected.statuses[i] == observed.statuses[i]) continue;
    note({i, Effect::kStatus, observed.statuses[i].code});
    break;
  }
  for (std::size_t i = 0; i < std::max(expected.reads.size(), observed.reads.size()); ++i) {
    const BytesSeen* a = i < expected.reads.size() ? &expected.reads[i] : nullptr;
    const BytesSeen* b = i < observed.reads.size() ? &observed.reads[i] : nullptr;
    if (a != nullptr && b != nullptr && a->step == b->step && a->buffer == b->buffer && a->bytes == b->bytes) continue;
    note({std::min(a != nullptr ? a->step : end, b != nullptr ? b->step : end), Effect::kBytes, 0});
    break;
  }
  if (expected.topology != observed.topology) note({end, Effect::kTopology, 0});
  if (expected.host_tags != observed.host_tags) note({end, Effect::kHost, 0});
  if (!first && expected.notes.fault.empty() && !observed.notes.fault.empty()) note({end, Effect::kBytes, 0});
  return first;
}

std::vector<Difference> compare(const Program& program, const Observation& expected, const Observation& observed) {
  return Comparison(program, expected, observed).run();
}

}  // namespace verify
