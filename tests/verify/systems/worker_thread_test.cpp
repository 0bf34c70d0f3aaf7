// hip::WorkerThread behind streams of the model: the stream that a callback follows, and the callback's fate when a HIP
// call fails. On other runtimes, and behind other threads' streams: tests/hip/loaded_runtime_test.cpp. `hgcheck race`
// explores its schedules (verify/race/scenarios).
#include "hip/worker_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command_bed.h"

namespace {

// A runtime's table that writes down which device is current when a host function is given to a stream.
struct Watched {
  explicit Watched(const hip::Api& api) : table(api) {
    under = &api;
    table.hipLaunchHostFunc = [](hipStream_t stream, hipHostFn_t function, void* user_data) {
      EXPECT_EQ(under->hipGetDevice(&current), hipSuccess);
      return under->hipLaunchHostFunc(stream, function, user_data);
    };
  }
  hip::Api table;
  static inline const hip::Api* under = nullptr;
  static inline int current = -1;
};

class Worker : public ::testing::Test, protected CommandBed {
 protected:
  Worker() {
    hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start({.errors = sink()});
    EXPECT_TRUE(started.ok());
    worker_ = std::move(started.value());
  }
  std::unique_ptr<hip::WorkerThread> worker_;
};

// The null stream and the per-thread stream belong to their StreamRef's device, which need not be the current one.
TEST_F(Worker, ACallbackFollowsTheStreamOfItsOwnDevice) {
  Watched watched(api());
  int ran = 0;
  for (const int device : {0, 1}) {
    for (hipStream_t handle : {hipStream_t{nullptr}, hipStreamPerThread}) {
      ASSERT_TRUE(worker_->post_after({watched.table, handle, device}, [&] { ++ran; }));
      EXPECT_EQ(Watched::current, device) << (handle == nullptr ? "null stream" : "per-thread stream");
      EXPECT_EQ(current_device(), 0) << "the caller's is current again";
      EXPECT_TRUE(worker_->drain());
    }
  }
  EXPECT_EQ(ran, 4);
}

TEST_F(Worker, ACallbackThatNoStreamTookIsToldAndDoesNotRun) {
  struct Case {
    const char* function;
    std::uint32_t nth;
    hip::StreamRef stream;
  };
  const hip::StreamRef other = hip::StreamRef::of_default(api(), 1);
  for (const Case& fails : {Case{"hipLaunchHostFunc", 1, stream()}, Case{"hipLaunchHostFunc", 1, other},
                            Case{"hipGetDevice", 1, other}, Case{"hipSetDevice", 1, other}}) {
    int ran = 0;
    interposer_.fail(*verify::find_function(fails.function), fails.nth);
    EXPECT_FALSE(worker_->post_after(fails.stream, [&] { ++ran; })) << fails.function;
    EXPECT_TRUE(worker_->drain()) << fails.function << ": nothing is owed";
    EXPECT_EQ(ran, 0) << fails.function;
    ASSERT_TRUE(worker_->post_after(fails.stream, [&] { ++ran; })) << fails.function;
    EXPECT_TRUE(worker_->drain());
    EXPECT_EQ(ran, 1) << fails.function << ": the next one is right";
  }
  EXPECT_TRUE(told_.empty());
}

// A stream may fail before it reaches its host function. Then drain() returns an error, and the callback never runs,
// because the objects that it uses may be gone by then.
TEST_F(Worker, ACallbackOfAStreamThatFailedIsGivenUp) {
  int ran = 0, behind = 0;
  ASSERT_TRUE(worker_->post_after(stream(), [&] { ++ran; }));
  interposer_.fail(*verify::find_function("hipStreamSynchronize"), 1);
  const hip::Status drained = worker_->drain();
  ASSERT_FALSE(drained);
  EXPECT_NE(drained.error().message.find("a callback was given up"), std::string::npos) << drained.error().message;
  EXPECT_EQ(api().hipStreamSynchronize(stream_), hipSuccess) << "its host function comes by now";
  EXPECT_EQ(ran, 0);
  ASSERT_TRUE(worker_->post_after(stream(), [&] { ++behind; }));
  EXPECT_TRUE(worker_->drain());
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(behind, 1);
}

TEST_F(Worker, ThatAStreamCapturesMustBeKnown) {
  interposer_.fail(*verify::find_function("hipStreamIsCapturing"), 1);
  EXPECT_FALSE(worker_->post_after(stream(), [] {}));
  EXPECT_TRUE(worker_->drain());
}

// Waiting for it again would never end.
TEST_F(Worker, ACallbackWhoseStreamIsDoneWithoutItsHostFunctionIsGivenUp) {
  hip::Api forgetful = api();
  forgetful.hipLaunchHostFunc = [](hipStream_t, hipHostFn_t, void*) { return hipSuccess; };
  int ran = 0;
  ASSERT_TRUE(worker_->post_after({forgetful, stream_, device()}, [&] { ++ran; }));
  const hip::Status drained = worker_->drain();
  ASSERT_FALSE(drained);
  EXPECT_NE(drained.error().message.find("did not run the host function"), std::string::npos);
  EXPECT_TRUE(worker_->drain()) << "it is told once";
  EXPECT_EQ(ran, 0);
}

// The stream runs its host function, then a call behind the launch fails: the delivered callback runs.
TEST_F(Worker, ACallbackThatWasDeliveredIsPostedWhateverFailsBehindIt) {
  hip::Api at_once = api();
  at_once.hipLaunchHostFunc = [](hipStream_t, hipHostFn_t function, void* user_data) {
    function(user_data);
    return hipSuccess;
  };
  int ran = 0;
  interposer_.fail(*verify::find_function("hipSetDevice"), 4);  // behind the launch, back to the caller's device
  EXPECT_TRUE(worker_->post_after(hip::StreamRef::of_default(at_once, 1), [&] { ++ran; }));
  EXPECT_TRUE(worker_->drain());
  EXPECT_EQ(ran, 1);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("hipSetDevice"), std::string::npos) << told_[0];
  EXPECT_EQ(current_device(), 0) << "tried again";
}

