#include "verify/execute/remap.h"

#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hip/errors.h"
#include "hip/remapped_buffers.h"
#include "verify/execute/mapped_allocations.h"
#include "verify/execute/own_graphs.h"

namespace verify {
namespace {

// Launches an executable graph of the program as two graphs, one for each set of addresses.
class RemappedExec final : public ExecPatcher, private MappedAllocations::Holder, private hip::RemappedWork {
 public:
  RemappedExec(StrategyContext& context, const ExecObject& exec) : context_(context), exec_(exec) {
    context_.mapped->add(*this);
  }
  ~RemappedExec() override {
    context_.mapped->remove(*this);
    remapped_.reset();  // waits for work in flight
    destroy_own_graphs();
  }

  hipError_t launch(const hip::Api&, hipGraphExec_t, hipStream_t stream) override {
    const hip::Status launched = launch_on(hip::StreamRef(context_.api, stream, 0));
    return launched ? hipSuccess : static_cast<hipError_t>(launched.error().code);
  }

  // Never called: the program's patches change addresses, which the next launch maps.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "remapped buffers are never patched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override { changed_ = true; }
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override { changed_ = true; }

 private:
  hip::Status launch_on(const hip::StreamRef& stream) {
    const hip::Result<bool> other = is_elsewhere(context_);
    if (!other) return other.error();
    if (context_.capturing || other.value()) return launch_once(context_, exec_, stream.handle());
    if (hip::Status status = prepare(); !status) return status;
    std::vector<hip::PhysicalMemory> memories;
    for (const hip::BufferIndex buffer : recorded_.buffers) memories.push_back(*memory_of(buffer));
    const hip::Result<hip::RemappedStep> done = remapped_->step(memories, stream, *this);
    return done ? hip::Status() : done.error();
  }

  // The recordings depend on this, beside the nodes.
  struct Recorded {
    std::vector<hip::BufferIndex> buffers;   // that are remapped
    std::vector<hip::DeviceAddress> others;  // addresses of the others that the nodes name
    std::set<hip::NodeIndex> disabled;
    bool operator==(const Recorded&) const = default;
  };

  static void note_error(void* context, const hip::Error&) {
    static_cast<StrategyContext*>(context)->error_reported = true;
  }

  // Null: the buffer is not remapped. A buffer that moved and was not patched is not remapped either, because other
  // memory may be at its old address. No valid program launches such a graph; one whose patch failed may.
  [[nodiscard]] const hip::PhysicalMemory* memory_of(hip::BufferIndex buffer) const {
    if (exec_.addresses[buffer] != context_.addresses[buffer]) return nullptr;
    return context_.mapped->at(exec_.addresses[buffer]);
  }

  // Makes the buffers and records anew where something else than the memory of the buffers has changed.
  hip::Status prepare() {
    Recorded wanted;
    for (const hip::BufferIndex buffer : named_buffers(exec_.recording)) {
      if (memory_of(buffer) != nullptr) {
        wanted.buffers.push_back(buffer);
      } else {
        wanted.others.push_back(exec_.addresses[buffer]);
      }
    }
    wanted.disabled = exec_.disabled;
    if (remapped_ && !changed_ && wanted == recorded_) return {};
    if (remapped_) {
      if (hip::Status cleared = remapped_->clear(); !cleared) return cleared;
    }
    destroy_own_graphs();
    std::vector<hip::RemappedBuffer> buffers;
    for (const hip::BufferIndex buffer : wanted.buffers)
      buffers.push_back({context_.buffer_bytes[buffer], context_.most_buffer_bytes});
    hip::RemappedBuffersOptions options;
    for (Id device = 0; device < context_.devices; ++device) options.devices.push_back(static_cast<int>(device));
    options.errors = {note_error, &context_};
    options.ranges = &context_.mapped->ranges();
    remapped_.emplace(context_.api, std::move(buffers), std::move(options));
    recorded_ = std::move(wanted);
    changed_ = false;
    return {};
  }

  void destroy_own_graphs() {
    for (std::optional<OwnGraph>& own : own_) {
      if (own) destroy_own_graph(context_, *std::exchange(own, {}));
    }
  }

  hip::Status record(std::size_t set, std::span<void* const> addresses) override {
    if (own_[set]) destroy_own_graph(context_, *std::exchange(own_[set], {}));
    hip::AddressTable at = exec_.addresses;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      at[recorded_.buffers[i]] = reinterpret_cast<hip::DeviceAddress>(addresses[i]);
    hip::Result<OwnGraph> own = make_own_graph(context_, exec_, at);
    if (!own) return own.error();
    own_[set] = std::move(own).value();
    return {};
  }
  hip::Status launch(std::size_t set, const hip::StreamRef& stream) override {
    return hip::call<&hip::Api::hipGraphLaunch>(context_.api, own_[set]->exec, stream.handle());
  }
  hip::Status give_up(std::uint64_t number) override { return remapped_ ? remapped_->withdraw(number) : hip::Status(); }

  StrategyContext& context_;
  const ExecObject& exec_;
  Recorded recorded_;
  bool changed_ = false;  // the nodes are others than those that were recorded
  std::array<std::optional<OwnGraph>, hip::RemappedBuffers::kSets> own_;
  std::optional<hip::RemappedBuffers> remapped_;
};

class RemapStrategy final : public StrategyWithStandIns {
 public:
  RemapStrategy() : StrategyWithStandIns(make_strategy(StrategyKind::kRebuild)) {}
  [[nodiscard]] bool maps_memory() const override { return true; }

 private:
  std::unique_ptr<ExecPatcher> stand_in(StrategyContext& context, const ExecObject& exec) override {
    if (context.mapped == nullptr || exec.recording.has_memory_nodes()) return nullptr;
    return std::make_unique<RemappedExec>(context, exec);
  }
};

}  // namespace

std::unique_ptr<Strategy> make_remap_strategy() {
  return std::make_unique<RemapStrategy>();
}

}  // namespace verify
