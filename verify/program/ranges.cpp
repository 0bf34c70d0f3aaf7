// The arithmetic of ranges; the contract is in the header.
#include "verify/program/ranges.h"

#include <algorithm>

namespace verify {

namespace {

// Arithmetic that stops at kFar, so that no product of a program's numbers wraps round to a value that fits a buffer.
// kFar is far outside of every buffer, and small enough to be an offset.
constexpr std::uint64_t kFar = std::uint64_t{1} << 60;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kFar ? kFar : product;
}
std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a > kFar - std::min(b, kFar) ? kFar : a + b;
}

std::uint64_t number_of(const KernelParams& params, std::string_view field) {
  const int index = params.kernel->field_index(field);
  return index < 0 ? 0 : params.arguments[static_cast<std::size_t>(index)].number;
}

const BufferRef& pointer_of(const KernelParams& params, std::string_view field) {
  return params.arguments[static_cast<std::size_t>(params.kernel->field_index(field))].ref;
}

// Elements spanned by rows x columns with two strides.
std::uint64_t strided_span(std::uint64_t rows, std::uint64_t columns, std::uint64_t row_stride,
                           std::uint64_t column_stride) {
  if (rows == 0 || columns == 0) return 0;
  return plus(plus(times(rows - 1, row_stride), times(columns - 1, column_stride)), 1);
}

// Bytes that a kernel touches behind the pointer field `index`.
std::uint64_t pointer_extent(const KernelParams& params, std::size_t index) {
  const KernelSpec& spec = *params.kernel;
  const FieldSpec& field = spec.fields[index];
  switch (spec.extent) {
    case Extent::kElements:
      return params.arguments[static_cast<std::size_t>(spec.count_field)].number * field.element;
    case Extent::kRange: {
      if (field.touch == Touch::kWrite) return field.element;
      if (field.touch != Touch::kRead) return 0;
      const std::int64_t length = pointer_of(params, "end").offset - pointer_of(params, "begin").offset;
      return length > 0 ? static_cast<std::uint64_t>(length) : 0;
    }
    case Extent::kMatrix: {
      const std::uint64_t m = number_of(params, "m"), n = number_of(params, "n"), k = number_of(params, "k");
      if (m == 0 || n == 0) return 0;
      if (field.name == "c") return times(times(m, n), field.element);
      const bool left = field.name == "a";
      return times(field.element, left ? strided_span(m, k, number_of(params, "sa0"), number_of(params, "sa1"))
                                       : strided_span(k, n, number_of(params, "sb0"), number_of(params, "sb1")));
    }
    case Extent::kNone:
    case Extent::kUnknown:
      break;
  }
  return 0;
}

void add_range(std::vector<ByteRange>& ranges, const BufferRef& ref, std::uint64_t lo, std::uint64_t bytes,
               bool write) {
  if (bytes == 0) return;
  const std::int64_t start = ref.offset + static_cast<std::int64_t>(lo);
  ranges.push_back({ref.buffer, start, start + static_cast<std::int64_t>(bytes), write});
}

// First byte and length of the hull of one end of a copy.
std::pair<std::uint64_t, std::uint64_t> copy_hull(const CopyParams& copy, const CopyEnd& end) {
  if (copy.linear) return {0, copy.width};
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return {0, 0};
  const std::uint64_t slice = times(end.pitch, end.rows);
  const Position& at = end.position;
  return {plus(plus(times(at.z, slice), times(at.y, end.pitch)), at.x),
          plus(plus(times(copy.depth - 1, slice), times(copy.height - 1, end.pitch)), copy.width)};
}

std::uint64_t memset_hull(const MemsetParams& memset) {
  if (memset.width == 0 || memset.height == 0) return 0;
  return plus(times(memset.height - 1, memset.pitch), times(memset.width, memset.element));
}

struct RangeAppender {
  std::uint32_t fan;
  std::vector<ByteRange>& ranges;

  void operator()(const KernelParams& params) const {
    for (std::size_t i = 0; i < params.arguments.size(); ++i) {
      const FieldSpec& field = params.kernel->fields[i];
      if (params.kernel->extent == Extent::kUnknown) {  // all memory that the kernel is given
        const ArgumentValue& value = params.arguments[i];
        if (value.kind == ArgumentValue::Kind::kPointer) ranges.push_back({value.ref.buffer, 0, kToTheEnd, true});
        continue;
      }
      if (field.kind != FieldKind::kPointer || field.touch == Touch::kNothing) continue;
      const bool write = field.touch != Touch::kRead;
      add_range(ranges, params.arguments[i].ref, 0, times(pointer_extent(params, i), write ? fan : 1), write);
    }
  }
  void operator()(const CopyParams& params) const {
    const auto [dst_first, dst_bytes] = copy_hull(params, params.dst);
    const auto [src_first, src_bytes] = copy_hull(params, params.src);
    add_range(ranges, params.dst.ref, dst_first, times(dst_bytes, fan), true);
    add_range(ranges, params.src.ref, src_first, src_bytes, false);
  }
  void operator()(const MemsetParams& params) const {
    add_range(ranges, params.dst, 0, times(memset_hull(params), fan), true);
  }
  void operator()(const HostParams& params) const {
    if (params.memory) add_range(ranges, *params.memory, 0, params.bytes, true);
  }
  void operator()(const EmptyParams&) const {}
  void operator()(const ChildParams&) const {}
  void operator()(const EventRecordParams&) const {}
  void operator()(const EventWaitParams&) const {}
  void operator()(const SemaphoreParams&) const {}
  // Each wait is for a value that a write of the batch wrote, so the writes cover its bytes.
  void operator()(const BatchParams& params) const {
    for (const MemoryOperation& operation : params.operations) {
      if (!operation.waits) add_range(ranges, operation.ref, 0, operation.bytes, true);
    }
  }
  // As in the model: a node that uses the memory has to be ordered with its allocation node and with its free node.
  void operator()(const MemoryAllocParams& params) const {
    ranges.push_back({params.buffer, 0, static_cast<std::int64_t>(params.bytes), true});
  }
  void operator()(const MemoryFreeParams& params) const { ranges.push_back({params.buffer, 0, kToTheEnd, true}); }
};

