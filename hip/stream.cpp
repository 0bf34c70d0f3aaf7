#include "hip/stream.h"

#include <algorithm>
#include <utility>

#include "hip/device_scope.h"
#include "hip/event.h"
#include "hip/sync/sync.h"

namespace hip {
namespace {

std::optional<StreamRef>& current_stream() {
  return sync::of_this_thread<CurrentStream, std::optional<StreamRef>>();
}

template <class Call>
Status with_stream(const StreamRef& stream, const Call& call) {
  if (!stream.depends_on_current_device()) return call();
  Result<DeviceScope> scope = DeviceScope::enter(stream.api(), stream.device());
  if (!scope) return scope.error();
  Status status = call();
  return both(std::move(status), scope.value().leave());
}

hipError_t create_handle(const Api& api, const StreamKey& key, hipStream_t* handle) {
  if (api.hipStreamCreateWithPriority != nullptr) {
    return api.hipStreamCreateWithPriority(handle, key.flags, key.priority);
  }
  return api.hipStreamCreateWithFlags(handle, key.flags);
}

}  // namespace

Status StreamRef::synchronize() const {
  return with_stream(*this, [&] { return call<&Api::hipStreamSynchronize>(*api_, handle_); });
}

Result<bool> StreamRef::idle() const {
  hipError_t answer = hipSuccess;
  const Status status = with_stream(*this, [&]() -> Status {
    answer = api_->hipStreamQuery(handle_);
    return answer == hipErrorNotReady ? Status() : called(answer, "hipStreamQuery");
  });
  if (!status) return status.error();
  return answer == hipSuccess;
}

Result<bool> StreamRef::capturing() const {
  if (api_->hipStreamIsCapturing == nullptr) return false;
  hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
  const Status asked = with_stream(*this, [&] { return call<&Api::hipStreamIsCapturing>(*api_, handle_, &state); });
  if (!asked) return asked.error();
  return state != hipStreamCaptureStatusNone;
}

Status StreamRef::wait(const Event& event) const {
  return with_stream(*this, [&] { return call<&Api::hipStreamWaitEvent>(*api_, handle_, event.handle(), 0); });
}

Status StreamRef::launch(hipGraphExec_t exec) const {
  return with_stream(*this, [&] { return call<&Api::hipGraphLaunch>(*api_, exec, handle_); });
}

Status StreamRef::launch_host_function(hipHostFn_t function, void* user_data) const {
  if (api_->hipLaunchHostFunc == nullptr) {
    return Error{hipErrorNotSupported, "this runtime has no hipLaunchHostFunc"};
  }
  return with_stream(*this, [&] { return call<&Api::hipLaunchHostFunc>(*api_, handle_, function, user_data); });
}

Result<StreamKey> StreamRef::read_key(const StreamKey& otherwise) const {
  StreamKey key = otherwise;
  const Status status = with_stream(*this, [&]() -> Status {
    Status read;
    if (api_->hipStreamGetFlags != nullptr) {
      read = call<&Api::hipStreamGetFlags>(*api_, handle_, &key.flags);
    }
    if (read && api_->hipStreamGetPriority != nullptr) {
      read = call<&Api::hipStreamGetPriority>(*api_, handle_, &key.priority);
    }
    if (read && api_->hipStreamGetDevice != nullptr) {
      read = call<&Api::hipStreamGetDevice>(*api_, handle_, &key.device);
    }
    return read;
  });
  if (!status) return status.error();
  return key;
}

Result<int> clamp_priority(const Api& api, int priority) {
  if (api.hipDeviceGetStreamPriorityRange == nullptr) return priority;
  int least = 0;
  int greatest = 0;
  const Status status = call<&Api::hipDeviceGetStreamPriorityRange>(api, &least, &greatest);
  if (!status) return status.error();
  return std::clamp(priority, std::min(least, greatest), std::max(least, greatest));
}

Result<Stream> Stream::create(const Api& api, const StreamKey& key, ErrorSink errors) {
  // Without hipStreamCreateWithPriority there are no priorities: an error, rather than a stream with another priority.
  if (api.hipStreamCreateWithPriority == nullptr && key.priority != 0) {
    return Error{hipErrorNotSupported, "this runtime has no hipStreamCreateWithPriority: only priority 0 can be had"};
  }
  Result<DeviceScope> scope = DeviceScope::enter(api, key.device, errors);
  if (!scope) return scope.error();
  hipStream_t handle = nullptr;
  const Status created = called(create_handle(api, key, &handle), "creating a stream");
  if (!created) return both(created, scope.value().leave()).error();
  Stream stream(StreamRef(api, handle, key.device), errors);
  // If the caller's device could not be restored, the caller gets the error and no stream.
  if (const Status left = scope.value().leave(); !left) return both(left, stream.destroy()).error();
  return stream;
}

Stream::Stream(Stream&& other) noexcept
    : ref_(other.ref_), owned_(std::exchange(other.owned_, false)), errors_(other.errors_) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  ref_ = other.ref_;
  owned_ = std::exchange(other.owned_, false);
  errors_ = other.errors_;
  return *this;
}

Stream::~Stream() {
  let_go();
}

Status Stream::destroy() {
  if (!owned_) return {};
  Status status = call<&Api::hipStreamDestroy>(ref_.api(), ref_.handle());
  if (status) owned_ = false;
  return status;
}

// A failure may be transient: it is reported and tried once more, then given up.
void Stream::let_go() {
  for (int attempt = 0; owned_ && attempt < 2; ++attempt) errors_(destroy());
  owned_ = false;
}

CurrentStream::CurrentStream(StreamRef stream) : before_(std::exchange(current_stream(), stream)) {}

CurrentStream::~CurrentStream() {
  current_stream() = before_;
}

std::optional<StreamRef> CurrentStream::get() {
  return current_stream();
}

}  // namespace hip
