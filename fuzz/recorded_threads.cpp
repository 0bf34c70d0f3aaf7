#include "fuzz/recorded_threads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "fuzz/recorded_work.h"

namespace fuzz {

namespace {

constexpr std::array<std::string_view, 10> kMaking = {"alloc", "adopt", "stream", "event",       "graph",
                                                      "node",  "clone", "found",  "instantiate", "endcapture"};

// "@ 2 work ...": a line of thread 2. Lines of the first thread have no number.
std::pair<std::uint64_t, std::string_view> thread_of(std::string_view text) {
  constexpr std::string_view kMark = "@ ";
  std::uint64_t thread = 0;
  if (!text.starts_with(kMark)) return {thread, text};
  text.remove_prefix(kMark.size());
  const std::size_t space = std::min(text.find(' '), text.size());
  std::from_chars(text.data(), text.data() + space, thread, 16);
  return {thread, text.substr(std::min(space + 1, text.size()))};
}

struct Made {
  std::uint64_t object = 0, bytes = 1;  // object 0: a line makes none
};
Made made_by(const std::string& verb, LogWords words) {
  if (std::ranges::find(kMaking, verb) == kMaking.end()) return {};
  if (verb == "alloc" || verb == "endcapture") static_cast<void>(words.word());  // the kind, the stream
  Made made{words.number()};
  if (verb == "alloc" || verb == "adopt") made.bytes = words.number();
  return made;
}
bool has(const MadeObjects& made, std::uint64_t number) {
  const auto behind = made.upper_bound(number);
  return behind != made.begin() && number - std::prev(behind)->first < std::prev(behind)->second;
}

// The object that a line ends, or 0.
std::uint64_t ended_by(const std::string& verb, LogWords words) {
  if (verb == "gone") static_cast<void>(words.word());
  return verb == "free" || verb == "gone" ? words.number() : 0;
}

// Whether bytes, in hexadecimal from the lowest byte on, hold a pointer to one of these objects.
bool points_at(const MadeObjects& made, std::string_view hex) {
  constexpr std::size_t kDigits = 16;
  for (std::size_t at = 0; at + kDigits <= hex.size(); at += kDigits) {
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < kDigits / 2; ++byte) {
      std::uint64_t one = 0;
      std::from_chars(hex.data() + at + 2 * byte, hex.data() + at + 2 * byte + 2, one, 16);
      value |= one << (8 * byte);
    }
    if (has(made, value)) return true;
  }
  return false;
}

}  // namespace

void ThreadsOfLog::line(std::string_view text) {
  const auto [thread, rest] = thread_of(text);
  order({thread, rest});
}

void ThreadsOfLog::order(const Line& line) {
  LogWords words(line.text);
  const std::string verb = words.word();
  if (open_.empty()) {
    take_(line.text);
    thread_ = line.thread;
    if (verb == "capture") begins(words.number());
    return;
  }
  // The memory that the host wrote is compared at every call, whichever thread wrote it.
  if (line.thread == thread_ && verb != "host") return of_capture(line);
  while (!words.at_end()) {
    if (!captured_.contains(words.number())) continue;
    release();
    return take_(line.text);
  }
  hold(line);
  if (held_.size() > kMaxHeld) release();
}

void ThreadsOfLog::begins(std::uint64_t stream) {
  open_.insert(stream);
  captured_.insert(stream);
}

void ThreadsOfLog::of_capture(const Line& line) {
  if (touches_held(line.text)) put_held();
  take_(line.text);
  LogWords words(line.text);
  const std::string verb = words.word();
  if (verb == "capture") return begins(words.number());
  if (verb == "record") {
    const std::uint64_t event = words.number();
    if (captured_.contains(words.number())) {
      captured_.insert(event);
    } else {
      captured_.erase(event);
    }
  }
  if (verb == "wait") {
    const std::uint64_t stream = words.number();
    if (captured_.contains(words.number())) captured_.insert(stream);
  }
  if (const std::uint64_t ended = ended_by(verb, words); ended != 0) {
    open_.erase(ended);
    captured_.erase(ended);
  }
  if (verb == "endcapture") open_.erase(words.number());
  // The line does not say which stream could not end its capture.
  if (open_.empty() || (verb == "failed" && words.word() == "hipStreamEndCapture")) go_on();
}

void ThreadsOfLog::hold(const Line& line) {
  held_.push_back(line);
  LogWords words(line.text);
  const std::string verb = words.word();
  if (const Made made = made_by(verb, words); made.object != 0) made_[made.object] = made.bytes;
  if (const std::uint64_t ended = ended_by(verb, words); ended != 0) ended_.insert(ended);
}

bool ThreadsOfLog::touches_held(std::string_view text) const {
  LogWords words(text);
  const std::string verb = words.word();
  if (ended_.contains(made_by(verb, words).object)) return true;
  while (!words.at_end()) {
    const std::string word = words.word();
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number, 16);
    if (has(made_, number) || (word.starts_with("=") && points_at(made_, std::string_view(word).substr(1))))
      return true;
  }
  return false;
}

std::vector<ThreadsOfLog::Line> ThreadsOfLog::take_held() {
  made_.clear();
  ended_.clear();
  return std::exchange(held_, {});
}

void ThreadsOfLog::put_held() {
  for (const Line& line : take_held()) take_(line.text);
}

void ThreadsOfLog::release() {
  open_.clear();
  captured_.clear();
  put_held();
}

// A held line may begin the next capture.
void ThreadsOfLog::go_on() {
  open_.clear();
  captured_.clear();
  for (const Line& line : take_held()) order(line);
}

}  // namespace fuzz
