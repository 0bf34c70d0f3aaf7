// From the log of libhgrecorder.so (hip/recorder/log.h) to a program.
//
// A call that the language cannot express is counted and stays in the program as a comment that begins with
// "not recorded:" and says why; so does a command that is not valid in its place (an object that it needs was not
// recorded, say). A kernel of another code object than the project's is written as NAME@CODE_OBJECT. Calls of several
// threads are in the order in which they returned, but for captures (fuzz/recorded_threads.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/program/environment.h"

namespace fuzz {

// The bytes that a copy to the host brought when it was recorded.
struct RecordedBytes {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0, hash = 0;  // hip/recorder/hash.h
};

struct RecordedProgram {
  std::string text;
  std::size_t commands = 0;                         // lines that are not comments
  std::map<std::string, std::size_t> not_recorded;  // why -> how often
  std::map<std::uint32_t, RecordedBytes> reads;     // by the line of the text that reads them again
};

// The code objects of the log's kernels have to be known (verify/language/foreign_kernels.h); a kernel of an unknown
// code object is not recorded. `log` may hold unfinished lines, since the process that wrote it may have crashed.
// `header`: comment lines of the program. `environment`: the settings of the runtime that the process had.
[[nodiscard]] RecordedProgram program_of_log(const std::string& log, const std::vector<std::string>& header,
                                             const verify::Environment& environment = {});

}  // namespace fuzz
