#include "hip/worker_thread.h"

#include <cassert>
#include <deque>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"

namespace hip {
namespace {

using Ticket = std::uintptr_t;  // names a callback that a stream still owes

// Tickets are numbers, not addresses: a host function that runs late, or never, holds no pointer that can dangle.
struct Tickets {
  sync::Mutex mutex;
  sync::Cell<std::map<Ticket, std::shared_ptr<WorkerThread::State>>> owners;
  sync::Cell<Ticket> last{0};
};

// Never destroyed: a runtime may run host functions until the process ends.
Tickets& tickets() {
  static Tickets* const all = new Tickets;
  return *all;
}

}  // namespace

struct WorkerThread::State {
  struct Owing {
    StreamRef stream;
    sync::ThreadId poster;  // the thread of `stream` if that is hipStreamPerThread
    [[nodiscard]] Status synchronize() const;
  };
  struct Owed {
    Owing by;
    Callback callback;
  };
  struct Queue {
    std::deque<Callback> ready;
    std::map<Ticket, Owed> owed;
    std::size_t on_the_way = 0;  // owed callbacks whose host function the stream does not have yet
    bool running = false;        // a callback is running
    bool stopping = false;
  };
  explicit State(const WorkerOptions& chosen) : options(chosen) {}

  void run();
  // Returns false if the queue is full.
  [[nodiscard]] bool owe(Ticket ticket, const StreamRef& stream, Callback callback);
  // The stream has got the host function of a callback.
  void given();
  // Removes a callback whose host function the stream refused. False: the stream ran the host function all the same.
  [[nodiscard]] bool take_back(Ticket ticket);
  void arrived(Ticket ticket);
  Status synchronize_owing_streams();
  [[nodiscard]] std::vector<std::pair<Ticket, Owing>> owing();
  Status settle(Ticket ticket, const Owing& owing);
  [[nodiscard]] bool owes(Ticket ticket) const;
  // Removes an owed callback and returns it. The caller destroys it without the lock, since its destructor may post.
  [[nodiscard]] Callback no_longer_owed(Ticket ticket);

  const WorkerOptions options;
  mutable sync::Mutex mutex;
  sync::ConditionVariable changed;
  sync::Cell<Queue> queue;  // guarded by mutex
};

namespace {

void forget(Ticket ticket) {
  Tickets& all = tickets();
  const sync::LockGuard lock(all.mutex);
  all.owners.write().erase(ticket);
}

// The host function. Calls no HIP.
void deliver(void* user_data) {
  const Ticket ticket = reinterpret_cast<Ticket>(user_data);
  std::shared_ptr<WorkerThread::State> owner;
  {
    Tickets& all = tickets();
    const sync::LockGuard lock(all.mutex);
    const auto found = all.owners.read().find(ticket);
    if (found == all.owners.read().end()) return;
    owner = found->second;
    all.owners.write().erase(ticket);
  }
  owner->arrived(ticket);
}

}  // namespace

// The per-thread stream of another thread can be waited for only by waiting for its device.
Status WorkerThread::State::Owing::synchronize() const {
  if (stream.handle() == hipStreamPerThread && poster != sync::this_thread_id()) {
    return synchronize_device(stream.api(), stream.device());
  }
  return stream.synchronize();
}

bool WorkerThread::State::owe(Ticket ticket, const StreamRef& stream, Callback callback) {
  const sync::LockGuard lock(mutex);
  Queue& now = queue.write();
  if (now.ready.size() + now.owed.size() >= options.max_queued) return false;
  now.owed.emplace(ticket, Owed{{stream, sync::this_thread_id()}, std::move(callback)});
  ++now.on_the_way;
  return true;
}

bool WorkerThread::State::owes(Ticket ticket) const {
  const sync::LockGuard lock(mutex);
  return queue.read().owed.contains(ticket);
}

WorkerThread::Callback WorkerThread::State::no_longer_owed(Ticket ticket) {
  const sync::LockGuard lock(mutex);
  auto owed = queue.write().owed.extract(ticket);
  return owed ? std::move(owed.mapped().callback) : Callback();
}

void WorkerThread::State::given() {
  const sync::LockGuard lock(mutex);
  if (--queue.write().on_the_way == 0) changed.notify_all();
}

bool WorkerThread::State::take_back(Ticket ticket) {
  forget(ticket);
  const Callback taken_back = no_longer_owed(ticket);
  given();
  return static_cast<bool>(taken_back);
}

void WorkerThread::State::arrived(Ticket ticket) {
  const sync::LockGuard lock(mutex);
  Queue& now = queue.write();
  const auto found = now.owed.find(ticket);
  if (found == now.owed.end()) return;
  now.ready.push_back(std::move(found->second.callback));
  now.owed.erase(found);
  changed.notify_all();
}

// The thread's life. Callbacks run, and are destroyed, without the lock.
void WorkerThread::State::run() {
  sync::UniqueLock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return !queue.read().ready.empty() || queue.read().stopping; });
    Queue& now = queue.write();
    if (now.ready.empty()) return;
    {
      Callback callback = std::move(now.ready.front());
      now.ready.pop_front();
      now.running = true;
      lock.unlock();
      callback();
    }
    lock.lock();
    queue.write().running = false;
    changed.notify_all();
  }
}

