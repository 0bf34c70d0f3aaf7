#include "verify/execute/subject.h"

#include <fmt/format.h>

#include "verify/execute/library_platform.h"
#include "verify/execute/model_platform.h"

namespace verify {

namespace {

constexpr std::string_view kLibrary = "lib=";

std::optional<StrategyKind> strategy_of(std::string_view word) {
  for (const StrategyKind kind : {StrategyKind::kPatch, StrategyKind::kRebuild, StrategyKind::kUpdate}) {
    if (word == strategy_name(kind)) return kind;
  }
  return {};
}

}  // namespace

std::string SubjectName::text() const {
  return fmt::format("{}:{}", runtime, strategy_name(strategy));
}

hip::Result<SubjectName> parse_subject(std::string_view text) {
  SubjectName name;
  const std::size_t colon = text.rfind(':');
  const std::optional<StrategyKind> strategy =
      colon == std::string_view::npos ? std::nullopt : strategy_of(text.substr(colon + 1));
  if (strategy) name.strategy = *strategy;
  name.runtime = std::string(strategy ? text.substr(0, colon) : text);
  if (name.runtime == "model") return name;
  if (name.runtime.starts_with(kLibrary) && name.runtime.size() > kLibrary.size()) return name;
  if (name.runtime.starts_with("model:")) {
    return hip::Error{hipErrorInvalidValue, fmt::format("'{}' is not a strategy; there are patch, rebuild and update",
                                                        name.runtime.substr(6))};
  }
  return hip::Error{
      hipErrorInvalidValue,
      fmt::format("'{}' is not a runtime of this build; 'hgcheck subjects' lists what can be run", name.runtime)};
}

hip::Result<std::unique_ptr<Subject>> Subject::make(const SubjectName& name, std::optional<PatcherFactory> patchers) {
  if (patchers && name.strategy != StrategyKind::kPatch) {
    return hip::Error{hipErrorInvalidValue, fmt::format("a fault of the patcher needs the strategy patch, not {}",
                                                        strategy_name(name.strategy))};
  }
  hip::Result<std::unique_ptr<Platform>> platform =
      name.runtime == "model" ? hip::Result<std::unique_ptr<Platform>>(std::make_unique<ModelPlatform>())
                              : LibraryPlatform::open(name.runtime.substr(kLibrary.size()));
  if (!platform) return platform.error();
  return std::unique_ptr<Subject>(
      new Subject(name, std::move(platform).value(), patchers ? std::move(*patchers) : graph_patcher_factory()));
}

std::vector<SubjectListing> list_subjects() {
  return {
      {"model:patch", "the host model, patched in place by hip::GraphPatcher (the default)", ""},
      {"model:rebuild", "the host model, recorded again at every change (the default baseline)", ""},
      {"model:update", "the host model, through hipGraphExecUpdate", ""},
      {"lib=PATH:patch", "any HIP runtime library, loaded into the worker processes (also :rebuild, :update)", ""},
  };
}

}  // namespace verify
