// Streams: their ownership, their queries, and the current stream of a thread.
//
// hip::StreamRef names a stream without owning it; hip::Stream owns one; hip::CurrentStream makes one the calling
// thread's current stream for the time of a scope.
//
// The default stream is handle 0 and a stream like any other: it can be synchronised and queried. Handle 0 means the
// default stream of the current device, so calls with it make the stream's device current first. A handle of 0 does not
// mean "none": all handles of some backends are 0 (hip/host_backend.h), so whether a Stream owns its handle is a flag
// of its own.
//
// Does not check that a StreamRef's stream is still alive; HIP has no way to ask.
#pragma once

#include <optional>

#include "hip/api/api.h"
#include "hip/errors.h"

namespace hip {

class Event;

// Distinguishes streams: the properties that were asked for when the stream was created.
struct StreamKey {
  int device = 0;
  unsigned flags = hipStreamDefault;
  int priority = 0;  // lower numbers come first
  auto operator<=>(const StreamKey&) const = default;
};

class StreamRef {
 public:
  StreamRef(const Api& api, hipStream_t handle, int device) : api_(&api), handle_(handle), device_(device) {}
  [[nodiscard]] static StreamRef of_default(const Api& api, int device = 0) { return {api, nullptr, device}; }

  [[nodiscard]] const Api& api() const { return *api_; }
  [[nodiscard]] hipStream_t handle() const { return handle_; }
  [[nodiscard]] int device() const { return device_; }
  bool operator==(const StreamRef&) const = default;
  // Whether the handle means another stream on another device: null, hipStreamLegacy and hipStreamPerThread do. Any
  // other handle belongs to one device.
  [[nodiscard]] bool depends_on_current_device() const {
#ifdef hipStreamLegacy  // headers of older releases do not have it
    if (handle_ == hipStreamLegacy) return true;
#endif
    return handle_ == nullptr || handle_ == hipStreamPerThread;
  }

  // Waits until all work that was given to the stream is done.
  [[nodiscard]] Status synchronize() const;
  // Whether all of it is done. An error is one of the stream (its work failed, or it captures), not one of the query.
  [[nodiscard]] Result<bool> idle() const;
  // Whether work given to the stream becomes part of a graph instead of being executed. True also for a capture that
  // has become invalid.
  [[nodiscard]] Result<bool> capturing() const;
  // Later work of the stream waits for the work before the event's record; an event without record orders nothing.
  [[nodiscard]] Status wait(const Event& event) const;
  // Launches the graph behind the work that was given to the stream so far.
  [[nodiscard]] Status launch(hipGraphExec_t exec) const;
  // Launches a host function behind the work that was given to the stream so far. The function must not call HIP.
  [[nodiscard]] Status launch_host_function(hipHostFn_t function, void* user_data) const;
  // The stream's key as read from the handle; a part for which the runtime has no getter is taken from `otherwise`.
  [[nodiscard]] Result<StreamKey> read_key(const StreamKey& otherwise) const;

 private:
  const Api* api_;
  hipStream_t handle_;
  int device_;
};

// Brings a priority into the range of the current device, as HIP does with a priority outside of it.
[[nodiscard]] Result<int> clamp_priority(const Api& api, int priority);

class Stream {
 public:
  // Creates a stream on the device of `key`, which is current only during the call.
  [[nodiscard]] static Result<Stream> create(const Api& api, const StreamKey& key = {}, ErrorSink errors = {});

  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  // An error of destroy() goes to the error sink.
  ~Stream();

  // False after destroy() and for a moved-from stream: ref() must not be used then.
  [[nodiscard]] bool owns() const { return owned_; }
  [[nodiscard]] StreamRef ref() const { return ref_; }
  operator StreamRef() const { return ref_; }  // NOLINT(google-explicit-constructor)

  // Destroys the stream; its work is finished first. If that fails, the stream is still owned and destroy() can be
  // called again.
  Status destroy();
  // The caller owns the handle from now on.
  void disown() { owned_ = false; }

 private:
  Stream(StreamRef ref, ErrorSink errors) : ref_(ref), owned_(true), errors_(errors) {}
  void let_go();

  StreamRef ref_;
  bool owned_;
  ErrorSink errors_;
};

// The calling thread's current stream, for the time of a scope. Scopes nest and belong to the thread that made them; no
// other thread sees them. A thread outside a scope has no current stream: the default stream must be named explicitly.
class CurrentStream {
 public:
  explicit CurrentStream(StreamRef stream);
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream();

  [[nodiscard]] static std::optional<StreamRef> get();

 private:
  std::optional<StreamRef> before_;
};

}  // namespace hip
