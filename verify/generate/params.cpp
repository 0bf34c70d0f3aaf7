#include "verify/generate/params.h"

#include <algorithm>
#include <array>

namespace verify {

namespace {

bool reachable_by_kernels(MemoryKind kind) {
  return kind != MemoryKind::kPageable;
}
bool host_memory(MemoryKind kind) {
  return kind != MemoryKind::kDevice;
}
// Managed memory counts as device memory where a copy needs a kind.
bool host_side(MemoryKind kind) {
  return kind != MemoryKind::kDevice && kind != MemoryKind::kManaged;
}
bool any_memory(MemoryKind) {
  return true;
}

// Kernels are drawn evenly, except the one with a hundred arguments, which is slow and has a switch of its own.
const KernelSpec& draw_kernel(Choices& choices, bool big) {
  static const auto catalogue = drawn_kernels();
  while (true) {
    const KernelSpec& spec = catalogue[choices.below(catalogue.size())];
    if (big || spec.fields.size() <= 16 || choices.percent(2) || choices.exhausted()) return spec;
  }
}

void set_number(KernelParams& params, std::string_view field, std::uint64_t value) {
  const int index = params.kernel->field_index(field);
  params.arguments[static_cast<std::size_t>(index)] = {ArgumentValue::Kind::kNumber, value, {}};
}

}  // namespace

Swarm draw_swarm(Choices& choices) {
  Swarm swarm;
  static constexpr std::array<unsigned, 4> kPercents = {0, 25, 60, 90};
  swarm.collision_percent = kPercents[choices.below(4)];
  swarm.slice_percent = kPercents[choices.below(4)];
  swarm.extra_percent = kPercents[choices.below(4)];
  swarm.opaque_percent = choices.percent(6) ? 30 : 0;
  swarm.strided_copies = choices.percent(60);
  swarm.memsets = choices.percent(60);
  swarm.host_nodes = choices.percent(40);
  swarm.children = choices.percent(45);
  swarm.fans = choices.percent(10);
  swarm.big_kernels = choices.percent(6);
  static constexpr std::array<unsigned, 4> kElements = {4, 16, 16, 64};
  swarm.max_elements = kElements[choices.below(4)];
  swarm.shapes = choices.percent(12);
  swarm.editing = choices.percent(25);
  swarm.toggling = choices.percent(20);
  swarm.queries = choices.percent(15);
  swarm.objects = choices.percent(8);
  swarm.forms = choices.percent(20);
  swarm.eager = choices.percent(30);
  swarm.captures = choices.percent(30);
  swarm.forbidden = choices.percent(40);
  swarm.event_nodes = choices.percent(15);
  swarm.unified_memory = choices.percent(8);
  swarm.bad_calls = choices.percent(8);
  swarm.only_bad_calls = choices.percent(2);
  swarm.graph_memory = choices.percent(8);
  swarm.symbols = choices.percent(12);
  swarm.attributes = choices.percent(8);
  swarm.stream_memory = choices.percent(12);
  swarm.devices = choices.percent(6);
  swarm.anew = choices.percent(30);
  swarm.modules = choices.percent(10);
  swarm.by_symbol = choices.percent(25);
  swarm.cooperative = swarm.by_symbol && choices.percent(40);
  constexpr std::uint64_t kMostStreams = 9;
  // One draw for both: a program has many streams, or mapped memory, or neither.
  const std::uint64_t draw = choices.below(100);
  if (draw >= 88) swarm.most_streams = choices.between(swarm.most_streams + 1, kMostStreams);
  swarm.mapped_memory = draw < 88 && draw >= 79;
  // Only programs with other forms of nodes have batches, so that the other programs of a seed stay as they are.
  swarm.batches = swarm.forms && !swarm.devices && choices.percent(40);
  swarm.semaphores = swarm.batches && choices.percent(60);
  return swarm;
}

template <class Accept>
std::optional<Id> ParamsGenerator::pick_by(const Accept& accept) {
  const std::size_t start = choices_.below(usable_.size());
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    const Id id = usable_[(start + i) % usable_.size()];
    if (accept(*state_.buffer(id))) return id;
  }
  return {};
}

std::optional<Id> ParamsGenerator::pick(bool (*accept)(MemoryKind)) {
  return pick_by([accept](const BufferState& buffer) { return accept(buffer.memory); });
}

