// hip::slots_of: the arguments of a kernel as its code object's metadata has them, kinds included, for
// hip::KernelLayouts.
//
// Header only, so that hip/ itself reads no code objects: its users need the library hip/code_object as well
// (hgcheck::code_object of the package). Hidden arguments are left out: the runtime fills them in.
#pragma once

#include <vector>

#include "hip/code_object/code_object.h"
#include "hip/recording.h"

namespace hip {

[[nodiscard]] inline std::vector<ArgumentSlot> slots_of(const code_object::KernelMetadata& kernel) {
  std::vector<ArgumentSlot> slots;
  for (const code_object::Argument& argument : kernel.arguments) {
    if (argument.kind == code_object::ArgumentKind::kHidden) continue;
    const ArgumentKind kind = argument.kind == code_object::ArgumentKind::kPointer ? ArgumentKind::kPointer
                              : argument.kind == code_object::ArgumentKind::kValue ? ArgumentKind::kValue
                                                                                   : ArgumentKind::kUnknown;
    slots.push_back({argument.offset, argument.size, kind});
  }
  return slots;
}

}  // namespace hip
