// Simpler variants of single commands, by the fields that they declare: one overload for each type of field.
#include <algorithm>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/each_command.h"
#include "verify/program/state.h"
#include "verify/shrink/shrinker.h"

namespace verify {

namespace {

// Calls put(changed) for each variant of `c` that differs in one field and is simpler there.
template <class C, class Put>
struct FieldSimplifier {
  const C& c;
  const Put& put;

  template <class At, class Value>
  void with(At at, const Value& value) const {
    C changed = c;
    auto& place = value_at(at, changed);
    place = static_cast<std::remove_reference_t<decltype(place)>>(value);
    if (!(changed == c)) put(changed);
  }
  template <class At>
  void without_elements(At at) const {
    for (std::size_t i = 0; i < value_at(at, c).size(); ++i) {
      auto fewer = value_at(at, c);
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      with(at, fewer);
    }
  }

  // A name has no simpler form, except a stream's: the null stream is there without a declaration.
  void operator()(const FieldOf<NameField> auto& f) const {
    if (f.null_stream_is_simpler) with(f.at, kNullStream);
  }
  void operator()(const FieldOf<OptionalNameField, NameOrWordField, TargetField, NodeNameField, NodeOfTargetField,
                                FunctionField, ErrorCaseField, ChoiceField> auto&) const {}

  void operator()(const FieldOf<NodesField> auto& f) const { without_elements(f.at); }
  void operator()(const FieldOf<NumberField> auto& f) const {
    const std::uint64_t value = value_at(f.at, c);
    if (f.simpler == Simpler::kLess) {
      for (const std::uint64_t smaller : smaller_values(value, f.least)) with(f.at, smaller);
    }
    if (f.simpler != Simpler::kSmallSize) return;
    for (const std::uint64_t bytes : {std::uint64_t{64}, std::uint64_t{256}}) {
      if (value > bytes) with(f.at, bytes);
    }
  }
  // Buffers that move together may be tied by the places that they take over.
  void operator()(const FieldOf<MovesField> auto& f) const {
    const std::vector<BufferMove>& moves = value_at(f.at, c);
    for (std::size_t i = 0; moves.size() > 1 && i < moves.size(); ++i) {
      std::vector<BufferMove> fewer = moves;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      for (BufferMove& move : fewer) {
        if (move.onto == moves[i].buffer) move.onto = moves[i].onto;
        if (move.onto == move.buffer) move.onto.reset();
      }
      with(f.at, fewer);
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
      std::vector<BufferMove> elsewhere = moves;
      elsewhere[i].onto.reset();
      with(f.at, elsewhere);
    }
  }
  void operator()(const FieldOf<PoolAttributeField> auto& f) const {
    if (value_at(f.value, c)) with(f.value, std::uint64_t{0});
  }
  void operator()(const FieldOf<NameKey> auto& f) const { with(f.at, std::optional<Id>{}); }
  void operator()(const FieldOf<NumberKey> auto& f) const {
    for (const std::uint64_t smaller : smaller_values(value_at(f.at, c), f.fallback)) with(f.at, smaller);
  }
  void operator()(const FieldOf<OptionalNumberKey> auto& f) const { with(f.at, std::optional<std::uint32_t>{}); }
  void operator()(const FieldOf<VariableKey> auto& f) const { with(f.at, std::optional<ForeignVariable>{}); }
  void operator()(const FieldOf<PriorityKey> auto& f) const { with(f.at, 0); }
  void operator()(const FieldOf<FlagKey> auto& f) const { with(f.at, false); }
  void operator()(const FieldOf<ChoiceKey> auto& f) const { with(f.at, 0); }
  void operator()(const FieldOf<FlagsKey> auto& f) const {
    for (const auto& [flag, word] : f.words) with(f.at, value_at(f.at, c) & ~flag);
  }
  void operator()(const FieldOf<NodesKey> auto& f) const {
    if (!f.required) with(f.at, std::vector<Id>{});
    if (value_at(f.at, c).size() > 1) without_elements(f.at);
  }
  void operator()(const FieldOf<IntoGraphKey> auto& f) const {
    with(f.after, std::vector<Id>{});
    if (value_at(f.after, c).size() > 1) without_elements(f.after);
  }
  void operator()(const FieldOf<ContentsKey> auto& f) const {
    C plain = c;
    value_at(f.seed, plain) = 0;
    value_at(f.offset, plain) = 0;
    value_at(f.data, plain).clear();
    if (!(plain == c)) put(plain);
  }
  void operator()(const FieldOf<NodeAttributesKey> auto& f) const {
    const NodeAttributes& all = value_at(f.at, c);
    for (const NodeAttributes& some :
         {NodeAttributes{{}, all.cooperative, all.window}, NodeAttributes{all.priority, {}, all.window},
          NodeAttributes{all.priority, all.cooperative, {}}}) {
      if (!(some == all) && !(some == NodeAttributes{})) with(f.at, some);
    }
  }
  void operator()(const FieldOf<ParamsField> auto& f) const {
    if (f.may_be_empty) with(f.at, NodeParams(EmptyParams{}));
    simplify_node_params(value_at(f.at, c), [&](const NodeParams& params) { with(f.at, params); });
  }
};

struct StepSimplifier {
  std::vector<Step>& out;
  const Step& step;

  void put(Command command) const { out.push_back({std::move(command), step.repeat, step.line, step.in}); }

  template <class C>
  void operator()(const C& c) const {
    constexpr auto spec = C::spec();
    if constexpr (!std::is_same_v<decltype(spec.replacement), NotReplaced>) put(spec.replacement(c));
    const auto emit = [this](const C& changed) { put(changed); };
    for_each_field<C>(FieldSimplifier<C, decltype(emit)>{c, emit});
  }
  // Simplifies a field: nearer to 0, or to its least value.
  void operator()(const SystemAction& c) const {
    const std::span<const FieldOfAction> fields = describe(c.verb).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].function) continue;
      const std::int32_t least = std::max(fields[i].lowest, 0);
      if (c.fields[i] < least) {
        SystemAction changed = c;
        changed.fields[i] = least;
        put(changed);
        continue;
      }
      for (const std::uint64_t value :
           smaller_values(static_cast<std::uint64_t>(c.fields[i]), static_cast<std::uint64_t>(least))) {
        SystemAction changed = c;
        changed.fields[i] = static_cast<std::int32_t>(value);
        put(changed);
      }
    }
  }
};

}  // namespace

std::vector<Step> simpler_steps(const Step& step) {
  std::vector<Step> out;
  for (const std::uint64_t repeat : smaller_values(step.repeat, 1)) {
    out.push_back({step.command, static_cast<std::uint32_t>(repeat), step.line, step.in});
  }
  std::visit(StepSimplifier{out, step}, step.command);
  return out;
}

}  // namespace verify
