// verify::Interposer: a hip::Api table around another one. It counts calls, fails the call that it is told to fail, and
// poisons the arguments of a call as soon as the call returns.
//
// HIP's functions take no context, so the wrapped functions act on the interposer that is active on this thread
// (Interposer::Scope). Poisoning: arguments reach the inner table as copies whose bytes are overwritten after the call
// (and stay allocated until the next begin()), so a runtime that kept a pointer to the caller's memory reads kPoison
// instead of crashing. A function's signature decides whether its arguments are copied (interposer.cpp). A call that is
// made to fail does not reach the inner table and changes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "hip/api/api.h"
#include "verify/language/kernel_spec.h"

namespace verify {

enum class Function : std::uint16_t {
#define HIP_FUNCTION(name, ...) k_##name,
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  kCount
};
inline constexpr std::size_t kFunctions = static_cast<std::size_t>(Function::kCount);
[[nodiscard]] std::string_view function_name(Function function);
[[nodiscard]] std::optional<Function> find_function(std::string_view name);

inline constexpr std::byte kPoison{0xdb};
// The status that a call returns when its failure is injected.
inline constexpr hipError_t kInjectedError = hipErrorOutOfMemory;

class Interposer {
 public:
  Interposer();
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  // Resets the interposer and wraps `inner` (which must outlive the run). `keep`: arguments are copied as with poison,
  // but the copies stay as they are, so a runtime that kept a pointer reads what it expects.
  void begin(const hip::Api& inner, bool poison, bool keep = false);
  [[nodiscard]] const hip::Api& table() const { return table_; }
  [[nodiscard]] const hip::Api& inner() const { return *inner_; }

  // Notes the kernel of a function handle. Copying `kernelParams` needs the sizes, which the call does not carry.
  void know_kernel(hipFunction_t function, const KernelSpec* kernel) { kernels_[function] = kernel; }
  // The same of a kernel that is named by its host function.
  void know_symbol(hipFunction_t symbol, const KernelSpec* kernel) {
    know_kernel(symbol, kernel);
    symbols_.insert(symbol);
  }

  // The nth call (from 1) of `function` from now on fails once.
  void fail(Function function, std::uint32_t nth) { armed_[static_cast<std::size_t>(function)] = nth; }
  // The nth call from now on of any function of the graph API (hipGraph*, destroying excepted) fails once.
  void fail_any(std::uint64_t nth) { armed_any_ = nth; }
  // Whether a later call will fail.
  [[nodiscard]] bool armed() const {
    return armed_any_ != 0 || std::ranges::any_of(armed_, [](std::uint32_t nth) { return nth != 0; });
  }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t graph_calls() const { return graph_calls_; }
  [[nodiscard]] std::uint64_t calls_of(Function function) const { return counts_[static_cast<std::size_t>(function)]; }
  [[nodiscard]] std::uint64_t fired() const { return fired_; }
  [[nodiscard]] std::optional<Function> last_fired() const { return last_fired_; }
  // The number of wrapped calls that release an object or memory (hipFree*, hip*Destroy) and that the runtime itself
  // refused, as it refuses the handle of an object that no longer exists.
  [[nodiscard]] std::uint64_t refused_returns() const { return refused_returns_; }

  // The executable graph that hipGraphLaunch launched last since forget_launch(); null: none.
  [[nodiscard]] hipGraphExec_t launched() const { return launched_; }
  void forget_launch() { launched_ = nullptr; }

  struct Passed {
    std::byte* bytes;
    std::size_t size;
  };
  // A thread that takes turns with others: they run while it is in a call of the inner table.
  class Turn {
   public:
    virtual ~Turn() = default;
    virtual void leave() = 0;
    virtual void enter() = 0;

   private:
    friend class Interposer;
    std::vector<Passed> passed_;  // to the call that it is in
  };
  // Makes `interposer` the one on which the wrapped functions act on this thread. `turn`: of a thread that takes turns.
  class Scope {
   public:
    explicit Scope(Interposer& interposer, Turn* turn = nullptr);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Interposer* previous_;
    Turn* previous_turn_;
  };

  // For the wrapped functions.
  void begin_call();
  void end_call();
  [[nodiscard]] static Interposer& current();
  [[nodiscard]] bool count_and_decide(Function function);
  void note_refused_return() { ++refused_returns_; }
  void note_launched(hipGraphExec_t exec, hipStream_t) { launched_ = exec; }
  [[nodiscard]] bool passes_copies() const { return poison_ || keep_; }
  // A copy of caller memory that is poisoned by poison_passed().
  void* pass(const void* bytes, std::size_t size);
  void poison_passed();
  [[nodiscard]] const KernelSpec* kernel_of(hipFunction_t function) const;
  [[nodiscard]] bool is_symbol(hipFunction_t function) const { return symbols_.contains(function); }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    std::size_t used = 0;
  };

  hip::Api table_;
  const hip::Api* inner_ = nullptr;
  bool poison_ = false, keep_ = false;
  std::array<std::uint32_t, kFunctions> counts_{};
  std::array<std::uint32_t, kFunctions> armed_{};
  std::uint64_t armed_any_ = 0;
  std::uint64_t calls_ = 0, graph_calls_ = 0, fired_ = 0, refused_returns_ = 0;
  std::optional<Function> last_fired_;
  hipGraphExec_t launched_ = nullptr;
  std::map<hipFunction_t, const KernelSpec*> kernels_;
  std::set<hipFunction_t> symbols_;
  std::vector<Chunk> chunks_;
  std::vector<Passed> passed_;
};

}  // namespace verify
