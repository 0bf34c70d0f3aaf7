// verify::ErrorCase: one known invalid argument: the function, the case in words joined by '-', the status that HIP
// documents, and the source of the rule. The rows are data (verify/errors/cases.inc); their calls are in
// verify/errors/error_calls.cpp. Different answers of AMD's releases are data, too (deviations.inc).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace verify {

// The kinds of calls whose outcome no documentation names. Such a call is either refused with one of a few codes and
// changes nothing, or it does all that it says (verify/errors/open_scene.h). The order is that of the attribute
// open_case.
enum class OpenKind : std::uint8_t {
  kNone,           // the documentation names the answer
  kLateNode,       // a setter for a node that was added after the executable graph was made
  kCopyForm,       // a copy in one dimension becomes a copy of rows, or the reverse
  kMemoryNode,     // parameters of nodes that allocate and free, in an executable graph
  kChildOrder,     // an update whose nodes, or those of a child, were added in another order
  kFreeElsewhere,  // a free node in another graph than the allocation's
  kOneRow,         // one row with a pitch
  kNoBytes,        // nothing to set or copy
  kSymbolForm,     // a copy to or from a symbol becomes another form of copy, or the reverse
  kBatch,          // nodes of batches of memory operations that get other operations
  kBatchArray,     // such nodes, and the caller changes its array behind the call
};

struct ErrorCase {
  std::string_view function;
  std::string_view name;
  int expected = 0;  // hipError_t, or kAnswerOpen
  std::string_view source;
  OpenKind open = OpenKind::kNone;
};

// In the order of the functions in the table; each pair of function and name occurs once.
[[nodiscard]] std::span<const ErrorCase> error_cases();
// Null: there is no such case.
[[nodiscard]] const ErrorCase* find_error_case(std::string_view function, std::string_view name);

// Answers that are not a status.
inline constexpr int kAnswerOpen = -6;  // of a row: one of several outcomes, see OpenKind
inline constexpr int kAnswerCrash = -1;
inline constexpr int kAnswerHang = -2;
inline constexpr int kAnswerUndefined = -3;   // the call uses memory that is not its own: anything may happen
inline constexpr int kAnswerLeavesNode = -4;  // refused as documented, and the node is in the graph
inline constexpr int kAnswerTakesEdges = -5;  // refused as documented, and edges are gone
// The call of an open case succeeds and changes nothing, or does a part of what it says.
inline constexpr int kAnswerNoEffect = -7, kAnswerHalfDone = -8;

struct ErrorDeviation {
  std::string_view release;
  std::string_view function;
  std::string_view name;
  int answer = 0;      // hipError_t, or one of the answers above
  int last_error = 0;  // the status of hipGetLastError after the call
};
[[nodiscard]] std::span<const ErrorDeviation> error_deviations();
// Returns the known deviation of a release for one error case; null when it does not deviate.
[[nodiscard]] const ErrorDeviation* find_error_deviation(std::string_view release, std::string_view function,
                                                         std::string_view name);

}  // namespace verify
