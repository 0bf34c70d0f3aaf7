#include "bench/step_workload.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bench {

namespace {

constexpr std::uint32_t kLayers = 8;
constexpr std::uint32_t kTenthOfFsdp = 73;  // of 728 commands

using Buffer = hip::BufferIndex;

class Builder {
 public:
  Buffer add(BufferRole role) {
    workload_.buffers.push_back(role);
    return static_cast<Buffer>(workload_.buffers.size() - 1);
  }
  Buffer parameter() { return add(BufferRole::kParameter); }
  std::vector<Buffer> parameters(std::size_t count) {
    std::vector<Buffer> all(count);
    for (Buffer& one : all) one = parameter();
    return all;
  }

  // Each writes a temporary and answers it.
  Buffer product(Buffer left, Buffer right) { return command(CommandKind::kProduct, {left, right}, false); }
  Buffer combine(Buffer x, Buffer y, Buffer z) { return command(CommandKind::kCombine, {x, y, z}, false); }
  Buffer collective(Buffer mine, Buffer peer) { return command(CommandKind::kCombine, {mine, peer, mine}, true); }
  void update(Buffer parameter, Buffer gradient) {
    workload_.commands.push_back({CommandKind::kUpdate, {parameter, gradient}, false});
  }

  StepWorkload& workload() { return workload_; }

 private:
  Buffer command(CommandKind kind, std::vector<Buffer> inputs, bool is_collective) {
    const Buffer out = add(BufferRole::kTemporary);
    inputs.insert(inputs.begin(), out);
    workload_.commands.push_back({kind, std::move(inputs), is_collective});
    return out;
  }

  StepWorkload workload_;
};

// ---- the MLP

struct MlpLayer {
  Buffer weights = 0, bias = 0, in = 0, before = 0, gradient = 0, bias_gradient = 0;
};

StepWorkload make_mlp(bool collectives) {
  Builder step;
  const Buffer input = step.add(BufferRole::kInput), target = step.add(BufferRole::kInput);
  std::vector<MlpLayer> layers(kLayers);
  Buffer at = input;
  for (MlpLayer& layer : layers) {
    layer.weights = step.parameter();
    layer.bias = step.parameter();
    layer.in = at;
    layer.before = step.product(at, layer.weights);
    at = step.combine(layer.before, layer.bias, layer.before);
  }
  const Buffer result = at;
  at = step.combine(result, target, result);  // how far it is off
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const Buffer back = step.combine(at, layer->before, layer->before);
    layer->gradient = step.product(layer->in, back);
    layer->bias_gradient = step.combine(back, back, back);
    at = step.product(back, layer->weights);
  }
  for (const MlpLayer& layer : layers) {
    const Buffer gradient = collectives ? step.collective(layer.gradient, step.parameter()) : layer.gradient;
    step.update(layer.weights, gradient);
    step.update(layer.bias, layer.bias_gradient);
  }
  StepWorkload workload = std::move(step.workload());
  workload.buffers[result] = workload.buffers[at] = BufferRole::kOutput;
  for (const BufferRole role : workload.buffers) workload.moves.push_back(role != BufferRole::kParameter);
  return workload;
}

// ---- the FSDP model: a transformer layer's nine parameters, of which every rank keeps a shard

enum Parameter : std::uint8_t { kQuery, kKey, kValue, kOut, kUp, kGate, kDown, kNorm1, kNorm2, kParameters };
constexpr std::uint32_t kMatrices = kNorm1;

struct FsdpLayer {
  std::vector<Buffer> shard, peer, momentum, peer_gradient;
  Buffer in = 0, norm1 = 0, query = 0, key = 0, value = 0, scores = 0, weights = 0, context = 0, attended = 0;
  Buffer norm2 = 0, up = 0, gate = 0, hidden = 0;
};

std::vector<Buffer> gather(Builder& step, const FsdpLayer& layer) {
  std::vector<Buffer> whole;
  for (std::uint32_t i = 0; i < kParameters; ++i) whole.push_back(step.collective(layer.shard[i], layer.peer[i]));
  return whole;
}

// 9 gathers and 15 commands.
Buffer forwards(Builder& step, FsdpLayer& layer, Buffer in) {
  const std::vector<Buffer> w = gather(step, layer);
  layer.in = in;
  layer.norm1 = step.combine(in, w[kNorm1], in);
  layer.query = step.product(layer.norm1, w[kQuery]);
  layer.key = step.product(layer.norm1, w[kKey]);
  layer.value = step.product(layer.norm1, w[kValue]);
  layer.scores = step.combine(layer.query, layer.key, layer.key);
  layer.weights = step.combine(layer.scores, layer.scores, layer.scores);
  layer.context = step.combine(layer.weights, layer.value, layer.value);
  const Buffer projected = step.product(layer.context, w[kOut]);
  layer.attended = step.combine(projected, in, in);
  layer.norm2 = step.combine(layer.attended, w[kNorm2], layer.attended);
  layer.up = step.product(layer.norm2, w[kUp]);
  layer.gate = step.product(layer.norm2, w[kGate]);
  layer.hidden = step.combine(layer.up, layer.gate, layer.gate);
  const Buffer down = step.product(layer.hidden, w[kDown]);
  return step.combine(down, layer.attended, layer.attended);
}

