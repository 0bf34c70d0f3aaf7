// The parts of a watched call that all wrappers share.
#pragma once

#include <string_view>

namespace hip::recorder {

// Counts the watched calls that this thread is in: calls that HIP's library makes to its own functions are not logged.
struct Depth {
  static inline thread_local int now = 0;
  Depth() { ++now; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --now; }
};

// Functions that only query, or whose effects no program can show.
inline bool only_asks(std::string_view name) {
  for (const std::string_view word :
       {"Get", "Query", "IsCapturing", "hipInit", "PeekAtLastError", "hipSetDevice", "CanAccessPeer", "DebugDotPrint",
        "ElapsedTime", "Occupancy", "ApiName", "NameRef", "ChannelDesc", "Profiler", "ChooseDevice"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace hip::recorder
