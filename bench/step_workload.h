// The workload of the step benchmarks: the commands of a training step, each a library call that is traced, over
// buffers that move from step to step.
//
//   mlp               8 layers: products, biases, their gradients, an update; every activation, gradient, input and
//                     output is elsewhere at each step, parameters stay.
//   mlp_collectives   the same with one reduction over the ranks a layer, between gradient and update.
//   fsdp              8 transformer layers with sharded parameters: 728 commands, 216 of them collectives (parameters
//                     gathered forwards and backwards, gradients scattered). Of the buffers so many move that one
//                     command in ten changes.
//   pairs             any number of commands, each with an input and an output of its own; of some commands both move.
//
// A command enqueues one kernel of the project (integers, 64 elements a buffer). A collective is such a kernel too: it
// does one rank's part, with the buffers of the rank's peers mapped here. The lists are the same on every machine.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hip/relocation.h"

namespace bench {

enum class StepModel : std::uint8_t { kMlp, kMlpCollectives, kFsdp };
inline constexpr StepModel kStepModels[] = {StepModel::kMlp, StepModel::kMlpCollectives, StepModel::kFsdp};
[[nodiscard]] std::string_view name_of(StepModel model);

inline constexpr std::uint32_t kSide = 8;  // of the matrices
inline constexpr std::uint32_t kElements = kSide * kSide;
inline constexpr std::uint32_t kStepBufferBytes = kElements * sizeof(std::uint32_t);

enum class BufferRole : std::uint8_t {
  kParameter,  // outlives the step
  kInput,      // read by it
  kOutput,     // written by it as a whole
  kTemporary,  // not visible outside
};

// out = left * right; out = combination of three; parameter -= gradient
enum class CommandKind : std::uint8_t { kProduct, kCombine, kUpdate };

struct StepCommand {
  CommandKind kind = CommandKind::kProduct;
  std::vector<hip::BufferIndex> buffers;  // in the order of the kernel's pointers; the first is written
  bool collective = false;
};

struct StepWorkload {
  std::vector<BufferRole> buffers;
  std::vector<StepCommand> commands;
  std::vector<bool> moves;                        // buffers that are elsewhere at every other step
  std::uint64_t buffer_bytes = kStepBufferBytes;  // of each buffer; commands use the first kStepBufferBytes

  // Commands that hold a buffer that moves.
  [[nodiscard]] std::uint32_t commands_that_change() const;
  [[nodiscard]] bool changes(const StepCommand& command) const;
};

[[nodiscard]] StepWorkload make_step_workload(StepModel model);
struct StepPairs {
  std::uint32_t commands = 16;
  std::uint32_t moved_percent = 100;  // of the commands, spread over the step; at least one
  std::uint64_t buffer_bytes = kStepBufferBytes;
  auto operator<=>(const StepPairs&) const = default;
};
[[nodiscard]] StepWorkload make_step_workload(const StepPairs& pairs);

}  // namespace bench
