// hip::WorkerThread against verify/systems/worker_model.h, behind streams of the host model, with and without calls
// that fail. The order in which callbacks run is logged and compared; an order that is not promised may be either way.
#include "verify/systems/worker_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "command_bed.h"
#include "hip/sync/sync.h"
#include "hip/worker_thread.h"

namespace {

using verify::WorkerModel;
using Callback = WorkerModel::Callback;

constexpr std::size_t kStreams = 3, kMostQueued = 6;

// The order in which callbacks ran; they write it down on the worker's thread.
class Log {
 public:
  void ran(Callback callback) {
    const hip::sync::LockGuard lock(mutex_);
    order_.push_back(callback);
  }
  std::vector<Callback> order() {
    const hip::sync::LockGuard lock(mutex_);
    return order_;
  }
  // A callback that waits for it keeps the worker busy until somebody opens it.
  void wait_until_open() {
    hip::sync::UniqueLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
  }
  void wait_until_closed() {
    hip::sync::UniqueLock lock(mutex_);
    changed_.wait(lock, [this] { return closed_; });
  }
  void open() {
    const hip::sync::LockGuard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }

 private:
  hip::sync::Mutex mutex_;
  hip::sync::ConditionVariable changed_;
  std::vector<Callback> order_;
  bool closed_ = false;
};

struct Bed : CommandBed {
  Bed() { start(); }
  ~Bed() {
    log_.open();
    worker_.reset();
    // Callbacks that were given up are still in their stream, as is the work before them, which notes that it is done.
    for (std::size_t stream = 0; stream < kStreams; ++stream) EXPECT_TRUE(stream_of(stream).synchronize());
  }
  void start() {
    auto started = hip::WorkerThread::start({.max_queued = kMostQueued, .errors = sink()});
    EXPECT_TRUE(started);
    worker_ = std::move(started.value());
  }
  hip::StreamRef stream_of(std::size_t which) {
    if (which == 0) return stream();
    if (which == 1) return {api(), capturing_, device()};
    return hip::StreamRef::of_default(api(), 1);
  }
  // A callback that logs its run and checks that the earlier work of its stream is done. `alive_` shows whether it is
  // destroyed.
  hip::WorkerThread::Callback callback(Callback number, const std::shared_ptr<bool>& work) {
    auto held = std::make_shared<Callback>(number);
    alive_[number] = held;
    return [this, held = std::move(held), work] {
      EXPECT_TRUE(work == nullptr || *work) << "callback " << *held << " came before what its stream had to do";
      log_.ran(*held);
    };
  }

  Log log_;
  std::map<Callback, std::weak_ptr<Callback>> alive_;
  std::unique_ptr<hip::WorkerThread> worker_;
  std::vector<std::shared_ptr<bool>> works_;
};

struct Nothing {};  // RapidCheck keeps no state: the model is given the answers
struct System {
  Bed bed;
  WorkerModel model;
  Callback last = 0;
  std::size_t queued = 0;  // while the worker is kept busy: that did not run
  bool kept_busy = false;
};
using Act = rc::state::Command<Nothing, System>;

struct Failure {
  std::size_t function = 0;
  bool wanted = false;
  friend std::ostream& operator<<(std::ostream& out, const Failure& failure);
};
constexpr std::array<const char*, 6> kCalls = {"hipLaunchHostFunc", "hipStreamIsCapturing", "hipStreamSynchronize",
                                               "hipSetDevice",      "hipDeviceSynchronize", "hipGetDevice"};
std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return failure.wanted ? out << ", " << kCalls.at(failure.function) << " fails" : out;
}
bool g_failures = false;
Failure draw_failure() {
  if (!g_failures || *rc::gen::inRange(0, 3) != 0) return {};
  return {*rc::gen::inRange<std::size_t>(0, kCalls.size()), true};
}
// The next call of the function fails once, within this scope.
class Armed {
 public:
  Armed(Bed& bed, const Failure& failure)
      : bed_(bed), call_(*verify::find_function(kCalls.at(failure.function)), failure.wanted ? 1 : 0) {
    bed.told_.clear();
    call_.arm(bed.interposer_);
  }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
  ~Armed() { static_cast<void>(fired()); }
  bool fired() {
    call_.disarm(bed_.interposer_);
    return call_.fired();
  }

