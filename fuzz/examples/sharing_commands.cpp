// An example of a user's command buffer that is right as long as one thread at a time calls it: mended_commands.cpp
// with one fault.
//
// Its author believed: HIP copies a kernel's arguments before the setter returns, so one block for arguments serves all
// setters of the library.
//
// The mistake, found from outside: each device has a thread and an object of its own, and while one thread is inside a
// setter, another one packs its arguments into the same block. A rank's node gets the buffers of another rank (C6).
//
// Built as a shared library against hip/patcher_abi.h only (the other headers belong to the examples);
// docs/check-your-own-patcher.md runs it.
#include "reviewed_decisions.h"

namespace {

reviewed::Bytes shared_block;  // of the setter that runs

}  // namespace

struct Decisions : reviewed::Mended {
  static reviewed::Parameters passed(const reviewed::Parameters& next) {
    reviewed::Parameters taken = next;
    const unsigned char* const arguments = next.kernel.arguments.at.get();
    shared_block.assign(arguments, arguments + next.kernel.arguments.bytes);
    taken.kernel.arguments.at = {std::shared_ptr<const unsigned char>(), shared_block.data()};
    return taken;
  }
};

#include "reviewed_buffer.h"
