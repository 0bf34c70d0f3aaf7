// A platform whose table counts; the contract is in the header.
#include "verify/semantics/call_counts.h"

#include <algorithm>

#include "verify/execute/interposer.h"
#include "verify/execute/model_platform.h"
#include "verify/generate/generator.h"
#include "verify/run/executor.h"

namespace verify {
namespace {

constexpr std::uint64_t kSeed = 1;

CallCounts* counting = nullptr;  // used by the only thread of this program

// One instance for each entry of the table.
template <std::size_t index, class Type>
struct Counted;
template <std::size_t index, class Answer, class... Arguments>
struct Counted<index, Answer (*)(Arguments...)> {
  static inline Answer (*inner)(Arguments...) = nullptr;
  static inline std::uint64_t* count = nullptr;
  static Answer call(Arguments... arguments) {
    ++*count;
    return inner(arguments...);
  }
};

template <std::size_t index, class Type>
void wrap(Type& entry, const char* name) {
  if (entry == nullptr) return;
  Counted<index, Type>::inner = entry;
  Counted<index, Type>::count = &(*counting)[name];
  entry = &Counted<index, Type>::call;
}

hip::Api counted(hip::Api api) {
#define HIP_FUNCTION(name, ...) wrap<static_cast<std::size_t>(Function::k_##name)>(api.name, #name);
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  return api;
}

class CountingPlatform final : public ModelPlatform {
 public:
  CountingPlatform() : table_(counted(ModelPlatform::api())) {}
  [[nodiscard]] const hip::Api& api() const override { return table_; }

 private:
  hip::Api table_;
};

bool has_bad_call(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const Step& step) { return std::holds_alternative<BadCall>(step.command); });
}

}  // namespace

CallCounts count_calls(std::size_t programs) {
  CallCounts counts;
  counting = &counts;
  CountingPlatform platform;
  for (const StrategyKind strategy : {StrategyKind::kPatch, StrategyKind::kRebuild, StrategyKind::kUpdate}) {
    Executor executor(platform, strategy);
    for (std::size_t i = 0; i < programs; ++i) {
      const Program program = campaign_program(kSeed, i, {});
      if (!has_bad_call(program)) static_cast<void>(executor.run(program, {}));
    }
  }
  counting = nullptr;
  return counts;
}

}  // namespace verify
