// Kernels from a code object: names and argument layouts from its metadata, semantics from the table of host kernels.
//
// hipModuleLoadData passes a pointer only, so the length of an image comes from the image's own headers. The explicit
// arguments of a kernel, taken together, are the packed block; the code that runs the kernel adds the hidden arguments.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "hip/code_object/code_object.h"
#include "model/abi/context.h"

namespace model::abi {
namespace {

class CheckedMemory : public hg::HostMemory {
 public:
  explicit CheckedMemory(MemoryAccess& memory) : memory_(memory) {}
  std::byte* access(std::uint64_t address, std::size_t size, bool write) override {
    return memory_.access(address, size, write);
  }

 private:
  MemoryAccess& memory_;
};

Kernel from_metadata(const hip::code_object::KernelMetadata& metadata) {
  Kernel kernel;
  kernel.name = metadata.name;
  kernel.signature.argument_bytes = metadata.explicit_bytes;
  kernel.resources = {metadata.group_bytes, metadata.private_bytes, 0};
  for (const auto& argument : metadata.arguments) {
    if (argument.kind == hip::code_object::ArgumentKind::kHidden) continue;
    const bool pointer = argument.kind == hip::code_object::ArgumentKind::kPointer;
    kernel.signature.arguments.push_back(
        {argument.offset, argument.size, pointer ? ArgumentKind::kPointer : ArgumentKind::kValue});
  }
  return kernel;
}

void print_to_process(PrintTo where, std::string_view text) {
  // A failed write (to a closed stream) is ignored: printf's result on the device does not report it either.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), where == PrintTo::kStderr ? stderr : stdout));
}

const CachedImage* find_cached(const State& state, std::span<const std::byte> code) {
  for (const CachedImage& cached : state.images) {
    if (cached.code->size() == code.size() && std::memcmp(cached.code->data(), code.data(), code.size()) == 0) {
      return &cached;
    }
  }
  return nullptr;
}

Status load_device_image(State& state, const CodeBytes& code, int device, std::shared_ptr<DeviceImage>* image,
                         std::string* why) {
  if (state.hostcalls == nullptr) {
    state.hostcalls =
        std::make_shared<HostcallService>(state.options.print ? state.options.print : Print(&print_to_process));
  }
  return DeviceImage::load(state.runtime.memory(), device, *code, state.hostcalls, image, why);
}

// Gives kernels without host functions to the interpreter. A kernel that cannot be interpreted fails at its launch, not
// at loading, because a program may never launch it.
Status interpret(State& state, int device, std::vector<Kernel> kernels, LoadedCode* loaded, KernelList* out) {
  std::string why;
  const Status status = load_device_image(state, loaded->code, device, &loaded->image, &why);
  if (status == Status::kOutOfMemory) return status;
  for (Kernel& kernel : kernels) {
    if (kernel.semantics == nullptr && loaded->image != nullptr) {
      kernel.semantics = DeviceImage::semantics(loaded->image, kernel.name);
      kernel.resources = loaded->image->resources(kernel.name);
    } else if (kernel.semantics == nullptr) {
      kernel.semantics = [text = "kernel '" + kernel.name + "' has no host function, and: " + why](
                             std::span<const std::byte>, const LaunchShape&, MemoryAccess& memory) {
        memory.fail(Status::kNotSupported, text);
      };
    }
    out->push_back(std::make_shared<const Kernel>(std::move(kernel)));
  }
  return Status::kSuccess;
}

Status load_code(State& state, std::span<const std::byte> bytes, int device, LoadedCode* loaded, KernelList* kernels) {
  if (const CachedImage* cached = find_cached(state, bytes)) {
    loaded->code = cached->code;
    return put(kernels, cached->kernels);
  }
  const auto metadata = hip::code_object::read_kernels(bytes);
  if (!metadata.ok()) {
    state.load_error = metadata.error().message;
    return Status::kInvalidImage;
  }
  loaded->code = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  std::vector<Kernel> parsed;
  for (const auto& kernel : metadata.value()) {
    parsed.push_back(*with_host_semantics(from_metadata(kernel), state.options.kernels));
  }
  if (std::ranges::any_of(parsed, [](const Kernel& kernel) { return kernel.semantics == nullptr; })) {
    return interpret(state, device, std::move(parsed), loaded, kernels);
  }
  for (Kernel& kernel : parsed) kernels->push_back(std::make_shared<const Kernel>(std::move(kernel)));
  // The latest images are kept in parsed form, because programs load the same few images again and again.
  if (state.images.size() == kMaxCachedImages) state.images.erase(state.images.begin());
  state.images.push_back({loaded->code, *kernels});
  return Status::kSuccess;
}

// hipModuleLoadData: no image at all is hipErrorInvalidImage; a bundle without gfx942 is hipErrorNoBinaryForGpu.
template <class Image>
Status load(State& state, const Image& image, int device, Module** module) {
  const auto code = hip::code_object::find_code_object(image);
  if (!code.ok()) {
    state.load_error = code.error().message;
    return code.error().code == hipErrorNoBinaryForGpu ? Status::kNoBinaryForGpu : Status::kInvalidImage;
  }
  LoadedCode loaded;
  KernelList kernels;
  const Status status = load_code(state, code.value(), device, &loaded, &kernels);
  if (status != Status::kSuccess) return status;
  *module = &state.runtime.load_module(std::move(kernels), device);
  state.code.emplace((*module)->id(), std::move(loaded));
  return Status::kSuccess;
}

}  // namespace

std::shared_ptr<const Kernel> with_host_semantics(Kernel kernel, std::span<const hg::HostKernel> table) {
  const auto found = std::ranges::find_if(table, [&](const hg::HostKernel& host) {
    return host.name == kernel.name && host.argument_bytes <= kernel.signature.argument_bytes;
  });
  if (found != table.end()) {
    kernel.semantics = [run = found->run](std::span<const std::byte> arguments, const LaunchShape&,
                                          MemoryAccess& memory) {
      CheckedMemory checked(memory);
      run(arguments, checked);
    };
  }
  return std::make_shared<const Kernel>(std::move(kernel));
}

Status load_module(State& state, const void* image, int device, Module** module) {
  return load(state, image, device, module);
}

Status load_module(State& state, std::span<const std::byte> image, int device, Module** module) {
  return load(state, image, device, module);
}

void unload_module(State& state, Module& module) {
  const auto loaded = state.code.find(module.id());
  if (loaded != state.code.end()) {
    if (loaded->second.image != nullptr) loaded->second.image->unload(state.runtime.memory());
    state.code.erase(loaded);
  }
  state.runtime.unload_module(module);
}

// A module whose kernels have host functions allocates memory for its variables at the first request for a variable.
std::optional<DeviceImage::Variable> find_variable(State& state, const Module& module, const char* name,
                                                   Status* status) {
  *status = Status::kSuccess;
  const auto loaded = state.code.find(module.id());
  if (loaded == state.code.end()) return std::nullopt;
  std::string why;
  if (loaded->second.image == nullptr) {
    *status = load_device_image(state, loaded->second.code, state.thread->device, &loaded->second.image, &why);
  }
  return loaded->second.image == nullptr ? std::nullopt : loaded->second.image->find_variable(name);
}

}  // namespace model::abi
