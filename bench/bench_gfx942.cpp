// Wave instructions a second of the interpreter of gfx942 code, on one core: arithmetic loops of one workgroup of four
// full waves (gfx942_loops.hip at -O2), and one that loads and stores.
//
// A wave instruction is one instruction of a wave of 64, counted as the interpreter's budget counts. Loading and
// decoding the code object is outside of the time, and has a benchmark of its own. Asserts nothing about time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/gfx942/run.h"

namespace {

constexpr std::uint64_t kBase = 0x7e0000000000;
constexpr std::uint64_t kOut = 0x10000;
constexpr std::uint64_t kArguments = 0x20000;
constexpr std::uint32_t kItems = 256;
constexpr std::uint32_t kIterations = 20000;

const std::vector<std::byte>& code_object() {
  static const std::vector<std::byte> bytes = [] {
    std::ifstream file(GFX942_LOOPS, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(begin, begin + text.size());
  }();
  return bytes;
}

gfx942::Program load() {
  auto loaded = gfx942::Program::load(code_object(), kBase);
  if (const auto* error = std::get_if<gfx942::LoadError>(&loaded)) {
    std::fprintf(stderr, "%s: %s\n", GFX942_LOOPS, error->text.c_str());
    std::abort();
  }
  return std::get<gfx942::Program>(std::move(loaded));
}

// Two allocations.
class Memory : public gfx942::Memory {
 public:
  Memory() : out_(kItems * 8), arguments_(512) {
    const std::uint64_t out = kOut;
    std::memcpy(arguments_.data(), &out, sizeof(out));
    std::memcpy(arguments_.data() + 8, &kIterations, sizeof(kIterations));
  }
  gfx942::Extent reach(std::uint64_t address, std::size_t size, bool /*write*/) override {
    for (auto& [base, bytes] : {std::pair{kOut, &out_}, std::pair{kArguments, &arguments_}}) {
      if (address >= base && address + size <= base + bytes->size()) {
        return {bytes->data(), base, base + bytes->size()};
      }
    }
    return {};
  }
  std::string explain(std::uint64_t, std::size_t, bool) override { return "nothing there"; }

 private:
  std::vector<std::byte> out_, arguments_;
};

void loop(benchmark::State& state, const char* kernel) {
  const gfx942::Program program = load();
  Memory memory;
  gfx942::Dispatch dispatch;
  dispatch.kernel = program.find_kernel(kernel);
  dispatch.grid = {kItems, 1, 1};
  dispatch.workgroup = {kItems, 1, 1};
  dispatch.kernarg_address = kArguments;
  double executed = 0;
  for ([[maybe_unused]] auto _ : state) {
    const gfx942::Outcome outcome = gfx942::run(program, dispatch, memory);
    const auto* finished = std::get_if<gfx942::Finished>(&outcome);
    if (finished == nullptr) return state.SkipWithError(std::get<gfx942::Fault>(outcome).text.c_str());
    executed += static_cast<double>(finished->instructions);
  }
  state.counters["wave_instructions"] = benchmark::Counter(executed, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(loop, integers, "integer_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, multiplications, "multiply_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, floats, "float_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, doubles, "double_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, loads_and_stores, "memory_loop")->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(load());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * code_object().size()));
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