 private:
  Bed& bed_;
  FailingCall call_;
};

// Everything that was to run has run, in an order that was promised, and nothing is kept of it.
void expect_all_ran(System& system) {
  const std::vector<Callback> order = system.bed.log_.order();
  RC_ASSERT(system.model.allows(order));
  RC_ASSERT(order.size() == system.model.expected());
  for (const auto& [number, held] : system.bed.alive_) RC_ASSERT(held.expired());
}
void expect_refused(System& system, Callback number) {
  RC_ASSERT(system.bed.alive_.at(number).expired());
  RC_ASSERT(!system.model.expects(number));
}

struct Post : Act {
  void run(const Nothing&, System& system) const override {
    const Callback number = ++system.last;
    const bool full = system.kept_busy && system.queued == kMostQueued;
    const hip::Status posted = system.bed.worker_->post(system.bed.callback(number, nullptr));
    if (system.kept_busy) RC_ASSERT(posted.ok() == !full);
    if (!posted) return expect_refused(system, number);
    system.model.posted(number);
    ++system.queued;
  }
  void show(std::ostream& out) const override { out << "post"; }
};

struct PostAfter : Act {
  std::size_t stream = *rc::gen::inRange<std::size_t>(0, kStreams);
  Failure failure = draw_failure();

  void run(const Nothing&, System& system) const override {
    const hip::StreamRef ref = system.bed.stream_of(stream);
    const std::shared_ptr<bool>& work = system.bed.works_.emplace_back(std::make_shared<bool>(false));
    RC_ASSERT(ref.launch_host_function([](void* done) { *static_cast<bool*>(done) = true; }, work.get()).ok());
    const Callback number = ++system.last;
    const bool full = system.kept_busy && system.queued == kMostQueued;
    Armed armed(system.bed, failure);
    const hip::Status posted = system.bed.worker_->post_after(ref, system.bed.callback(number, work));
    const bool fired = armed.fired();
    if (system.kept_busy) RC_ASSERT(posted.ok() || full || fired);
    if (!posted) return expect_refused(system, number);
    RC_ASSERT(!full);
    RC_ASSERT(!fired || !system.bed.told_.empty());
    system.model.posted(number, stream);
    ++system.queued;
  }
  void show(std::ostream& out) const override { out << "post after stream " << stream << failure; }
};

// Somebody else waits for the stream: its callbacks are with the worker now.
struct Settle : Act {
  std::size_t stream = *rc::gen::inRange<std::size_t>(0, kStreams);
  void run(const Nothing&, System& system) const override {
    RC_ASSERT(system.bed.stream_of(stream).synchronize().ok());
    system.model.settled(stream);
  }
  void show(std::ostream& out) const override { out << "wait for stream " << stream; }
};

struct PostAfterACapture : Act {
  void run(const Nothing&, System& system) const override {
    Bed& bed = system.bed;
    // Callbacks that the stream owes could not be waited for while it captures.
    RC_ASSERT(bed.stream_of(1).synchronize().ok());
    system.model.settled(1);
    RC_ASSERT(bed.api().hipStreamBeginCapture(bed.capturing_, hipStreamCaptureModeRelaxed) == hipSuccess);
    const Callback number = ++system.last;
    const hip::Status posted = bed.worker_->post_after(bed.stream_of(1), bed.callback(number, nullptr));
    RC_ASSERT(!posted.ok());
    RC_ASSERT(posted.error().code == hipErrorStreamCaptureUnsupported);
    expect_refused(system, number);
    hipGraph_t graph = nullptr;
    RC_ASSERT(bed.api().hipStreamEndCapture(bed.capturing_, &graph) == hipSuccess);
    if (graph != nullptr) RC_ASSERT(bed.api().hipGraphDestroy(graph) == hipSuccess);
  }
  void show(std::ostream& out) const override { out << "post after a stream that captures"; }
};

