// Stream capture: the work that becomes nodes, spreading and joining of captures, and calls that HIP forbids meanwhile.
#include "model/fixture.h"

namespace model {
namespace {

constexpr ThreadId kThread = 1, kOtherThread = 2;

struct CaptureTest : testing::Test, Machine {
  Stream& stream(unsigned flags = kStreamDefault) { return runtime.create_stream(flags, 0, 0); }
  void begin(Stream& on, CaptureMode mode = CaptureMode::kGlobal) {
    EXPECT_EQ(runtime.begin_capture(on, mode, kThread), Status::kSuccess);
  }
  Status end(Stream& on, Graph** graph) { return runtime.end_capture(on, kThread, graph); }
  Graph& captured(Stream& on) {
    Graph* graph = nullptr;
    EXPECT_EQ(end(on, &graph), Status::kSuccess);
    return *graph;
  }
  void enqueue(Stream& on, NodeParams params) { EXPECT_EQ(runtime.enqueue(on, std::move(params)), Status::kSuccess); }
  // Checks that ending an invalidated capture fails and leaves no graph.
  void expect_invalidated(Stream& on) {
    EXPECT_EQ(runtime.capture_of(on)->status(), CaptureStatus::kInvalidated);
    Graph* graph = nullptr;
    EXPECT_EQ(end(on, &graph), Status::kStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(runtime.capture_of(on), nullptr);
    EXPECT_EQ(runtime.live_handles().graphs, 0u);
  }
};

TEST_F(CaptureTest, WorkBecomesNodesInItsOrderAndIsNotDone) {
  const Address a = allocate(), b = allocate();
  Stream& on = stream();
  begin(on);
  enqueue(on, set(a, 5));
  enqueue(on, add(b, a, 2));
  enqueue(on, copy(a, b));
  Graph& graph = captured(on);
  EXPECT_EQ(runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(word(b), 0u);
  ASSERT_EQ(graph.nodes().size(), 3u);
  EXPECT_EQ(graph.edges().size(), 2u);
  run(exec(graph));
  EXPECT_EQ(word(a), 7u);
}

TEST_F(CaptureTest, ItSpreadsThroughEventsAndMustBeJoined) {
  const Address a = allocate(), b = allocate(), sum = allocate();
  Stream &first = stream(), &second = stream(kStreamNonBlocking);
  Event &fork = runtime.create_event(0), &join = runtime.create_event(0);
  begin(first);
  enqueue(first, set(a, 1));
  EXPECT_EQ(runtime.record(fork, first), Status::kSuccess);
  EXPECT_EQ(runtime.wait(second, fork), Status::kSuccess);
  enqueue(second, add(b, a, 10));
  enqueue(first, add(a, a, 100));
  EXPECT_EQ(runtime.record(join, second), Status::kSuccess);
  EXPECT_EQ(runtime.wait(first, join), Status::kSuccess);
  enqueue(first, add(sum, b, 1000));
  Graph& graph = captured(first);
  EXPECT_EQ(runtime.capture_of(second), nullptr);
  ASSERT_EQ(graph.nodes().size(), 4u);
  EXPECT_EQ(graph.edges().size(), 4u);
  EXPECT_EQ(graph.dependencies(*graph.nodes()[3]).size(), 2u);
}

TEST_F(CaptureTest, WorkThatNobodyWaitedForEndsItUnjoined) {
  const Address a = allocate();
  Stream &first = stream(), &second = stream();
  Event& fork = runtime.create_event(0);
  begin(first);
  enqueue(first, set(a, 1));
  EXPECT_EQ(runtime.record(fork, first), Status::kSuccess);
  EXPECT_EQ(runtime.wait(second, fork), Status::kSuccess);
  enqueue(second, set(a, 2));
  Graph* graph = nullptr;
  EXPECT_EQ(end(second, &graph), Status::kStreamCaptureUnmatched);
  EXPECT_EQ(end(first, &graph), Status::kStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(runtime.capture_of(second), nullptr);
  EXPECT_EQ(runtime.live_handles().graphs, 0u);
}

TEST_F(CaptureTest, BeginningAndEndingHaveTheirConditions) {
  Stream& on = stream();
  Graph* graph = nullptr;
  EXPECT_EQ(end(on, &graph), Status::kIllegalState);
  EXPECT_EQ(runtime.begin_capture(runtime.null_stream(), CaptureMode::kGlobal, kThread),
            Status::kStreamCaptureUnsupported);
  begin(on);
  EXPECT_EQ(runtime.begin_capture(on, CaptureMode::kGlobal, kThread), Status::kIllegalState);
  EXPECT_EQ(runtime.end_capture(on, kOtherThread, &graph), Status::kStreamCaptureWrongThread);
  EXPECT_EQ(captured(on).nodes().size(), 0u);
  begin(on, CaptureMode::kRelaxed);
  EXPECT_EQ(runtime.end_capture(on, kOtherThread, &graph), Status::kSuccess);
}

TEST_F(CaptureTest, WaitingForAStreamThatCapturesMakesItInvalid) {
  Stream& on = stream();
  begin(on);
  EXPECT_EQ(runtime.synchronize(on), Status::kStreamCaptureUnsupported);
  EXPECT_EQ(runtime.enqueue(on, set(allocate(), 1)), Status::kStreamCaptureInvalidated);
  expect_invalidated(on);
  begin(on);
  EXPECT_EQ(runtime.query(on), Status::kStreamCaptureUnsupported);
  expect_invalidated(on);
}

TEST_F(CaptureTest, WaitingForACapturedEventMakesItInvalid) {
  Stream& on = stream();
  Event& event = runtime.create_event(0);
  begin(on);
  EXPECT_EQ(runtime.record(event, on), Status::kSuccess);
  EXPECT_EQ(runtime.synchronize(event), Status::kCapturedEvent);
  expect_invalidated(on);
  EXPECT_EQ(runtime.record(event, on), Status::kSuccess);
  EXPECT_EQ(runtime.synchronize(event), Status::kSuccess);
}

TEST_F(CaptureTest, TheNullStreamIsForbiddenWhileABlockingStreamCaptures) {
  const Address a = allocate();
  Stream &blocking = stream(), &free = stream(kStreamNonBlocking);
  begin(free);
  EXPECT_EQ(runtime.enqueue(runtime.null_stream(), set(a, 1)), Status::kSuccess);
  EXPECT_EQ(captured(free).nodes().size(), 0u);
  begin(blocking);
  EXPECT_EQ(runtime.enqueue(runtime.null_stream(), set(a, 1)), Status::kStreamCaptureImplicit);
  EXPECT_EQ(runtime.capture_of(blocking)->status(), CaptureStatus::kInvalidated);
}

TEST_F(CaptureTest, AnEventFromOutsideIsNotWaitedFor) {
  Stream &on = stream(), &other = stream();
  Event &outside = runtime.create_event(0), &never = runtime.create_event(0);
  EXPECT_EQ(runtime.record(outside, other), Status::kSuccess);
  begin(on);
  EXPECT_EQ(runtime.wait(on, never), Status::kSuccess);
  EXPECT_EQ(runtime.capture_of(on)->status(), CaptureStatus::kActive);
  EXPECT_EQ(runtime.wait(on, outside), Status::kStreamCaptureIsolation);
  expect_invalidated(on);
}

TEST_F(CaptureTest, TwoCapturesDoNotMerge) {
  Stream &first = stream(), &second = stream();
  Event& event = runtime.create_event(0);
  begin(first), begin(second);
  EXPECT_EQ(runtime.record(event, first), Status::kSuccess);
  EXPECT_EQ(runtime.wait(second, event), Status::kStreamCaptureMerge);
  EXPECT_EQ(runtime.capture_of(first)->status(), CaptureStatus::kInvalidated);
  EXPECT_EQ(runtime.capture_of(second)->status(), CaptureStatus::kInvalidated);
}

TEST_F(CaptureTest, UnsafeCallsAreForbiddenAsFarAsTheModesSay) {
  struct Case {
    CaptureMode capture, caller;
    ThreadId thread;
    Status expected;
  };
  const Case cases[] = {
      {CaptureMode::kGlobal, CaptureMode::kGlobal, kThread, Status::kStreamCaptureUnsupported},
      {CaptureMode::kGlobal, CaptureMode::kGlobal, kOtherThread, Status::kStreamCaptureUnsupported},
      {CaptureMode::kGlobal, CaptureMode::kThreadLocal, kOtherThread, Status::kSuccess},
      {CaptureMode::kGlobal, CaptureMode::kRelaxed, kThread, Status::kSuccess},
      {CaptureMode::kThreadLocal, CaptureMode::kGlobal, kThread, Status::kStreamCaptureUnsupported},
      {CaptureMode::kThreadLocal, CaptureMode::kGlobal, kOtherThread, Status::kSuccess},
      {CaptureMode::kRelaxed, CaptureMode::kGlobal, kThread, Status::kSuccess},
  };
  for (const Case& c : cases) {
    Stream& on = stream();
    begin(on, c.capture);
    EXPECT_EQ(runtime.refuse_unsafe_call(c.caller, c.thread), c.expected);
    EXPECT_EQ((runtime.capture_of(on)->status() == CaptureStatus::kActive), c.expected == Status::kSuccess);
    EXPECT_EQ(runtime.destroy_stream(on), Status::kSuccess);
  }
}

TEST_F(CaptureTest, ALaunchBecomesAChildNodeThatHoldsWhatTheExecutableHoldsNow) {
  const Address a = allocate();
  Graph& inner = runtime.create_graph();
  node(inner, add(a, a, 4), {node(inner, set(a, 3))});
  GraphExec& launched = exec(inner);
  Stream& on = stream();
  begin(on);
  enqueue(on, set(a, 1));
  EXPECT_EQ(runtime.launch(launched, on), Status::kSuccess);
  enqueue(on, add(a, a, 10));
  Graph& graph = captured(on);
  ASSERT_EQ(graph.nodes().size(), 3u);
  EXPECT_EQ(graph.nodes()[1]->type(), NodeType::kChild);
  EXPECT_EQ(graph.nodes()[1]->child()->edges().size(), 1u);
  EXPECT_EQ(graph.edges().size(), 2u);
  EXPECT_EQ(word(a), 0u);
  runtime.destroy_exec(launched);
  run(exec(graph));
  EXPECT_EQ(word(a), 17u);
}

TEST_F(CaptureTest, OnlyWhatAGraphAllocatesIsFreedInACapture) {
  Stream& second = stream();
  begin(second);
  EXPECT_EQ(runtime.free_async(allocate(), second), Status::kInvalidValue);
}

TEST_F(CaptureTest, AnExistingGraphIsAddedTo) {
  const Address a = allocate();
  Graph& graph = runtime.create_graph();
  Node* first = node(graph, set(a, 3));
  Stream& on = stream();
  EXPECT_EQ(runtime.begin_capture(on, CaptureMode::kGlobal, kThread, &graph, std::span(&first, 1)), Status::kSuccess);
  enqueue(on, add(a, a, 4));
  EXPECT_EQ(&captured(on), &graph);
  ASSERT_EQ(graph.edges().size(), 1u);
  run(exec(graph));
  EXPECT_EQ(word(a), 7u);
}

TEST_F(CaptureTest, ANodeThatIsRemovedMeanwhileIsNobodysDependency) {
  const Address a = allocate();
  Stream& on = stream();
  begin(on);
  enqueue(on, set(a, 1));
  Graph* graph = runtime.find_graph(runtime.capture_of(on)->graph());
  graph->remove(*graph->nodes()[0]);
  enqueue(on, set(a, 2));
  EXPECT_EQ(&captured(on), graph);
  EXPECT_EQ(graph->nodes().size(), 1u);
  EXPECT_TRUE(graph->edges().empty());
}

TEST_F(CaptureTest, AStreamThatIsDestroyedEndsItsCapture) {
  Stream &on = stream(), &side = stream();
  Event& fork = runtime.create_event(0);
  begin(on);
  EXPECT_EQ(runtime.record(fork, on), Status::kSuccess);
  EXPECT_EQ(runtime.wait(side, fork), Status::kSuccess);
  enqueue(side, set(allocate(), 1));
  EXPECT_EQ(runtime.destroy_stream(side), Status::kSuccess);
  EXPECT_EQ(runtime.capture_of(on)->status(), CaptureStatus::kInvalidated);
  EXPECT_EQ(runtime.destroy_stream(on), Status::kSuccess);
  EXPECT_EQ(runtime.live_handles().graphs, 0u);
  Stream& again = stream();
  EXPECT_EQ(runtime.capture_of(again), nullptr);
}

TEST_F(CaptureTest, ElapsedTimeCountsOperations) {
  Stream& on = stream();
  Event &from = runtime.create_event(0), &to = runtime.create_event(0);
  float milliseconds = 0;
  EXPECT_EQ(runtime.elapsed(from, to, &milliseconds), Status::kInvalidHandle);
  EXPECT_EQ(runtime.record(from, on), Status::kSuccess);
  enqueue(on, set(allocate(), 1));
  EXPECT_EQ(runtime.record(to, on), Status::kSuccess);
  EXPECT_EQ(runtime.elapsed(from, to, &milliseconds), Status::kNotReady);
  EXPECT_EQ(runtime.synchronize(to), Status::kSuccess);
  EXPECT_EQ(runtime.elapsed(from, to, &milliseconds), Status::kSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 0.002f);
}

}  // namespace
}  // namespace model
