// Threads that post callbacks to one worker, drain it, and destroy it while callbacks are still to run.
#include "hip/worker_thread.h"

#include <array>
#include <deque>
#include <functional>

#include "hip/sync/sync.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum WorkerVerb : std::uint8_t { kPost, kPostAfter, kDrain };

class Worker {
 public:
  virtual ~Worker() = default;
  virtual hip::Status post(std::function<void()> callback) = 0;
  virtual hip::Status post_after(const hip::StreamRef& stream, std::function<void()> callback) = 0;
  virtual void drain() = 0;
};

class RealWorker final : public Worker {
 public:
  RealWorker() : worker_(std::move(hip::WorkerThread::start({.errors = no_sink()})).value()) {}
  hip::Status post(std::function<void()> callback) override { return worker_->post(std::move(callback)); }
  hip::Status post_after(const hip::StreamRef& stream, std::function<void()> callback) override {
    return worker_->post_after(stream, std::move(callback));
  }
  void drain() override { (void)worker_->drain(); }

 private:
  std::unique_ptr<hip::WorkerThread> worker_;
};

class JoiningThread {
 public:
  void start(std::function<void()> run) { thread_ = hip::sync::Thread(std::move(run)); }
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  hip::sync::Thread thread_;
};

// F34: the destructor says stop and leaves the rest to the members. The thread is declared first, so it is joined last:
// the condition and the queue that it uses are destroyed before that.
class UndrainedWorker final : public Worker {
 public:
  UndrainedWorker() {
    thread_.start([this] { run(); });
  }
  ~UndrainedWorker() override {
    const hip::sync::LockGuard lock(mutex_);
    queue_.write().stopping = true;
    changed_.notify_all();
  }
  hip::Status post(std::function<void()> callback) override {
    const hip::sync::LockGuard lock(mutex_);
    queue_.write().ready.push_back(std::move(callback));
    changed_.notify_all();
    return {};
  }
  hip::Status post_after(const hip::StreamRef&, std::function<void()> callback) override {
    return post(std::move(callback));
  }
  void drain() override {
    hip::sync::UniqueLock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.read().ready.empty() && !queue_.read().running; });
  }

 private:
  struct Queue {
    std::deque<std::function<void()>> ready;
    bool running = false;
    bool stopping = false;
  };

  void run() {
    hip::sync::UniqueLock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queue_.read().ready.empty() || queue_.read().stopping; });
      if (queue_.read().ready.empty()) return;
      const std::function<void()> callback = std::move(queue_.write().ready.front());
      queue_.write().ready.pop_front();
      queue_.write().running = true;
      lock.unlock();
      callback();
      lock.lock();
      queue_.write().running = false;
      changed_.notify_all();
    }
  }

  JoiningThread thread_;
  hip::sync::Mutex mutex_;
  hip::sync::ConditionVariable changed_;
  hip::sync::Cell<Queue> queue_;  // guarded by mutex_
};

class WorkerWorld final : public World {
 public:
  WorkerWorld(Referee& referee, std::unique_ptr<Worker> worker)
      : referee_(referee), hip_(referee), worker_(std::move(worker)) {
    (void)FakeHip::api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kDrain) {
      worker_->drain();
      expect_all_of(thread, "draining returns before a callback that was posted before has run");
      return 0;
    }
    const auto callback = [this, thread] { ++ran_.at(thread).write(); };
    const hip::Status posted = call.verb == kPost
                                   ? worker_->post(callback)
                                   : worker_->post_after(hip::StreamRef(FakeHip::api(), stream_, 0), callback);
    if (!posted) referee_.broken(FailureKind::kInvariant, "C4", "posting fails: " + posted.error().message);
    ++posted_.at(thread);
    return 0;
  }

  void finish() override {
    worker_.reset();
    for (unsigned i = 0; i < kMaxClientThreads; ++i)
      expect_all_of(i, "a callback is dropped with its worker, or runs twice");
    (void)FakeHip::api().hipStreamDestroy(stream_);
    hip_.expect_nothing_left();
  }

 private:
  void expect_all_of(unsigned thread, const char* message) {
    if (posted_.at(thread) == 0) return;
    if (ran_.at(thread).read() != posted_.at(thread)) referee_.broken(FailureKind::kInvariant, "C4", message);
  }

  Referee& referee_;
  FakeHip hip_;
  hipStream_t stream_ = nullptr;
  std::array<int, kMaxClientThreads> posted_{};              // each used by its thread only
  std::array<hip::sync::Cell<int>, kMaxClientThreads> ran_;  // used by the worker, until the poster has drained it
  std::unique_ptr<Worker> worker_;
};

}  // namespace

Scenario worker_thread_scenario() {
  const Call post{kPost}, post_after{kPostAfter}, drain{kDrain};
  return {
      .name = "worker-thread",
      .system = "worker thread",
      .summary = "post callbacks, also behind a stream, drain, destroy with callbacks on their way",
      .verbs = {{"post"}, {"post-after"}, {"drain"}},
      .plans = {{"destroy", {{}, {{post, post}}, {post}}},
                {"two threads", {{}, {{post, drain, post}, {post, post, drain}}, {}}},
                {"three threads", {{}, {{post, drain}, {post_after}, {post}}, {}}},
                {"behind a stream", {{}, {{post_after, drain}, {post_after}}, {post_after}}}},
      .make = [](Referee& referee, std::string_view fault) -> std::unique_ptr<World> {
        std::unique_ptr<Worker> worker;
        if (fault == "F34")
          worker = std::make_unique<UndrainedWorker>();
        else
          worker = std::make_unique<RealWorker>();
        return std::make_unique<WorkerWorld>(referee, std::move(worker));
      },
      .property = "C4",
      .faults = {"F34"},
  };
}

}  // namespace verify::race
