// race::FakeHip: a light HIP for scenarios, which keeps an exact account of handles.
//
// Streams, events and memory are entries of fixed tables, so a run starts with empty tables at no cost. Work takes no
// time and is never done by itself: a stream is busy from the call that gave it work until a thread synchronises with
// it. Every call about a handle is a point at which another thread may run. The referee is told of handles that are
// used or destroyed after their destruction (C2), streams that are queried while another device is current (C1), and
// objects left at the end (C2). Handle 0 is the default stream of the current device. Several threads may call it.
//
// Under stress it may stand in front of a real runtime (forward_to). The account is the same, every call goes on to the
// runtime, and the runtime's answers count. A stream is still busy until a thread synchronises with it. Its two devices
// are two devices of the runtime, or both are the runtime's only device.
//
// Missing (null in the table): graphs, capture, loading of modules, pools. Kernels do nothing; device addresses must
// not be dereferenced.
#pragma once

#include "hip/api/api.h"
#include "verify/race/scenario.h"

namespace verify::race {

inline constexpr int kFakeDevices = 2;

class FakeHip {
 public:
  // One FakeHip exists at a time.
  explicit FakeHip(Referee& referee);
  FakeHip(const FakeHip&) = delete;
  FakeHip& operator=(const FakeHip&) = delete;
  ~FakeHip();

  [[nodiscard]] static const hip::Api& api();
  // Sets the runtime behind all that are made from now on. Null, as at the start: no runtime. The table has to stay.
  static void forward_to(const hip::Api* runtime);

  // Streams are numbered 1, 2, ... in the order in which they were made; 0 is the default stream.
  [[nodiscard]] int number_of(hipStream_t stream) const;
  // From now on queries of the stream answer an error.
  void break_stream(hipStream_t stream);
  // Sets the owner of the stream and returns the owner before it (-1: nobody).
  int take(hipStream_t stream, int owner);
  // Tells the referee of every stream, event and allocation that is still alive.
  void expect_nothing_left();
};

}  // namespace verify::race
