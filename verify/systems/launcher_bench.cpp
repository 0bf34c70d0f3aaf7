// Scenarios of the launcher, against launcher_model.h.
#include <algorithm>

#include "hip/device_scope.h"
#include "verify/systems/argument_block.h"
#include "verify/systems/bench.h"
#include "verify/systems/launcher_model.h"

namespace verify {
namespace {

constexpr unsigned kLauncherStreamFlags[kSystemStreams] = {hipStreamDefault, hipStreamNonBlocking, hipStreamDefault,
                                                           hipStreamNonBlocking};
constexpr std::byte kOverwritten{0xdb};
constexpr std::uint32_t kScalar = 7;

template <class T>
std::vector<T> pattern(std::size_t count, int seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] =
        static_cast<T>((i + 1) * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(seed) * 0x2545f4914f6cdd1dull);
  }
  return values;
}

class LauncherBench final : public SystemBench {
 public:
  LauncherBench(BenchContext& context, const Parts& parts)
      : context_(context), part_(parts.launcher(context.api(), context.sink())) {
    const AtHome home(context.inner());
    for (int i = 0; i < kSystemStreams; ++i) {
      hipStream_t handle = nullptr;
      if (i != 0) static_cast<void>(context.inner().hipStreamCreateWithFlags(&handle, kLauncherStreamFlags[i]));
      streams_.emplace_back(context.api(), handle, 0);
    }
  }

  int run(const SystemAction& action) override {
    switch (action.verb) {
      case SystemVerb::kLaunchResult:
        return result(action);
      case SystemVerb::kLaunchInPlace:
        return in_place(action);
      case SystemVerb::kLaunchIn:
        return in(action);
      case SystemVerb::kLaunchAll:
        return all(action);
      case SystemVerb::kLaunchDrain:
        return drain();
      default:
        not_of_this_bench(action);
    }
  }

  void finish() override {
    static_cast<void>(drain());
    part_.reset();
    const AtHome home(context_.inner());
    static_cast<void>(context_.inner().hipDeviceSynchronize());
    for (const hip::StreamRef& stream : streams_) {
      if (stream.handle() != nullptr) static_cast<void>(context_.inner().hipStreamDestroy(stream.handle()));
    }
  }

 private:
  // Work that has not been waited for, with its expected output.
  struct Outstanding {
    void* device = nullptr;
    std::vector<std::uint64_t> expected;
    std::string where;
  };

  // Launches, checks the number of synchronisations, and returns the hipError_t.
  int launch(const SystemAction& action, const ArgumentBlock& block, std::span<const hip::Transfer> transfers) {
    hip::KernelLaunch launch;
    launch.function = context_.platform.function(block.index(), 0);
    launch.arguments = block.bytes();
    launch.transfers = transfers;
    const bool back =
        std::ranges::any_of(transfers, [](const hip::Transfer& t) { return t.direction != hip::Direction::kIn; });
    const std::uint64_t before = context_.interposer.calls_of(Function::k_hipStreamSynchronize);
    const std::uint64_t fired = context_.interposer.fired();
    const hip::CurrentStream active(streams_[static_cast<std::size_t>(action.fields[0])]);
    const hip::Status status = part_->launch(launch);
    if (!status) {
      context_.expect(context_.interposer.fired() != fired, PropertyId::kS3, print_action(action), "a launch",
                      status.error().message);
      return status.error().code;
    }
    const std::uint64_t waited = context_.interposer.calls_of(Function::k_hipStreamSynchronize) - before;
    context_.expect(waited == expected_synchronizations(back), PropertyId::kS3, print_action(action),
                    std::to_string(expected_synchronizations(back)) + " synchronisations", std::to_string(waited));
    return hipSuccess;
  }

  template <class T>
  void compare(const std::string& where, PropertyId property, const std::vector<T>& expected,
               const std::vector<T>& observed) {
    const auto differs = std::mismatch(expected.begin(), expected.end(), observed.begin()).first;
    const bool same = differs == expected.end();
    context_.expect(
        same, property, where,
        same ? "" : "element " + std::to_string(differs - expected.begin()) + ": " + std::to_string(*differs),
        same ? "" : std::to_string(observed[static_cast<std::size_t>(differs - expected.begin())]));
  }

  // A kernel with a result and no array: the sum over an empty range is the seed.
  int result(const SystemAction& action) {
    const auto seed = static_cast<std::uint64_t>(action.fields[1]) + 1;
    std::vector<std::uint64_t> out{~std::uint64_t{0}};
    ArgumentBlock block("reduce_range");
    block.set("begin", std::uint64_t{0}).set("end", std::uint64_t{0}).set("seed", seed);
    const std::array transfers{hip::Transfer{block.offset("out"), out.data(), 8, hip::Direction::kOut}};
    const int code = launch(action, block, transfers);
    if (code == hipSuccess) compare(print_action(action), PropertyId::kS3, {seed}, out);
    return code;
  }

