// Kernels from a code object: names and argument layouts from its metadata, semantics from the table of host kernels.
//
// The image is as long as its own headers say (that is all that hipModuleLoadData passes). Its explicit arguments,
// taken together, are the packed block; hidden arguments are the runtime's business and the model has none.
#include <algorithm>
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
  for (const auto& argument : metadata.arguments) {
    if (argument.kind == hip::code_object::ArgumentKind::kHidden) continue;
    const bool pointer = argument.kind == hip::code_object::ArgumentKind::kPointer;
    kernel.signature.arguments.push_back(
        {argument.offset, argument.size, pointer ? ArgumentKind::kPointer : ArgumentKind::kValue});
  }
  return kernel;
}

// The latest images are kept, parsed: programs load the same few again and again.
Status load_code(State& state, std::span<const std::byte> code, KernelList* kernels) {
  for (const CachedImage& cached : state.images) {
    if (cached.bytes.size() != code.size() || std::memcmp(cached.bytes.data(), code.data(), code.size()) != 0) continue;
    *kernels = cached.kernels;
    return Status::kSuccess;
  }
  const auto metadata = hip::code_object::read_kernels(code);
  if (!metadata.ok()) return Status::kInvalidImage;
  CachedImage parsed{{code.begin(), code.end()}, {}};
  for (const auto& kernel : metadata.value()) {
    parsed.kernels.push_back(with_host_semantics(from_metadata(kernel), state.options.kernels));
  }
  *kernels = parsed.kernels;
  if (state.images.size() == kMaxCachedImages) state.images.erase(state.images.begin());
  state.images.push_back(std::move(parsed));
  return Status::kSuccess;
}

}  // namespace

std::shared_ptr<const Kernel> with_host_semantics(Kernel kernel, std::span<const hg::HostKernel> table) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const hg::HostKernel& host) {
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

// hipModuleLoadData: an image that is none is hipErrorInvalidImage; a bundle without our processor has no binary.
Status load_image(State& state, const void* image, KernelList* kernels) {
  const auto code = hip::code_object::find_code_object(image);
  if (!code.ok()) return code.error().code == 209 ? Status::kNoBinaryForGpu : Status::kInvalidImage;
  return load_code(state, code.value(), kernels);
}

Status load_image(State& state, std::span<const std::byte> image, KernelList* kernels) {
  const auto code = hip::code_object::find_code_object(image);
  if (!code.ok()) return code.error().code == 209 ? Status::kNoBinaryForGpu : Status::kInvalidImage;
  return load_code(state, code.value(), kernels);
}

}  // namespace model::abi
