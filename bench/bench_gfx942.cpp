// The speed of the interpreter of gfx942 code, on one core (gfx942_loops.hip at -O2): wave instructions a second of
// loops of one workgroup of four full waves, and the time of products of 1024 x 1024 x 1024 by matrix instructions.
//
// A wave instruction is one instruction of a wave of 64, counted as the interpreter's budget counts. Loading and
// decoding the code object is outside of the time, and has a benchmark of its own. The products are compared with a
// computation in integers, outside of the time, too. Asserts nothing about time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/gfx942/float8.h"
#include "model/gfx942/run.h"

namespace {

constexpr std::uint64_t kBase = 0x7e0000000000;
constexpr std::uint64_t kOut = 0x10000;
constexpr std::uint64_t kArguments = 0x20000;
constexpr std::uint32_t kItems = 256;
constexpr std::uint32_t kIterations = 20000;
constexpr std::size_t kArgumentWords = 64;

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

class Memory : public gfx942::Memory {
 public:
  template <class T>
  void add(std::uint64_t address, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    live_.emplace_back(address, std::move(bytes));
  }
  [[nodiscard]] const std::byte* first() const { return live_.front().second.data(); }
  gfx942::Extent reach(std::uint64_t address, std::size_t size, bool /*write*/) override {
    for (auto& [base, bytes] : live_) {
      if (address >= base && address + size <= base + bytes.size()) return {bytes.data(), base, base + bytes.size()};
    }
    return {};
  }
  std::string explain(std::uint64_t, std::size_t, bool) override { return "nothing there"; }

 private:
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> live_;
};

gfx942::Dispatch dispatch_of(const gfx942::Program& program, const char* kernel, std::uint32_t grid,
                             std::uint32_t workgroup) {
  gfx942::Dispatch dispatch;
  dispatch.kernel = program.find_kernel(kernel);
  dispatch.grid = {grid, 1, 1};
  dispatch.workgroup = {workgroup, 1, 1};
  dispatch.kernarg_address = kArguments;
  return dispatch;
}

// Runs the launch again and again; false once it faults.
bool run_all(benchmark::State& state, const gfx942::Program& program, const gfx942::Dispatch& dispatch,
             Memory& memory) {
  double executed = 0;
  for ([[maybe_unused]] auto _ : state) {
    const gfx942::Outcome outcome = gfx942::run(program, dispatch, memory);
    const auto* finished = std::get_if<gfx942::Finished>(&outcome);
    if (finished == nullptr) {
      state.SkipWithError(std::get<gfx942::Fault>(outcome).text.c_str());
      return false;
    }
    executed += static_cast<double>(finished->instructions);
  }
  state.counters["wave_instructions"] = benchmark::Counter(executed, benchmark::Counter::kIsRate);
  return true;
}

void loop(benchmark::State& state, const char* kernel) {
  const gfx942::Program program = load();
  Memory memory;
  memory.add(kOut, std::vector<std::uint64_t>(kItems));
  std::vector<std::uint64_t> arguments(kArgumentWords);
  arguments[0] = kOut;
  arguments[1] = kIterations;
  memory.add(kArguments, arguments);
  run_all(state, program, dispatch_of(program, kernel, kItems, kItems), memory);
}
BENCHMARK_CAPTURE(loop, integers, "integer_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, multiplications, "multiply_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, floats, "float_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, doubles, "double_loop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loop, loads_and_stores, "memory_loop")->Unit(benchmark::kMillisecond);

// Whole numbers from -4 to 4, so that every sum is exact.
constexpr std::uint32_t kSide = 1024;
int element(std::uint32_t line, std::uint32_t k, std::uint32_t which) {
  return static_cast<int>((line * 7 + k * 5 + (line ^ k) * which) % 9) - 4;
}
template <class T>
std::vector<T> lines(std::uint32_t which) {
  std::vector<T> values(std::size_t{kSide} * kSide);
  for (std::uint32_t i = 0; i < kSide; ++i) {
    for (std::uint32_t k = 0; k < kSide; ++k) {
      const auto value = static_cast<float>(element(i, k, which));
      if constexpr (sizeof(T) == 1) {
        values[i * kSide + k] = gfx942::to_float8(gfx942::kFp8, value, gfx942::Rounding8::kNearestEven, false);
      } else {
        values[i * kSide + k] = value;
      }
    }
  }
  return values;
}
constexpr std::uint32_t kLeft = 1;
constexpr std::uint32_t kRight = 3;

const std::vector<float>& expected_product() {
  static const std::vector<float> product = [] {
    std::vector<int> right(std::size_t{kSide} * kSide);  // by rows
    for (std::uint32_t k = 0; k < kSide; ++k) {
      for (std::uint32_t j = 0; j < kSide; ++j) right[k * kSide + j] = element(j, k, kRight);
    }
    std::vector<float> result;
    for (std::uint32_t i = 0; i < kSide; ++i) {
      std::vector<int> row(kSide);
      for (std::uint32_t k = 0; k < kSide; ++k) {
        const int left = element(i, k, kLeft);
        for (std::uint32_t j = 0; j < kSide; ++j) row[j] += left * right[k * kSide + j];
      }
      result.insert(result.end(), row.begin(), row.end());
    }
    return result;
  }();
  return product;
}

template <class T>
void product(benchmark::State& state, const char* kernel) {
  constexpr std::uint64_t kC = 0x30000000;
  constexpr std::uint64_t kA = 0x10000000;
  constexpr std::uint64_t kB = 0x20000000;
  const gfx942::Program program = load();
  Memory memory;
  memory.add(kC, std::vector<float>(std::size_t{kSide} * kSide));
  memory.add(kA, lines<T>(kLeft));
  memory.add(kB, lines<T>(kRight));
  std::vector<std::uint64_t> arguments(kArgumentWords);
  arguments[0] = kC;
  arguments[1] = kA;
  arguments[2] = kB;
  memory.add(kArguments, arguments);
  if (!run_all(state, program, dispatch_of(program, kernel, kSide * kSide / 16, 64), memory)) return;
  const std::vector<float>& expected = expected_product();
  if (std::memcmp(memory.first(), expected.data(), expected.size() * sizeof(float)) != 0) {
    state.SkipWithError("the product is wrong");
  }
}
void product_fp8(benchmark::State& state) {
  product<std::uint8_t>(state, "fp8_product");
}
void product_f32(benchmark::State& state) {
  product<float>(state, "f32_product");
}
BENCHMARK(product_fp8)->Unit(benchmark::kMillisecond);
BENCHMARK(product_f32)->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(load());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * code_object().size()));
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
