// The turns of waves, barriers, and the resident workgroups; the contract is in the header.
#include "model/gfx942/run.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "model/gfx942/code.h"
#include "model/gfx942/launch.h"

namespace gfx942 {
namespace {

// Instructions that a wave runs in one turn, before the next wave: enough for an ordinary workgroup to end in one turn.
constexpr u64 kTurn = u64{1} << 16;

struct Workgroup {
  WorkgroupShape shape;
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<std::max_align_t> lds;
  u32 ended = 0;

  [[nodiscard]] bool done() const { return ended == waves.size(); }
};

// Registers are large (kVectors rows), so waves that ended are used again, also by later launches of the same thread.
constexpr std::size_t kSpareWaves = 64;  // that a thread keeps between launches
struct SpareWaves {
  std::vector<std::unique_ptr<Wave>> waves;
  ~SpareWaves();
};
thread_local bool thread_ends = false;  // launches may go on while the process ends: a bool stays readable
SpareWaves::~SpareWaves() {
  thread_ends = true;
}
std::vector<std::unique_ptr<Wave>>* spare_waves() {
  if (thread_ends) return nullptr;
  thread_local SpareWaves spare;
  return &spare.waves;
}

std::string hexadecimal(u64 value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

class Launch::State {
 public:
  State(const Program& program, const Dispatch& dispatch, Memory& memory, const Limits& limits)
      : program_(program), dispatch_(dispatch), memory_(memory), limits_(limits), clock_(limits.clock) {
    const std::array<u32, 3> counts = workgroup_counts(dispatch);
    total_ = static_cast<u64>(counts[0]) * counts[1] * counts[2];
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (std::unique_ptr<Workgroup>& group : resident_) retire(*group);
    auto* const spare = spare_waves();
    if (spare != nullptr && spare->size() > kSpareWaves) spare->resize(kSpareWaves);
  }

  std::optional<Outcome> advance(u64 instructions) {
    if (const std::string reason = next_ == 0 ? refuse(program_, dispatch_) : ""; !reason.empty()) {
      Fault fault;
      fault.kind = FaultKind::kDispatch;
      if (dispatch_.kernel != nullptr) fault.kernel = dispatch_.kernel->name;
      fault.text = "kernel '" + fault.kernel + "' cannot be launched: " + reason;
      return fault;
    }
    const u64 end = instructions > ~u64{0} - clock_ ? ~u64{0} : clock_ + instructions;
    // A workgroup that does not end in its turn lets a new one start, as long as there is room. So workgroups that wait
    // for each other run together, and all other workgroups run one after another.
    while (next_ < total_ || !resident_.empty()) {
      if (clock_ >= end) return std::nullopt;
      if (next_ < total_ && has_room()) resident_.push_back(start(next_++));
      for (std::size_t turns = resident_.size(); turns > 0; --turns) {
        std::unique_ptr<Workgroup> group = std::move(resident_.front());
        resident_.pop_front();
        if (Wave* faulted = give_turns(*group)) return fault_of(*group, *faulted);
        if (group->done()) {
          retire(*group);
        } else {
          resident_.push_back(std::move(group));
        }
        if (clock_ >= end && (next_ < total_ || !resident_.empty())) return std::nullopt;
      }
    }
    return Finished{executed()};
  }

 private:
  [[nodiscard]] u64 executed() const { return clock_ - limits_.clock; }

  [[nodiscard]] bool has_room() const {
    const u32 needed = workgroup_shape(dispatch_, next_).waves();
    return resident_.empty() || resident_waves_ + needed <= limits_.resident_waves;
  }

  std::unique_ptr<Workgroup> start(u64 index) {
    auto group = std::make_unique<Workgroup>();
    group->shape = workgroup_shape(dispatch_, index);
    const std::size_t bytes = std::max(dispatch_.kernel->group_bytes, dispatch_.group_bytes);
    group->lds.resize((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    resident_waves_ += group->shape.waves();
    for (u32 number = 0; number < group->shape.waves(); ++number) {
      std::unique_ptr<Wave> wave = take_wave();
      wave->memory = &memory_;
      wave->code = &program_.code();
      wave->code_base = program_.base();
      wave->clock = &clock_;
      wave->lds = {reinterpret_cast<std::byte*>(group->lds.data()), bytes};
      start_wave(dispatch_, group->shape, number, *wave);
      group->waves.push_back(std::move(wave));
    }
    return group;
  }

  std::unique_ptr<Wave> take_wave() {
    auto* const spare = spare_waves();
    if (spare == nullptr || spare->empty()) return std::make_unique<Wave>();
    std::unique_ptr<Wave> wave = std::move(spare->back());
    spare->pop_back();
    return wave;
  }
  void retire(Workgroup& group) {
    resident_waves_ -= static_cast<u32>(group.waves.size());
    auto* const spare = spare_waves();
    if (spare == nullptr) return;
    for (std::unique_ptr<Wave>& wave : group.waves) spare->push_back(std::move(wave));
  }

  // Gives every wave of the group a turn, again and again while barriers open. Returns the wave that faulted, if any.
  Wave* give_turns(Workgroup& group) {
    for (bool opened = true; opened;) {
      for (std::unique_ptr<Wave>& wave : group.waves) {
        if (wave->state == WaveState::kYielded) wave->state = WaveState::kReady;
        if (wave->state == WaveState::kReady) step(*wave);
        if (wave->state == WaveState::kFaulted) return wave.get();
      }
      opened = open_barrier(group);
    }
    return nullptr;
  }

  // A barrier opens when every wave that has not ended is at it.
  static bool open_barrier(Workgroup& group) {
    u32 waiting = 0;
    group.ended = 0;
    for (const std::unique_ptr<Wave>& wave : group.waves) {
      if (wave->state == WaveState::kAtBarrier) ++waiting;
      if (wave->state == WaveState::kEnded) ++group.ended;
    }
    if (waiting == 0 || waiting + group.ended < group.waves.size()) return false;
    for (std::unique_ptr<Wave>& wave : group.waves) {
      if (wave->state == WaveState::kAtBarrier) wave->state = WaveState::kReady;
    }
    return true;
  }

  void step(Wave& w) {
    const Instruction* const code = program_.code().instructions();
    const u64 left = limits_.instructions - std::min(executed(), limits_.instructions);
    const u64 end = clock_ + std::min(kTurn, left);
    while (clock_ < end && w.state == WaveState::kReady) {
      w.current = w.pc;
      const Instruction& in = code[w.pc++];
      ++clock_;
      in.handler(w, in);
    }
    if (limits_.stop != nullptr && limits_.stop->load(std::memory_order_relaxed)) {
      w.current = w.pc;
      w.raise(FaultKind::kBudget, "the launch was stopped");
    }
    if (w.state == WaveState::kReady && executed() >= limits_.instructions) {
      w.current = w.pc;
      w.raise(FaultKind::kBudget,
              "the launch took more than its " + std::to_string(limits_.instructions) + " instructions");
    }
  }

  Fault fault_of(const Workgroup& group, const Wave& w) const {
    const Instruction& in = program_.code().instructions()[w.current];
    Fault f;
    f.kind = w.fault.kind;
    f.kernel = dispatch_.kernel->name;
    f.instruction = program_.code().text_of(in);
    f.pc = program_.base() + in.address;
    f.offset = f.pc - dispatch_.kernel->entry;
    f.workgroup = group.shape.id;
    f.lane = w.fault.lane;
    f.address = w.fault.address;
    f.text = "kernel '" + f.kernel + "': '" + f.instruction + "' at " + hexadecimal(f.pc) + " (entry + " +
             hexadecimal(f.offset) + "), workgroup (" + std::to_string(f.workgroup[0]) + ", " +
             std::to_string(f.workgroup[1]) + ", " + std::to_string(f.workgroup[2]) + ")" +
             (f.lane < kLanes ? ", lane " + std::to_string(f.lane) : "") + ": " + w.fault.text;
    return f;
  }

  const Program& program_;
  const Dispatch& dispatch_;
  Memory& memory_;
  const Limits& limits_;
  u64 clock_;
  u64 total_ = 0;
  u64 next_ = 0;
  u32 resident_waves_ = 0;
  std::deque<std::unique_ptr<Workgroup>> resident_;
};

Launch::Launch(const Program& program, const Dispatch& dispatch, Memory& memory, const Limits& limits)
    : state_(std::make_unique<State>(program, dispatch, memory, limits)) {}

Launch::~Launch() = default;

std::optional<Outcome> Launch::advance(u64 instructions) {
  return state_->advance(instructions);
}

Outcome run(const Program& program, const Dispatch& dispatch, Memory& memory, const Limits& limits) {
  return *Launch(program, dispatch, memory, limits).advance(~u64{0});
}

}  // namespace gfx942
