// race::FakeHip: a light HIP for scenarios, that keeps exact account of handles.
//
// Streams, events and memory are entries of fixed tables, so that a run starts from nothing at no cost. Work takes no
// time and is never done by itself: a stream is busy from the call that gave it work until a thread synchronises with
// it. Every call about a handle is a point at which another thread may run. The referee is told of handles that are
// used or destroyed after their destruction (C2), streams that are queried while another device is current (C1), and
// objects left at the end (C2). The default stream is handle 0, one a device. For several threads, explored or real.
//
// Under stress it may stand in front of a real runtime (forward_to). The account is the same, every call goes on to the
// runtime, and the runtime's answers count. A stream is still busy until a thread synchronises with it. Its two devices
// are two devices of the runtime, or both are the runtime's only device.
//
// Not there (null in the table): graphs, capture, modules' loading, pools. Kernels do nothing; device addresses cannot
// be followed.
#pragma once

#include "hip/api/api.h"
#include "verify/race/scenario.h"

namespace verify::race {

inline constexpr int kFakeDevices = 2;

class FakeHip {
 public:
  // One lives at a time.
  explicit FakeHip(Referee& referee);
  FakeHip(const FakeHip&) = delete;
  FakeHip& operator=(const FakeHip&) = delete;
  ~FakeHip();

  [[nodiscard]] static const hip::Api& api();
  // Of all that are made from now on. Null, as at the start: nobody stands behind it. The table has to stay.
  static void forward_to(const hip::Api* runtime);

  // 1, 2, ... in the order in which streams were made; 0 is the default stream.
  [[nodiscard]] int number_of(hipStream_t stream) const;
  // The stream's queries answer an error from now on.
  void break_stream(hipStream_t stream);
  // Sets the owner of the stream and returns the owner before it (-1: nobody).
  int take(hipStream_t stream, int owner);
  // Tells the referee of every stream, event and allocation that is still alive.
  void expect_nothing_left();
};

}  // namespace verify::race
