#include "verify/execute/command_buffers.h"

#include <utility>

#include "hip/command_buffer.h"
#include "verify/execute/captured_launch.h"
#include "verify/execute/careful.h"
#include "verify/execute/quirk_context.h"

namespace verify {
namespace {

// What launches an executable graph of the program.
class BufferedExec final : public ExecPatcher {
 public:
  BufferedExec(Machine& machine, const ExecObject& exec)
      : exec_(exec), buffer_(machine.api, options_of(machine, exec)) {}

  hip::Status launch_on(const hip::StreamRef& stream) {
    if (other_commands_ || disabled_ != exec_.disabled) {
      buffer_.set(emptied(exec_.recording, exec_.disabled));  // a disabled node counts as an empty one
      disabled_ = exec_.disabled;
      other_commands_ = false;
    }
    const hip::Result<hip::CommandStep> done = buffer_.step(exec_.addresses, stream);
    return done ? hip::Status() : done.error();
  }
  void set() { other_commands_ = true; }

  // Never asked: the program's patches change addresses, which the buffer sees at its next step.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "a command buffer patches when it is launched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override { set(); }
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override { set(); }

 private:
  static hip::CommandBufferOptions options_of(Machine& machine, const ExecObject& exec) {
    hip::CommandBufferOptions options;
    options.device = hip::home_of(exec.recording);
    options.several_devices = machine.devices > 1;
    options.flatten = exec.id % 2 != 0;
    options.update = true;
    options.quirks = release_quirks_of(machine);
    options.memory = memory_of(machine, exec.recording);
    options.errors = {note_error, &machine};
    return options;
  }
  static void note_error(void* machine, const hip::Error&) { static_cast<Machine*>(machine)->told = true; }

  const ExecObject& exec_;
  hip::CommandBuffer buffer_;
  bool other_commands_ = true;
  std::set<hip::NodeIndex> disabled_;  // in what the buffer holds
};

// Recording the program's own executable graph again ends what launches it: the buffer lives on, with other commands.
template <class Change>
auto keeping_buffer(ExecObject& exec, const Change& change) {
  std::unique_ptr<ExecPatcher> buffer = std::move(exec.stable);
  auto result = change();
  if (buffer != nullptr) static_cast<BufferedExec&>(*buffer).set();
  exec.stable = std::move(buffer);
  return result;
}

class CommandBufferStrategy final : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  CommandBufferStrategy() : StrategyForExecs(make_careful_strategy()) {}

  PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) override {
    if (!buffered(exec.recording)) return careful().patch(machine, exec, moves);
    exec.addresses = machine.addresses;
    PatchOutcome outcome;
    outcome.in_place = false;
    return outcome;
  }
  hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) override {
    if (!buffered(exec.recording)) return careful().set(machine, exec, index, node);
    return keeping_buffer(exec, [&] { return careful().set(machine, exec, index, node); });
  }
  UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) override {
    if (!buffered(exec.recording)) return careful().update(machine, exec, graph);
    return keeping_buffer(exec, [&] { return careful().update(machine, exec, graph); });
  }
  hip::Status instantiate(Machine& machine, const GraphObject& graph, ExecObject& exec, std::string* said) override {
    hip::Status status = careful().instantiate(machine, graph, exec, said);
    if (status && buffered(graph.recording)) exec.stable = std::make_unique<BufferedExec>(machine, exec);
    return status;
  }
  hip::Status record_again(Machine& machine, ExecObject& exec) override {
    if (!buffered(exec.recording)) return careful().record_again(machine, exec);
    return keeping_buffer(exec, [&] { return careful().record_again(machine, exec); });
  }
  hip::Result<unsigned> enable(Machine& machine, ExecObject& exec, hip::NodeIndex index, bool on) override {
    return keeping_buffer(exec, [&] { return careful().enable(machine, exec, index, on); });
  }
  hip::Status launch(Machine& machine, const ExecObject& exec, const hip::StreamRef& stream) override {
    if (!buffered(exec.recording)) return careful().launch(machine, exec, stream);
    if (captures(machine, stream.handle())) return launch_as_child(machine, exec, stream);
    return static_cast<BufferedExec&>(*exec.stable).launch_on(stream);
  }

 private:
  // The same answer for as long as a program lasts: types of nodes stay.
  static bool buffered(const hip::Recording& recording) { return !recording.has_memory_nodes(); }

  // For what no command buffer launches, and for the program's own executable graphs.
  [[nodiscard]] Strategy& careful() { return for_graphs(); }
};

}  // namespace

std::unique_ptr<Strategy> make_command_buffer_strategy() {
  return std::make_unique<CommandBufferStrategy>();
}

}  // namespace verify
