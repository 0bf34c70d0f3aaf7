// A block of threads is written as threads of the host, where variables live long enough; what they share is locked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "samples.h"

namespace {

using testing::HasSubstr;
using verify::ReproducerForm;
using verify::ReproducerStrategy;

constexpr const char* kThreads =
    "buffer b0 64\nbuffer b1 64\nstream s1 nonblocking\nstream s2 nonblocking\nthreads\nthread 1\n"
    "capture s1 mode=thread\non s1 memset dst=b0+0 value=1 element=1 width=8\nendcapture s1 g0\nsync s1\n"
    "destroy g0\nthread 2\non s2 memset dst=b1+0 value=1 element=1 width=8\nend\n";

// The text of the export, or why there is none.
std::string exported(const std::string& commands, ReproducerStrategy strategy = ReproducerStrategy::kPatch,
                     ReproducerForm form = ReproducerForm::kHip) {
  verify::Reproducer reproducer = reproducer_of(program_for_export(commands));
  reproducer.strategy = strategy;
  const hip::Result<std::string> text = verify::to_reproducer(reproducer, form);
  return text.ok() ? text.value() : text.error().message;
}

TEST(ExportedThreads, OfABlockAreThreadsThatBeginTogether) {
  const std::string text = exported(kThreads);
  EXPECT_THAT(text, HasSubstr("std::thread thread1([&] { static_cast<void>(on_thread<1>([&] {"));
  EXPECT_THAT(text, HasSubstr("for (++begun; begun < 2;) {}"));
  EXPECT_THAT(text, HasSubstr("thread1.join();\n    thread2.join();"));
  EXPECT_THAT(text, HasSubstr("#include <atomic>"));
  EXPECT_THAT(text, HasSubstr("MUST(hipStreamBeginCapture(s1, hipStreamCaptureModeThreadLocal));"));
  const std::size_t first = text.find("std::thread thread1"), last = text.find("thread1.join");
  EXPECT_EQ(text.substr(first, last - first).find("hipDeviceSynchronize"), std::string::npos);
  EXPECT_THAT(exported(kThreads, ReproducerStrategy::kPatch, ReproducerForm::kCatch2),
              HasSubstr("Catch2 checks only in its own thread"));
}

TEST(ExportedThreads, DoNotRecordAGraphAgain) {
  const std::string begin =
      "buffer b0 64\nstream s1 nonblocking\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=8\n"
      "instantiate e0 g0\n";
  const std::string change = "set e0.n0 memset dst=b0+0 value=2 element=1 width=8\n";
  const std::string in_thread = begin + "threads\nthread 1\n" + change + "end\n";
  EXPECT_THAT(exported(in_thread, ReproducerStrategy::kRebuild), HasSubstr("a thread records a graph again"));
  EXPECT_THAT(exported(in_thread), HasSubstr("hipGraphExecMemsetNodeSetParams(e0, g0_n0"));
  EXPECT_THAT(exported(begin + change, ReproducerStrategy::kRebuild), HasSubstr("hipGraphExecDestroy(e0)"));
}

TEST(ExportedThreads, CountHostFunctionsUnderALock) {
  const std::string text = exported("graph g0\nhost g0.n0 tag=1\ninstantiate e0 g0\nlaunch e0 s0\n");
  EXPECT_THAT(text, HasSubstr("const std::lock_guard<std::mutex> lock(counting);\n  ++runs[h.tag];"));
  EXPECT_THAT(text, HasSubstr("#include <mutex>"));
}

}  // namespace
