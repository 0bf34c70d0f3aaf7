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

  hip::Status launch_on(const hip::StreamRef& stream) {
    if (other_commands_ || disabled_ != exec_.disabled) {
      buffer_.set(emptied(exec_.recording, exec_.disabled));  // a disabled node counts as an empty one
      disabled_ = exec_.disabled;
      other_commands_ = false;
    }
    const hip::Result<hip::CommandStep> done = buffer_.step(exec_.addresses, stream);
    return done ? hip::Status() : done.error();
  }

  // Never called: the program's patches change addresses, which the buffer sees at its next step.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "a command buffer patches when it is launched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override { other_commands_ = true; }
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override { other_commands_ = true; }

 private:
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

class CommandBufferStrategy final : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  CommandBufferStrategy() : StrategyForExecs(make_careful_strategy()) {}

  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    if (!buffered(exec.recording)) return careful().patch(context, exec, moves);
    exec.addresses = context.addresses;
    PatchOutcome outcome;
    outcome.in_place = false;
    return outcome;
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    if (!buffered(exec.recording)) return careful().set(context, exec, index, node);
    return keeping_stable(exec, [&] { return careful().set(context, exec, index, node); });
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    if (!buffered(exec.recording)) return careful().update(context, exec, graph);
    return keeping_stable(exec, [&] { return careful().update(context, exec, graph); });
  }
  hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                          std::string* said) override {
    hip::Status status = careful().instantiate(context, graph, exec, said);
    if (status && buffered(graph.recording)) exec.stable = std::make_unique<BufferedExec>(context, exec);
    return status;
  }
  hip::Status record_again(StrategyContext& context, ExecObject& exec) override {
    if (!buffered(exec.recording)) return careful().record_again(context, exec);
    return keeping_stable(exec, [&] { return careful().record_again(context, exec); });
  }
  hip::Result<unsigned> enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on) override {
    return keeping_stable(exec, [&] { return careful().enable(context, exec, index, on); });
  }
  hip::Status launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) override {
    if (!buffered(exec.recording)) return careful().launch(context, exec, stream);
    if (captures(context, stream.handle())) return launch_as_child(context, exec, stream);
    return static_cast<BufferedExec&>(*exec.stable).launch_on(stream);
  }

 private:
  // Whether a command buffer launches the graph. The answer never changes within a program, because the types of nodes
  // stay.
  static bool buffered(const hip::Recording& recording) { return !recording.has_memory_nodes(); }

  // For graphs that no command buffer launches, and for the program's own executable graphs.
  [[nodiscard]] Strategy& careful() { return for_graphs(); }
};

}  // namespace

std::unique_ptr<Strategy> make_command_buffer_strategy() {
  return std::make_unique<CommandBufferStrategy>();
}

}  // namespace verify
