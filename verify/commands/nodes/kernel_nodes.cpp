// Nodes that run a kernel; the contract is in the header.
#include "verify/commands/nodes/kernel_nodes.h"

#include <fmt/format.h>

#include <array>

namespace verify {

namespace {

constexpr std::uint64_t kMaxGrid = 65535, kMaxForeignGrid = 0x7fffffff, kMaxBlock = 1024;

ArgumentValue parse_pointer_or_number(Line& line, const FieldSpec& field, Token token) {
  ArgumentValue value;
  if (token.text.starts_with("addr(")) {
    if (field.kind == FieldKind::kPointer) {
      line.fail(token.column,
                fmt::format("'{}' is a pointer: write {}=b0+0 (addr() is for scalars)", field.name, field.name));
    } else if (!token.text.ends_with(")")) {
      line.fail(token.column + static_cast<std::uint32_t>(token.text.size()), "expected ')' after addr(");
    } else {
      value.kind = ArgumentValue::Kind::kAddressBits;
      value.ref = parse_ref(line, {token.text.substr(5, token.text.size() - 6), token.column + 5});
    }
    return value;
  }
  if (field.kind == FieldKind::kPointer || (field.kind == FieldKind::kEither && token.text.starts_with("b"))) {
    value.kind = ArgumentValue::Kind::kPointer;
    value.ref = parse_ref(line, token);
    return value;
  }
  const std::uint64_t max = field.size == 8 ? kAnyNumber : (std::uint64_t{1} << (8 * field.size)) - 1;
  value.number = parse_number(line, token, max, fmt::format("'{}' ({} bytes)", field.name, field.size));
  return value;
}

// "4", or, for a foreign kernel, "4,2,1".
void parse_shape(Attributes& attributes, std::string_view key, std::uint64_t max, std::array<std::uint32_t*, 3> shape) {
  Token token;
  if (!attributes.take(key, token)) return;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::string_view part = token.text.substr(0, token.text.find(','));
    *shape[i] = static_cast<std::uint32_t>(parse_number(attributes.line(), {part, token.column}, max, key));
    if (part.size() == token.text.size()) return;
    token = {token.text.substr(part.size() + 1), token.column + static_cast<std::uint32_t>(part.size()) + 1};
  }
  attributes.line().fail(token.column, fmt::format("'{}' has at most three numbers: x,y,z", key));
}

void print_argument(Out out, const FieldSpec& field, const ArgumentValue& value) {
  switch (value.kind) {
    case ArgumentValue::Kind::kNumber:
      fmt::format_to(out, " {}={}", field.name, value.number);
      break;
    case ArgumentValue::Kind::kPointer:
      fmt::format_to(out, " {}={}", field.name, print_ref(value.ref));
      break;
    case ArgumentValue::Kind::kAddressBits:
      fmt::format_to(out, " {}=addr({})", field.name, print_ref(value.ref));
      break;
  }
}

void print_shape(Out out, const char* key, std::uint32_t usual, const std::array<std::uint32_t, 3>& shape) {
  if (shape[1] != 1 || shape[2] != 1) {
    fmt::format_to(out, " {}={},{},{}", key, shape[0], shape[1], shape[2]);
  } else if (shape[0] != usual) {
    fmt::format_to(out, " {}={}", key, shape[0]);
  }
}

void simplify_argument(const KernelParams& p, std::size_t i, const EmitKernel& emit) {
  const ArgumentValue& value = p.arguments[i];
  const auto with = [&](const ArgumentValue& other) {
    KernelParams changed = p;
    changed.arguments[i] = other;
    emit(changed);
  };
  if (value.kind == ArgumentValue::Kind::kNumber) {
    for (const std::uint64_t number : smaller_values(value.number, 0)) with({value.kind, number, {}});
    return;
  }
  if (value.kind == ArgumentValue::Kind::kAddressBits) with({ArgumentValue::Kind::kNumber, 0, {}});
  for (const BufferRef& ref : simpler_refs(value.ref)) with({value.kind, 0, ref});
}

// Replaces the kernel by the simplest kernel that writes one buffer: most defects show with that kernel, too.
void replace_kernel(const KernelParams& p, const EmitKernel& emit) {
  static constexpr std::string_view kPlain = "inplace_u32";
  if (p.kernel->name == kPlain) return;
  for (std::size_t i = 0; i < p.arguments.size(); ++i) {
    const Touch touch = p.kernel->fields[i].touch;
    if (touch != Touch::kWrite && touch != Touch::kReadWrite) continue;
    KernelParams plain;
    plain.kernel = find_kernel(kPlain);
    plain.arguments = {p.arguments[i], {ArgumentValue::Kind::kNumber, 1, {}}, {ArgumentValue::Kind::kNumber, 0, {}}};
    plain.style = p.style;
    plain.by_symbol = p.by_symbol;
    emit(plain);
    return;
  }
}

const char* scalar_feature(bool address, std::uint32_t size) {
  static constexpr const char* kNumbers[] = {"scalar number in 1 bytes", "scalar number in 2 bytes",
                                             "scalar number in 4 bytes", "scalar number in 8 bytes"};
  static constexpr const char* kAddresses[] = {"scalar addr() in 1 bytes", "scalar addr() in 2 bytes",
                                               "scalar addr() in 4 bytes", "scalar addr() in 8 bytes"};
  const int index = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return address ? kAddresses[index] : kNumbers[index];
}

}  // namespace