// The names in a node's parameters. Each type of node has an overload.
struct NamesOfNode {
  const VisitName& visit;

  void ref(BufferRef& r) const { visit('b', r.buffer, false); }
  void operator()(KernelParams& p) const {
    for (ArgumentValue& value : p.arguments) {
      if (value.kind != ArgumentValue::Kind::kNumber) ref(value.ref);
    }
    if (p.module) visit('m', *p.module, false);
  }
  void operator()(CopyParams& p) const {
    ref(p.dst.ref);
    ref(p.src.ref);
  }
  void operator()(MemsetParams& p) const { ref(p.dst); }
  void operator()(HostParams& p) const {
    if (p.memory) ref(*p.memory);
  }
  void operator()(EmptyParams&) const {}
  void operator()(ChildParams& p) const { visit('g', p.graph, false); }
  void operator()(EventRecordParams& p) const { visit('v', p.event, false); }
  void operator()(EventWaitParams& p) const { visit('v', p.event, false); }
  void operator()(SemaphoreParams&) const {}
  void operator()(MemoryAllocParams& p) const { visit('b', p.buffer, true); }
  void operator()(MemoryFreeParams& p) const { visit('b', p.buffer, false); }
  void operator()(BatchParams& p) const {
    for (MemoryOperation& operation : p.operations) ref(operation.ref);
  }
};

}  // namespace

void for_each_ref(const NodeParams& params, const std::function<void(const BufferRef&)>& visit) {
  if (const auto* kernel = std::get_if<KernelParams>(&params)) {
    for (const ArgumentValue& value : kernel->arguments) {
      if (value.kind == ArgumentValue::Kind::kPointer) visit(value.ref);
    }
  } else if (const auto* copy = std::get_if<CopyParams>(&params)) {
    visit(copy->dst.ref);
    visit(copy->src.ref);
  } else if (const auto* memset = std::get_if<MemsetParams>(&params)) {
    visit(memset->dst);
  } else if (const auto* host = std::get_if<HostParams>(&params)) {
    if (host->memory) visit(*host->memory);
  } else if (const auto* batch = std::get_if<BatchParams>(&params)) {
    for (const MemoryOperation& operation : batch->operations) visit(operation.ref);
  }
}

void for_each_frozen(const NodeParams& params, const std::function<void(const BufferRef&)>& visit) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  if (kernel == nullptr) return;
  for (const ArgumentValue& value : kernel->arguments) {
    if (value.kind == ArgumentValue::Kind::kAddressBits) visit(value.ref);
  }
}

void for_each_name(NodeParams& params, const VisitName& visit) {
  std::visit(NamesOfNode{visit}, params);
}

void append_ranges(const NodeParams& params, std::uint32_t fan, std::vector<ByteRange>& ranges) {
  std::visit(RangeAppender{fan, ranges}, params);
}

NodeParams fan_instance(const NodeParams& params, std::uint32_t k) {
  NodeParams instance = params;
  if (k == 0) return instance;
  if (auto* kernel = std::get_if<KernelParams>(&instance)) {
    for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
      const Touch touch = kernel->kernel->fields[i].touch;
      if (touch != Touch::kWrite && touch != Touch::kReadWrite) continue;
      kernel->arguments[i].ref.offset += static_cast<std::int64_t>(pointer_extent(*kernel, i) * k);
    }
  } else if (auto* copy = std::get_if<CopyParams>(&instance)) {
    copy->dst.ref.offset += static_cast<std::int64_t>(copy->width * k);
  } else if (auto* memset = std::get_if<MemsetParams>(&instance)) {
    memset->dst.offset += static_cast<std::int64_t>(memset_hull(*memset) * k);
  }
  return instance;
}

bool conflict(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (const ByteRange& x : a) {
    for (const ByteRange& y : b) {
      if (x.buffer == y.buffer && (x.write || y.write) && x.lo < y.hi && y.lo < x.hi) return true;
    }
  }
  return false;
}

}  // namespace verify
