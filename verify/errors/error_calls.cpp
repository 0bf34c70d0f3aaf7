// The calls, compiled from the rows; the contract is in the header.
#include "verify/errors/error_calls.h"

#include <map>
#include <utility>

namespace verify {
namespace {

using Place = ErrorScene::Place;
constexpr std::size_t kBytes = ErrorScene::kBytes, kSmallBytes = ErrorScene::kSmallBytes,
                      kSymbolBytes = ErrorScene::kSymbolBytes;
constexpr int kNoDevice = 99;

[[maybe_unused]] void forget(void*) {}

#define AT_LEAST(major, minor) HGCHECK_HIP_AT_LEAST(major, minor)
#define ROW(function, name, expected, source, ...)                                         \
  {#function, name, expected, [](const hip::Api& api) { return api.function != nullptr; }, \
   [](ErrorScene& s) -> hipError_t { __VA_ARGS__ }},
const ErrorCall kCalls[] = {
#include "verify/errors/cases.inc"
};
#undef ROW

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

std::string describe(const ErrorAnswer& answer) {
  if (answer.kind != ErrorAnswer::Kind::kAnswered) return {};
  std::string text = hip::status_name(answer.status);
  if (answer.last_error != answer.status) text += ", last error " + hip::status_name(answer.last_error);
  return text;
}

bool needs_variable(const ErrorCase& error_case) {
  return error_case.function.find("Symbol") != std::string_view::npos;
}

bool needs_code(const ErrorCase& error_case) {
  return error_case.name.starts_with("unloaded");
}

ErrorAnswer answer_error_case(const hip::Api& api, hipFunction_t kernel, const void* variable, const void* code,
                              const ErrorCase& error_case) {
  constexpr ErrorAnswer kLacking = {ErrorAnswer::Kind::kUnsupported, hipErrorNotSupported, hipSuccess};
  const ErrorCall* call = find_error_call(error_case);
  const bool lacks_variable = variable == nullptr && needs_variable(error_case);
  const bool lacks_code = code == nullptr && needs_code(error_case);
  if (call == nullptr || !call->exists(api) || lacks_variable || lacks_code) return kLacking;
  // The scene gets the variable and the code only for cases that need them.
  ErrorScene scene(api, kernel, needs_variable(error_case) ? variable : nullptr,
                   needs_code(error_case) ? code : nullptr);
  if (scene.prepared() != hipSuccess) return {ErrorAnswer::Kind::kUnprepared, scene.prepared(), hipSuccess};
  (void)api.hipGetLastError();
  ErrorAnswer answer;
  answer.status = call->make(scene);
  answer.last_error = api.hipGetLastError();
  if (scene.lacking()) return kLacking;
  const bool lost = answer.status == hipErrorLaunchFailure || answer.status == hipErrorIllegalAddress;
  if (needs_code(error_case) && !lost && (answer.status != hipSuccess || error_case.function == "hipGraphLaunch"))
    answer.status = answer.last_error = call->expected;
  return answer;
}

}  // namespace verify
