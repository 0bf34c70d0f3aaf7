// The command buffer of the study that hgcheck began with, as it was before its review: with every finding
// (reviewed_faults.h lists them), or with the one that REVIEWED_FAULT names when this file is compiled.
// mended_commands.cpp is the same library without them.
//
// Built as a shared library against hip/patcher_abi.h only (the other headers belong to the examples);
// docs/check-your-own-patcher.md runs it.
#include "reviewed_faults.h"

#ifdef REVIEWED_FAULT
using Decisions = reviewed::REVIEWED_FAULT<reviewed::Mended>;
#else
using Decisions = reviewed::AsReviewed;
#endif

#include "reviewed_buffer.h"
