// Features of commands come from the fields that they declare, features of nodes from their types. This file counts the
// features that only a whole program shows, or only the state that a command meets.
#include "verify/program/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/each_command.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

namespace {

// A choice whose feature ends in a space has one feature for each of its words; else one feature counts for all words.
std::string feature_of(std::string_view feature, std::string_view word) {
  return feature.ends_with(' ') ? fmt::format("{}{}", feature, word) : std::string(feature);
}

// Counts the features of a field, or, without a command, names each feature that the field has. Each type of field has
// an overload.
template <class C>
struct FieldFeatures {
  const C* c;  // null: name all features
  const CountFeature& add;

  template <class At>
  [[nodiscard]] const auto* value(At at) const {
    return c == nullptr ? nullptr : &value_at(at, *c);
  }
  void one(std::string_view feature) const {
    if (!feature.empty()) add(feature);
  }
  template <class Words>
  void word(std::string_view feature, const Words& words, std::size_t from, std::optional<std::size_t> given) const {
    if (feature.empty()) return;
    if (given) {
      if (*given >= from) add(feature_of(feature, words[*given]));
      return;
    }
    for (std::size_t i = from; i < words.size(); ++i) {
      add(feature_of(feature, words[i]));
      if (!feature.ends_with(' ')) return;
    }
  }

  void operator()(const FieldOf<TargetField> auto& f) const {
    const Target* const given = value(f.target);
    for (std::size_t i = 0; i < kTargetWords.size(); ++i) {
      const bool takes =
          i < kTargetLetters.size() ? f.letters.find(kTargetLetters[i]) != std::string_view::npos : f.device;
      if (takes && (given == nullptr || *given == static_cast<Target>(i))) {
        add(fmt::format("{} {}", f.operation, kTargetWords[i]));
      }
    }
  }
  void operator()(const FieldOf<ChoiceField> auto& f) const { word(f.feature, f.words, 0, number(f.at)); }
  void operator()(const FieldOf<ChoiceKey> auto& f) const {
    word(f.feature, f.words, f.fallback_feature ? 0 : 1, number(f.at));
  }
  void operator()(const FieldOf<NameKey, OptionalNumberKey> auto& f) const {
    if (c == nullptr || value(f.at)->has_value()) one(f.feature);
  }
  void operator()(const FieldOf<NumberKey> auto& f) const {
    if (c == nullptr || *value(f.at) != f.fallback) one(f.feature);
  }
  void operator()(const FieldOf<PriorityKey> auto& f) const {
    if (c == nullptr || *value(f.at) != 0) one(f.feature);
  }
  void operator()(const FieldOf<FlagKey> auto& f) const {
    if (c == nullptr || *value(f.at)) one(f.feature);
  }
  void operator()(const FieldOf<IntoGraphKey> auto& f) const {
    if (c == nullptr || value(f.into)->has_value()) one("capture into a graph");
  }
  void operator()(const FieldOf<NodeAttributesKey> auto& f) const {
    if (c == nullptr || value(f.at)->priority) one("attribute priority");
    if (c == nullptr || value(f.at)->cooperative) one("attribute cooperative");
    if (c == nullptr || value(f.at)->window) one("attribute window");
  }

  // These fields add no feature to that of the command's word. Parameters of nodes count by their type.
  void operator()(const FieldOf<NameField, OptionalNameField, NameOrWordField, NodeNameField, NodeOfTargetField,
                                NodesField, NumberField, FunctionField, ErrorCaseField, MovesField, PoolAttributeField,
                                FlagsKey, NodesKey, ContentsKey, VariableKey, ParamsField> auto&) const {}