NodeParams parse_kernel_name(Line& line) {
  const Token name = line.word("the name of a kernel");
  KernelParams params;
  params.kernel = find_kernel(name.text);
  if (params.kernel != nullptr) return params;
  const std::size_t at = name.text.rfind('@');
  if (at != std::string_view::npos) {
    line.fail(
        name.column,
        fmt::format("'{}' is a kernel of a recorded program, and its code is not there: {}.co has to stand beside "
                    "the program, and to have that kernel",
                    name.text, name.text.substr(at + 1)));
    return EmptyParams{};
  }
  std::string known;
  for (const KernelSpec& spec : kernel_catalogue()) known += (known.empty() ? "" : ", ") + spec.name;
  line.fail(name.column, fmt::format("there is no kernel '{}'; there are {}", name.text, known));
  return EmptyParams{};
}

void parse_kernel_keys(Attributes& attributes, KernelParams& params) {
  for (const FieldSpec& field : params.kernel->fields) {
    Token value;
    if (!attributes.take(field.name, value)) {
      attributes.missing(field.name);
      break;
    }
    params.arguments.push_back(parse_pointer_or_number(attributes.line(), field, value));
  }
  const std::uint64_t max_grid = params.kernel->object != nullptr ? kMaxForeignGrid : kMaxGrid;
  parse_shape(attributes, "grid", max_grid, {&params.grid, &params.grid_y, &params.grid_z});
  parse_shape(attributes, "block", kMaxBlock, {&params.block, &params.block_y, &params.block_z});
  Token style;
  if (attributes.take("style", style)) {
    if (style.text == "extra") {
      params.style = ArgumentStyle::kExtra;
    } else if (style.text != "params") {
      attributes.line().fail(style.column, "style is params or extra");
    }
  }
  params.opaque = attributes.flag("opaque");
  params.shared_bytes = static_cast<std::uint32_t>(attributes.number("shared", 0, kMaxSharedBytes));
  params.device = static_cast<Id>(attributes.number("device", 0, kMaxDevices - 1));
  Token module;
  if (attributes.take("module", module)) params.module = parse_id(attributes.line(), module, 'm');
  params.by_symbol = attributes.flag("by_symbol");
}

void print_kernel(Out out, const KernelParams& p) {
  fmt::format_to(out, " {}", p.kernel->name);
  for (std::size_t i = 0; i < p.arguments.size(); ++i) print_argument(out, p.kernel->fields[i], p.arguments[i]);
  print_shape(out, "grid", 1, {p.grid, p.grid_y, p.grid_z});
  print_shape(out, "block", 64, {p.block, p.block_y, p.block_z});
  if (p.style == ArgumentStyle::kExtra) fmt::format_to(out, " style=extra");
  if (p.opaque) fmt::format_to(out, " opaque");
  if (p.shared_bytes != 0) fmt::format_to(out, " shared={}", p.shared_bytes);
  if (p.device != 0) fmt::format_to(out, " device={}", p.device);
  if (p.module) fmt::format_to(out, " module=m{}", *p.module);
  if (p.by_symbol) fmt::format_to(out, " by_symbol");
}

void simplify_kernel(const KernelParams& p, const EmitKernel& emit) {
  KernelParams changed = p;
  if (p.by_symbol) {
    changed.by_symbol = false;
    emit(changed);
    changed = p;
  }
  replace_kernel(p, emit);
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
  if (p.module) {
    changed.module.reset();
    emit(changed);
    changed = p;
  }
  const bool own = p.kernel->object == nullptr;  // which shapes a foreign kernel allows is unknown
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

void count_kernel_features(const KernelParams& kernel, const std::vector<std::uint64_t>& buffer_bytes,
                           const CountFeature& add) {
  // Generators draw only kernels of the project.
  if (kernel.kernel->object == nullptr && kernel.kernel->drawn) add("kernel " + kernel.kernel->name);
  add(kernel.style == ArgumentStyle::kExtra ? "style extra" : "style params");
  if (kernel.opaque) add("opaque kernel");
  if (kernel.shared_bytes != 0) add("shared memory");
  if (kernel.device != 0) add("kernel of another device");
  if (kernel.module) add("kernel of a module");
  if (kernel.by_symbol) add("kernel by symbol");
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const FieldSpec& field = kernel.kernel->fields[i];
    const ArgumentValue& value = kernel.arguments[i];
    if (value.kind != ArgumentValue::Kind::kPointer) {
      add(scalar_feature(value.kind == ArgumentValue::Kind::kAddressBits, field.size));
      continue;
    }
    const auto bytes =
        static_cast<std::int64_t>(value.ref.buffer < buffer_bytes.size() ? buffer_bytes[value.ref.buffer] : 0);
    add(value.ref.offset == 0       ? "pointer base"
        : value.ref.offset == bytes ? "pointer one past the end"
                                    : "pointer interior");
    if (field.name.find('.') != std::string::npos) add("pointer in a struct");
  }
}

}  // namespace verify
