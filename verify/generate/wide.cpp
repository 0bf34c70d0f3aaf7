#include "verify/generate/wide.h"

#include <utility>

#include "verify/program/state.h"

namespace verify {

namespace {

constexpr std::uint32_t kMostBytes = 16;  // that one node writes
constexpr Id kSource = 0;                 // the buffer that copies read; layer i writes buffer i + 1
constexpr Id kWhole = 0, kChild = 1;      // graphs; clones get higher numbers

class WideGenerator {
 public:
  explicit WideGenerator(Choices& choices) : choices_(choices) {}

  Program go() {
    program_.setting.placement = Placement::kArena;
    layers_ = static_cast<Id>(choices_.between(1, 3));
    take(DeclareBuffer{kSource, 64, MemoryKind::kDevice});
    for (Id layer = 0; layer < layers_; ++layer) {
      take(DeclareBuffer{layer + 1, std::uint64_t{kWideFan} * kMostBytes, MemoryKind::kDevice});
    }
    take(DeclareGraph{kWhole});
    for (Id layer = 0; layer < layers_; ++layer) add_layer(layer);
    instantiate(kWhole);
    for (std::uint64_t left = choices_.between(5, 9); left > 0; --left) operate();
    wind_up();
    return std::move(program_);
  }

 private:
  bool take(Command command) {
    if (state_.check(command)) return false;
    state_.apply(command);
    program_.steps.push_back({std::move(command), 1, 0});
    return true;
  }

  // The last layer may be inside a child graph; half of the layers wait for the layer before, through one node that
  // joins it.
  void add_layer(Id layer) {
    std::vector<Id> after;
    if (layer > 0 && choices_.percent(50)) {
      take(AddNode{kWhole, next_node_, EmptyParams{}, {last_}});
      after = {next_node_++};
    }
    const bool nested = layer + 1 == layers_ && choices_.percent(30);
    if (nested) {
      take(DeclareGraph{kChild});
      take(AddNode{kChild, 0, parameters(layer), {}, kWideFan});
      take(AddNode{kWhole, next_node_, ChildParams{kChild, 1}, after});
    } else {
      take(AddNode{kWhole, next_node_, parameters(layer), after, kWideFan});
    }
    last_ = next_node_++;
  }

  NodeParams parameters(Id layer) {
    const BufferRef target{layer + 1, 0};
    const std::uint64_t words = choices_.between(1, kMostBytes / 4);
    switch (choices_.below(5)) {
      case 0: {
        KernelParams kernel;
        kernel.kernel = find_kernel("inplace_u32");
        for (const FieldSpec& field : kernel.kernel->fields) {
          ArgumentValue value;
          value.kind = field.name == "data" ? ArgumentValue::Kind::kPointer : ArgumentValue::Kind::kNumber;
          if (field.name == "data") value.ref = target;
          value.number = field.name == "n" ? words : 0;
          kernel.arguments.push_back(value);
        }
        if (choices_.percent(50)) kernel.style = ArgumentStyle::kExtra;
        return kernel;
      }
      case 1: {
        CopyParams copy;
        copy.dst.ref = target;
        copy.src.ref = {kSource, 0};
        copy.kind = CopyKind::kDeviceToDevice;
        copy.width = 4 * words;
        return copy;
      }
      case 2:
        return HostParams{layer + 1, std::nullopt, 0};
      case 3:
        return EmptyParams{};
      default:
        return MemsetParams{target, 7, 4, words, 1, 0};
    }
  }

  void instantiate(Id graph) {
    if (take(Instantiate{next_exec_, graph})) ++next_exec_;
  }

  void operate() {
    const Id exec = static_cast<Id>(choices_.below(next_exec_));
    switch (choices_.below(6)) {
      case 0:
        return move_and_patch();
      case 1:
        if (take(Launch{exec, 0})) take(Synchronize{Target::kDevice, 0, 0});
        return;
      case 2:
        take(Update{exec, kWhole});
        return;
      case 3:
        if (take(CloneGraph{next_graph_, kWhole})) take(Destroy{Target::kGraph, next_graph_++});
        return;
      case 4:
        return instantiate(kWhole);
      default:
        take(Patch{Target::kExec, exec});
    }
  }

  void move_and_patch() {
    MoveBuffers move;
    for (Id buffer = 0; buffer <= layers_; ++buffer) {
      if (choices_.percent(50)) move.moves.push_back({buffer, std::nullopt});
    }
    if (move.moves.empty() || !take(move)) return;
    if (state_.graph(kChild) != nullptr) take(Patch{Target::kGraph, kChild});
    if (choices_.percent(50)) take(Patch{Target::kGraph, kWhole});
    for (Id exec = 0; exec < next_exec_; ++exec) {
      if (choices_.percent(70)) {
        take(Patch{Target::kExec, exec});
      } else {
        take(Update{exec, kWhole});
      }
    }
  }

  void wind_up() {
    for (Id exec = 0; exec < next_exec_; ++exec) take(Destroy{Target::kExec, exec});
    take(Destroy{Target::kGraph, kWhole});
  }

  Choices& choices_;
  State state_;
  Program program_;
  Id layers_ = 0, next_node_ = 0, last_ = 0, next_exec_ = 0, next_graph_ = kChild + 1;
};

}  // namespace

Program wide_program(Choices& choices) {
  return WideGenerator(choices).go();
}

}  // namespace verify