 private:
  template <class At>
  [[nodiscard]] std::optional<std::size_t> number(At at) const {
    if (c == nullptr) return std::nullopt;
    return static_cast<std::size_t>(*value(at));
  }
};

// Features that a single command does not show.
constexpr std::string_view kOfPrograms[] = {
    "move one",           "move several",         "move swap",        "move cycle",
    "move chain",         "copy between devices", "empty graph",      "instantiate a circle",
    "generic add",        "driver add",           "generic set exec", "driver set exec",
    "generic set graph",  "driver set graph",     "destroy a pool",   "eager work",
    "captured work",      "captured event node",  "captured launch",  "captured allocation",
    "captured free",      "capture fork",         "capture refused",  "capture invalidated",
    "block that repeats", "block of many rounds", "block of threads", "work that escapes a capture"};

void name_words(const FixedWord& words, const CountFeature& add) {
  add(words.word);
}
template <class At>
void name_words(const WordByFlag<At>& words, const CountFeature& add) {
  add(words.when_true);
  add(words.when_false);
}
// The types of nodes have features of their own.
template <class At>
void name_words(const WordOfNode<At>&, const CountFeature&) {}

std::vector<std::string> make_names() {
  std::vector<std::string> names = {"placement arena", "placement native", "command repeat"};
  std::set<std::string, std::less<>> known(names.begin(), names.end());
  const CountFeature add = [&](std::string_view name) {
    if (known.emplace(name).second) names.emplace_back(name);
  };
  for_each_declared([&]<class C>(std::type_identity<C>) {
    if constexpr (C::spec().drawn.ever)
      name_words(C::spec().words, [&](std::string_view word) { add(fmt::format("command {}", word)); });
  });
  for (std::size_t i = 0; i < kSystemVerbs; ++i) {
    add(fmt::format("command {}", describe(static_cast<SystemVerb>(i)).words));
  }
  for (const std::string& name : node_feature_names()) add(name);
  for_each_declared([&]<class C>(std::type_identity<C>) { for_each_field<C>(FieldFeatures<C>{nullptr, add}); });
  for (const std::string_view name : kOfPrograms) add(name);
  return names;
}

// Counts one program.
class Counter {
 public:
  explicit Counter(const CountFeature& add, bool captures) : add_(add), captures_(captures) {}

  void take(const Step& step) {
    if (step.repeat > 1) add_("command repeat");
    if (std::exchange(block_, step.in.block) != step.in.block && step.in.block != 0) {
      add_(step.in.thread != 0 ? "block of threads" : "block that repeats");
      if (step.in.rounds >= kManyRounds) add_("block of many rounds");
    }
    const bool adds_node = std::holds_alternative<AddNode>(step.command);
    bool ever = true;
    std::visit(
        [this, &ever]<class C>(const C& c) {
          if constexpr (kIsDeclared<C>) {
            ever = C::spec().drawn.ever;
            for_each_field<C>(FieldFeatures<C>{&c, add_});
          }
        },
        step.command);
    if (ever) add_(fmt::format("{} {}", adds_node ? "node" : "command", command_word(step.command)));
    nodes(step.command);
    buffers(step.command);
    graphs(step.command);
    capture(step);
  }

