// verify::OpenScene: objects for one call whose outcome no documentation names, and the judge of what happened.
//
// Such a call has a set of allowed outcomes. Either it is refused with one of its codes, and nothing that can be
// observed changes; or it succeeds and does all that it says. Whichever happens, the executable graph, or the graph,
// is launched afterwards, and the bytes are compared with those that this outcome gives. Wrong are: another
// code, success without effect, half of the effect, a refusal that changes something, a crash.
//
// A row of verify/errors/cases/open.inc makes its graphs, says the bytes of a launch before and after (`was`, `done`),
// calls ready() and then makes the call. The scene destroys all that it made.
//
// Not looked at: the parameters that an executable graph holds, which HIP cannot be asked for; whether a refused call
// is refused again.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hip/api/api.h"
#include "verify/errors/snapshot.h"

namespace verify {

class OpenScene {
 public:
  // Every call is about one block of memory. Offsets from kVariableAt on are in a variable of device code, which rows
  // of the kind kSymbolForm use.
  static constexpr std::size_t kBytes = 768, kVariableAt = kBytes, kVariableBytes = 64;
  static constexpr std::size_t kAllBytes = kBytes + kVariableBytes;

  // A copy by offsets: `height` rows of `width` bytes, which begin `pitch` bytes apart.
  struct Copy {
    std::size_t to = 0, from = 0, width = 0, height = 1, pitch = 0;
  };
  // The bytes of memory and variable as they should be: first those that the scene writes before each launch.
  class Bytes {
   public:
    Bytes();
    explicit Bytes(const std::array<unsigned char, kAllBytes>& bytes) : bytes_(bytes) {}
    void copy(const Copy& what);
    void set(std::size_t to, unsigned char value, std::size_t count);
    [[nodiscard]] const std::array<unsigned char, kAllBytes>& all() const { return bytes_; }
    bool operator==(const Bytes&) const = default;

   private:
    std::array<unsigned char, kAllBytes> bytes_{};
  };

  // `kernel`: the catalogue's count_only. `launched`: the executable graph is launched before the call. `variable`
  // stands for a variable of device code, or is null.
  OpenScene(const hip::Api& table, hipFunction_t kernel, bool launched, const void* variable = nullptr);
  OpenScene(const OpenScene&) = delete;
  OpenScene& operator=(const OpenScene&) = delete;
  ~OpenScene();

  // Objects of the scene. The nodes depend on `after`, if it is not null.
  [[nodiscard]] void* at(std::size_t offset) const {
    return offset < kVariableAt ? static_cast<std::byte*>(memory_) + offset
                                : static_cast<std::byte*>(variable_memory_) + (offset - kVariableAt);
  }
  [[nodiscard]] hipGraph_t new_graph();
  [[nodiscard]] hipGraphNode_t add_line(hipGraph_t to, const Copy& what, hipGraphNode_t after = nullptr);
  // Copies to or from the variable, where one end of `what` is, by the functions that name its symbol. The setters are
  // those of nodes in `graph` and in `exec`.
  [[nodiscard]] hipGraphNode_t add_symbol(hipGraph_t to, const Copy& what, hipGraphNode_t after = nullptr);
  [[nodiscard]] hipError_t set_symbol(hipGraphNode_t node, const Copy& what) const;
  [[nodiscard]] hipError_t set_symbol_in_exec(hipGraphNode_t node, const Copy& what) const;
  [[nodiscard]] hipGraphNode_t add_rows(hipGraph_t to, const Copy& what, hipGraphNode_t after = nullptr);
  [[nodiscard]] hipGraphNode_t add_memset(hipGraph_t to, const hipMemsetParams& what, hipGraphNode_t after = nullptr);
  [[nodiscard]] hipGraphNode_t add_child(hipGraph_t to, hipGraph_t child);
  [[nodiscard]] hipMemcpy3DParms rows(const Copy& what) const;
  [[nodiscard]] hipMemsetParams one_row(std::size_t to, unsigned char value, std::size_t width,
                                        std::size_t pitch) const;
  [[nodiscard]] hipKernelNodeParams kernel_params();
  [[nodiscard]] static hipHostNodeParams host_params();
  // Adds to the graph: allocate memory, set it to `value`, copy 32 bytes of it to offset 0, and, if `frees`, free it.
  struct Memory {
    hipMemAllocNodeParams params{};
    hipGraphNode_t alloc = nullptr, copy = nullptr, free = nullptr;
  };
  [[nodiscard]] Memory add_memory(hipGraph_t to, unsigned char value, bool frees);

