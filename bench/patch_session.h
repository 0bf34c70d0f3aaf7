// bench::PatchSession: one workload on one runtime, and one way of bringing its executable graph to new addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/runtimes.h"
#include "bench/tight_scan.h"
#include "bench/workload.h"
#include "verify/execute/patcher.h"

namespace bench {

enum class Algorithm {
  kPatch,      // hip::GraphPatcher
  kScan,       // F02 of the catalogue: scan by value, as people shipped it
  kTightScan,  // bench::TightScan: the least that scanning can cost
  kRebuild,    // record the graph again, instantiate it, destroy the old one
};
inline constexpr Algorithm kAlgorithms[] = {Algorithm::kPatch, Algorithm::kScan, Algorithm::kTightScan,
                                            Algorithm::kRebuild};
[[nodiscard]] std::string_view name_of(Algorithm algorithm);

struct PatchCase {
  RuntimeKind runtime = RuntimeKind::kNothing;
  Algorithm algorithm = Algorithm::kPatch;
  std::uint32_t nodes = 0;
  std::uint32_t percent = 0;  // of the buffers move
};

class PatchSession {
 public:
  // `api`: of `runtime`, or a table around it. Both have to outlive this.
  PatchSession(const PatchCase& what, const Runtime& runtime, const hip::Api& api);
  PatchSession(const PatchSession&) = delete;
  PatchSession& operator=(const PatchSession&) = delete;
  ~PatchSession();

  // Moves the buffers away, or back when they are away. Null on success, else a description of the error.
  [[nodiscard]] const char* turn();

  [[nodiscard]] const Workload& workload() const { return workload_; }

 private:
  [[nodiscard]] const char* build(const hip::AddressTable& addresses);
  void destroy();
  [[nodiscard]] const char* rebuild();

  Algorithm algorithm_;
  const hip::Api& api_;
  Workload workload_;
  hip::RecordedGraph graph_;
  hipGraphExec_t exec_ = nullptr;
  std::unique_ptr<verify::ExecPatcher> patcher_;
  std::unique_ptr<TightScan> tight_scan_;
  const char* failed_ = nullptr;
  bool away_ = false;
};

// The work of one turn, as far as it can be counted.
struct Counted {
  std::uint64_t calls = 0;              // of HIP, seen by an interposed table
  std::uint32_t nodes_that_change = 0;  // nodes with a relocation of a moved buffer
};
[[nodiscard]] Counted counts_of_one_turn(const PatchCase& what);

}  // namespace bench
