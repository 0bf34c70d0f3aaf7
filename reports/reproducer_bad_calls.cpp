#include "reports/reproducer_bad_calls.h"

#include <algorithm>
#include <iterator>

namespace reports {
namespace {

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

}  // namespace

const BadCallForm* find_bad_call(const verify::BadCall& call) {
  const auto* found = std::find_if(std::begin(kForms), std::end(kForms), [&](const BadCallForm& form) {
    return form.function == call.function && form.error_case == call.error_case;
  });
  return found == std::end(kForms) ? nullptr : found;
}

}  // namespace reports