// Waits for every stream that owes a callback.
Status WorkerThread::State::synchronize_owing_streams() {
  Status all;
  for (const auto& [ticket, by] : owing()) all = both(std::move(all), settle(ticket, by));
  return all;
}

// Waits until every stream has got its host functions: before, a stream would report that it is done.
std::vector<std::pair<Ticket, WorkerThread::State::Owing>> WorkerThread::State::owing() {
  sync::UniqueLock lock(mutex);
  changed.wait(lock, [&] { return queue.read().on_the_way == 0; });
  std::vector<std::pair<Ticket, Owing>> all;
  for (const auto& [ticket, owed] : queue.read().owed) all.emplace_back(ticket, owed.by);
  return all;
}

// A callback that is still owed after a wait for its stream never comes: the wait failed, or the stream ended without
// it.
Status WorkerThread::State::settle(Ticket ticket, const Owing& by) {
  if (!owes(ticket)) return {};  // it arrived while another callback was waited for
  Status waited;
  {
    const BesideCaptures beside(by.stream.api(), options.errors);
    waited = by.synchronize();
  }
  if (!owes(ticket)) {
    options.errors(waited);  // it arrived all the same
    return {};
  }
  forget(ticket);
  const Callback given_up = no_longer_owed(ticket);
  if (!given_up) return {};
  if (!waited) return Error{waited.error().code, "a callback was given up: " + waited.error().message};
  return Error{hipErrorNotReady, "a callback was given up: its stream is done and did not run the host function"};
}

WorkerThread::WorkerThread(const WorkerOptions& options)
    : state_(std::make_shared<State>(options)), thread_([state = state_] { state->run(); }) {}

Result<std::unique_ptr<WorkerThread>> WorkerThread::start(const WorkerOptions& options) {
  try {
    return std::unique_ptr<WorkerThread>(new WorkerThread(options));
  } catch (const std::system_error& error) {
    return Error{hipErrorOperatingSystem, std::string("no thread could be started: ") + error.what()};
  }
}

WorkerThread::~WorkerThread() {
  state_->options.errors(drain());
  {
    const sync::LockGuard lock(state_->mutex);
    state_->queue.write().stopping = true;
    state_->changed.notify_all();
  }
  thread_.join();
}

Status WorkerThread::post(Callback callback) {
  assert(callback);
  const sync::LockGuard lock(state_->mutex);
  State::Queue& now = state_->queue.write();
  if (now.ready.size() + now.owed.size() >= state_->options.max_queued) {
    return Error{hipErrorOutOfMemory, "the worker's queue is full"};
  }
  now.ready.push_back(std::move(callback));
  state_->changed.notify_all();
  return {};
}

Status WorkerThread::post_after(const StreamRef& stream, Callback callback) {
  assert(callback);
  const Result<bool> captures = stream.capturing();
  if (!captures) return captures.error();
  if (captures.value()) {
    return Error{hipErrorStreamCaptureUnsupported,
                 "a stream that captures runs nothing: post when its capture is over"};
  }
  Ticket ticket = 0;
  {
    Tickets& all = tickets();
    const sync::LockGuard lock(all.mutex);
    ticket = ++all.last.write();
    all.owners.write().emplace(ticket, state_);
  }
  if (!state_->owe(ticket, stream, std::move(callback))) {
    forget(ticket);
    return Error{hipErrorOutOfMemory, "the worker's queue is full"};
  }
  const Status status = stream.launch_host_function(deliver, reinterpret_cast<void*>(ticket));
  if (status) {
    state_->given();
    return {};
  }
  if (state_->take_back(ticket)) return status;
  // The call failed after the stream had got the host function: the callback runs or has run, so it was posted.
  state_->options.errors(status);
  return {};
}

Status WorkerThread::drain() {
  if (sync::this_thread_id() == thread_.get_id()) {
    return Error{hipErrorNotSupported, "a callback cannot wait for its own worker"};
  }
  Status all;
  while (true) {
    all = both(std::move(all), state_->synchronize_owing_streams());
    sync::UniqueLock lock(state_->mutex);
    const auto idle = [&] { return state_->queue.read().ready.empty() && !state_->queue.read().running; };
    state_->changed.wait(lock, idle);
    // Callbacks may have posted behind more streams.
    if (state_->queue.read().owed.empty()) return all;
  }
}

}  // namespace hip
