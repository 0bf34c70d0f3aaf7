#include "fuzz/setup.h"

#include <fmt/format.h>

namespace fuzz {

namespace {

hip::Result<std::unique_ptr<verify::Subject>> make_subject(const char* option, const std::string& text,
                                                           std::optional<verify::PatcherFactory> patchers) {
  const hip::Result<verify::SubjectName> name = verify::parse_subject(text);
  if (!name) return hip::Error{name.error().code, fmt::format("{}: {}", option, name.error().message)};
  hip::Result<std::unique_ptr<verify::Subject>> subject = verify::Subject::make(name.value(), std::move(patchers));
  if (!subject) return hip::Error{subject.error().code, fmt::format("{}: {}", option, subject.error().message)};
  return subject;
}

}  // namespace

hip::Result<std::unique_ptr<Setup>> Setup::make(const SetupOptions& options) {
  std::optional<verify::PatcherFactory> patchers;
  if (options.patchers) patchers = options.patchers;
  if (!options.fault.empty()) {
    const Fault* fault = find_fault(options.fault);
    if (fault == nullptr) {
      return hip::Error{1, fmt::format("--fault: there is no fault '{}'; 'hgcheck faults' lists them", options.fault)};
    }
    patchers = fault->patchers;
  }
  hip::Result<std::unique_ptr<verify::Subject>> subject =
      make_subject("--subject", options.subject, std::move(patchers));
  if (!subject) return subject.error();
  hip::Result<std::unique_ptr<verify::Subject>> baseline = make_subject("--baseline", options.baseline, {});
  if (!baseline) return baseline.error();
  return std::unique_ptr<Setup>(new Setup(options, std::move(subject).value(), std::move(baseline).value()));
}

std::string Setup::arguments() const {
  const SetupOptions defaults;
  std::string text;
  if (options_.subject != defaults.subject) text += " --subject " + options_.subject;
  if (options_.baseline != defaults.baseline) text += " --baseline " + options_.baseline;
  if (!options_.fault.empty()) text += " --fault " + options_.fault;
  return text;
}

}  // namespace fuzz
