// P2, isolation: a setter on an executable graph changes that executable graph alone: not the graph it came from, its
// clones, its other instantiations or another node that shares a kernel handle. Likewise a change of a graph changes
// that graph alone, and neither cloning nor a launch changes any.
//
// Detector: inside a model, every other graph and executable graph is inspected before and after each such operation.
// The detector sees parameters, edges and enabled states, at every depth. It does not see effects that only a launch
// shows (the oracle sees them).
#include "verify/properties/isolation.h"

namespace verify {

namespace {

// FNV-1a over the contents of a node. Only equality matters.
class Fingerprint {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3ULL;
  }
  void number(std::uint64_t value) { add(&value, sizeof value); }

  void operator()(const model::EmptyParams&) {}
  void operator()(const model::ChildParams&) {}
  void operator()(const model::EventRecordParams& p) { number(p.event); }
  void operator()(const model::EventWaitParams& p) { number(p.event); }
  void operator()(const model::AllocateParams& p) { number(p.range->base()); }
  void operator()(const model::FreeParams& p) { number(p.range->base()); }
  void operator()(const model::BatchParams& p) {
    for (const model::MemoryOperation& operation : p.operations) {
      number(operation.waits ? 1 : 0);
      number(operation.bytes);
      number(operation.address);
      number(operation.value);
      number(static_cast<std::uint64_t>(operation.comparison));
    }
  }
  void operator()(const model::SemaphoreParams& p) {
    for (const model::SemaphoreValue& each : p.list) {
      number(reinterpret_cast<std::uintptr_t>(each.semaphore.get()));
      number(each.value);
    }
  }
  void operator()(const model::KernelParams& p) {
    number(reinterpret_cast<std::uintptr_t>(p.function.get()));
    number(p.shape.grid.x);
    number(p.shape.block.x);
    add(p.arguments.data(), p.arguments.size());
  }
  void operator()(const model::CopyParams& p) {
    for (const model::PitchedPointer* end : {&p.dst, &p.src}) {
      number(end->base);
      number(end->pitch);
      number(end->ysize);
    }
    for (const model::Position* at : {&p.dst_pos, &p.src_pos}) {
      number(at->x);
      number(at->y);
      number(at->z);
    }
    number(p.extent.width);
    number(p.extent.height);
    number(p.extent.depth);
    number(static_cast<std::uint64_t>(p.kind));
  }
  void operator()(const model::MemsetParams& p) {
    number(p.dst);
    number(p.value);
    number(p.element_size);
    number(p.width);
    number(p.height);
  }
  void operator()(const model::HostParams& p) { number(reinterpret_cast<std::uintptr_t>(p.user_data)); }

  void view(const model::NodeView& node) {
    std::visit([this](const auto& p) { (*this)(p); }, *node.params);
    for (const std::uint32_t dependency : node.dependencies) number(dependency);
    number(node.enabled ? 1 : 0);
    views(node.children);
  }
  void views(const std::vector<model::NodeView>& nodes) {
    for (const model::NodeView& node : nodes) view(node);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::uint64_t fingerprint(const model::NodeView& node) {
  Fingerprint print;
  print.view(node);
  return print.value();
}

std::uint64_t fingerprint(const std::vector<model::NodeView>& nodes) {
  Fingerprint print;
  print.views(nodes);
  return print.value();
}

bool detect_p2(const IsolationEvidence& evidence, Violations& found) {
  for (const auto& [name, print] : evidence.before) {
    const auto now = evidence.after.find(name);
    if (now != evidence.after.end() && now->second == print) continue;
    found.push_back({PropertyId::kP2, evidence.step, name, "unchanged by an operation on another object", "changed"});
  }
  return !evidence.before.empty();
}

}  // namespace verify
