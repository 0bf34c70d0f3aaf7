#include "verify/execute/layered_platform.h"

#include "verify/language/kernel_spec.h"

namespace verify {

void LayeredPlatform::enter() {
  inner_.enter();
  layer_->enter();
}

void LayeredPlatform::leave() {
  layer_->leave();
  inner_.leave();
}

void LayeredPlatform::begin(std::uint64_t schedule_seed) {
  inner_.begin(schedule_seed);
  layer_->begin(inner_.api());
}

hipFunction_t LayeredPlatform::function(std::size_t kernel_index, Id device) {
  hipFunction_t function = inner_.function(kernel_index, device);
  know_kernel(function, kernel_catalogue()[kernel_index]);
  return function;
}

void LayeredPlatform::know_kernel(hipFunction_t function, const KernelSpec& kernel) {
  std::vector<std::size_t> sizes;
  for (const ArgumentSpec& argument : kernel.arguments) sizes.push_back(argument.size);
  layer_->know_kernel(function, std::move(sizes));
}

}  // namespace verify
