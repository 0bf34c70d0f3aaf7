#include "verify/execute/platform.h"

#include <fmt/format.h>

namespace verify {

static hip::Status copied(hipError_t code) {
  if (code == hipSuccess) return {};
  return hip::Error{code, fmt::format("a copy answered {}", hip::status_name(code))};
}

std::string variable_name(std::size_t n) {
  return fmt::format("hg_symbol{}", n);
}

void Platform::on_thread(Id thread, const std::function<void()>& work) {
  if (thread == 0) return work();
  threads_.run(thread, work);
}

hip::Status Platform::store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size) {
  hip::Status status = copied(api().hipMemcpy(reinterpret_cast<void*>(address), bytes, size, hipMemcpyHostToDevice));
  // A copy from pageable memory may return once its bytes are staged (CUDA, "API synchronization behavior"). A program
  // that then queries the null stream must not see the harness's copy as pending work.
  return status ? copied(api().hipStreamSynchronize(nullptr)) : status;
}

hip::Status Platform::load(hip::DeviceAddress address, std::byte* bytes, std::size_t size) {
  return copied(api().hipMemcpy(bytes, reinterpret_cast<const void*>(address), size, hipMemcpyDeviceToHost));
}

}  // namespace verify
