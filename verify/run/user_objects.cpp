#include "verify/run/user_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace verify {

namespace {

// The longest wait for a leaked object's function: it is short, because shrinking a program runs hundreds of programs.
constexpr std::chrono::milliseconds kLate(500), kPause(1);

}  // namespace

UserObjects::Object* UserObjects::find(Id id) {
  const auto found = objects_.find(id);
  return found == objects_.end() ? nullptr : &found->second;
}

std::string UserObjects::gone() {
  std::string text;
  for (auto& [id, object] : objects_) {
    const std::uint32_t runs = object.runs.load();
    for (; object.reported < runs; ++object.reported) text += fmt::format("{}u{} went", text.empty() ? "" : ", ", id);
  }
  return text;
}

// hipUserObjectNoDestructorSync: HIP does not say when the function runs. Release 7.2.4 leaves it to its signal thread
// where the executable graph that held the object was launched last, and a wait for the device may return before the
// function runs.
void UserObjects::wait_for_late_functions() {
  const auto waiting = [](const auto& entry) { return entry.second.runs.load() == 0; };
  for (std::chrono::milliseconds slept(0); slept < kLate; slept += kPause) {
    if (std::ranges::none_of(objects_, waiting)) return;
    hip::sync::sleep_for(kPause);
  }
}

std::string UserObjects::finish() {
  for (auto& [id, object] : objects_) {
    for (; object.held > 0; --object.held) {
      if (context_.api.hipUserObjectRelease(object.handle, 1) != hipSuccess) return fmt::format("u{} not released", id);
    }
  }
  wait_for_late_functions();
  for (auto& [id, object] : objects_) {
    if (object.runs.load() != 1) return fmt::format("the function of u{} ran {} times", id, object.runs.load());
  }
  return {};
}

}  // namespace verify
