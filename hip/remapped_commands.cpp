#include "hip/remapped_commands.h"

#include <utility>

namespace hip {

RemappedCommands::RemappedCommands(const Api& api, std::vector<RemappedBuffer> buffers,
                                   const RemappedBuffersOptions& mapping, const CommandBufferOptions& commands)
    : mappings_(api, std::move(buffers), mapping), works_(api, commands) {}

void RemappedCommands::set(const Recording& commands) {
  for (CommandBuffer& buffer : works_.buffers) buffer.set(commands);
}

Result<CommandStep> RemappedCommands::step(std::span<const PhysicalMemory> memories, const StreamRef& stream) {
  works_.done.reset();
  const Result<RemappedStep> stepped = mappings_.step(memories, stream, works_);
  if (!stepped) return stepped.error();
  return *works_.done;
}

// Commands are recorded when they are launched, for these addresses.
Status RemappedCommands::Works::record(std::size_t set, std::span<void* const> at) {
  addresses[set].clear();
  for (void* address : at) addresses[set].push_back(reinterpret_cast<DeviceAddress>(address));
  return {};
}

Status RemappedCommands::Works::launch(std::size_t set, const StreamRef& stream) {
  Result<CommandStep> stepped = buffers[set].step(addresses[set], stream);
  if (!stepped) return stepped.error();
  done = std::move(stepped).value();
  return {};
}

}  // namespace hip
