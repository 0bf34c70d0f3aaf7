// Scenarios of address stabilisers, against stabilizer_model.h.
//
// The caller's buffers lie in one allocation and may overlap in any way. A command fills its donated buffers, then each
// buffer that it writes: the first half, or all of an output. It copies bytes of its first input to the last bytes of
// the written buffer. The same is done to a copy of the caller's memory on the host.
#include <cstring>
#include <span>
#include <utility>

#include "verify/systems/bench.h"
#include "verify/systems/stabilizer_model.h"

namespace verify {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{kStablePlaces} * kStablePlaceBytes + kMaxStableBytes;
constexpr std::size_t kPlaceAlignment = 256;  // as that of an allocation (hip/address_stabilizer.h)
constexpr std::array<hip::BufferUse, 4> kUses = {hip::BufferUse::kInOut, hip::BufferUse::kOut, hip::BufferUse::kIn,
                                                 hip::BufferUse::kDonated};

// One operation of a command: fills bytes of a buffer, or copies bytes to one from another.
struct Operation {
  std::size_t to = 0, from = 0;  // buffers
  std::size_t offset = 0, bytes = 0;
  bool fills = true;
  int value = 0;
};

struct Shape {
  std::vector<StabilizerModel::Buffer> buffers;
  std::vector<hip::BufferUse> uses;
};

std::vector<Operation> operations_of(const Shape& shape, int seed) {
  std::vector<Operation> all;
  const auto& buffers = shape.buffers;
  std::size_t input = buffers.size();
  for (std::size_t i = buffers.size(); i-- > 0;) {
    if (shape.uses[i] == hip::BufferUse::kIn && buffers[i].bytes != 0) input = i;
  }
  for (const bool donated : {true, false}) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::size_t bytes = buffers[i].bytes;
      if (bytes == 0 || shape.uses[i] == hip::BufferUse::kIn) continue;
      if ((shape.uses[i] == hip::BufferUse::kDonated) != donated) continue;
      const bool half = shape.uses[i] == hip::BufferUse::kInOut;
      all.push_back({i, 0, 0, half ? (bytes + 1) / 2 : bytes, true, (seed + static_cast<int>(i) * 85) % 256});
      if (donated || input == buffers.size() || buffers[i].meets(buffers[input])) continue;
      const std::size_t taken = std::min(bytes, buffers[input].bytes) / 2;
      if (taken != 0) all.push_back({i, input, bytes - taken, taken, false, 0});
    }
  }
  return all;
}

// A command that notes the addresses of its recording and reports a launch without a successful recording.
class BenchWork final : public hip::StableWork {
 public:
  explicit BenchWork(BenchContext& context) : context_(context) {}

  hip::Status record(std::span<void* const> addresses) override {
    ready = false;
    ++recordings;
    addresses_.clear();
    if (std::exchange(refuses, false)) return hip::Error{hipErrorNotSupported, "the command cannot be recorded now"};
    addresses_.assign(addresses.begin(), addresses.end());
    ready = true;
    return {};
  }

  hip::Status launch(const hip::StreamRef& stream) override {
    context_.expect(ready, PropertyId::kC3, "stable step", "a command that was recorded is launched",
                    "one whose recording failed");
    if (!ready || addresses_.size() != shape.buffers.size()) return {};
    const hip::Api& api = context_.inner();
    for (const Operation& each : operations_of(shape, seed)) {
      auto* const to = static_cast<std::byte*>(addresses_[each.to]) + each.offset;
      const hipError_t status = each.fills ? api.hipMemsetAsync(to, each.value, each.bytes, stream.handle())
                                           : api.hipMemcpyAsync(to, addresses_[each.from], each.bytes,
                                                                hipMemcpyDeviceToDevice, stream.handle());
      if (status != hipSuccess) return hip::called(status, "the command");
    }
    return {};
  }

  Shape shape;
  int seed = 0;
  bool refuses = false, ready = false;
  std::uint64_t recordings = 0;

 private:
  BenchContext& context_;
  std::vector<void*> addresses_;
};

