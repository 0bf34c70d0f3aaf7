#include "verify/generate/shapes.h"

#include <algorithm>

namespace verify {

namespace {

constexpr std::uint32_t kFewInALayer = 16;  // one node joins larger layers, or there would be too many edges

class Shape {
 public:
  Shape(Choices& choices, Id graph, Id cells, std::uint64_t room, std::uint64_t most)
      : choices_(choices), graph_(graph), cells_(cells), room_(room), most_(most) {}

  std::vector<AddNode> draw() {
    switch (choices_.below(6)) {
      case 0:
        chain();
        break;
      case 1:
        diamond();
        break;
      case 2:
        grid();
        break;
      case 3:
        parallel();
        break;
      case 4:
        layers();
        break;
      default:
        anyhow();
        break;
    }
    return std::move(nodes_);
  }

 private:
  [[nodiscard]] bool full(std::uint64_t more = 1) const { return nodes_.size() >= most_ || used_ + more > room_; }

  // The first cell of a node. Cell 0 belongs to no node: a node without dependencies reads it.
  [[nodiscard]] BufferRef cell_of(Id node) const {
    return {cells_, static_cast<std::int64_t>(kCellBytes * first_cell_[node])};
  }
  bool add(const std::vector<Id>& after, std::uint32_t fan = 1) {
    if (full(fan)) return false;
    static const KernelSpec* const kKernel = find_kernel("slices_u32");
    KernelParams params;
    params.kernel = kKernel;
    const auto pointer = [](const BufferRef& ref) { return ArgumentValue{ArgumentValue::Kind::kPointer, 0, ref}; };
    params.arguments = {pointer({cells_, static_cast<std::int64_t>(kCellBytes * used_)})};
    for (std::size_t i = 0; i < 3; ++i) {
      params.arguments.push_back(pointer(after.empty() ? BufferRef{cells_, 0} : cell_of(after[i % after.size()])));
    }
    params.arguments.push_back({ArgumentValue::Kind::kNumber, kCellBytes / 4, {}});
    if (choices_.percent(20)) params.style = ArgumentStyle::kExtra;
    AddNode command;
    command.graph = graph_;
    command.node = static_cast<Id>(nodes_.size());
    command.params = std::move(params);
    command.after = after;
    command.fan = fan;
    nodes_.push_back(std::move(command));
    first_cell_.push_back(used_);
    used_ += fan;
    return true;
  }
  [[nodiscard]] Id last() const { return static_cast<Id>(nodes_.size() - 1); }

  void chain() {
    add({});
    while (add({last()})) {}
  }
  // One node, several nodes after it, one node after all of them; again and again.
  void diamond() {
    add({});
    while (!full(3)) {
      const Id top = last();
      std::vector<Id> middle;
      for (std::uint64_t i = choices_.between(2, 9); i > 0 && add({top}); --i) middle.push_back(last());
      if (!add(middle)) return;
    }
  }
  void grid() {
    const std::uint64_t width = choices_.between(2, 6);
    while (!full()) {
      const std::size_t at = nodes_.size();
      std::vector<Id> after;
      if (at % width != 0) after.push_back(static_cast<Id>(at - 1));
      if (at >= width) after.push_back(static_cast<Id>(at - width));
      add(after);
    }
  }
  // Chains side by side, joined now and then.
  void parallel() {
    std::vector<Id> ends;
    for (std::uint64_t i = choices_.between(2, 8); i > 0 && add({}); --i) ends.push_back(last());
    while (!full() && !ends.empty()) {
      Id& end = ends[choices_.below(ends.size())];
      const Id other = ends[choices_.below(ends.size())];
      if (!add(choices_.percent(15) && other != end ? std::vector<Id>{end, other} : std::vector<Id>{end})) return;
      end = last();
    }
  }
  // Hundreds of nodes of a few commands: each layer is a fan that waits for the whole layer before it.
  void layers() {
    add({});
    for (std::uint64_t i = choices_.between(1, 4); i > 0; --i) {
      const std::uint64_t room = std::min(kMostFan, room_ - used_);
      if (room < 2) return;
      const auto fan = static_cast<std::uint32_t>(choices_.between(2, room));
      if (!add({last()}, fan)) return;
      if ((fan > kFewInALayer || choices_.percent(50)) && !add({last()})) return;
    }
  }
  void anyhow() {
    while (!full()) {
      std::vector<Id> after;
      for (std::uint64_t i = choices_.below(4); i > 0 && !nodes_.empty(); --i) {
        after.push_back(static_cast<Id>(choices_.below(nodes_.size())));
      }
      std::ranges::sort(after);
      after.erase(std::unique(after.begin(), after.end()), after.end());
      add(after);
    }
  }

  Choices& choices_;
  Id graph_;
  Id cells_;
  std::uint64_t room_;
  std::uint64_t most_;
  std::uint64_t used_ = 1;
  std::vector<std::uint64_t> first_cell_;
  std::vector<AddNode> nodes_;
};

}  // namespace

std::vector<AddNode> draw_shape(Choices& choices, Id graph, Id cells, std::uint64_t bytes, std::uint64_t most) {
  const std::uint64_t room = bytes / kCellBytes;
  if (room < 3 || most < 2) return {};
  return Shape(choices, graph, cells, room, most).draw();
}

}  // namespace verify
