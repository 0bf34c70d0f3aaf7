// The HIP tables that the patch benchmarks run on: one that does nothing, and the model's.
//
// The table that does nothing answers hipSuccess and hands out numbers as handles. It looks at no argument, so a
// benchmark on it measures the caller's side alone. On the model a setter also checks and copies the parameters.
// Neither launches anything.
#pragma once

#include <memory>
#include <string_view>

#include "hip/api/api.h"

namespace bench {

class Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual const hip::Api& api() const = 0;
  // A kernel with the arguments of bench::Workload.
  [[nodiscard]] virtual hipFunction_t kernel() const = 0;
};

enum class RuntimeKind { kNothing, kModel };
inline constexpr RuntimeKind kRuntimeKinds[] = {RuntimeKind::kNothing, RuntimeKind::kModel};
[[nodiscard]] std::string_view name_of(RuntimeKind kind);

// The model's functions may be called on this thread until the runtime goes; only one lives at a time.
[[nodiscard]] std::unique_ptr<Runtime> make_runtime(RuntimeKind kind);

}  // namespace bench
