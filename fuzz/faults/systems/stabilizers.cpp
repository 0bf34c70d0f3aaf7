// F23, F24, F27 to F29: address stabilisers, right in all but one point each. Their authors had one stream: each step
// is waited for at its end.
//
//   F23  never frees the persistent buffers; a command that is released only forgets them.
//   F24  notes that the command is recorded, then records it: after a failure the note stays; the next step launches.
//   F27  drops errors of hipFree at the end.
//   F28  notes the places of the results when it records, because its author's program always gave the same buffers.
//   F29  looks a buffer up by its place in the command, and assumes that the earlier buffer was as large.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fuzz/faults/lists.h"
#include "hip/device_scope.h"

namespace fuzz {
namespace {

constexpr std::uintptr_t kAlignment = 256;

struct Habits {
  bool never_frees = false;       // F23
  bool notes_first = false;       // F24
  bool drops_errors = false;      // F27
  bool remembers_places = false;  // F28
  bool trusts_sizes = false;      // F29
};

std::uintptr_t begin_of(const hip::StepBuffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.address);
}
std::uintptr_t end_of(const hip::StepBuffer& buffer) {
  return begin_of(buffer) + buffer.bytes;
}
bool overlap(const hip::StepBuffer& a, const hip::StepBuffer& b) {
  return a.bytes != 0 && b.bytes != 0 && begin_of(a) < end_of(b) && begin_of(b) < end_of(a);
}

class PatchedStabilizer final : public verify::StabilizerPart {
 public:
  PatchedStabilizer(const hip::Api& api, hip::ErrorSink errors, const Habits& habits)
      : api_(api), errors_(errors), habits_(habits) {}
  ~PatchedStabilizer() override {
    for (auto& [command, kept] : commands_) forget(kept);
    for (int attempt = 0; !gone_.empty() && attempt < 2; ++attempt) errors_(free_all());
  }

  hip::Result<hip::StableStep> step(std::uint32_t command, std::span<const hip::StepBuffer> buffers,
                                    const hip::StreamRef& stream, hip::StableWork& work) override {
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    if (!scope) return scope.error();
    Kept& kept = commands_[command];
    const hip::Result<std::vector<void*>> own = place(kept, buffers);
    if (!own) return own.error();
    const bool records = !kept.recorded || kept.recorded_for != own.value();
    if (records) {
      kept.recorded = habits_.notes_first;
      kept.recorded_for = own.value();
      kept.places.assign(buffers.begin(), buffers.end());
      if (const hip::Status status = work.record(own.value()); !status) return status.error();
      kept.recorded = true;
    }
    hip::Status done = copy(buffers, own.value(), nullptr, stream);
    if (done) done = work.launch(stream);
    if (done) done = copy(buffers, own.value(), &kept, stream);
    done = hip::both(std::move(done), stream.synchronize());
    if (!done) return done.error();
    return hip::StableStep{records};
  }

  hip::Status release(std::uint32_t command) override {
    const auto found = commands_.find(command);
    if (found == commands_.end()) return {};
    forget(found->second);
    commands_.erase(found);
    return free_all();
  }

 private:
  struct Slot {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct Kept {
    std::map<std::size_t, Slot> slots;  // by the lowest index of the buffers that overlap
    std::vector<void*> recorded_for;
    std::vector<hip::StepBuffer> places;  // the caller's buffers when it was recorded
    bool recorded = false;
  };

