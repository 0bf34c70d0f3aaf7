// Campaign results as JSON and back, with the keys that scripts rely on.
//
// Promises: the keys of `hgcheck campaign --json` are always present, in one order, also when nothing was found; every
// string in the value is valid UTF-8 (bytes that are not are spelled \xNN), so dump() never throws. Keys may be added,
// never renamed.
// Does not check: that the numbers agree with each other (the campaign ensures that), nor unknown keys when reading (a
// newer hgcheck may have written them).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hip/result/result.h"
#include "verify/result.h"

namespace reports {

[[nodiscard]] nlohmann::ordered_json to_json(const verify::CampaignResult& result);

// The result that to_json() was given, except that bytes which are not UTF-8 stay spelled \xNN. A missing key, or one
// of another type, is an error that names it.
[[nodiscard]] hip::Result<verify::CampaignResult> from_json(const nlohmann::ordered_json& json);

}  // namespace reports
