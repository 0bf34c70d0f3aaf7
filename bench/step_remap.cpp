#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "bench/step_way.h"
#include "hip/flatten.h"
#include "hip/remapped_buffers.h"

namespace bench {

namespace {

class Remapped final : public StepWayBase, private hip::RemappedWork {
 public:
  Remapped(const StepOptions& options, StepBed& bed, const hip::Api& api) : StepWayBase(options, bed, api) {}
  ~Remapped() override {
    remapped_.reset();  // waits for the launches
    for (Set& set : sets_) hip::ErrorSink{}(drop(set));
  }

  hip::Status prepare() {
    const StepWorkload& workload = bed_.workload();
    std::vector<hip::RemappedBuffer> buffers;
    for (hip::BufferIndex i = 0; i < workload.buffers.size(); ++i) {
      if (!workload.moves[i]) continue;
      if (bed_.memory_at(bed_.addresses(false)[i]) == nullptr)
        return hip::Error{hipErrorInvalidValue, "remap needs a bed whose places are mapped"};
      moving_.push_back(i);
      buffers.push_back({workload.buffer_bytes});
    }
    memories_.resize(moving_.size());
    remapped_.emplace(api_, std::move(buffers));
    hip::Result<hip::Recording> known = bed_.known_commands(api_, commands());
    if (!known) return known.error();
    recording_ = std::move(known).value();
    return {};
  }
  hip::Status step(const hip::AddressTable& addresses) override {
    for (std::size_t i = 0; i < moving_.size(); ++i) memories_[i] = *bed_.memory_at(addresses[moving_[i]]);
    const hip::Result<hip::RemappedStep> done = remapped_->step(memories_, stream_, *this);
    return done ? hip::Status() : hip::Status(done.error());
  }
  // Steps take two sets in turn, and each set finds its buffers moved.
  bool away_at(std::size_t n) const override { return n / hip::RemappedBuffers::kSets % 2 != 0; }

 private:
  struct Set {
    hip::RecordedGraph graph;
    hipGraphExec_t exec = nullptr;
  };

  hip::Status record(std::size_t number, std::span<void* const> addresses) override {
    Set& set = sets_[number];
    if (hip::Status status = drop(set); !status) return status;
    hip::AddressTable at = bed_.addresses(false);
    for (std::size_t i = 0; i < addresses.size(); ++i)
      at[moving_[i]] = reinterpret_cast<hip::DeviceAddress>(addresses[i]);
    hip::Result<hip::RecordedGraph> recorded = hip::record_graph(api_, recording_, at);
    if (!recorded) return recorded.error();
    set.graph = std::move(recorded).value();
    return hip::call<&hip::Api::hipGraphInstantiate>(api_, &set.exec, set.graph.graph, nullptr, nullptr, 0);
  }
  hip::Status launch(std::size_t number, const hip::StreamRef&) override {
    return StepWayBase::launch(sets_[number].exec);
  }
  hip::Status drop(Set& set) {
    if (set.graph.graph == nullptr) return {};
    const Set old = std::exchange(set, {});
    hip::Status status = old.exec == nullptr ? hip::Status() : hip::destroy_exec(api_, old.exec);
    return hip::both(std::move(status), hip::destroy_graph(api_, old.graph.graph));
  }

  hip::Recording recording_;
  std::vector<hip::BufferIndex> moving_;
  std::vector<hip::PhysicalMemory> memories_;  // kept, so that a step allocates nothing
  std::array<Set, hip::RemappedBuffers::kSets> sets_;
  std::optional<hip::RemappedBuffers> remapped_;
};

}  // namespace

hip::Result<std::unique_ptr<StepSession>> make_remapped(const StepOptions& options, StepBed& bed, const hip::Api& api) {
  return prepared<Remapped>(options, bed, api);
}

}  // namespace bench
