#include "verify/generate/names.h"

#include <algorithm>
#include <cassert>

#include "verify/program/each_command.h"

namespace verify {

namespace {

// The memory of an allocation node: the only object that a command makes without a name field for it.
void use_memory(NextNames& next, const Command& command) {
  const auto* const node = std::get_if<AddNode>(&command);
  const auto* const memory = node == nullptr ? nullptr : std::get_if<MemoryAllocParams>(&node->params);
  if (memory != nullptr) next.buffer = std::max(next.buffer, memory->buffer + 1);
}

// The fields that may make an object are names; no other type of field does.
template <class C>
struct UsedName {
  const C& c;
  NextNames& next;

  void operator()(const FieldOf<NameField> auto& f) const {
    if (!f.met.is_made) return;
    Id& counter = next.of(f.letter);
    counter = std::max(counter, value_at(f.at, c) + 1);
  }
};

}  // namespace

Id& NextNames::of(char letter) {
  switch (letter) {
    case 'b':
      return buffer;
    case 'g':
      return graph;
    case 'e':
      return exec;
    case 's':
      return stream;
    case 'v':
      return event;
    case 'p':
      return pool;
    default:
      assert(letter == 'u');
      return object;
  }
}

void NextNames::use(const Command& command) {
  use_memory(*this, command);
  std::visit(
      [this]<class C>(const C& c) {
        if constexpr (kIsDeclared<C>) {
          for_each_field<C>([&]<class Field>(const Field& field) {
            if constexpr (FieldOf<Field, NameField>) UsedName<C>{c, *this}(field);
          });
        }
      },
      command);
}

}  // namespace verify
