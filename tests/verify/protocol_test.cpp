// The protocol of subject processes: messages arrive as they were sent, and no incoming byte is trusted.
#include "verify/subject/protocol.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <tuple>

namespace verify {
namespace {

FrameReader reader_of(const std::string& bytes) {
  FrameReader reader;
  reader.append(bytes.data(), bytes.size());
  return reader;
}

Observation rich_trace() {
  Observation observation;
  observation.statuses = {{0, -1, {}}, {1, 3, "ready"}};
  observation.reads = {{1, 2, {std::byte{1}, std::byte{255}}}, {2, 0, {}}};
  observation.topology = {{4, {0, 1, 2}, {{0, 1}, {1, 2}}}};
  observation.host_tags = {{7, 2}, {9, 1}};
  observation.violations = {{PropertyId::kA2, 3, "g0.n1", "x", "y"}};
  observation.exercised[2] = 5;
  observation.notes = {"a fault", 2, "a race"};
  observation.calls = 11;
  observation.patches = 3;
  observation.fallbacks = 1;
  observation.steps = {{"set", 2}, {"setter calls", 7}, {"refused: too \"many\"", 1}};
  observation.failures_fired = 2;
  observation.patched_in_place = {4, 6};
  observation.unsupported = "hipGraphAddNode";
  observation.harness_error = "none really";
  observation.held = {{"graphs", 3}, {"bytes of memory", 1U << 20}};
  observation.signature = {0, 7, 65535};
  return observation;
}

void expect_equal(const Observation& a, const Observation& b) {
  EXPECT_EQ(a.statuses, b.statuses);
  ASSERT_EQ(a.reads.size(), b.reads.size());
  for (std::size_t i = 0; i < a.reads.size(); ++i) {
    EXPECT_EQ(a.reads[i].step, b.reads[i].step);
    EXPECT_EQ(a.reads[i].buffer, b.reads[i].buffer);
    EXPECT_EQ(a.reads[i].bytes, b.reads[i].bytes);
  }
  EXPECT_EQ(a.topology, b.topology);
  EXPECT_EQ(a.host_tags, b.host_tags);
  EXPECT_EQ(a.steps, b.steps);
  ASSERT_EQ(a.violations.size(), b.violations.size());
  for (std::size_t i = 0; i < a.violations.size(); ++i) {
    EXPECT_EQ(std::tuple(a.violations[i].property, a.violations[i].step, a.violations[i].where,
                         a.violations[i].expected, a.violations[i].observed),
              std::tuple(b.violations[i].property, b.violations[i].step, b.violations[i].where,
                         b.violations[i].expected, b.violations[i].observed));
  }
  EXPECT_EQ(a.exercised, b.exercised);
  EXPECT_EQ(a.signature, b.signature);
  ASSERT_EQ(a.held.size(), b.held.size());
  for (std::size_t i = 0; i < a.held.size(); ++i) {
    EXPECT_EQ(a.held[i].what, b.held[i].what);
    EXPECT_EQ(a.held[i].count, b.held[i].count);
  }
  EXPECT_EQ(a.notes.fault, b.notes.fault);
  EXPECT_EQ(a.notes.races, b.notes.races);
  EXPECT_EQ(a.notes.first_race, b.notes.first_race);
  EXPECT_EQ(
      std::tuple(a.calls, a.patches, a.fallbacks, a.failures_fired, a.patched_in_place, a.unsupported, a.harness_error),
      std::tuple(b.calls, b.patches, b.fallbacks, b.failures_fired, b.patched_in_place, b.unsupported,
                 b.harness_error));
}

TEST(Protocol, ATraceAndItsAddressesArriveAsTheyWereSent) {
  const RunResult sent{rich_trace(), {0x7f0000001000, 0xffffffffffffffff}};
  const auto answer = decode_answer(encode_result(sent));
  ASSERT_TRUE(answer.ok());
  EXPECT_FALSE(answer.value().dying);
  EXPECT_EQ(answer.value().result.script, sent.script);
  expect_equal(answer.value().result.observation, sent.observation);
}

TEST(Protocol, ARequestArrivesAsItWasSent) {
  Request sent{StrategyKind::kUpdate, "/a/patcher.so", "U03", "hgcheck-program 1\n", {}, {1, 2, 3}, {}};
  sent.options = {false, true, false, true, false, false, true, true, true, 42, 7};
  const auto request = decode_request(encode_request(sent));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(std::tuple(request.value().strategy, request.value().patcher, request.value().layer,
                       request.value().program, request.value().script),
            std::tuple(sent.strategy, sent.patcher, sent.layer, sent.program, sent.script));
  const RunOptions& o = request.value().options;
  EXPECT_FALSE(o.poison || o.failures || o.inspect || o.isolation);
  EXPECT_TRUE(o.fresh_addresses && o.keep_passed && o.costs && o.held && o.signature);
  EXPECT_EQ(o.schedule_seed, 42U);
  EXPECT_EQ(o.fail_graph_call, 7U);
}

TEST(Protocol, AThroeWrittenWithoutTheLibraryIsReadByIt) {
  unsigned char out[kThroeFrame];
  const std::size_t size = throe_frame({123456, SIGABRT}, out);
  FrameReader reader = reader_of({reinterpret_cast<const char*>(out), size});
  std::string body;
  ASSERT_EQ(reader.next(body), FrameReader::State::kFrame);
  const auto answer = decode_answer(body);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer.value().dying);
  EXPECT_EQ(answer.value().throe.step, 123456U);
  EXPECT_EQ(answer.value().throe.signal, SIGABRT);
}

TEST(Protocol, AnotherVersionIsRefusedByNumber) {
  Hello hello;
  hello.protocol = kProtocol + 1;
  const auto decoded = decode_hello(encode_hello(hello));
  ASSERT_FALSE(decoded.ok());
  const std::string ours = "version " + std::to_string(kProtocol);
  EXPECT_NE(decoded.error().message.find(ours), std::string::npos) << decoded.error().message;
}

RC_GTEST_PROP(Protocol, FramesComeBackWhateverTheChunksTheyArriveIn, (const std::vector<std::string>& bodies)) {
  std::string stream;
  for (const std::string& body : bodies) stream += frame(body);
  FrameReader reader;
  std::vector<std::string> got;
  std::string body;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t size = std::min<std::size_t>(*rc::gen::inRange<std::size_t>(1, 40), stream.size() - at);
    reader.append(stream.data() + at, size);
    at += size;
    while (reader.next(body) == FrameReader::State::kFrame) got.push_back(body);
  }
  RC_ASSERT(got == bodies);
}

RC_GTEST_PROP(Protocol, AFrameWithAByteChangedIsGarbageOrIncomplete, (const std::string& text)) {
  std::string whole = frame("x" + text);
  const auto at = *rc::gen::inRange<std::size_t>(0, whole.size());
  whole[at] = static_cast<char>(whole[at] ^ *rc::gen::inRange(1, 256));
  FrameReader reader = reader_of(whole);
  std::string body;
  RC_ASSERT(reader.next(body) != FrameReader::State::kFrame);
}

RC_GTEST_PROP(Protocol, ABodyThatIsNoMessageIsAnErrorAndNoCrash, (const std::string& body)) {
  RC_ASSERT(!decode_hello(body).ok());
  RC_ASSERT(!decode_request(body).ok());
  RC_ASSERT(!decode_answer(body).ok());
}

RC_GTEST_PROP(Protocol, ACutMessageIsAnErrorAndNoCrash, ()) {
  const std::string body = encode_result({rich_trace(), {1, 2}});
  RC_ASSERT(!decode_answer(body.substr(0, *rc::gen::inRange<std::size_t>(0, body.size()))).ok());
}

}  // namespace
}  // namespace verify