 private:
  void node(const NodeParams& params) {
    count_node_features(params, buffer_bytes_, add_);
    const auto* copy = std::get_if<CopyParams>(&params);
    if (copy != nullptr && device_of(copy->dst) != device_of(copy->src)) add_("copy between devices");
  }
  [[nodiscard]] Id device_of(const CopyEnd& end) const {
    return end.ref.buffer < buffer_devices_.size() ? buffer_devices_[end.ref.buffer] : 0;
  }
  void form(NodeForm form, std::string_view done) {
    if (form != NodeForm::kTyped) add_(fmt::format("{} {}", form == NodeForm::kGeneric ? "generic" : "driver", done));
  }
  void nodes(const Command& command) {
    if (const auto* added = std::get_if<AddNode>(&command)) {
      form(added->form, "add");
      node(added->params);
    } else if (const auto* set = std::get_if<SetNode>(&command)) {
      const std::string done = set->target == Target::kExec ? "set exec" : "set graph";
      add_(fmt::format("{} {}", done, node_word(set->params)));
      form(set->form, done);
      node(set->params);
    } else if (const auto* work = std::get_if<Enqueue>(&command)) {
      node(work->params);
    }
  }
  void buffer(Id id, std::uint64_t bytes, Id device) {
    buffer_bytes_.resize(std::max<std::size_t>(buffer_bytes_.size(), id + 1));
    buffer_devices_.resize(std::max<std::size_t>(buffer_devices_.size(), id + 1));
    buffer_bytes_[id] = bytes;
    buffer_devices_[id] = device;
  }
  void buffers(const Command& command) {
    std::visit(
        [this]<class C>(const C& c) {
          Id device = 0;
          if constexpr (requires { c.device; }) device = c.device;
          if constexpr (std::is_same_v<C, ReserveRange>) range_devices_[c.range] = c.device;
          if constexpr (std::is_same_v<C, DeclareView>) device = range_devices_[c.range];
          if constexpr (requires { c.buffer, c.bytes; }) buffer(c.buffer, c.bytes, device);
        },
        command);
    if (const auto* move = std::get_if<MoveBuffers>(&command)) {
      moves(*move);
    } else if (std::holds_alternative<DestroyPool>(command)) {
      add_("destroy a pool");
    }
  }
  void moves(const MoveBuffers& command) {
    std::size_t onto = 0;
    for (const BufferMove& move : command.moves) onto += move.onto ? 1 : 0;
    if (command.moves.size() == 1) add_("move one");
    if (command.moves.size() > 1 && onto == 0) add_("move several");
    if (onto == 2 && command.moves.size() == 2) add_("move swap");
    if (onto > 2 && onto == command.moves.size()) add_("move cycle");
    if (onto > 0 && onto < command.moves.size()) add_("move chain");
  }
  void graphs(const Command& command) {
    if (const auto* added = std::get_if<AddNode>(&command)) {
      filled_.insert(added->graph);
    } else if (const auto* instantiate = std::get_if<Instantiate>(&command)) {
      if (!filled_.contains(instantiate->graph)) add_("empty graph");
      if (circles_.contains(instantiate->graph)) add_("instantiate a circle");
    } else if (const auto* clone = std::get_if<CloneGraph>(&command)) {
      if (filled_.contains(clone->from)) filled_.insert(clone->graph);
      if (circles_.contains(clone->from)) circles_.insert(clone->graph);
    } else if (const auto* edges = std::get_if<ChangeEdges>(&command)) {
      if (edges->cycle) circles_.insert(edges->graph);
      if (!edges->add) circles_.erase(edges->graph);
    } else if (const auto* end = std::get_if<EndCapture>(&command)) {
      filled_.insert(end->graph);
    }
  }
  void escape(const Step& step, Id stream) {
    const bool beside = !state_.captures().empty() && state_.capture_of(stream) == nullptr;
    if (beside && state_.answer(step.command).status == 0) add_("work that escapes a capture");
  }
  // Features of a command that meets capturing streams.
  void capture(const Step& step) {
    const auto captures = [this](Id stream) { return state_.capture_of(stream) != nullptr; };
    if (const auto* work = std::get_if<Enqueue>(&step.command)) {
      add_(captures(work->stream) ? "captured work" : "eager work");
      escape(step, work->stream);
      if (is_event_node(work->params)) add_("captured event node");
    } else if (const auto* launch = std::get_if<Launch>(&step.command)) {
      if (captures(launch->stream)) add_("captured launch");
      escape(step, launch->stream);
    } else if (const auto* memory = std::get_if<MallocAsync>(&step.command)) {
      if (captures(memory->stream)) add_("captured allocation");
    } else if (const auto* freed = std::get_if<FreeAsync>(&step.command)) {
      if (captures(freed->stream)) add_("captured free");
    } else if (const auto* wait = std::get_if<WaitEvent>(&step.command)) {
      if (state_.event_captured(wait->event) && !captures(wait->stream)) add_("capture fork");
    }
    if (!captures_) return;
    const CaptureAnswer answer = state_.answer(step.command);
    if (answer.status != 0) add_("capture refused");
    if (!answer.invalidates.empty()) add_("capture invalidated");
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state_.apply(step.command);
  }

  static constexpr std::uint32_t kManyRounds = 50;

  const CountFeature& add_;
  bool captures_;
  std::uint32_t block_ = 0;  // of the step before
  State state_;              // the state before the step; stays empty in a program without captures
  std::vector<std::uint64_t> buffer_bytes_;
  std::vector<Id> buffer_devices_;
  std::map<Id, Id> range_devices_;  // by range
  std::set<Id> filled_, circles_;
};

}  // namespace

std::span<const std::string> feature_names() {
  static const std::vector<std::string> names = make_names();
  return names;
}

void count_features(const Program& program, std::span<std::uint64_t> counts) {
  static const std::unordered_map<std::string_view, std::size_t> index = [] {
    std::unordered_map<std::string_view, std::size_t> map;
    for (std::size_t i = 0; i < feature_names().size(); ++i) map.emplace(feature_names()[i], i);
    return map;
  }();
  assert(counts.size() == feature_names().size());
  const CountFeature add = [counts](std::string_view name) {
    const auto found = index.find(name);
    assert(found != index.end());
    ++counts[found->second];
  };
  add(program.setting.placement == Placement::kArena ? "placement arena" : "placement native");
  const bool captures = std::ranges::any_of(
      program.steps, [](const Step& step) { return std::holds_alternative<BeginCapture>(step.command); });
  Counter counter(add, captures);
  for (const Step& step : program.steps) counter.take(step);
}

}  // namespace verify
