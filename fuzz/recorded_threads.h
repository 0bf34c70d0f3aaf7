// The order of a log's lines where several threads called HIP.
//
// A log has the calls of all threads in the order in which they returned. While one thread captures, others may do
// things that a program may not do during a capture. Nothing that is captured runs before the capture ends, so the
// lines of other threads may as well come behind it: they are put there. Each thread keeps its order, and lines outside
// of captures keep theirs. Where a thread in a capture names an object that a held line makes or ends, or another
// thread names the stream that captures, the lines stay in the order of the log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace fuzz {

// The bytes of objects, by their handles and addresses.
using MadeObjects = std::map<std::uint64_t, std::uint64_t>;

class ThreadsOfLog {
 public:
  static constexpr std::size_t kMaxHeld = 100000;  // a capture that nobody ends does not hold lines for ever

  // `take` gets the lines in their new order, without the numbers of threads.
  explicit ThreadsOfLog(std::function<void(std::string_view)> take) : take_(std::move(take)) {}
  // Lines are views of the log, which outlives this.
  void line(std::string_view text);
  // Hands over what is held at the end of the log.
  void finish() { release(); }

 private:
  struct Line {
    std::uint64_t thread = 0;
    std::string_view text;
  };
  void order(const Line& line);
  void of_capture(const Line& line);
  [[nodiscard]] std::vector<Line> end_capture();
  void hold(const Line& line);
  void release();
  void go_on();
  [[nodiscard]] bool touches_held(std::string_view text) const;

  const std::function<void(std::string_view)> take_;
  bool capturing_ = false;
  std::uint64_t thread_ = 0, stream_ = 0;  // that captures
  std::vector<Line> held_;
  MadeObjects made_;               // by held lines
  std::set<std::uint64_t> ended_;  // handles and addresses of objects, by held lines
};

}  // namespace fuzz
