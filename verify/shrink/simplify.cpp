// Simpler variants of single commands: one function a kind of parameter.
#include <algorithm>

#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/shrink/shrinker.h"

namespace verify {

namespace {

// Values to try instead of `value`, smallest first.
std::vector<std::uint64_t> smaller(std::uint64_t value, std::uint64_t least) {
  std::vector<std::uint64_t> values;
  for (const std::uint64_t candidate : {least, least + 1, least + (value - least) / 2, value - 1}) {
    if (value > least && candidate < value && (values.empty() || values.back() < candidate))
      values.push_back(candidate);
  }
  return values;
}

template <class T, class Emit>
void smaller_field(const T& original, std::uint64_t T::* field, std::uint64_t least, const Emit& emit) {
  for (const std::uint64_t value : smaller(original.*field, least)) {
    T changed = original;
    changed.*field = value;
    emit(changed);
  }
}

template <class Emit>
void simplify_ref(const BufferRef& ref, const Emit& emit) {
  if (ref.offset != 0) emit(BufferRef{ref.buffer, 0});
  if (ref.offset > 256) emit(BufferRef{ref.buffer, 256});
}

template <class Emit>
void simplify_argument(const KernelParams& p, std::size_t i, const Emit& emit) {
  const ArgumentValue& value = p.arguments[i];
  const auto with = [&](const ArgumentValue& other) {
    KernelParams changed = p;
    changed.arguments[i] = other;
    emit(changed);
  };
  if (value.kind == ArgumentValue::Kind::kNumber) {
    for (const std::uint64_t number : smaller(value.number, 0)) with({value.kind, number, {}});
    return;
  }
  if (value.kind == ArgumentValue::Kind::kAddressBits) with({ArgumentValue::Kind::kNumber, 0, {}});
  simplify_ref(value.ref, [&](const BufferRef& ref) { with({value.kind, 0, ref}); });
}

// The plainest kernel that writes one buffer: most defects show on it too.
template <class Emit>
void replace_kernel(const KernelParams& p, const Emit& emit) {
  static constexpr std::string_view kPlain = "inplace_u32";
  if (p.kernel->name == kPlain) return;
  for (std::size_t i = 0; i < p.arguments.size(); ++i) {
    const Touch touch = p.kernel->fields[i].touch;
    if (touch != Touch::kWrite && touch != Touch::kReadWrite) continue;
    KernelParams plain;
    plain.kernel = find_kernel(kPlain);
    plain.arguments = {p.arguments[i], {ArgumentValue::Kind::kNumber, 1, {}}, {ArgumentValue::Kind::kNumber, 0, {}}};
    plain.style = p.style;
    emit(plain);
    return;
  }
}

template <class Emit>
struct ParamsSimplifier {
  const Emit& emit;

  void operator()(const KernelParams& p) const {
    replace_kernel(p, emit);
    KernelParams changed = p;
    if (p.opaque) {
      changed.opaque = false;
      emit(changed);
      changed = p;
    }
    if (p.style == ArgumentStyle::kExtra) {
      changed.style = ArgumentStyle::kParams;
      emit(changed);
      changed = p;
    }
    if (p.device != 0) {
      changed.device = 0;
      emit(changed);
      changed = p;
    }
    if (p.shared_bytes != 0) {
      changed.shared_bytes = 0;
      emit(changed);
      changed = p;
    }
    const bool own = p.kernel->object == nullptr;  // a foreign kernel's shape means what its author knows
    if (own && p.grid != 1) {
      changed.grid = 1;
      emit(changed);
      changed = p;
    }
    if (own && p.block != 64) {
      changed.block = 64;
      emit(changed);
      changed = p;
    }
    for (std::size_t i = 0; i < p.arguments.size(); ++i) simplify_argument(p, i, emit);
  }
  void operator()(const CopyParams& p) const {
    if (!p.linear) {
      CopyParams linear;
      linear.dst.ref = p.dst.ref;
      linear.src.ref = p.src.ref;
      linear.kind = p.kind;
      linear.width = p.width;
      emit(linear);
    }
    CopyParams changed = p;
    changed.symbol = CopySymbol::kNone;
    changed.peer = PeerCopy::kNone;
    if (!(changed == p)) emit(changed);
    changed = p;
    changed.dst.position = changed.src.position = {};
    if (!(changed == p)) emit(changed);
    smaller_field(p, &CopyParams::width, 1, emit);
    smaller_field(p, &CopyParams::height, 1, emit);
    smaller_field(p, &CopyParams::depth, 1, emit);
    for (CopyEnd CopyParams::* end : {&CopyParams::dst, &CopyParams::src}) {
      simplify_ref((p.*end).ref, [&](const BufferRef& ref) {
        CopyParams moved = p;
        (moved.*end).ref = ref;
        emit(moved);
      });
    }
  }
  void operator()(const MemsetParams& p) const {
    if (p.height != 1) {
      MemsetParams flat = p;
      flat.height = 1;
      flat.pitch = 0;
      emit(flat);
    }
    smaller_field(p, &MemsetParams::width, 1, emit);
    smaller_field(p, &MemsetParams::height, 1, emit);
    simplify_ref(p.dst, [&](const BufferRef& ref) {
      MemsetParams moved = p;
      moved.dst = ref;
      emit(moved);
    });
    MemsetParams changed = p;
    if (p.value != 0) {
      changed.value = 0;
      emit(changed);
      changed = p;
    }
    if (p.element != 1) {
      changed.element = 1;
      emit(changed);
    }
  }
  void operator()(const HostParams& p) const {
    if (p.memory) emit(HostParams{p.tag, {}, 0});
    if (p.tag != 0) emit(HostParams{0, p.memory, p.bytes});
  }
  void operator()(const EmptyParams&) const {}
  void operator()(const EventRecordParams&) const {}
  void operator()(const EventWaitParams&) const {}
  void operator()(const MemoryAllocParams&) const {}
  void operator()(const MemoryFreeParams&) const {}
  void operator()(const ChildParams& p) const {
    for (const std::uint64_t nest : smaller(p.nest, 1)) emit(ChildParams{p.graph, static_cast<std::uint32_t>(nest)});
  }
};

template <class Emit>
void simplify_params(const NodeParams& params, const Emit& emit) {
  const auto wrap = [&](const auto& simpler) { emit(NodeParams(simpler)); };
  std::visit(ParamsSimplifier<decltype(wrap)>{wrap}, params);
}

// One overload a command that has anything to simplify.
struct StepSimplifier {
  std::vector<Step>& out;
  const Step& step;

