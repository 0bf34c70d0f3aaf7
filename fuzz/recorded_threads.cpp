#include "fuzz/recorded_threads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "fuzz/recorded_work.h"

namespace fuzz {

namespace {

constexpr std::array<std::string_view, 12> kMaking = {"alloc", "adopt",       "variable",   "stream",
                                                      "event", "graph",       "node",       "clone",
                                                      "found", "instantiate", "endcapture", "module"};

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

using Made = std::pair<std::uint64_t, std::uint64_t>;  // an object and its bytes; object 0: a line makes none
Made made_by(const std::string& verb, LogWords words) {
  if (verb == "pool" || verb == "object") {
    const std::string what = words.word();
    return {what == "new" || what == "default" ? words.number() : 0, 1};
  }
  if (std::ranges::find(kMaking, verb) == kMaking.end()) return {};
  if (verb == "alloc" || verb == "endcapture") static_cast<void>(words.word());  // the kind, the stream
  const std::uint64_t object = words.number();
  return {object, verb == "alloc" || verb == "adopt" || verb == "variable" ? words.number() : 1};
}
// The object that this number names: its handle, its address or one inside of it. Or 0.
std::uint64_t object_at(const MadeObjects& objects, std::uint64_t number) {
  const auto behind = objects.upper_bound(number);
  if (behind == objects.begin()) return 0;
  const auto& [object, bytes] = *std::prev(behind);
  return number - object < bytes ? object : 0;
}

// The object that a line ends, or 0.
std::uint64_t ended_by(const std::string& verb, LogWords words) {
  if (verb == "free" || verb == "freeasync" || verb == "unload") return words.number();
  if (verb != "gone" && verb != "pool" && verb != "object") return 0;
  const std::string what = words.word();
  const std::uint64_t object = words.number();
  const bool ends = verb == "gone" || what == "destroy" || (what == "release" && words.number() == 0);  // by no graph
  return ends ? object : 0;
}

// Calls `take` for each number of a line, and for each pointer that its bytes may hold ("=20b0...", the lowest first).
template <class Take>
void each_number(LogWords words, const Take& take) {
  constexpr std::size_t kDigits = 16;
  while (!words.at_end()) {
    const std::string word = words.word();
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number, 16);
    take(number);
    if (!word.starts_with("=")) continue;
    for (std::size_t at = 1; at + kDigits <= word.size(); at += kDigits) {
      std::uint64_t value = 0;
      for (std::size_t byte = 0; byte < kDigits / 2; ++byte) {
        std::uint64_t one = 0;
        std::from_chars(word.data() + at + 2 * byte, word.data() + at + 2 * byte + 2, one, 16);
        value |= one << (8 * byte);
      }
      take(value);
    }
  }
}

}  // namespace

std::vector<std::string_view> lines_of_log(std::string_view log) {
  std::vector<std::string_view> lines;
  std::map<std::uint64_t, std::size_t> last;  // by thread
  for (std::size_t end = 0; (end = log.find('\n')) != std::string_view::npos; log.remove_prefix(end + 1)) {
    std::string_view line = log.substr(0, end);
    line.remove_prefix(line.rfind('\0') + 1);  // npos + 1 is 0: there is no zero in it
    const auto [thread, text] = thread_of(line);
    LogWords words(text);
    const auto before = last.find(thread);
    // "failed hipFree 384 kept b000" stands behind the same thread's "free b000".
    if (words.word() == "failed" && before != last.end()) {
      static_cast<void>(words.word());    // the function
      static_cast<void>(words.number());  // the status
      LogWords previous(thread_of(lines[before->second]).second);
      const std::string verb = previous.word();
      if (words.word() == "kept" && ended_by(verb, previous) == words.number()) lines[before->second] = {};
    }
    last[thread] = lines.size();
    lines.push_back(line);
  }
  std::erase(lines, std::string_view());
  return lines;
}

void ThreadsOfLog::Results::add(const Line& line) {
  if (line.made.first != 0) made.insert_or_assign(line.made.first, line.made.second);
  if (line.ended != 0) ended.insert(line.ended);
}

