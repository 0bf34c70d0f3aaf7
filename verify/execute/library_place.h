// Which function of a user's library runs. A process that the library ends cannot tell; so it notes this in memory that
// it shares with the process that forked it. Subjects with processes of their own (rocm-soft) do not share it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace verify {

// Notes a call of the library for as long as the object lives. Calls of several threads at once overwrite each other.
class LibraryPlace {
 public:
  // `function`: a literal. `command`: the number of the command that the library is given.
  explicit LibraryPlace(const char* function, std::optional<std::size_t> command = {});
  ~LibraryPlace();
  LibraryPlace(const LibraryPlace&) = delete;
  LibraryPlace& operator=(const LibraryPlace&) = delete;

  // To be called before a fork: forgets what was noted; this process then sees what the new one notes. Without memory
  // for that, nothing is told.
  static void share();
  // " in hgcommands_update, command 2", as the process that was forked last left it; empty outside of all calls.
  [[nodiscard]] static std::string text();
};

}  // namespace verify