  void put(Command command) const { out.push_back({std::move(command), step.repeat, step.line}); }

  void operator()(const AddNode& c) const {
    AddNode changed = c;
    if (!std::holds_alternative<EmptyParams>(c.params)) {
      changed.params = EmptyParams{};
      put(changed);
      changed = c;
    }
    if (c.form != NodeForm::kTyped) {
      changed.form = NodeForm::kTyped;
      put(changed);
      changed = c;
    }
    if (!c.after.empty()) {
      changed.after.clear();
      put(changed);
      changed = c;
    }
    for (std::size_t i = 0; c.after.size() > 1 && i < c.after.size(); ++i) {
      changed.after.erase(changed.after.begin() + static_cast<std::ptrdiff_t>(i));
      put(changed);
      changed = c;
    }
    for (const std::uint64_t fan : smaller(c.fan, 1)) {
      changed.fan = static_cast<std::uint32_t>(fan);
      put(changed);
      changed = c;
    }
    simplify_params(c.params, [&](const NodeParams& params) {
      changed.params = params;
      put(changed);
    });
  }
  void operator()(const SetNode& c) const {
    if (c.form != NodeForm::kTyped) {
      SetNode plain = c;
      plain.form = NodeForm::kTyped;
      put(plain);
    }
    simplify_params(c.params, [&](const NodeParams& params) {
      SetNode changed = c;
      changed.params = params;
      put(changed);
    });
  }
  void operator()(const MoveBuffers& c) const {
    for (std::size_t i = 0; c.moves.size() > 1 && i < c.moves.size(); ++i) {
      MoveBuffers changed = c;
      changed.moves.erase(changed.moves.begin() + static_cast<std::ptrdiff_t>(i));
      for (BufferMove& move : changed.moves) {
        if (move.onto == c.moves[i].buffer) move.onto = c.moves[i].onto;
        if (move.onto == move.buffer) move.onto.reset();
      }
      put(changed);
    }
    for (std::size_t i = 0; i < c.moves.size(); ++i) {
      if (!c.moves[i].onto) continue;
      MoveBuffers changed = c;
      changed.moves[i].onto.reset();
      put(changed);
    }
  }
  void operator()(const DeclareBuffer& c) const {
    if (c.memory != MemoryKind::kDevice || c.symbol || c.device != 0)
      put(DeclareBuffer{c.buffer, c.bytes, MemoryKind::kDevice});
    for (const std::uint64_t bytes : {std::uint64_t{64}, std::uint64_t{256}}) {
      if (c.bytes > bytes) put(DeclareBuffer{c.buffer, bytes, c.memory, c.symbol, c.device});
    }
  }
  void operator()(const DeclareStream& c) const {
    if (c.non_blocking || c.priority != 0 || c.per_thread) put(DeclareStream{c.stream, false, 0, false, c.device});
    if (c.non_blocking && c.priority != 0) put(DeclareStream{c.stream, true, 0, false, c.device});
    if (c.device != 0) put(DeclareStream{c.stream, c.non_blocking, c.priority});
  }
  void operator()(const DeclareEvent& c) const {
    DeclareEvent plain{c.event};
    plain.device = c.device;
    if (!(c == plain)) put(plain);
    if (c.device != 0) put(DeclareEvent{c.event, c.timing, c.blocking, c.release});
  }
  void operator()(const Enqueue& c) const {
    Enqueue changed = c;
    changed.thread = 0;
    if (c.thread != 0) put(changed);
    simplify_params(c.params, [&](const NodeParams& params) {
      Enqueue simpler = c;
      simpler.params = params;
      put(simpler);
    });
  }
  void operator()(const BeginCapture& c) const {
    BeginCapture changed = c;
    changed.mode = CaptureMode::kGlobal;
    if (c.mode != changed.mode) put(changed);
    changed = c;
    changed.thread = 0;
    if (c.thread != 0) put(changed);
    changed = c;
    changed.after.clear();
    if (!c.after.empty()) put(changed);
    for (std::size_t i = 0; c.after.size() > 1 && i < c.after.size(); ++i) {
      changed = c;
      changed.after.erase(changed.after.begin() + static_cast<std::ptrdiff_t>(i));
      put(changed);
    }
  }
  void operator()(const EndCapture& c) const {
    put(DeclareGraph{c.graph});  // where no more than a graph is needed
    if (c.thread != 0) put(EndCapture{c.stream, c.graph, 0});
  }
  void operator()(const CaptureAfter& c) const {
    for (std::size_t i = 0; i < c.nodes.size(); ++i) {
      CaptureAfter changed = c;
      changed.nodes.erase(changed.nodes.begin() + static_cast<std::ptrdiff_t>(i));
      put(changed);
    }
  }
  void operator()(const Synchronize& c) const {
    if (c.thread != 0) put(Synchronize{c.target, c.id, 0});
  }
  void operator()(const UnsafeCall& c) const {
    if (c.thread != 0) put(UnsafeCall{});
  }
  void operator()(const Launch& c) const {
    if (c.stream != kNullStream) put(Launch{c.exec, kNullStream});
  }
  void operator()(const Fail& c) const {
    for (const std::uint64_t nth : smaller(c.nth, 1)) put(Fail{static_cast<std::uint32_t>(nth), c.function});
  }
  // A field plainer: nearer to 0, or to the least that it may be.
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
           smaller(static_cast<std::uint64_t>(c.fields[i]), static_cast<std::uint64_t>(least))) {
        SystemAction changed = c;
        changed.fields[i] = static_cast<std::int32_t>(value);
        put(changed);
      }
    }
  }
  void operator()(const Write& c) const {
    if (c.seed != 0 || !c.data.empty()) put(Write{c.buffer, 0});
  }
  void operator()(const Instantiate& c) const {
    if (c.form != InstantiateForm::kPlain) put(Instantiate{c.exec, c.graph, InstantiateForm::kPlain, 0});
    for (const auto& [flag, word] : instantiate_flags()) {
      if ((c.flags & flag) != 0) put(Instantiate{c.exec, c.graph, c.form, c.flags & ~flag});
    }
  }
  void operator()(const SetAttributes& c) const {
    if (!c.attributes.priority || !c.attributes.cooperative) return;
    put(SetAttributes{c.graph, c.node, {c.attributes.priority, {}}});
    put(SetAttributes{c.graph, c.node, {{}, c.attributes.cooperative}});
  }
  void operator()(const MallocAsync& c) const {
    if (c.pool) put(MallocAsync{c.buffer, c.bytes, c.stream, {}});
    if (c.bytes > 64) put(MallocAsync{c.buffer, 64, c.stream, c.pool});
    if (c.stream != kNullStream) put(MallocAsync{c.buffer, c.bytes, kNullStream, c.pool});
  }
  void operator()(const FreeAsync& c) const {
    if (c.stream != kNullStream) put(FreeAsync{c.buffer, kNullStream});
  }
  void operator()(const AskPool& c) const {
    if (c.value && *c.value != 0) put(AskPool{c.pool, c.attribute, 0});
  }
  void operator()(const TrimPool& c) const {
    if (c.bytes != 0) put(TrimPool{c.pool, 0});
  }
  // Commands that need the clone's nodes are dropped with it.
  void operator()(const CloneGraph& c) const { put(DeclareGraph{c.graph}); }
  void operator()(const RetainUserObject& c) const {
    if (c.move) put(RetainUserObject{c.object, c.graph, false});
  }
  void operator()(const ChangeEdges& c) const {
    for (std::size_t i = 0; c.after.size() > 1 && i < c.after.size(); ++i) {
      ChangeEdges changed = c;
      changed.after.erase(changed.after.begin() + static_cast<std::ptrdiff_t>(i));
      put(changed);
    }
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::vector<Step> simpler_steps(const Step& step) {
  std::vector<Step> out;
  for (const std::uint64_t repeat : smaller(step.repeat, 1)) {
    out.push_back({step.command, static_cast<std::uint32_t>(repeat), step.line});
  }
  std::visit(StepSimplifier{out, step}, step.command);
  return out;
}

}  // namespace verify
