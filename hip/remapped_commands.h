// hip::RemappedCommands: a command buffer whose buffers keep their addresses, while each step maps the physical memory
// that the caller's allocator chose under them.
//
// It is a hip::CommandBuffer for each set of addresses of hip::RemappedBuffers. All of what a command buffer does is
// there: traced commands, quirks of the release, collectives. A set's commands are recorded at its first step and after
// set(); after that its steps launch, whatever memory they map. After clear() or a failure that replaced addresses,
// the set's next step patches or records, as for any buffers that moved.
//
// A step is as of RemappedBuffers::step and then of CommandBuffer::step, with the errors of both. A collective's ranks
// may have one agreement for both (RemappedBuffersOptions::ranks and CommandBufferOptions::ranks): a step comes to the
// mappings' two rounds and then to those of its collectives.
//
// Ownership: memory is the caller's, as for RemappedBuffers. Threads: one at a time, as for a command buffer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hip/command_buffer.h"
#include "hip/remapped_buffers.h"

namespace hip {

class RemappedCommands {
 public:
  // `buffers`: by the buffer index that the commands use. The two options name the same device.
  RemappedCommands(const Api& api, std::vector<RemappedBuffer> buffers, const RemappedBuffersOptions& mapping = {},
                   const CommandBufferOptions& commands = {});
  RemappedCommands(const RemappedCommands&) = delete;
  RemappedCommands& operator=(const RemappedCommands&) = delete;
  // Waits for the last steps, as the destructors of both classes do.
  ~RemappedCommands() = default;

  // Sets the commands for the next step and those after it. The addresses in the recording do not matter: fields that
  // relocations name get the set's.
  void set(const Recording& commands);
  // Maps one memory for each buffer and launches the commands. The answer is the command buffer's.
  [[nodiscard]] Result<CommandStep> step(std::span<const PhysicalMemory> memories, const StreamRef& stream);

  // The mappings: holds(), withdraw(), clear(), counts(). Its step() is not for callers.
  [[nodiscard]] RemappedBuffers& mappings() { return mappings_; }
  // Counts of the steps on the addresses of one set, 0 or 1.
  [[nodiscard]] const CommandBufferCounts& counts(std::size_t set) const { return works_.buffers.at(set).counts(); }

 private:
  struct Works final : RemappedWork {
    Works(const Api& api, const CommandBufferOptions& options)
        : buffers{CommandBuffer(api, options), CommandBuffer(api, options)} {}
    Status record(std::size_t set, std::span<void* const> addresses) override;
    Status launch(std::size_t set, const StreamRef& stream) override;

    std::array<CommandBuffer, RemappedBuffers::kSets> buffers;
    std::array<std::vector<DeviceAddress>, RemappedBuffers::kSets> addresses;
    std::optional<CommandStep> done;  // what the last launch did
  };

  RemappedBuffers mappings_;
  Works works_;  // destroyed first: its launches use the mappings
};

}  // namespace hip
