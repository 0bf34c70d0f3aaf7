// hip::WorkerThread: a thread that runs callbacks in the order in which they were posted, also behind a stream's work.
//
// HIP must not be called in a host function of a stream. A callback that calls HIP after a stream's work is posted to
// the worker (post_after); the host function of the stream only passes it on.
//
// Teardown drains first: no callback is dropped, none runs after the destructor, and nothing that callbacks use has to
// outlive the worker. Draining synchronises the streams that still owe a callback. A callback that a stream still owes
// then (its work failed, or it never ran the host function) is given up, and that is reported. Drain the worker before
// you destroy a stream that was not synchronised.
//
// A stream that captures is refused: a host function becomes a node of its graph, which runs at each launch or never. A
// stream that begins to capture while it owes a callback can no longer be waited for: drain before that. Other clients'
// captures are left alone (hip/beside_captures.h), unless a hipStreamPerThread of another thread owes a callback: the
// worker then waits for its device, which HIP refuses during any capture; that capture becomes invalid, and the
// callback is given up.
//
// A callback must not throw, must not wait for its own worker, and may post; so may its destructor. Bounded: posting
// to a full worker is an error, not a wait.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

struct WorkerOptions {
  std::size_t max_queued = 4096;  // callbacks that were posted and did not run yet
  ErrorSink errors{};             // receives the errors of the destructor
};

class WorkerThread {
 public:
  using Callback = std::function<void()>;

  [[nodiscard]] static Result<std::unique_ptr<WorkerThread>> start(const WorkerOptions& options = {});
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  // Calls drain(), then ends the thread. An error of drain() goes to the error sink.
  ~WorkerThread();

  // After an error the callback was destroyed and never runs.
  [[nodiscard]] Status post(Callback callback);
  // Runs the callback once all work that was given to the stream so far is done. hipStreamPerThread is the calling
  // thread's stream; a drain on another thread waits for its device instead.
  [[nodiscard]] Status post_after(const StreamRef& stream, Callback callback);
  // Returns when every callback that was posted before it has run. An error: callbacks were given up, or a callback
  // called drain(), which would wait for itself.
  Status drain();

  struct State;

 private:
  explicit WorkerThread(const WorkerOptions& options);

  std::shared_ptr<State> state_;
  sync::Thread thread_;  // the last member: the thread ends before the state that it uses is destroyed
};

}  // namespace hip
