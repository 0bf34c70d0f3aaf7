// How the commands about failures are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "verify/export/exporter.h"

namespace verify {
namespace {

// A call with one invalid argument, and the objects that it needs.
//
// verify/errors/cases.inc has a thousand such calls on a scene of forty objects; the calls in kForms have a stand-alone
// form. A call with a destroyed handle has none: its answer depends on the heap and would differ from run to run.
struct BadCallForm {
  std::string_view function, error_case;
  std::span<const std::string_view> declarations, preparation;  // preparation: calls that have to succeed
  std::string_view call;
  std::string_view kernel;  // a kernel of the project that the call needs; or empty
};

constexpr std::string_view kCircleDeclared[] = {"hipGraph_t inner, outer;", "hipGraphNode_t first, second, child;",
                                                "hipGraphExec_t exec;"};
constexpr std::string_view kCircle[] = {"hipGraphCreate(&inner, 0)",
                                        "hipGraphCreate(&outer, 0)",
                                        "hipGraphAddEmptyNode(&first, inner, nullptr, 0)",
                                        "hipGraphAddEmptyNode(&second, inner, &first, 1)",
                                        "hipGraphAddDependencies(inner, &second, &first, 1)",
                                        "hipGraphAddChildGraphNode(&child, outer, nullptr, 0, inner)"};

constexpr std::string_view kKernelNodeDeclared[] = {"hipGraph_t graph;", "hipGraphNode_t node;",
                                                    "hipMemcpy3DParms copy{};"};
constexpr std::string_view kKernelNode[] = {
    "hipGraphCreate(&graph, 0)",
    "with_kernel(count_only, 1, 1, [&](auto* p) { return hipGraphAddKernelNode(&node, graph, nullptr, 0, p); }, "
    "1, 2, 3)"};

constexpr BadCallForm kForms[] = {
    {"hipGraphInstantiate", "cycle-in-child", kCircleDeclared, kCircle,
     "hipGraphInstantiate(&exec, outer, nullptr, nullptr, 0)", ""},
    {"hipGraphMemcpyNodeGetParams", "node-of-another-type", kKernelNodeDeclared, kKernelNode,
     "hipGraphMemcpyNodeGetParams(node, &copy)", "count_only"},
};

// The form of the call; null when it has none.
const BadCallForm* find_form(const BadCall& call) {
  const auto* found = std::find_if(std::begin(kForms), std::end(kForms), [&](const BadCallForm& form) {
    return form.function == call.function && form.error_case == call.error_case;
  });
  return found == std::end(kForms) ? nullptr : found;
}

// The status in the answer to a bad call: "hipErrorInvalidValue, out untouched".
std::string status_in(const std::string& seen) {
  return seen.substr(0, seen.find(','));
}

}  // namespace

// The written file cannot make a call fail.
template <>
void export_command(Exporter& out, const Fail& /*command*/) {
  out.refuse_command();
}

template <>
void export_command(Exporter& out, const FailBelow& /*command*/) {
  out.refuse_command();
}

template <>
void export_command(Exporter& out, const BadCall& c) {
  const BadCallForm* form = find_form(c);
  if (form == nullptr) return out.refuse("this call has no stand-alone form yet");
  for (const std::string_view line : form->declarations) out.text().line(std::string(line));
  if (!form->kernel.empty()) {
    out.text().need(HelperFunction::kKernel);
    out.text().need_kernel(form->kernel);
  }
  for (const std::string_view preparation : form->preparation) out.text().must(preparation);
  ExpectedStatus answer;
  answer.error = status_in(out.expected().seen);
  answer.differs = out.expected().differs;
  out.text().call(answer, form->call);
  if (answer.error != status_in(out.expected().saw)) out.answered();
}

template void export_family(FailuresCommands, Exporter&, const Command&);

}  // namespace verify