  static std::vector<std::size_t> groups_of(std::span<const hip::StepBuffer> buffers) {
    std::vector<std::size_t> group(buffers.size());
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
    for (std::size_t round = 0; round < group.size(); ++round) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = 0; j < group.size(); ++j) {
          if (overlap(buffers[i], buffers[j])) group[i] = std::min(group[i], group[j]);
        }
      }
    }
    return group;
  }

  hip::Result<std::vector<void*>> place(Kept& kept, std::span<const hip::StepBuffer> buffers) {
    const std::vector<std::size_t> group = groups_of(buffers);
    std::vector<void*> own(buffers.size(), nullptr);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].bytes == 0) continue;
      std::uintptr_t begin = begin_of(buffers[i]), end = end_of(buffers[i]);
      for (std::size_t j = 0; j < buffers.size(); ++j) {
        if (group[j] != group[i]) continue;
        begin = std::min(begin, begin_of(buffers[j]));
        end = std::max(end, end_of(buffers[j]));
      }
      bool slices = false;
      for (std::size_t j = 0; j < buffers.size(); ++j) {
        slices = slices || (group[j] == group[i] && begin_of(buffers[j]) != begin);
      }
      const std::uintptr_t before = slices ? begin % kAlignment : 0;
      const hip::Result<void*> memory = reserve(kept.slots[group[i]], before + end - begin);
      if (!memory) return memory.error();
      own[i] = static_cast<std::byte*>(memory.value()) + before + (begin_of(buffers[i]) - begin);
    }
    return own;
  }

  hip::Result<void*> reserve(Slot& slot, std::size_t bytes) {
    if (slot.memory != nullptr && (slot.bytes >= bytes || habits_.trusts_sizes)) return slot.memory;
    void* memory = nullptr;
    if (const hip::Status status = hip::call<&hip::Api::hipMalloc>(api_, &memory, bytes); !status) {
      return status.error();
    }
    void* const smaller = std::exchange(slot, Slot{memory, bytes}).memory;
    if (smaller == nullptr || habits_.never_frees) return memory;
    if (const hip::Status status = hip::call<&hip::Api::hipFree>(api_, smaller); !status) {
      errors_(status);
      gone_.push_back(smaller);
    }
    return memory;
  }

  // Copies the step's buffers into the persistent ones or, with `kept`, copies the results back.
  hip::Status copy(std::span<const hip::StepBuffer> buffers, const std::vector<void*>& own, const Kept* kept,
                   const hip::StreamRef& stream) const {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const hip::BufferUse use = buffers[i].use;
      const bool out = use == hip::BufferUse::kOut || use == hip::BufferUse::kInOut;
      if (buffers[i].bytes == 0 || (kept != nullptr ? !out : use == hip::BufferUse::kOut)) continue;
      void* const place = kept != nullptr && habits_.remembers_places ? kept->places[i].address : buffers[i].address;
      if (place == nullptr) continue;
      void* const to = kept != nullptr ? place : own[i];
      const void* const from = kept != nullptr ? own[i] : place;
      const hip::Status status = hip::call<&hip::Api::hipMemcpyAsync>(api_, to, from, buffers[i].bytes,
                                                                      hipMemcpyDeviceToDevice, stream.handle());
      if (!status) return status;
    }
    return {};
  }

  void forget(Kept& kept) {
    for (const auto& [index, slot] : kept.slots) {
      if (slot.memory != nullptr && !habits_.never_frees) gone_.push_back(slot.memory);
    }
    kept.slots.clear();
  }

  hip::Status free_all() {
    hip::Status all;
    std::erase_if(gone_, [&](void* memory) {
      const hip::Status status = hip::call<&hip::Api::hipFree>(api_, memory);
      if (habits_.drops_errors) return true;
      all = hip::both(std::move(all), status);
      return status.ok();
    });
    return all;
  }

  const hip::Api& api_;
  hip::ErrorSink errors_;
  const Habits habits_;
  std::map<std::uint32_t, Kept> commands_;
  std::vector<void*> gone_;  // buffers to be freed
};

verify::Parts with(const Habits& habits) {
  verify::Parts parts = verify::real_parts();
  parts.stabilizer = [habits](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<PatchedStabilizer>(api, errors, habits);
  };
  return parts;
}

}  // namespace

std::vector<Fault> stabilizer_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {system_fault("F23", "stabiliser", "persistent buffers are never freed", kP8, kStabilizer,
                       with({.never_frees = true})),
          system_fault("F24", "stabiliser", "notes that a command is recorded before recording succeeds", kC3,
                       kStabilizer, with({.notes_first = true})),
          system_fault("F27", "stabiliser", "teardown discards errors of deallocation", kC4, kStabilizer,
                       with({.drops_errors = true})),
          system_fault("F28", "stabiliser", "copies results back to the address of an earlier step", kS4, kStabilizer,
                       with({.remembers_places = true})),
          system_fault("F29", "stabiliser", "reuses a cached buffer that is too small for a later step", kS4,
                       kStabilizer, with({.trusts_sizes = true}))};
}

}  // namespace fuzz
