// The calls, compiled from the rows; the contract is in the header.
#include "verify/errors/error_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "verify/errors/open_calls.h"

namespace verify {
namespace {

using Place = ErrorScene::Place;
constexpr std::size_t kBytes = ErrorScene::kBytes, kSmallBytes = ErrorScene::kSmallBytes,
                      kSymbolBytes = ErrorScene::kSymbolBytes;
constexpr int kNoDevice = 99;
#if HGCHECK_HIP_AT_LEAST(6, 4)
constexpr auto kNoOperation = static_cast<hipStreamBatchMemOpType>(7);
#endif

[[maybe_unused]] void forget(void*) {}

#define AT_LEAST(major, minor) HGCHECK_HIP_AT_LEAST(major, minor)
#define ROW(function, name, expected, source, ...)                                         \
  {#function, name, expected, [](const hip::Api& api) { return api.function != nullptr; }, \
   [](ErrorScene& s) -> hipError_t { __VA_ARGS__ }},
const ErrorCall kCalls[] = {
#include "verify/errors/cases.inc"
};
#undef ROW
#undef VALID
#define ROW(...)
#define VALID(function, ...) {#function, [](ErrorScene& s) -> hipError_t { __VA_ARGS__ }},
struct ValidCall {
  std::string_view function;
  hipError_t (*make)(ErrorScene& scene);
};
const ValidCall kValidCalls[] = {
#include "verify/errors/cases.inc"
};
#undef ROW
#undef VALID

std::string valid_call_fails(const ErrorCall& refused, ErrorScene& scene) {
  const auto* valid = std::ranges::find(kValidCalls, refused.function, &ValidCall::function);
  if (valid == std::end(kValidCalls)) return {};
  const hipError_t status = valid->make(scene);
  return status == hipSuccess ? "" : "the valid call after it, which answers " + hip::status_name(status);
}

// HIP: a call on the null stream invalidates the captures of streams that wait for it, and says so with this status.
bool may_end_captures(const ErrorCall& call) {
  return call.expected == hipErrorStreamCaptureImplicit;
}

std::string changed(const ErrorCall& call, const ErrorScene& scene, const Snapshot& before) {
  if (!scene.capture_changed().empty() && !may_end_captures(call)) return scene.capture_changed();
  return Snapshot::difference(before, scene.look());
}

// The call was refused as documented: says what is not as it was before the call, or nothing. A call about an object
// that is gone is made once, because each may hit whatever is in the object's place by then.
std::string after_refusal(const ErrorCall& call, ErrorScene& scene, const Snapshot& before) {
  std::string text = changed(call, scene, before);
  if (!text.empty()) return text;
  if (!call.name.starts_with("gone")) {
    if (call.make(scene) != call.expected) return "the answer to the same call";
    text = changed(call, scene, before);
  }
  if (text.empty()) text = scene.launch_again();
  if (text.empty()) text = valid_call_fails(call, scene);
  if (text.empty() && call.function.find("UserObject") != std::string_view::npos) text = scene.release_object();
  return text;
}

}  // namespace

const ErrorCall* find_error_call(const ErrorCase& error_case) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, const ErrorCall*> index = [] {
    std::map<Key, const ErrorCall*> made;
    for (const ErrorCall& call : kCalls) made.emplace(Key{call.function, call.name}, &call);
    return made;
  }();
  const auto found = index.find({error_case.function, error_case.name});
  return found == index.end() ? nullptr : found->second;
}

bool has_valid_call(std::string_view function) {
  return std::ranges::find(kValidCalls, function, &ValidCall::function) != std::end(kValidCalls);
}

std::string describe(const ErrorAnswer& answer) {
  if (answer.kind == ErrorAnswer::Kind::kJudged) return answer.changed.empty() ? "an allowed outcome" : answer.changed;
  if (answer.kind != ErrorAnswer::Kind::kAnswered) return {};
  std::string text = hip::status_name(answer.status);
  if (answer.last_error != answer.status) text += ", last error " + hip::status_name(answer.last_error);
  if (!answer.changed.empty()) text += ", changed " + answer.changed;
  return text;
}

bool needs_variable(const ErrorCase& error_case) {
  return error_case.open == OpenKind::kSymbolForm || error_case.function.find("Symbol") != std::string_view::npos;
}

bool needs_code(const ErrorCase& error_case) {
  return error_case.name.starts_with("unloaded");
}

namespace {

const ErrorAnswer kLacking = {ErrorAnswer::Kind::kUnsupported, hipErrorNotSupported, hipSuccess};

ErrorAnswer answer_open_case(const hip::Api& api, hipFunction_t kernel, const void* variable,
                             const ErrorCase& error_case) {
  const OpenCall* call = find_open_call(error_case);
  const bool lacks_variable = variable == nullptr && needs_variable(error_case);
  if (call == nullptr || !call->exists(api) || lacks_variable) return kLacking;
  OpenScene scene(api, kernel, launches_before(call->name), needs_variable(error_case) ? variable : nullptr);
  const hipError_t status = call->make(scene);
  if (scene.lacking()) return kLacking;
  if (scene.prepared() != hipSuccess) return {ErrorAnswer::Kind::kUnprepared, scene.prepared(), hipSuccess};
  return {ErrorAnswer::Kind::kJudged, status, hipSuccess, scene.judge(status, call->codes)};
}

}  // namespace

ErrorAnswer answer_error_case(const hip::Api& api, hipFunction_t kernel, const void* variable, const void* code,
                              const ErrorCase& error_case, bool look_around) {
  if (error_case.open != OpenKind::kNone) return answer_open_case(api, kernel, variable, error_case);
  const ErrorCall* call = find_error_call(error_case);
  const bool lacks_variable = variable == nullptr && needs_variable(error_case);
  const bool lacks_code = code == nullptr && needs_code(error_case);
  if (call == nullptr || !call->exists(api) || lacks_variable || lacks_code) return kLacking;
  // The scene gets the variable and the code only for cases that need them.
  ErrorScene scene(api, kernel, needs_variable(error_case) ? variable : nullptr,
                   needs_code(error_case) ? code : nullptr);
  if (scene.prepared() != hipSuccess) return {ErrorAnswer::Kind::kUnprepared, scene.prepared(), hipSuccess};
  const bool looks = look_around && !needs_code(error_case);
  const Snapshot before = looks ? scene.look() : Snapshot(api);
  (void)api.hipGetLastError();
  ErrorAnswer answer;
  answer.status = call->make(scene);
  const hipError_t peeked = api.hipPeekAtLastError();
  answer.last_error = api.hipGetLastError();
  if (scene.lacking()) return kLacking;
  if (looks && peeked != answer.last_error) answer.changed = "the last error by a look at it";
  const bool lost = answer.status == hipErrorLaunchFailure || answer.status == hipErrorIllegalAddress;
  if (needs_code(error_case) && !lost && (answer.status != hipSuccess || error_case.function == "hipGraphLaunch"))
    answer.status = answer.last_error = call->expected;
  if (looks && answer.changed.empty() && answer.status == call->expected)
    answer.changed = after_refusal(*call, scene, before);
  return answer;
}

}  // namespace verify
