// Preconditions and effects of the commands that change or ask graphs and executable graphs as wholes: clones, edges,
// removed and disabled nodes, uploads, queries. Internal to verify/program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const CloneGraph& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const FindInClone& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const ChangeEdges& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const RemoveNode& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const EnableNode& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const Upload& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const Inspect& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const DeclareUserObject& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const RetainUserObject& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const ReleaseUserObject& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const PrintDot& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const SetAttributes& c);
[[nodiscard]] std::optional<std::string> check_graph_command(const State& state, const CopyAttributes& c);
[[nodiscard]] std::optional<std::string> flaw_of_instantiation(const Instantiate& c);

using Graphs = std::map<Id, GraphState>;
using Execs = std::map<Id, ExecState>;
void apply_graph_command(Graphs& graphs, Execs& execs, const CloneGraph& c);
void apply_graph_command(Graphs& graphs, Execs& execs, const ChangeEdges& c);
void apply_graph_command(Graphs& graphs, Execs& execs, const EnableNode& c);
void apply_graph_command(Graphs& graphs, Execs& execs, const SetAttributes& c);
void apply_graph_command(Graphs& graphs, Execs& execs, const CopyAttributes& c);
inline void apply_graph_command(Graphs&, Execs&, const FindInClone&) {}
inline void apply_graph_command(Graphs&, Execs&, const Upload&) {}
inline void apply_graph_command(Graphs&, Execs&, const Inspect&) {}
inline void apply_graph_command(Graphs&, Execs&, const PrintDot&) {}
using Objects = std::map<Id, std::uint32_t>;
void apply_object_command(Graphs& graphs, Objects& objects, const DeclareUserObject& c);
void apply_object_command(Graphs& graphs, Objects& objects, const RetainUserObject& c);
void apply_object_command(Graphs& graphs, Objects& objects, const ReleaseUserObject& c);
// Leaves the graph's addresses to the caller.
void remove_node(Graphs& graphs, Execs& execs, const RemoveNode& c);

// Marks every node that waits for node `index`, directly or not, and the node itself.
void mark_descendants(const GraphState& graph, std::uint32_t index, std::vector<char>& marked);

}  // namespace verify
