#include "verify/execute/command_buffers.h"

#include <utility>

#include "hip/command_buffer.h"
#include "verify/execute/captured_launch.h"
#include "verify/execute/careful.h"
#include "verify/execute/own_graphs.h"
#include "verify/execute/quirk_context.h"
#include "verify/execute/rebuild.h"

namespace verify {
namespace {

// Launches an executable graph of the program through a command buffer.
class BufferedExec final : public ExecPatcher {
 public:
  BufferedExec(StrategyContext& context, const ExecObject& exec)
      : exec_(exec), buffer_(context.api, options_of(context, exec)) {}

  hip::Status launch_on(StrategyContext& context, const hip::StreamRef& stream) {
    if (other_commands_ || disabled_ != exec_.disabled) {
      buffer_.set(emptied(exec_.recording, exec_.disabled));  // a disabled node counts as an empty one
      disabled_ = exec_.disabled;
      other_commands_ = false;
    }
    const hip::Result<hip::CommandStep> done = buffer_.step(exec_.addresses, stream);
    if (!done) return done.error();
    count(done.value(), context.steps);
    return {};
  }

  // Never called: the program's patches change addresses, which the buffer sees at its next step.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "a command buffer patches when it is launched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override { other_commands_ = true; }
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override { other_commands_ = true; }

 private:
  static void count(const hip::CommandStep& step, StepCounts& steps) {
    constexpr const char* kDecisions[hip::kStepDecisions] = {"launched", "set", "updated", "recorded"};
    ++steps[kDecisions[static_cast<std::size_t>(step.decision)]];
    if (step.decision == hip::StepDecision::kPatch) steps["setter calls"] += step.patched.calls;
  }
  static hip::CommandBufferOptions options_of(StrategyContext& context, const ExecObject& exec) {
    hip::CommandBufferOptions options;
    options.device = hip::home_of(exec.recording);
    options.several_devices = context.devices > 1;
    options.flatten = exec.id % 2 != 0;
    options.update = true;
    options.quirks = release_quirks_of(context);
    options.memory = memory_of(context, exec.recording);
    options.errors = {note_error, &context};
    return options;
  }
  static void note_error(void* context, const hip::Error&) {
    static_cast<StrategyContext*>(context)->error_reported = true;
  }

  const ExecObject& exec_;
  hip::CommandBuffer buffer_;
  bool other_commands_ = true;
  std::set<hip::NodeIndex> disabled_;  // the disabled nodes of the recording in the buffer
};

// Graphs with memory nodes are launched under `careful`.
class CommandBufferStrategy final : public StrategyWithStandIns {
 public:
  CommandBufferStrategy() : StrategyWithStandIns(make_careful_strategy()) {}

  hip::Status launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) override {
    if (!exec.stable) return for_graphs().launch(context, exec, stream);
    if (captures(context, stream.handle())) return launch_as_child(context, exec, stream);
    return static_cast<BufferedExec&>(*exec.stable).launch_on(context, stream);
  }

 private:
  std::unique_ptr<ExecPatcher> stand_in(StrategyContext& context, const ExecObject& exec) override {
    if (exec.recording.has_memory_nodes()) return nullptr;
    return std::make_unique<BufferedExec>(context, exec);
  }
};

}  // namespace

std::unique_ptr<Strategy> make_command_buffer_strategy() {
  return std::make_unique<CommandBufferStrategy>();
}

}  // namespace verify