// A callback that posts another one.
struct PostInACallback : Act {
  void run(const Nothing&, System& system) const override {
    if (system.kept_busy) return;  // other posts decide whether its own post finds the queue full
    RC_ASSERT(system.bed.worker_->drain().ok());
    system.model.drained();
    const Callback parent = ++system.last, child = ++system.last;
    auto inner = system.bed.callback(child, nullptr);
    auto outer = system.bed.callback(parent, nullptr);
    hip::WorkerThread& worker = *system.bed.worker_;
    RC_ASSERT(worker
                  .post([&worker, outer = std::move(outer), inner = std::move(inner)] {
                    outer();
                    EXPECT_TRUE(worker.post(inner));
                  })
                  .ok());
    system.model.posted(parent);
    system.model.posted_by(child, parent);
    RC_ASSERT(worker.drain().ok());
    expect_all_ran(system);
  }
  void show(std::ostream& out) const override { out << "post in a callback"; }
};

// From here on nothing runs, and the queue fills.
struct KeepBusy : Act {
  void run(const Nothing&, System& system) const override {
    if (system.kept_busy) return;
    RC_ASSERT(system.bed.worker_->drain().ok());
    system.model.drained();
    expect_all_ran(system);
    RC_ASSERT(system.bed.worker_->post([&log = system.bed.log_] { log.wait_until_open(); }).ok());
    system.bed.log_.wait_until_closed();
    system.kept_busy = true;
    system.queued = 0;
  }
  void show(std::ostream& out) const override { out << "keep the worker busy"; }
};
struct LetGo : Act {
  void run(const Nothing&, System& system) const override {
    system.bed.log_.open();
    system.kept_busy = false;
  }
  void show(std::ostream& out) const override { out << "let the worker go"; }
};

// Notes the expected callbacks that did not run as given up. Requires that the caller was told of it.
void note_given_up(System& system, bool told) {
  const std::vector<Callback> order = system.bed.log_.order();
  for (Callback number = 1; number <= system.last; ++number) {
    if (!system.model.expects(number) || std::find(order.begin(), order.end(), number) != order.end()) continue;
    RC_ASSERT(told);
    system.model.given_up(number);
  }
}

struct Drain : Act {
  Failure failure = draw_failure();
  void run(const Nothing&, System& system) const override {
    LetGo().run({}, system);
    Armed armed(system.bed, failure);
    const bool drained = system.bed.worker_->drain().ok();
    const bool fired = armed.fired();
    RC_ASSERT(drained || fired);
    RC_ASSERT(!fired || !drained || !system.bed.told_.empty());
    system.model.drained();
    note_given_up(system, !drained);
    expect_all_ran(system);
  }
  void show(std::ostream& out) const override { out << "drain" << failure; }
};

// Whoever destroys a worker with callbacks that did not run has them run, or is told.
struct Destroy : Act {
  Failure failure = draw_failure();
  void run(const Nothing&, System& system) const override {
    LetGo().run({}, system);
    Armed armed(system.bed, failure);
    system.bed.worker_.reset();
    RC_ASSERT(armed.fired() == !system.bed.told_.empty());
    system.model.drained();
    note_given_up(system, !system.bed.told_.empty());
    expect_all_ran(system);
    system.bed.start();
  }
  void show(std::ostream& out) const override { out << "destroy the worker" << failure; }
};

void holds_against_its_model(bool failures) {
  g_failures = failures;
  EXPECT_TRUE(rc::check([] {
    System system;
    rc::state::check(Nothing(), system,
                     rc::state::gen::execOneOfWithArgs<Post, PostAfter, PostAfter, PostAfter, Settle, PostAfterACapture,
                                                       PostInACallback, KeepBusy, LetGo, Drain, Destroy>());
    LetGo().run({}, system);
    RC_ASSERT(system.bed.worker_->drain().ok());
    expect_all_ran(system);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(Workers, DoWhatTheirModelSays) {
  holds_against_its_model(false);
}

TEST(Workers, DoWhatTheirModelSaysWhenCallsFail) {
  holds_against_its_model(true);
}

}  // namespace
