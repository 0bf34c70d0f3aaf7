// Commands of the language beyond buffers, common nodes, plain instantiation, launches, events and patches.
#pragma once

#include <type_traits>
#include <variant>

#include "verify/program/program.h"

namespace verify {

template <class C>
inline constexpr bool kIsOldGround =
    (std::is_same_v<C, DeclareBuffer> || std::is_same_v<C, DeclareGraph> || std::is_same_v<C, DeclareStream> ||
     std::is_same_v<C, DeclareEvent> || std::is_same_v<C, AddNode> || std::is_same_v<C, Instantiate> ||
     std::is_same_v<C, Launch> || std::is_same_v<C, MoveBuffers> || std::is_same_v<C, Patch> ||
     std::is_same_v<C, SetNode> || std::is_same_v<C, Update> || std::is_same_v<C, Synchronize> ||
     std::is_same_v<C, RecordEvent> || std::is_same_v<C, WaitEvent> || std::is_same_v<C, Read> ||
     std::is_same_v<C, Write> || std::is_same_v<C, Free> || std::is_same_v<C, Destroy> || std::is_same_v<C, Fail>);

// Tests that hold fixed programs to their exact outcome stay clear of it.
inline bool is_new_ground(const Command& command) {
  const bool old = std::visit([](const auto& c) { return kIsOldGround<std::decay_t<decltype(c)>>; }, command);
  if (!old) return true;
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
