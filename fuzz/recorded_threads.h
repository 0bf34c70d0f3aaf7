// The order of a log's lines where several threads called HIP.
//
// A log has the calls of all threads in the order in which they returned. While one thread captures, others may do
// things that a program may not do during a capture. Nothing that is captured runs before the capture ends, so the
// lines of other threads may as well come behind it: they are put there. Each thread keeps its order, and lines outside
// of captures keep theirs. A line that is put behind is held until then.
// - If a line of the capturing thread names an object that a held line makes, or makes one at an address that a held
//   line frees, that held line comes before it. So it does if both name the same object, unless the capturing thread's
//   line is work that is captured. With a held line come the earlier ones of its thread, and those that it needs in the
//   same way.
// - If another thread names a stream or an event of the capture, the order from there to the next capture is the log's.
//   Streams join a capture by waiting for its events. A thread may begin a capture while it captures: lines are held
//   until both have ended.
//
// Not checked: memory that a graph uses when it is launched, since a launch names only the executable graph, and
// objects that the log does not make. Where hipStreamEndCapture fails, the capture of that stream counts as ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace fuzz {

// The lines of a log. The ends of objects are left out where HIP refused them.
std::vector<std::string_view> lines_of_log(std::string_view log);

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
    std::pair<std::uint64_t, std::uint64_t> made;  // the object that it makes, or 0, and its bytes
    std::uint64_t ended = 0;                       // the object that it ends, or 0
    // Both only if a capture was open when it was logged:
    std::vector<std::uint64_t> numbers{};  // all that it names, and the pointers in its bytes
    std::vector<std::uint64_t> uses{};     // the objects that these were then
  };
  // The objects that lines make, and the handles and addresses of those that they end.
  struct Results {
    MadeObjects made{};
    std::set<std::uint64_t> ended{};
    void add(const Line& line);
    // Whether the later line names an object that these lines make, or makes one where they end one.
    [[nodiscard]] bool needed_by(const Line& later) const;
  };

  void order(Line line);
  void of_capture(const Line& line);
  void begins(std::uint64_t stream);
  void hold(Line line);
  [[nodiscard]] std::vector<Line> take_held();
  void put_needed(const Line& line);
  void release();
  void go_on();
  [[nodiscard]] bool touches_held(const Line& line) const;
  [[nodiscard]] bool is_captured_work(const Line& line) const;

  const std::function<void(std::string_view)> take_;
  std::uint64_t thread_ = 0;          // that captures
  std::set<std::uint64_t> open_;      // the streams on which it has begun a capture and not ended it
  std::set<std::uint64_t> captured_;  // these, the streams that joined, and the events that were recorded in a capture
  MadeObjects alive_;                 // where the log is
  std::vector<Line> held_;
  Results results_;               // of held lines
  std::set<std::uint64_t> used_;  // objects that held lines name
};

}  // namespace fuzz