TEST_F(Worker, ADrainWaitsForWhatIsPostedBehindAStreamMeanwhile) {
  int ran = 0;
  const auto last_word = [&] {
    return std::shared_ptr<void>(nullptr, [&](void*) { EXPECT_TRUE(worker_->post_after(stream(), [&] { ++ran; })); });
  };
  ASSERT_TRUE(worker_->post_after(stream(), [held = last_word()] {}));
  interposer_.fail(*verify::find_function("hipStreamSynchronize"), 1);
  EXPECT_FALSE(worker_->drain()) << "one is given up, and posts another one as it goes";
  EXPECT_EQ(ran, 1);
}

// An object that a callback holds may use the worker in its destructor.
TEST_F(Worker, ACallbackThatDoesNotRunIsDestroyedWithoutTheWorkersLock) {
  int ran = 0;
  const auto last_word = [&] {
    return std::shared_ptr<void>(nullptr, [&](void*) { EXPECT_TRUE(worker_->post([&] { ++ran; })); });
  };
  interposer_.fail(*verify::find_function("hipLaunchHostFunc"), 1);
  EXPECT_FALSE(worker_->post_after(stream(), [held = last_word()] {})) << "refused";
  EXPECT_TRUE(worker_->drain());
  EXPECT_EQ(ran, 1);
  ASSERT_TRUE(worker_->post_after(stream(), [held = last_word()] {}));
  interposer_.fail(*verify::find_function("hipStreamSynchronize"), 1);
  EXPECT_FALSE(worker_->drain()) << "given up";
  EXPECT_TRUE(worker_->drain());
  EXPECT_EQ(ran, 2);
}

// On a stream of another device, so that the current one is changed and changed back; with one that was posted before.
TEST_F(Worker, WhateverFailsIsToldAndTheNextCallbackRuns) {
  const hip::StreamRef other = hip::StreamRef::of_default(api(), 1);
  fail_each_call(15U, [&](FailingCall& call) {
    told_.clear();
    int ran = 0;
    std::vector<hip::Status> said;
    {
      auto worker = hip::WorkerThread::start({.errors = sink()});
      ASSERT_TRUE(worker);
      ASSERT_TRUE(worker.value()->post_after(stream(), [&] { ++ran; }));
      call.arm(interposer_);
      said.push_back(worker.value()->post_after(other, [&] { ++ran; }));
      said.push_back(worker.value()->drain());
      said.push_back(worker.value()->post_after(stream(), [&] { ++ran; }));
      worker.value().reset();  // drains
      call.disarm(interposer_);
    }
    const bool told = !told_.empty() || std::any_of(said.begin(), said.end(), [](const auto& each) { return !each; });
    EXPECT_EQ(told, call.fired()) << call;
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    const int before = ran;
    EXPECT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
    EXPECT_EQ(ran, before) << call << ": a callback that was given up ran";
    EXPECT_TRUE(call.fired() || ran == 3);
    EXPECT_EQ(current_device(), 0) << call;
    ASSERT_TRUE(worker_->post_after(other, [&] { ++ran; })) << call;
    EXPECT_TRUE(worker_->drain()) << call;
    EXPECT_EQ(ran, before + 1) << call;
  });
}

// Whoever destroys a worker is told by the sink.
TEST_F(Worker, ACallbackThatADestructorGivesUpIsTold) {
  int ran = 0;
  ASSERT_TRUE(worker_->post_after(stream(), [&] { ++ran; }));
  interposer_.fail(*verify::find_function("hipStreamSynchronize"), 1);
  worker_.reset();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("a callback was given up"), std::string::npos) << told_[0];
  EXPECT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
  EXPECT_EQ(ran, 0);
}

}  // namespace
