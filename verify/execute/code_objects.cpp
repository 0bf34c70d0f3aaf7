#include "verify/execute/code_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/code_object/code_object.h"
#include "verify/execute/devices.h"
#include "verify/program/state_devices.h"

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {

namespace {

constexpr std::uint32_t kPiece = 8;  // bytes of a by-value struct that one field holds

// Adds a field for an argument of a size that a field may have, or fields for the pieces of a struct.
void add_fields(const hip::code_object::Argument& argument, const std::string& name, KernelSpec& spec) {
  // A pointer may be null, and a program writes null as a number.
  if (argument.kind == hip::code_object::ArgumentKind::kPointer) {
    spec.fields.push_back({name, argument.offset, argument.size, FieldKind::kEither, Touch::kReadWrite, 1});
    return;
  }
  for (std::uint32_t at = 0; at < argument.size;) {
    std::uint32_t size = kPiece;
    while (size > argument.size - at) size /= 2;
    const FieldKind kind = size == kPiece ? FieldKind::kEither : FieldKind::kScalar;
    const std::string piece = argument.size == size ? name : fmt::format("{}.{}", name, at);
    spec.fields.push_back({piece, argument.offset + at, size, kind, Touch::kNothing, 1});
    at += size;
  }
}

bool spec_of(const hip::code_object::KernelMetadata& metadata, const std::string& id, KernelSpec& spec) {
  spec.name = metadata.name + "@" + id;
  spec.extent = Extent::kUnknown;
  for (const hip::code_object::Argument& argument : metadata.arguments) {
    if (argument.kind == hip::code_object::ArgumentKind::kHidden) continue;
    if (argument.kind == hip::code_object::ArgumentKind::kOther) return false;
    // The compiler drops the names of arguments that are not exported; a position is always there.
    const std::string name = fmt::format("a{}", spec.arguments.size());
    spec.arguments.push_back({name, argument.offset, argument.size, 1});
    add_fields(argument, name, spec);
  }
  spec.argument_bytes = metadata.explicit_bytes;
  return true;
}

}  // namespace

const void* project_code() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  return hg::device_code_object().data();
#else
  return nullptr;
#endif
}

hip::Status read_code_object(const std::string& id, std::span<const std::byte> elf) {
  if (find_code_object(id) != nullptr) return {};
  const hip::Result<std::vector<hip::code_object::KernelMetadata>> kernels = hip::code_object::read_kernels(elf);
  if (!kernels) return kernels.error();
  CodeObject object{id, {elf.begin(), elf.end()}, {}, hip::code_object::has_variables(elf)};
  for (const hip::code_object::KernelMetadata& metadata : kernels.value()) {
    KernelSpec spec;
    if (spec_of(metadata, id, spec)) object.kernels.push_back(std::move(spec));
  }
  know_code_object(std::move(object));
  return {};
}

hip::Status LoadedCodeObjects::load(const hip::Api& api, const Program& program) {
  api_ = &api;
  const std::vector<const CodeObject*> objects = code_objects_of(program);
  const std::vector<const KernelSpec*> kernels = foreign_kernels_of(program);
  for (Id device = 0; !objects.empty() && device < devices_needed(program); ++device) {
    const hip::Status status = on_device(api, device, [&]() -> hip::Status {
      for (const CodeObject* object : objects) {
        if (hip::Status loaded = load_module(*object, device); !loaded) return loaded;
      }
      for (const KernelSpec* kernel : kernels) {
        if (hip::Status loaded = load_kernel(*kernel, device); !loaded) return loaded;
      }
      return {};
    });
    if (!status) return status;
  }
  return {};
}

static hip::Error not_loaded(const std::string& what, const char* call, hipError_t code) {
  return {code, fmt::format("{} cannot be loaded: {} answered {}", what, call, hip::status_name(code))};
}

hip::Status LoadedCodeObjects::load_module(const CodeObject& object, Id device) {
  hipModule_t module = nullptr;
  if (const hipError_t code = api_->hipModuleLoadData(&module, object.elf.data()); code != hipSuccess)
    return not_loaded("code object " + object.id, "hipModuleLoadData", code);
  modules_[{&object, device}] = module;
  return {};
}

hip::Status LoadedCodeObjects::load_kernel(const KernelSpec& kernel, Id device) {
  const std::string name = kernel.name.substr(0, kernel.name.rfind('@'));
  hipFunction_t function = nullptr;
  const hipError_t code = api_->hipModuleGetFunction(&function, module(*kernel.object, device), name.c_str());
  if (code != hipSuccess) return not_loaded("kernel " + kernel.name, "hipModuleGetFunction", code);
  functions_[{&kernel, device}] = function;
  return {};
}

hipModule_t LoadedCodeObjects::module(const CodeObject& object, Id device) const {
  const auto found = modules_.find({&object, device});
  return found == modules_.end() ? nullptr : found->second;
}

hipFunction_t LoadedCodeObjects::function(const KernelSpec& kernel, Id device) const {
  const auto found = functions_.find({&kernel, device});
  return found == functions_.end() ? nullptr : found->second;
}

void LoadedCodeObjects::unload() {
  // A runtime that lost its device refuses to unload; the run is over, and the refusal cannot be reported any more.
  for (const auto& [object, module] : modules_) static_cast<void>(api_->hipModuleUnload(module));
  modules_.clear();
  functions_.clear();
}

}  // namespace verify
