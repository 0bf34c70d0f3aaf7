// The command buffer of reviewed_commands.cpp, with every finding of its review mended: correct, and it sets nodes
// instead of recording again wherever HIP has a setter.
//
// Built as a shared library against hip/patcher_abi.h only (the other headers belong to the examples);
// docs/check-your-own-patcher.md runs it.
#include "reviewed_decisions.h"

using Decisions = reviewed::Mended;

#include "reviewed_buffer.h"
