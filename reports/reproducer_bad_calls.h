// Calls with one invalid argument as HIP: what each needs, and the call itself.
//
// verify/errors/cases.inc has a thousand such calls on a scene of forty objects; here stand the ones that have a form
// of their own. What depends on the heap (handles that are gone) has none: a file would show something else each time.
#pragma once

#include <span>
#include <string_view>

#include "verify/program/program.h"

namespace reports {

struct BadCallForm {
  std::string_view function, error_case;
  std::span<const std::string_view> declarations, preparation;  // the second: calls that have to succeed
  std::string_view call;
  std::string_view kernel;  // of the project, that the call needs; or nothing
};

// Null: it has no form.
[[nodiscard]] const BadCallForm* find_bad_call(const verify::BadCall& call);

}  // namespace reports
