// verify::Inspector: calls every query function that HIP has for a graph or an executable graph and reports the answers
// in symbolic words: nodes by the names that the program gives them, pointers as "right" where they equal the buffer's
// address plus the offset that was recorded.
//
// Each list is asked for three times: for its length, with an array that is one too short and with a longer array. The
// runtime chooses the nodes that a short array gets, but not their number. The inspector does not ask for a kernel's
// arguments where they may have been set as a packed block (ROCm's getters do not return the block), nor for the
// details of more than kMaxInspectedNodes nodes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hip/result/result.h"
#include "verify/execute/objects.h"

namespace verify {

inline constexpr std::size_t kMaxInspectedNodes = 48;

class Inspector {
 public:
  explicit Inspector(StrategyContext& context) : context_(context) {}

  // The answers, or the error of the first failed query. A function that the runtime lacks is noted in the context.
  [[nodiscard]] hip::Result<std::string> look_at(const GraphObject& graph);
  [[nodiscard]] hip::Result<std::string> look_at(const ExecObject& exec);

 private:
  using Query = std::function<hipError_t(hipGraphNode_t*, std::size_t*)>;
  [[nodiscard]] bool has_queries();
  void name_nodes(const std::vector<hipGraphNode_t>& handles, const std::vector<NodePlace>& places);
  [[nodiscard]] std::string name(hipGraphNode_t node) const;
  void list(const std::string& what, const Query& query);
  void edges(const GraphObject& graph);
  void node(const GraphObject& graph, hip::NodeIndex index);
  void parameters(const GraphObject& graph, hip::NodeIndex index, const std::string& name);
  void kernel(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name, const GraphObject& graph);
  void copy(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name, const GraphObject& graph);
  void memset(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name, const GraphObject& graph);
  void allocation(const hip::MemoryAllocRecord& record, hipGraphNode_t handle, const std::string& name,
                  const GraphObject& graph);
  void batch(const hip::RecordedNode& node, hipGraphNode_t handle, const std::string& name, const GraphObject& graph);
  void semaphores(hipGraphNode_t handle, const std::string& name, const hip::SemaphoreRecord& given, bool waits);
  void freed(const hip::MemoryFreeRecord& record, hipGraphNode_t handle, const std::string& name,
             const GraphObject& graph);
  bool holds(hipError_t code, const char* function);
  void say(std::string text);

  StrategyContext& context_;
  std::map<hipGraphNode_t, std::string> names_;
  std::vector<std::string> own_names_;  // by node index; nodes without a handle included
  std::string said_;
  hip::Status failed_;
};

// Returns `asked` where `answered` is `asked` clamped to the device's range of priorities, else `answered`. Runtimes
// clamp a priority beyond the range to the nearest one in it, and the range depends on the device (1 to -1 on AMD's, 0
// to -5 on an H100).
[[nodiscard]] int priority_as_asked(const hip::Api& api, int asked, int answered);

// "cooperative 0 priority -1 window 50": the answered attributes, with the priority as priority_as_asked() names it and
// the percentage of a window of accesses ("other-window" where another field of it is not as asked).
[[nodiscard]] std::string describe(const hip::Api& api, const hip::KernelAttributes& answered,
                                   const hip::KernelAttributes& asked);

}  // namespace verify