// Picks a buffer that a kernel of the device can reach: memory of the host, of the device itself, or of a peer.
std::optional<Id> ParamsGenerator::pick_for_kernel(Id device) {
  return pick_by([this, device](const BufferState& buffer) {
    if (!reachable_by_kernels(buffer.memory) || (buffer.graph && device != 0)) return false;
    const bool host = buffer.memory != MemoryKind::kDevice;
    return host || buffer.view || buffer.device == device || state_.peer_enabled(device, buffer.device);
  });
}

// A usable buffer of the same device as `buffer`, because setters keep the device; else `buffer`.
Id ParamsGenerator::like(Id buffer) {
  const Id device = state_.buffer(buffer)->device;
  return pick_by([device](const BufferState& other) { return other.device == device; }).value_or(buffer);
}

std::uint64_t ParamsGenerator::room(const BufferRef& ref) const {
  return state_.buffer(ref.buffer)->bytes - static_cast<std::uint64_t>(ref.offset);
}

// An aligned place in `buffer` with `reserve` bytes behind it where that is possible.
BufferRef ParamsGenerator::slice(Id buffer, std::uint32_t alignment, std::uint64_t reserve) {
  const std::uint64_t bytes = state_.buffer(buffer)->bytes;
  if (bytes <= reserve || !choices_.percent(swarm_.slice_percent)) return {buffer, 0};
  const std::uint64_t places = (bytes - reserve) / alignment + 1;
  return {buffer, static_cast<std::int64_t>(choices_.below(places) * alignment)};
}

// A scalar: an address of some buffer (one of the kernel's own or any other), a small number, or any bits.
ArgumentValue ParamsGenerator::scalar(const FieldSpec& field) {
  ArgumentValue value;
  if (choices_.percent(swarm_.collision_percent)) {
    value.kind = ArgumentValue::Kind::kAddressBits;
    const Id buffer = usable_[choices_.below(usable_.size())];
    if (state_.buffer(buffer)->view) return {};  // a program may not hold the address of a view as a number
    value.ref = slice(buffer, choices_.percent(50) ? 8 : 1, 0);
    return value;
  }
  const std::uint64_t mask = field.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * field.size)) - 1;
  value.number = choices_.percent(70) ? choices_.below(8) : choices_.below(mask);
  return value;
}

void ParamsGenerator::fill_scalars(KernelParams& params) {
  for (std::size_t i = 0; i < params.arguments.size(); ++i) {
    const FieldSpec& field = params.kernel->fields[i];
    if (field.kind == FieldKind::kScalar) params.arguments[i] = scalar(field);
  }
}

bool ParamsGenerator::fill_pointers(KernelParams& params) {
  for (std::size_t i = 0; i < params.arguments.size(); ++i) {
    const FieldSpec& field = params.kernel->fields[i];
    if (field.kind != FieldKind::kPointer) continue;
    const std::optional<Id> buffer = pick_for_kernel(params.device);
    if (!buffer) return false;
    params.arguments[i] = {ArgumentValue::Kind::kPointer, 0,
                           slice(*buffer, field.element, std::uint64_t{field.element} * 4)};
  }
  return true;
}

bool ParamsGenerator::fill_elements(KernelParams& params) {
  const KernelSpec& spec = *params.kernel;
  const FieldSpec& count = spec.fields[static_cast<std::size_t>(spec.count_field)];
  std::uint64_t most = count.size == 1 ? 255 : swarm_.max_elements;
  for (std::size_t i = 0; i < params.arguments.size(); ++i) {
    const FieldSpec& field = spec.fields[i];
    if (field.kind == FieldKind::kPointer) most = std::min(most, room(params.arguments[i].ref) / field.element);
  }
  if (most == 0) return false;
  // Mostly as many as fit: untouched memory cannot show a wrong byte.
  set_number(params, count.name, choices_.percent(75) ? most : choices_.between(choices_.percent(3) ? 0 : 1, most));
  return true;
}

bool ParamsGenerator::fill_range(KernelParams& params) {
  const auto begin_index = static_cast<std::size_t>(params.kernel->field_index("begin"));
  const auto end_index = static_cast<std::size_t>(params.kernel->field_index("end"));
  const BufferRef begin = params.arguments[begin_index].ref;
  const std::uint64_t elements = room(begin) / 4;
  const std::uint64_t most = std::min<std::uint64_t>(elements, 64);
  // Half of the ranges end one past the last byte of their buffer, where that is at most 64 elements away.
  std::uint64_t take = choices_.between(0, most);
  if (choices_.percent(50) && elements <= 64) take = elements;
  params.arguments[end_index] = {
      ArgumentValue::Kind::kPointer, 0, {begin.buffer, begin.offset + static_cast<std::int64_t>(take * 4)}};
  return true;
}