bool ThreadsOfLog::Results::needed_by(const Line& later) const {
  return ended.contains(later.made.first) ||
         std::ranges::any_of(later.numbers, [this](std::uint64_t number) { return object_at(made, number) != 0; });
}

void ThreadsOfLog::line(std::string_view text) {
  const auto [thread, rest] = thread_of(text);
  LogWords words(rest);
  const std::string verb = words.word();
  Line line{thread, rest, made_by(verb, words), ended_by(verb, words)};
  if (!open_.empty()) {
    each_number(words, [&](std::uint64_t number) {
      line.numbers.push_back(number);
      if (const std::uint64_t object = object_at(alive_, number); object != 0) line.uses.push_back(object);
    });
  }
  const auto [made, bytes] = line.made;
  const std::uint64_t ended = line.ended;
  order(std::move(line));
  if (made != 0) alive_[made] = bytes;
  alive_.erase(ended);
}

void ThreadsOfLog::order(Line line) {
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
  hold(std::move(line));
  if (held_.size() > kMaxHeld) release();
}

void ThreadsOfLog::begins(std::uint64_t stream) {
  open_.insert(stream);
  captured_.insert(stream);
}

void ThreadsOfLog::of_capture(const Line& line) {
  if (touches_held(line)) put_needed(line);
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
  if (line.ended != 0) {
    open_.erase(line.ended);
    captured_.erase(line.ended);
  }
  if (verb == "endcapture") open_.erase(words.number());
  if (verb == "failed" && words.word() == "hipStreamEndCapture") {
    static_cast<void>(words.number());  // the status
    open_.erase(words.number());
  }
  if (open_.empty()) go_on();
}

void ThreadsOfLog::hold(Line line) {
  used_.insert(line.uses.begin(), line.uses.end());
  results_.add(line);
  held_.push_back(std::move(line));
}

bool ThreadsOfLog::is_captured_work(const Line& line) const {
  LogWords words(line.text);
  return words.word() == "work" && captured_.contains(words.number());
}

bool ThreadsOfLog::touches_held(const Line& line) const {
  if (held_.empty()) return false;
  if (!is_captured_work(line) &&
      std::ranges::any_of(line.uses, [this](std::uint64_t object) { return used_.contains(object); }))
    return true;
  return results_.needed_by(line);
}

std::vector<ThreadsOfLog::Line> ThreadsOfLog::take_held() {
  results_ = {};
  used_.clear();
  return std::exchange(held_, {});
}

void ThreadsOfLog::put_needed(const Line& line) {
  std::vector<Line> held = take_held();
  std::vector<bool> needed(held.size());
  std::vector<Results> results(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) results[i].add(held[i]);
  std::vector<const Line*> open{&line};  // lines whose needs are still to be looked for
  while (!open.empty()) {
    const Line& later = *open.back();
    open.pop_back();
    const bool held_before = &later != &line;
    const bool captured = !held_before && is_captured_work(line);
    for (std::size_t i = 0; i < held.size() && &held[i] != &later; ++i) {
      if (needed[i]) continue;
      const Line& earlier = held[i];
      const bool same_thread = held_before && earlier.thread == later.thread;
      const bool shared = !captured && std::ranges::any_of(later.uses, [&](std::uint64_t object) {
        return std::ranges::find(earlier.uses, object) != earlier.uses.end();
      });
      if (!same_thread && !shared && !results[i].needed_by(later)) continue;
      needed[i] = true;
      open.push_back(&earlier);
    }
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (needed[i]) {
      take_(held[i].text);
    } else {
      hold(std::move(held[i]));
    }
  }
}

void ThreadsOfLog::release() {
  open_.clear();
  captured_.clear();
  for (const Line& line : take_held()) take_(line.text);
}

// A held line may begin the next capture.
void ThreadsOfLog::go_on() {
  open_.clear();
  captured_.clear();
  for (Line& line : take_held()) order(std::move(line));
}

}  // namespace fuzz