  int in_place(const SystemAction& action) {
    const auto count = static_cast<std::size_t>(action.fields[1]);
    std::vector<std::uint32_t> data = pattern<std::uint32_t>(count, action.fields[2]);
    std::vector<std::uint32_t> expected = data;
    ArgumentBlock block("inplace_u32");
    block.set("n", static_cast<std::uint32_t>(count)).set("k", kScalar);
    const std::array transfers{hip::Transfer{block.offset("data"), data.data(), count * 4, hip::Direction::kInOut}};
    const int code = launch(action, block, transfers);
    run_on_host(block.kernel(), block.set("data", expected.data()).bytes());
    if (code == hipSuccess) compare(print_action(action), PropertyId::kS1, expected, data);
    return code;
  }

  // A kernel with an array in; its output stays on the device, so the launcher has nothing to wait for.
  int in(const SystemAction& action) {
    const auto count = static_cast<std::size_t>(action.fields[1]);
    Outstanding work;
    work.where = print_action(action);
    {
      // The launcher's device is device 0, whichever device is current.
      const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(context_.inner(), 0);
      if (!scope) return scope.error().code;
      const hipError_t status = context_.inner().hipMalloc(&work.device, count * 8);
      if (status != hipSuccess) return status;
    }
    std::vector<std::uint64_t> data = pattern<std::uint64_t>(count, action.fields[2]);
    ArgumentBlock block("axpy_u64");
    block.set("out", work.device).set("n", static_cast<std::uint32_t>(count)).set("a", std::uint64_t{kScalar});
    const std::array transfers{hip::Transfer{block.offset("in"), data.data(), count * 8, hip::Direction::kIn}};
    const int code = launch(action, block, transfers);
    work.expected.resize(count);
    run_on_host(block.kernel(), block.set("out", work.expected.data()).set("in", data.data()).bytes());
    // The caller may overwrite the arrays as soon as the call has returned.
    std::fill_n(reinterpret_cast<std::byte*>(data.data()), count * 8, kOverwritten);
    if (code != hipSuccess) work.expected.clear();
    outstanding_.push_back(std::move(work));
    return code;
  }

  // A kernel with an array in and two arrays out.
  int all(const SystemAction& action) {
    const auto count = static_cast<std::size_t>(action.fields[1]);
    std::vector<std::uint64_t> data = pattern<std::uint64_t>(count, action.fields[2]);
    std::vector<std::uint32_t> low(count), high(count), expected_low(count), expected_high(count);
    ArgumentBlock block("two_outputs");
    block.set("n", static_cast<std::uint32_t>(count)).set("k", kScalar);
    const std::array transfers{hip::Transfer{block.offset("in"), data.data(), count * 8, hip::Direction::kIn},
                               hip::Transfer{block.offset("lo"), low.data(), count * 4, hip::Direction::kOut},
                               hip::Transfer{block.offset("hi"), high.data(), count * 4, hip::Direction::kOut}};
    const int code = launch(action, block, transfers);
    block.set("in", data.data()).set("lo", expected_low.data()).set("hi", expected_high.data());
    run_on_host(block.kernel(), block.bytes());
    if (code != hipSuccess) return code;
    compare(print_action(action) + " lo", PropertyId::kS1, expected_low, low);
    compare(print_action(action) + " hi", PropertyId::kS1, expected_high, high);
    return code;
  }

  int drain() {
    const AtHome home(context_.inner());
    hipError_t status = context_.inner().hipDeviceSynchronize();
    for (Outstanding& work : outstanding_) {
      std::vector<std::uint64_t> seen(work.expected.size());
      if (status == hipSuccess && !seen.empty()) {
        status = context_.inner().hipMemcpy(seen.data(), work.device, seen.size() * 8, hipMemcpyDeviceToHost);
      }
      if (status == hipSuccess) compare(work.where, PropertyId::kS1, work.expected, seen);
      static_cast<void>(context_.inner().hipFree(work.device));
    }
    outstanding_.clear();
    return status;
  }

  BenchContext& context_;
  std::unique_ptr<LauncherPart> part_;
  std::vector<hip::StreamRef> streams_;
  std::vector<Outstanding> outstanding_;
};

}  // namespace

std::unique_ptr<SystemBench> make_launcher_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<LauncherBench>(context, parts);
}

}  // namespace verify