bool ParamsGenerator::fill_matrix(KernelParams& params) {
  const std::uint64_t m = choices_.between(1, 4), n = choices_.between(1, 4), k = choices_.between(1, 4);
  const bool a_transposed = choices_.percent(50), b_transposed = choices_.percent(50);
  set_number(params, "m", m);
  set_number(params, "n", n);
  set_number(params, "k", k);
  set_number(params, "sa0", a_transposed ? 1 : k);
  set_number(params, "sa1", a_transposed ? m : 1);
  set_number(params, "sb0", b_transposed ? 1 : n);
  set_number(params, "sb1", b_transposed ? k : 1);
  return true;
}

std::optional<NodeParams> ParamsGenerator::kernel(const KernelSpec& spec) {
  const bool elsewhere = !stream_device_ && swarm_.devices && choices_.percent(35);
  return kernel(spec, stream_device_.value_or(elsewhere ? 1 : 0));
}

std::optional<NodeParams> ParamsGenerator::kernel(const KernelSpec& spec, Id device) {
  KernelParams params;
  params.kernel = &spec;
  params.device = device;
  params.arguments.resize(spec.fields.size());
  fill_scalars(params);
  bool fits = fill_pointers(params);
  if (!fits) return {};
  if (spec.extent == Extent::kElements) fits = fill_elements(params);
  if (spec.extent == Extent::kRange) fits = fill_range(params);
  if (spec.extent == Extent::kMatrix) fits = fill_matrix(params);
  if (!fits) return {};
  if (choices_.percent(20)) params.block = 1U << choices_.below(9);
  if (choices_.percent(20)) params.grid = static_cast<std::uint32_t>(choices_.between(1, 4));
  const bool packed = choices_.percent(swarm_.extra_percent) && !spec.fields.empty();
  params.style = packed ? ArgumentStyle::kExtra : ArgumentStyle::kParams;
  params.opaque = choices_.percent(swarm_.opaque_percent);
  if (swarm_.forms && choices_.percent(20)) params.shared_bytes = static_cast<std::uint32_t>(choices_.below(1025));
  const std::vector<Id> modules = state_.live_modules();
  if (device == 0 && !modules.empty() && choices_.percent(40)) params.module = modules[choices_.below(modules.size())];
  params.by_symbol = swarm_.by_symbol && !params.module && choices_.percent(60);
  return params;
}

std::optional<NodeParams> ParamsGenerator::copy() {
  const std::optional<Id> dst = pick(any_memory), src = pick(any_memory);
  CopyParams params;
  params.dst.ref = slice(*dst, 1, 8);
  params.src.ref = slice(*src, 1, 8);
  const bool dst_host = host_side(state_.buffer(*dst)->memory), src_host = host_side(state_.buffer(*src)->memory);
  if (!choices_.percent(20)) {
    params.kind = dst_host ? (src_host ? CopyKind::kHostToHost : CopyKind::kDeviceToHost)
                           : (src_host ? CopyKind::kHostToDevice : CopyKind::kDeviceToDevice);
  }
  if (swarm_.strided_copies && choices_.percent(50)) {
    const std::optional<CopyParams> shaped = strided(params);
    if (shaped) return *shaped;
  }
  const std::uint64_t most = std::min(room(params.dst.ref), room(params.src.ref));
  if (most == 0) return {};
  params.width = choices_.between(1, most);
  if (swarm_.symbols) name_symbol(params);
  return params;
}

std::optional<NodeParams> ParamsGenerator::peer_copy(PeerCopy form) {
  std::vector<Id> ends = usable_;
  std::erase_if(ends, [this](Id id) {
    const BufferState& buffer = *state_.buffer(id);
    return buffer.memory != MemoryKind::kDevice || buffer.graph || buffer.is_variable();
  });
  if (ends.empty()) return {};
  const Id dst = ends[choices_.below(ends.size())];
  std::vector<Id> others = ends;
  std::erase_if(others, [&](Id id) { return state_.buffer(id)->device == state_.buffer(dst)->device; });
  const std::vector<Id>& sources = others.empty() ? ends : others;
  CopyParams params;
  params.dst.ref = slice(dst, 1, 8);
  params.src.ref = slice(sources[choices_.below(sources.size())], 1, 8);
  const std::uint64_t most = std::min(room(params.dst.ref), room(params.src.ref));
  if (most == 0) return {};
  params.width = choices_.between(1, most);
  params.kind = CopyKind::kDeviceToDevice;
  params.peer = form;
  return params;
}

