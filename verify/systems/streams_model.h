// The sequential model of hip::Stream, hip::Event and hip::CurrentStream: the promises of streams and events about
// order.
//
// Every piece of work has a number, and a set of numbers of work that must be done before it: the earlier work of its
// stream, the work that its stream was told to wait for, and, between the default stream and the blocking streams of
// its device, all work of the other side. Every stream has the set of work that it stands behind; synchronising with
// the stream waits for that set. A set is a 64-bit word.
//
// The model has order only: no time, and nothing about when work runs if nobody waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "verify/commands/systems/systems.h"

namespace verify {

class StreamsModel {
 public:
  using Set = std::uint64_t;  // bit n: work n
  static constexpr Set bit(int work) { return Set{1} << work; }

  void make(int stream, int device, bool blocking) { at(stream) = {true, device, blocking, 0}; }
  // The work of a stream that is destroyed is finished first.
  void drop(int stream) { at(stream).alive = false; }
  // The number of the work that is given to the stream.
  int work(int stream) {
    const int number = works_++;
    before_[static_cast<std::size_t>(number)] = behind(stream);
    at(stream).behind = behind(stream) | bit(number);
    return number;
  }
  [[nodiscard]] Set before(int work) const { return before_[static_cast<std::size_t>(work)]; }
  // The work that must be done when a synchronisation with that stream returns.
  [[nodiscard]] Set waited_for(int stream) const { return streams_[static_cast<std::size_t>(stream)].behind; }
  void record(int event, int stream) {
    at(stream).behind = behind(stream);
    events_[static_cast<std::size_t>(event)] = at(stream).behind;
  }
  // A wait for an event that is done is no operation, so a blocking stream may stay idle beside work of the default
  // stream: an H200 and 6.4 answer so. It is not known here whether the event is done.
  void wait(int stream, int event) { at(stream).behind |= waited_for_event(event); }
  // The work that must be done when a wait for the event returns: none, when the event was never recorded.
  [[nodiscard]] Set waited_for_event(int event) const {
    return events_[static_cast<std::size_t>(event)].value_or(Set{0});
  }
  // The event is made anew, so it was never recorded.
  void forget(int event) { events_[static_cast<std::size_t>(event)].reset(); }

  // The calling thread's current stream.
  void enter(int stream) { scopes_.push_back(stream); }
  void leave() { scopes_.pop_back(); }
  [[nodiscard]] std::optional<int> current() const {
    return scopes_.empty() ? std::nullopt : std::optional<int>(scopes_.back());
  }

 private:
  struct Stream {
    bool alive = false;
    int device = 0;
    bool blocking = true;
    Set behind = 0;
  };
  Stream& at(int stream) { return streams_[static_cast<std::size_t>(stream)]; }
  // Stream 0 is the default stream of device 0.
  [[nodiscard]] Set behind(int stream) const {
    const Stream& self = streams_[static_cast<std::size_t>(stream)];
    Set set = self.behind;
    if (!self.blocking || self.device != 0) return set;
    if (stream != 0) return set | streams_[0].behind;
    for (const Stream& other : streams_) {
      if (other.alive && other.blocking && other.device == 0) set |= other.behind;
    }
    return set;
  }

  std::array<Stream, kSystemStreams> streams_{{{true, 0, true, 0}}};
  std::array<std::optional<Set>, kSystemEvents> events_{};
  std::array<Set, kMaxStreamWorks> before_{};
  int works_ = 0;
  std::vector<int> scopes_;
};

}  // namespace verify
