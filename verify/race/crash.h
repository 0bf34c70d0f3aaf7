// Crashes of explored code, as results.
#pragma once

#include <csetjmp>

namespace verify::race {

// From now on crash_of() returns crashes as results. Not for builds with sanitizers, which report crashes themselves.
void catch_crashes();

namespace detail {
sigjmp_buf& crash_return();
void set_crash_expected(bool expected);
[[nodiscard]] const char* crash_text();
}  // namespace detail

// Calls `call`. Returns null, or a text for its crash. Work that a crash interrupts stays unfinished.
template <class Call>
[[nodiscard]] const char* crash_of(const Call& call) {
  if (sigsetjmp(detail::crash_return(), 0) != 0) {
    detail::set_crash_expected(false);
    return detail::crash_text();
  }
  detail::set_crash_expected(true);
  call();
  detail::set_crash_expected(false);
  return nullptr;
}

}  // namespace verify::race