// Whether the buffer is a variable that a symbol names.
static bool has_symbol(const BufferState& buffer) {
  return buffer.symbol && !buffer.module;
}

// Mostly names an end that is a variable by its symbol: the destination, where both ends are variables.
void ParamsGenerator::name_symbol(CopyParams& copy) {
  const auto named = [&](const CopyEnd& end) { return has_symbol(*state_.buffer(end.ref.buffer)); };
  const bool to = named(copy.dst);
  if ((!to && !named(copy.src)) || choices_.percent(15)) return;
  copy.symbol = to ? CopySymbol::kDestination : CopySymbol::kSource;
}

std::optional<CopyParams> ParamsGenerator::strided(CopyParams copy) {
  copy.linear = false;
  copy.width = choices_.between(1, 16);
  copy.height = choices_.between(1, 4);
  copy.depth = choices_.percent(50) ? 1 : choices_.between(1, 3);
  for (CopyEnd* end : {&copy.dst, &copy.src}) {
    if (choices_.percent(25)) end->position = {choices_.below(4), choices_.below(2), choices_.below(2)};
    end->pitch = copy.width + end->position.x + choices_.below(8);
    end->rows = copy.height + end->position.y + choices_.below(2);
  }
  return copy;
}

std::optional<NodeParams> ParamsGenerator::memset() {
  const std::optional<Id> buffer = stream_device_ ? pick_for_kernel(*stream_device_) : pick(reachable_by_kernels);
  if (!buffer) return {};
  MemsetParams params;
  params.element = 1U << choices_.below(3);
  params.dst = slice(*buffer, params.element, params.element);
  params.value = static_cast<std::uint32_t>(choices_.below(1ULL << (8 * params.element)));
  const std::uint64_t most = room(params.dst) / params.element;
  if (most == 0) return {};
  if (choices_.percent(35)) {
    params.height = choices_.between(2, 4);
    params.width = choices_.between(1, 8);
    params.pitch = (params.width + choices_.below(4)) * params.element;
  } else {
    params.width = choices_.between(1, std::min<std::uint64_t>(most, 256));
  }
  return params;
}

std::optional<NodeParams> ParamsGenerator::host() {
  HostParams params;
  params.tag = static_cast<std::uint32_t>(choices_.below(100));
  const std::optional<Id> buffer = pick(host_memory);
  if (buffer && choices_.percent(70)) {
    params.memory = slice(*buffer, 1, 4);
    params.bytes = static_cast<std::uint32_t>(choices_.between(1, std::min<std::uint64_t>(room(*params.memory), 64)));
    if (room(*params.memory) == 0) return {};
  }
  return params;
}

// Small numbers, and numbers that need all bytes of the word.
std::uint64_t ParamsGenerator::value_of(std::uint32_t bytes) {
  const std::uint64_t small = choices_.below(100);
  if (choices_.percent(50)) return small;
  return bytes == 8 ? ~std::uint64_t{0} / (small + 1) : 0xffffffffU - small;
}

// The words of a batch follow one another, so that no two overlap.
std::optional<NodeParams> ParamsGenerator::batch() {
  if (usable_.empty()) return {};
  const std::optional<Id> buffer = pick_by([](const BufferState& b) {
    return b.memory == MemoryKind::kDevice && b.device == 0 && !b.view && !b.is_variable();
  });
  if (!buffer) return {};
  BatchParams params;
  BufferRef at = slice(*buffer, 8, 8);
  const std::uint64_t writes = choices_.between(1, 3);
  while (params.operations.size() < writes && room(at) >= 8) {
    MemoryOperation write{false, choices_.percent(50) ? 4U : 8U, at, 0, WaitComparison::kAtLeast};
    write.value = value_of(write.bytes);
    params.operations.push_back(write);
    at.offset += 8;
  }
  if (params.operations.empty()) return {};
  if (choices_.percent(40)) {
    MemoryOperation wait = params.operations[choices_.below(params.operations.size())];
    wait.waits = true;
    wait.comparison = static_cast<WaitComparison>(choices_.below(4));
    params.operations.push_back(wait);
  }
  return params;
}

std::uint64_t ParamsGenerator::semaphore_value(bool signals) {
  const std::uint64_t some = choices_.below(kSemaphoreStart + 1);
  return signals ? kSemaphoreStart + some : some;
}

NodeParams ParamsGenerator::semaphores() {
  const bool signals = choices_.percent(50);
  const Id first = choices_.below(kMaxSemaphores);
  SemaphoreParams params;
  for (Id more = choices_.between(1, 3); more > 0; --more) {
    params.list.push_back({(first + more) % kMaxSemaphores, semaphore_value(signals)});
  }
  if (signals) return SemaphoreSignalParams{std::move(params)};
  return SemaphoreWaitParams{std::move(params)};
}