  // The effect of the call shows in launches of `exec`; in launches of `graph`, instantiated after the call; or in the
  // memory as the call on the stream left it.
  enum class Effect : std::uint8_t { kExec, kGraph, kStream };
  // Makes `exec` from `graph`, unless the row did so before, and notes the state before the call.
  void make_exec();
  void ready(Effect effect);
  // Makes the call on the stream during a capture, between other work, and takes the captured graph for `graph`.
  hipError_t in_a_capture(const std::function<hipError_t()>& call);
  // Launches instead of the scene, once, and says what is wrong, or nothing; `done`: the call succeeded.
  std::function<std::string(bool done)> launch;
  [[nodiscard]] std::string launch_once(hipGraphExec_t launched);  // and waits
  [[nodiscard]] hipGraphExec_t instantiated(hipGraph_t of);
  [[nodiscard]] std::string freed(void* memory);  // by the stream, which is waited for
  // The array lives until the scene ends.
  template <class T>
  [[nodiscard]] std::span<T> keep(std::vector<T> values) {
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    kept_.push_back(kept);
    return *kept;
  }
  // The bytes of all memory of graphs in use on device 0.
  [[nodiscard]] std::size_t graph_memory() const;

  // The status of the first call that failed while the row made its objects, or hipSuccess.
  [[nodiscard]] hipError_t prepared() const { return prepared_; }
  // Whether the runtime lacks a function that a row needs besides its own.
  [[nodiscard]] bool lacking() const { return lacking_; }
  void need(bool function_exists) { lacking_ = lacking_ || !function_exists; }
  void must(hipError_t status) {
    if (prepared_ == hipSuccess) prepared_ = status;
  }
  // Says how the outcome is wrong, or nothing. `codes`: those of an allowed refusal.
  [[nodiscard]] std::string judge(hipError_t status, std::span<const hipError_t> codes);

  const hip::Api& api;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  hipGraphNode_t node_out = nullptr;
  hipGraphExecUpdateResult update_out{};
  Bytes was, done;
  int launches = 2;         // after the call: a second one may use what the first one left
  bool can_be_done = true;  // false: success has no meaning, so the call has to be refused

 private:
  [[nodiscard]] hipError_t write(const Bytes& bytes) const;
  [[nodiscard]] hipError_t read(Bytes& bytes) const;
  [[nodiscard]] Snapshot look() const;
  [[nodiscard]] Snapshot look_at_others() const;  // the graphs of the scene that are not `graph`
  [[nodiscard]] std::string launch_and_read(bool succeeded, Bytes& seen);
  [[nodiscard]] std::string bytes_wrong(bool succeeded);
  [[nodiscard]] std::string changed(bool succeeded) const;
  void note_wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

  hipFunction_t kernel_;
  bool launched_;
  const void* symbol_;
  void *memory_ = nullptr, *variable_memory_ = nullptr;
  Effect effect_ = Effect::kExec;
  std::optional<Snapshot> before_, others_before_;
  std::optional<hipError_t> last_error_;  // behind a call in a capture
  std::string wrong_;                     // the first thing that went wrong before the call was made, or in its capture
  hipError_t prepared_ = hipSuccess;
  bool lacking_ = false;
  std::vector<hipGraph_t> graphs_;
  std::vector<hipGraphExec_t> execs_;
  std::vector<std::shared_ptr<void>> kept_;
  std::uint32_t n_ = 0;  // the kernel's arguments
  std::uint64_t x_ = 0;
  std::uint8_t y_ = 0;
  std::array<void*, 3> arguments_{&n_, &x_, &y_};
};

}  // namespace verify
