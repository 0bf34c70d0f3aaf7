// What the language says about more than buffers, common nodes, plain instantiation, launches, events and patches.
#pragma once

#include <variant>

#include "verify/program/program.h"

namespace verify {

// Tests that hold fixed programs to their exact outcome stay clear of it.
inline bool is_new_ground(const Command& command) {
  if (command.index() > Command(Fail{}).index()) return true;
  if (const auto* buffer = std::get_if<DeclareBuffer>(&command)) {
    return buffer->symbol || buffer->memory == MemoryKind::kManaged || buffer->memory == MemoryKind::kRegistered;
  }
  if (const auto* stream = std::get_if<DeclareStream>(&command)) return stream->priority != 0 || stream->per_thread;
  if (const auto* event = std::get_if<DeclareEvent>(&command)) return event->timing || event->blocking;
  if (const auto* instantiate = std::get_if<Instantiate>(&command)) return instantiate->form != InstantiateForm::kPlain;
  if (const auto* destroy = std::get_if<Destroy>(&command)) {
    return destroy->target == Target::kStream || destroy->target == Target::kEvent;
  }
  const auto new_node = [](const NodeParams& params, NodeForm form) {
    const auto* kernel = std::get_if<KernelParams>(&params);
    return form != NodeForm::kTyped || (kernel != nullptr && kernel->shared_bytes != 0) ||
           std::holds_alternative<EventRecordParams>(params) || std::holds_alternative<EventWaitParams>(params);
  };
  if (const auto* add = std::get_if<AddNode>(&command)) return new_node(add->params, add->form);
  const auto* set = std::get_if<SetNode>(&command);
  return set != nullptr && new_node(set->params, set->form);
}

}  // namespace verify
