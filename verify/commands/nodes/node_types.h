// The types of nodes as the language has them: their words, how their parameters are read, printed and made simpler,
// and the features that they count for. node_types.cpp has an overload for each type; without it the build fails.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/language/line.h"
#include "verify/language/node_params.h"

namespace verify {

// A word of the language for nodes. Copies have two: the linear form and the 3D form.
struct NodeWord {
  std::string_view word;
  bool set_in_graph = false;  // HIP has a setter for nodes of graphs
  bool set_in_exec = false;   // HIP has a setter for nodes of executable graphs
  std::string_view syntax;    // the syntax of its parameters
  std::string_view meaning;   // Markdown, for the reference page
};
// In the order of NodeParams.
[[nodiscard]] std::span<const NodeWord> node_words();
// "kernel", "memcpy", "memcpy3d", ...: the type of a node as the language names it.
[[nodiscard]] std::string_view node_word(const NodeParams& params);
[[nodiscard]] bool is_node_word(std::string_view word);

// Reads the parameters that stand by place after the word of the node type: a kernel's name, a child's graph.
[[nodiscard]] NodeParams parse_node_places(Line& line, std::string_view word);
// Reads the keys of the parameters that parse_node_places began.
void parse_node_keys(Attributes& attributes, NodeParams& params);
// Prints the parameters that follow the node's name, each after a space.
void print_node_params(std::string& out, const NodeParams& params);
// Calls emit for each simpler variant of the parameters, the simplest first.
void simplify_node_params(const NodeParams& params, const std::function<void(const NodeParams&)>& emit);

// Counts a feature by its name.
using CountFeature = std::function<void(std::string_view)>;
[[nodiscard]] std::vector<std::string> node_feature_names();
// `buffer_bytes`: the size of each buffer, by number; 0 where it is not known.
void count_node_features(const NodeParams& params, const std::vector<std::uint64_t>& buffer_bytes,
                         const CountFeature& count);

// References to try instead of `ref`: other offsets into the same buffer.
[[nodiscard]] std::vector<BufferRef> simpler_refs(const BufferRef& ref);
// Values to try instead of `value`, smallest first: none is below `least`.
[[nodiscard]] std::vector<std::uint64_t> smaller_values(std::uint64_t value, std::uint64_t least);

}  // namespace verify