// 9 gathers and 24 commands: two products for each product of forwards(), one combination for each combination, but two
// for a norm. Returns the gradient of the layer's input; `gradients` receives the gradients of its parameters.
Buffer backwards(Builder& step, const FsdpLayer& layer, Buffer out, std::vector<Buffer>& gradients) {
  const std::vector<Buffer> w = gather(step, layer);
  gradients.resize(kParameters);
  const auto through = [&](Parameter parameter, Buffer in, Buffer gradient) {
    gradients[parameter] = step.product(in, gradient);
    return step.product(gradient, w[parameter]);
  };
  const auto through_norm = [&](Parameter parameter, Buffer in, Buffer one, Buffer other) {
    gradients[parameter] = step.combine(in, one, other);
    return step.combine(one, other, w[parameter]);
  };
  const Buffer residual = step.combine(out, layer.attended, out);
  const Buffer hidden = through(kDown, layer.hidden, out);
  const Buffer halves = step.combine(hidden, layer.up, layer.gate);
  const Buffer up = through(kUp, layer.norm2, halves);
  const Buffer gate = through(kGate, layer.norm2, halves);
  const Buffer attended = through_norm(kNorm2, layer.attended, up, gate);
  const Buffer both = step.combine(attended, residual, layer.in);
  const Buffer context = through(kOut, layer.context, both);
  const Buffer weights = step.combine(context, layer.weights, layer.value);
  const Buffer scores = step.combine(weights, layer.scores, layer.scores);
  const Buffer query_and_key = step.combine(scores, layer.query, layer.key);
  const Buffer query = through(kQuery, layer.norm1, query_and_key);
  const Buffer key = through(kKey, layer.norm1, query_and_key);
  const Buffer value = through(kValue, layer.norm1, context);
  static_cast<void>(value);  // the sum leaves it out: a kernel combines three
  return through_norm(kNorm1, layer.in, query, key);
}

// 9 scatters and 25 commands: matrices are scaled, then every shard has a momentum and a step.
void optimise(Builder& step, const FsdpLayer& layer, const std::vector<Buffer>& gradients) {
  std::vector<Buffer> reduced;
  for (std::uint32_t i = 0; i < kParameters; ++i) {
    reduced.push_back(step.collective(gradients[i], layer.peer_gradient[i]));
  }
  for (std::uint32_t i = 0; i < kMatrices; ++i) reduced[i] = step.combine(reduced[i], reduced[i], layer.momentum[i]);
  for (std::uint32_t i = 0; i < kParameters; ++i) step.update(layer.momentum[i], reduced[i]);
  for (std::uint32_t i = 0; i < kParameters; ++i) step.update(layer.shard[i], layer.momentum[i]);
}

// Buffers spread over the step, taken as long as no more than `commands` commands change.
void move_some(StepWorkload& workload, std::uint32_t commands) {
  constexpr std::size_t kStride = 211;  // a prime that no count of buffers here is a multiple of
  const std::size_t count = workload.buffers.size();
  workload.moves.assign(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t buffer = i * kStride % count;
    if (workload.buffers[buffer] == BufferRole::kParameter) continue;
    workload.moves[buffer] = true;
    if (workload.commands_that_change() > commands) workload.moves[buffer] = false;
  }
}

StepWorkload make_fsdp() {
  Builder step;
  const Buffer input = step.add(BufferRole::kInput), target = step.add(BufferRole::kInput);
  std::vector<FsdpLayer> layers(kLayers);
  Buffer at = input;
  for (FsdpLayer& layer : layers) {
    layer.shard = step.parameters(kParameters);
    layer.peer = step.parameters(kParameters);
    layer.momentum = step.parameters(kParameters);
    layer.peer_gradient = step.parameters(kParameters);
    at = forwards(step, layer, at);
  }
  step.workload().buffers[at] = BufferRole::kOutput;
  at = target;  // the loss's gradient is handed in
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    std::vector<Buffer> gradients;
    at = backwards(step, *layer, at, gradients);
    optimise(step, *layer, gradients);
  }
  step.workload().buffers[at] = BufferRole::kOutput;
  StepWorkload workload = std::move(step.workload());
  move_some(workload, kTenthOfFsdp);
  return workload;
}

}  // namespace

std::string_view name_of(StepModel model) {
  constexpr std::string_view kNames[] = {"mlp", "mlp_collectives", "fsdp"};
  static_assert(std::size(kNames) == std::size(kStepModels));
  return kNames[static_cast<std::size_t>(model)];
}

bool StepWorkload::changes(const StepCommand& command) const {
  return std::ranges::any_of(command.buffers, [this](hip::BufferIndex buffer) { return moves[buffer]; });
}

std::uint32_t StepWorkload::commands_that_change() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(commands, [this](const StepCommand& one) { return changes(one); }));
}

StepWorkload make_step_workload(StepModel model) {
  return model == StepModel::kFsdp ? make_fsdp() : make_mlp(model == StepModel::kMlpCollectives);
}

StepWorkload make_step_workload(const StepPairs& pairs) {
  Builder step;
  for (std::uint32_t i = 0; i < pairs.commands; ++i) {
    const Buffer in = step.add(BufferRole::kInput);
    step.workload().buffers[step.combine(in, in, in)] = BufferRole::kOutput;
  }
  StepWorkload workload = std::move(step.workload());
  workload.buffer_bytes = pairs.buffer_bytes;
  workload.moves.assign(workload.buffers.size(), false);
  const std::uint32_t moved = std::max(pairs.commands * pairs.moved_percent / 100, 1U);
  for (std::uint32_t i = 0; i < moved; ++i) {
    for (const Buffer buffer : workload.commands[std::uint64_t{i} * pairs.commands / moved].buffers)
      workload.moves[buffer] = true;
  }
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    if (!workload.moves[i]) workload.buffers[i] = BufferRole::kParameter;
  }
  return workload;
}

}  // namespace bench
