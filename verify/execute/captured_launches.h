// Launches of an executable graph into captures, where what is launched otherwise is not recorded as the program said.
//
// A capture keeps what it captures, and programs look into it: such a launch is one of a graph that is recorded for it
// as the executable graph's own recording is, at the program's addresses. What is launched so is kept until this ends:
// releases of AMD's runtime run it instead of capturing it (launch-while-capturing).
#pragma once

#include <utility>
#include <vector>

#include "verify/execute/objects.h"

namespace verify {

// Whether the stream captures.
[[nodiscard]] bool captures(const Machine& machine, hipStream_t stream);
// What such a launch is documented to capture, on any release: a child graph node. Programs launch nothing with
// disabled nodes into a capture: what becomes of those is not documented.
[[nodiscard]] hip::Status launch_as_child(Machine& machine, const ExecObject& exec, hipStream_t stream);

class CapturedLaunches {
 public:
  explicit CapturedLaunches(Machine& machine) : machine_(machine) {}
  CapturedLaunches(const CapturedLaunches&) = delete;
  CapturedLaunches& operator=(const CapturedLaunches&) = delete;
  ~CapturedLaunches();

  [[nodiscard]] hipError_t launch(const ExecObject& exec, hipStream_t stream);

 private:
  void drop(hipGraphExec_t exec, hipGraph_t graph) const;

  Machine& machine_;
  std::vector<std::pair<hipGraphExec_t, hipGraph_t>> kept_;
};

}  // namespace verify
