// The captures that are open where a log is: the names that the language gives to their nodes, and the nodes that the
// next node of each stream waits for.
//
// A log names captured nodes only where the program asked HIP for them (hipStreamGetCaptureInfo_v2, hipGraphGetNodes).
// Both runtimes list captured nodes in the order of their capture, and so does the language count them. Nodes that were
// added by hand to the graph of a capture are said as added behind a stream that is put behind the same nodes
// (capture_after). The lines come in an order of fuzz/recorded_threads.h: several captures are open at once only where
// one thread began them or threads share a capture's stream.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/recorded_text.h"

namespace fuzz {

class RecordedCaptures {
 public:
  using Nodes = std::set<std::uint32_t>;
  // Called with the command that says the work and the stream that captures it; returns how many nodes it adds.
  using SayWork = std::function<std::uint32_t(const std::string& stream)>;

  explicit RecordedCaptures(Recording& out) : out_(out) {}
  [[nodiscard]] bool any() const { return !open_.empty(); }
  [[nodiscard]] bool capturing(std::uint64_t stream) const { return streams_.contains(stream); }
  [[nodiscard]] bool captures_into(std::uint64_t graph) const { return with_graph(graph) != nullptr; }

  // A line that begins with this verb, from its second word on.
  void line(const std::string& verb, LogWords& words);
  // hipStreamEndCapture failed: where that ends the capture, the program's capture ends, too.
  void failed_end(std::uint64_t stream, std::uint64_t status);

  // Whether the line, from its second word on, belongs to a capture whose begin could not be recorded. Such a line is
  // left out of the program, where the stream does not capture.
  [[nodiscard]] bool is_lost(const std::string& verb, LogWords words);
  // Before a line that captures work of a stream, or asks for its place.
  void settle(std::uint64_t stream);
  // `count` nodes were captured, one behind the other.
  void add(std::uint64_t stream, std::uint32_t count = 1);
  void record(std::uint64_t event, std::uint64_t stream);
  void wait(std::uint64_t stream, std::uint64_t event);
  void stream_gone(std::uint64_t stream);
  // A node that was added by hand to the graph of a capture.
  void add_by_hand(std::uint64_t node, std::uint64_t graph, const std::vector<std::uint64_t>& after,
                   const SayWork& say_work);

 private:
  // The last node that was added by hand: the stream that stands for the hand, and the nodes before it. Nothing in the
  // program has said yet that the stream goes on behind the nodes before it.
  struct ByHand {
    std::uint64_t stream = 0;
    Nodes before;
    std::uint32_t node = 0;
  };
  struct Capture {
    std::uint64_t origin = 0;  // the stream that began it
    std::uint64_t graph = 0;   // its handle, once the program asked for it
    std::string name{};        // of the graph
    bool into = false;
    std::uint32_t next = 0;                     // the number of its next node
    std::map<std::uint64_t, Nodes> behind{};    // by stream
    std::map<std::uint64_t, Nodes> recorded{};  // by event
    std::optional<ByHand> by_hand{};
  };

  void begin(LogWords& words);
  void end(LogWords& words);
  void info(LogWords& words);
  void depend(LogWords& words);
  void nodes(LogWords& words) const;
  [[nodiscard]] Capture* of(std::uint64_t stream);
  [[nodiscard]] const Capture* with_graph(std::uint64_t graph) const;
  [[nodiscard]] std::optional<Nodes> known(const Capture& capture, const std::vector<std::uint64_t>& handles) const;
  void settle(Capture& capture);
  void say_after(std::uint64_t stream, const Nodes& nodes, bool add);
  void forget(const Capture& capture);
  void forget_lost(std::uint64_t origin);

  Recording& out_;
  std::map<std::uint64_t, Capture> open_;           // by the stream that began it
  std::map<std::uint64_t, std::uint64_t> streams_;  // streams that take part -> the one that began the capture
  // The same of captures that could not be recorded, with the events that were recorded in them.
  std::map<std::uint64_t, std::uint64_t> lost_;
  std::map<std::string, std::uint32_t> captured_;  // graphs that are nothing but a capture -> how many nodes
};

}  // namespace fuzz