class StabilizerBench final : public SystemBench {
 public:
  StabilizerBench(BenchContext& context, const Parts& parts)
      : context_(context), part_(parts.stabilizer(context.api(), context.sink())), bytes_(kArenaBytes) {
    const AtHome home(context.inner());
    for (int i = 0; i < kStableStreams; ++i) {
      hipStream_t handle = nullptr;  // the first stream is the default stream
      if (i != 0) static_cast<void>(context.inner().hipStreamCreateWithFlags(&handle, hipStreamNonBlocking));
      streams_.emplace_back(context.api(), handle, 0);
    }
    for (int i = 0; i < kStableCommands; ++i) works_.push_back(std::make_unique<BenchWork>(context));
    for (int i = 0; i < kStableBuffers; ++i) {
      buffers_.push_back({static_cast<std::size_t>(i) * 512, 64});
      uses_.push_back(kUses[static_cast<std::size_t>(i)]);
    }
    for (std::size_t i = 0; i < kArenaBytes; ++i) bytes_[i] = static_cast<unsigned char>(i * 7);
    static_cast<void>(context.inner().hipMalloc(&arena_, kArenaBytes));
    static_cast<void>(context.inner().hipMemcpy(arena_, bytes_.data(), kArenaBytes, hipMemcpyHostToDevice));
  }

  int run(const SystemAction& action) override {
    const auto first = static_cast<std::size_t>(action.fields[0]);
    switch (action.verb) {
      case SystemVerb::kStableBuffer:
        buffers_[first] = {static_cast<std::size_t>(action.fields[1]) * kStablePlaceBytes,
                           static_cast<std::size_t>(action.fields[2])};
        uses_[first] = kUses[static_cast<std::size_t>(action.fields[3])];
        return hipSuccess;
      case SystemVerb::kStableStep:
        return step(action);
      case SystemVerb::kStableRefuse:
        works_[first]->refuses = true;
        return hipSuccess;
      case SystemVerb::kStableRelease:
        return release(action);
      default:
        not_of_this_bench(action);
    }
  }

  void finish() override {
    const std::uint64_t fired = context_.interposer.fired();
    part_.reset();
    expect_teardown_told(fired, hip::Status(), "the end");
    const AtHome home(context_.inner());
    static_cast<void>(context_.inner().hipDeviceSynchronize());
    static_cast<void>(context_.inner().hipFree(arena_));
    for (const hip::StreamRef& stream : streams_) {
      if (stream.handle() != nullptr) static_cast<void>(context_.inner().hipStreamDestroy(stream.handle()));
    }
  }