std::optional<NodeParams> ParamsGenerator::event() {
  const std::vector<Id> events = state_.live_events();
  if (events.empty()) return {};
  const Id event = events[choices_.below(events.size())];
  if (choices_.percent(50)) return EventRecordParams{event};
  return EventWaitParams{event};
}

std::optional<NodeParams> ParamsGenerator::any() {
  if (swarm_.event_nodes && choices_.percent(20)) return event();
  if (usable_.empty()) return EmptyParams{};
  const std::uint64_t draw = choices_.below(100);
  if (draw < 55) return kernel(draw_kernel(choices_, swarm_.big_kernels));
  if (draw < 78) return copy();
  if (draw < 90 && swarm_.memsets) return memset();
  if (draw < 95 && swarm_.host_nodes) return host();
  if (draw < 97) return EmptyParams{};
  return kernel(draw_kernel(choices_, swarm_.big_kernels));
}

// A usable buffer that is a variable, or `otherwise`.
Id ParamsGenerator::other_variable(Id otherwise) {
  return pick_by(has_symbol).value_or(otherwise);
}

std::optional<NodeParams> ParamsGenerator::vary(const NodeParams& params) {
  if (usable_.empty()) return {};
  if (const auto* old = std::get_if<KernelParams>(&params)) {
    std::optional<NodeParams> fresh = kernel(*old->kernel, old->device);
    if (fresh) std::get<KernelParams>(*fresh).opaque = old->opaque;
    return fresh;
  }
  if (const auto* old = std::get_if<CopyParams>(&params)) {
    CopyParams changed = *old;
    // The copy may get another symbol, and another buffer on the other side.
    const bool from = old->symbol == CopySymbol::kSource;
    Id &named = (from ? changed.src : changed.dst).ref.buffer, &other = (from ? changed.dst : changed.src).ref.buffer;
    if (choices_.percent(50)) other = like(other);
    if (old->symbol != CopySymbol::kNone && choices_.percent(30)) named = other_variable(named);
    changed.dst.ref = slice(changed.dst.ref.buffer, 1, old->width);
    changed.src.ref = slice(changed.src.ref.buffer, 1, old->width);
    if (changed.linear) changed.width = choices_.between(1, old->width);
    return changed;
  }
  if (const auto* old = std::get_if<MemsetParams>(&params)) {
    MemsetParams changed = *old;
    changed.value = static_cast<std::uint32_t>(choices_.below(1ULL << (8 * old->element)));
    if (choices_.percent(50)) changed.dst = slice(old->dst.buffer, old->element, old->width * old->element);
    return changed;
  }
  if (const auto* old = std::get_if<BatchParams>(&params)) {
    BatchParams changed = *old;
    for (MemoryOperation& operation : changed.operations) {
      if (operation.waits) {  // for the same value as the write that it belongs to
        for (std::size_t i = 0; i < old->operations.size(); ++i) {
          const MemoryOperation& write = old->operations[i];
          if (!write.waits && write.ref == operation.ref) operation.value = changed.operations[i].value;
        }
      } else {
        operation.value = value_of(operation.bytes);
      }
    }
    if (choices_.percent(50)) {
      const Id to = like(old->operations.front().ref.buffer);
      for (MemoryOperation& operation : changed.operations) operation.ref.buffer = to;
    }
    return changed;
  }
  if (std::holds_alternative<HostParams>(params)) return host();
  if (semaphores_in(params) != nullptr) {
    NodeParams changed = params;
    const bool signals = std::holds_alternative<SemaphoreSignalParams>(params);
    SemaphoreParams& list = signals ? static_cast<SemaphoreParams&>(std::get<SemaphoreSignalParams>(changed))
                                    : std::get<SemaphoreWaitParams>(changed);
    const Id shift = choices_.percent(50) ? choices_.below(kMaxSemaphores) : 0;
    for (SemaphoreValue& each : list.list) {
      each = {(each.semaphore + shift) % kMaxSemaphores, semaphore_value(signals)};
    }
    return changed;
  }
  if (is_event_node(params)) {
    const std::vector<Id> events = state_.live_events();
    if (events.empty()) return {};
    const Id other = events[choices_.below(events.size())];
    if (std::holds_alternative<EventWaitParams>(params)) return EventWaitParams{other};
    return EventRecordParams{other};
  }
  return {};
}

}  // namespace verify
