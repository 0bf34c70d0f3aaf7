// Eager work and stream capture of a program as HIP calls: what begins and ends a capture, what is asked of streams and
// events, and which variables the nodes of a capture have.
//
// Handles of captured nodes are asked of the runtime behind each call that captures, and only in a file that uses them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "reports/reproducer_nodes.h"
#include "reports/reproducer_text.h"
#include "verify/program/state.h"

namespace reports {

class ReproducerCaptures {
 public:
  ReproducerCaptures(ReproducerText& text, ReproducerNodes& nodes, const verify::Program& program);

  // Whether the program captures at all.
  [[nodiscard]] bool any() const { return any_; }
  // What the file has to declare of a capture's graph; nothing when it captures into a graph that is there.
  [[nodiscard]] static bool declares_graph(const verify::Program& program, verify::Id graph);

  void enqueue(const verify::State& after, const verify::Enqueue& c, const ExpectedStatus& expected);
  // Behind a call that may have given a capture its next node.
  void captured(const verify::State& before, const verify::State& after, verify::Id stream);
  void query(const verify::Query& c, const ExpectedStatus& expected);
  void elapsed(const verify::Elapsed& c, const ExpectedStatus& expected);
  void unsafe(const verify::UnsafeCall& c, const ExpectedStatus& expected);
  // `into`: the graph that is captured into, or null.
  void begin(const verify::State& after, const verify::BeginCapture& c, const GraphNames* into,
             const ExpectedStatus& expected);
  // The names of the graph that the capture became, or nothing: it failed.
  std::optional<GraphNames> end(const verify::State& before, const verify::State& after, const verify::EndCapture& c,
                                const ExpectedStatus& expected);
  // Whether all that the command answers beside its status is checked where it has to be.
  bool info(const verify::CaptureInfo& c, const ExpectedStatus& expected);
  void change(const verify::State& before, const verify::CaptureAfter& c, const ExpectedStatus& expected);
  void exchange(const verify::ExchangeCaptureMode& c, const ExpectedStatus& expected);
  // Ends what is still open, whatever that answers: memory is read behind it.
  void abandon(const verify::State& after);

 private:
  ReproducerText& text_;
  ReproducerNodes& nodes_;
  bool any_ = false, uses_handles_ = false;
  std::map<std::uint64_t, GraphNames> open_;  // by the serial of a capture
  unsigned locals_ = 0;
};

// The variable of a stream.
[[nodiscard]] std::string stream_name(verify::Id id);

}  // namespace reports