 private:
  [[nodiscard]] Shape shape() const {
    Shape shape{buffers_, uses_};
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      shape.buffers[i].in = uses_[i] != hip::BufferUse::kOut;
      shape.buffers[i].out = uses_[i] == hip::BufferUse::kOut || uses_[i] == hip::BufferUse::kInOut;
    }
    return shape;
  }

  int step(const SystemAction& action) {
    const int command = action.fields[0];
    BenchWork& work = *works_[static_cast<std::size_t>(command)];
    work.shape = shape();
    work.seed = action.fields[2];
    std::vector<hip::StepBuffer> given;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      void* const address = static_cast<std::byte*>(arena_) + buffers_[i].at;
      given.push_back({buffers_[i].bytes == 0 ? nullptr : address, buffers_[i].bytes, uses_[i]});
    }
    const int stream = action.fields[1];
    // The caller orders the accesses of two commands to its memory; the stabiliser orders the accesses of one command.
    if (command != last_command_) wait();
    last_command_ = command;
    const std::uint64_t recordings = work.recordings, fired = context_.interposer.fired();
    const std::uint64_t allocations = context_.interposer.calls_of(Function::k_hipMalloc);
    const bool refuses = work.refuses;
    const hip::Result<hip::StableStep> outcome =
        part_->step(static_cast<std::uint32_t>(command), given, streams_[static_cast<std::size_t>(stream)], work);
    const bool failed = context_.interposer.fired() != fired, recorded = work.recordings != recordings;
    const bool refused = refuses && !work.refuses;
    expect_decision(action, recorded, failed, refused,
                    context_.interposer.calls_of(Function::k_hipMalloc) != allocations);
    context_.expect(outcome.ok() || failed || refused, PropertyId::kS4, print_action(action), "a step",
                    outcome.ok() ? "" : outcome.error().message);
    context_.expect(!outcome.ok() || !refused, PropertyId::kC3, print_action(action), "an error: recording failed",
                    "success");
    compare(action, outcome.ok());
    return outcome.ok() ? hipSuccess : outcome.error().code;
  }

  void expect_decision(const SystemAction& action, bool recorded, bool failed, bool refused, bool allocated) {
    StabilizerModel::Command& command = model_.commands[action.fields[0]];
    bool grows = false;
    const std::vector<StabilizerModel::Place> places =
        StabilizerModel::place(command, shape().buffers, kPlaceAlignment, &grows);
    const bool expected = !command.recorded_for || *command.recorded_for != places;
    if (failed) command.certain = false;
    if (command.certain) {
      context_.expect(recorded == expected, PropertyId::kS4, print_action(action),
                      expected ? "recorded: its addresses are others" : "launched as it was recorded",
                      recorded ? "recorded" : "not recorded");
      context_.expect(grows || !allocated, PropertyId::kP10, print_action(action), "no allocation", "one");
    }
    if (recorded) command.recorded_for = places;
    if (refused) command.recorded_for.reset();
  }

  void wait() const {
    const AtHome home(context_.inner());
    static_cast<void>(context_.inner().hipDeviceSynchronize());
  }

  // Compares the caller's memory with the expected bytes: the result of the command on that memory itself.
  void compare(const SystemAction& action, bool done) {
    const Shape now = shape();
    std::vector<unsigned char> direct = bytes_, seen(kArenaBytes);
    for (const Operation& each : operations_of(now, action.fields[2])) {
      unsigned char* const to = direct.data() + now.buffers[each.to].at + each.offset;
      if (each.fills)
        std::memset(to, each.value, each.bytes);
      else
        std::memmove(to, direct.data() + now.buffers[each.from].at, each.bytes);
    }
    std::vector<bool> written(kArenaBytes);
    for (const StabilizerModel::Buffer& buffer : now.buffers) {
      for (std::size_t i = 0; buffer.out && i < buffer.bytes; ++i) written[buffer.at + i] = true;
    }
    // Not after every step, so that several steps may be unfinished on their streams.
    const bool looks = !done || action.fields[2] % 4 != 0;
    if (looks) {
      wait();
      const AtHome home(context_.inner());
      static_cast<void>(context_.inner().hipMemcpy(seen.data(), arena_, kArenaBytes, hipMemcpyDeviceToHost));
    }
    bool right = true;
    for (std::size_t i = 0; i < kArenaBytes; ++i) {
      const unsigned char expected = written[i] ? direct[i] : bytes_[i];
      // After an error the bytes that the step writes may be the old or the new bytes.
      if (looks && seen[i] != expected && !(written[i] && !done)) right = false;
      bytes_[i] = looks && written[i] ? seen[i] : expected;
    }
    context_.expect(right, PropertyId::kS4, print_action(action),
                    "the bytes that the command leaves without a stabiliser", "others");
  }

  int release(const SystemAction& action) {
    const std::uint64_t fired = context_.interposer.fired();
    const hip::Status status = part_->release(static_cast<std::uint32_t>(action.fields[0]));
    expect_teardown_told(fired, status, print_action(action));
    model_.commands.erase(action.fields[0]);
    return status.ok() ? hipSuccess : status.error().code;
  }

  void expect_teardown_told(std::uint64_t fired, const hip::Status& status, const std::string& where) {
    if (context_.interposer.fired() == fired) return;
    context_.expect(!status.ok() || !context_.reported.empty(), PropertyId::kC4, where, "an error of teardown is told",
                    "silence");
  }

  BenchContext& context_;
  std::unique_ptr<StabilizerPart> part_;
  std::vector<hip::StreamRef> streams_;
  std::vector<std::unique_ptr<BenchWork>> works_;
  std::vector<StabilizerModel::Buffer> buffers_;
  std::vector<hip::BufferUse> uses_;
  StabilizerModel model_;
  std::vector<unsigned char> bytes_;  // the expected bytes of the caller's memory
  void* arena_ = nullptr;
  int last_command_ = -1;
};

}  // namespace

std::unique_ptr<SystemBench> make_stabilizer_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<StabilizerBench>(context, parts);
}

}  // namespace verify
