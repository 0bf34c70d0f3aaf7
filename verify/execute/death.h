// How a process ended before it had done its work. Code reads the kind; people read the text.
#pragma once

#include <cstdint>
#include <string>

namespace verify {

struct Death {
  enum class Kind : std::uint8_t {
    kSignal,  // `number` is the signal
    kExit,    // `number` is the exit status
    kHung,    // there was no answer in time
    kOther,   // `detail` says what happened
  };
  Kind kind = Kind::kOther;
  int number = 0;
  std::string detail{};

  // "killed by signal 11 (Segmentation fault)", "exit status 3", "hung: <detail>", "<detail>".
  [[nodiscard]] std::string text() const;
};

// How a process died, by its status from waitpid.
[[nodiscard]] Death death_of(int wait_status);

}  // namespace verify
