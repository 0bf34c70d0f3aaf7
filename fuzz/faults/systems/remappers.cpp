// M01 to M11: code that maps the memory of a step under addresses that a graph keeps, right in all but one point each.
//
//   M01  maps the memory of a step while the launch two steps ago may still run on those addresses.
//   M02  has one set of addresses, and waits for the launch two steps ago as if there were two.
//   M03  waits for the default stream before it unmaps. Other streams are not waited for, except before addresses are
//        given back.
//   M04  gives device 0 access, and no other.
//   M05  withdraws memory in its books only; it stays mapped until the next step needs its addresses.
//   M06  keeps the addresses of a command that was cleared for the next command, which does not record for them.
//   M07  rounds the size that it maps down to whole pages.
//   M08  a step that fails at its second mapping notes that the first is the earlier one again, and does not map it.
//   M09  replaces an argument that has the bits of the caller's address, whatever it is.
//   M10  releases memory that is withdrawn, which its owner does as well.
//   M11  records with the caller's addresses.
//
// M12 (peers map in another order than they launch) needs threads: verify/race/scenarios/remapped_ranks.cpp.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/faults/lists.h"
#include "hip/address_ranges.h"
#include "hip/device_scope.h"
#include "hip/event.h"

namespace fuzz {
namespace {

struct RemapHabits {
  bool never_waits = false;          // M01
  bool one_set = false;              // M02
  bool waits_for_default = false;    // M03
  bool one_device = false;           // M04
  bool withdraws_in_books = false;   // M05
  bool inherits_recordings = false;  // M06
  bool rounds_down = false;          // M07
  bool half_rollback = false;        // M08
  bool replaces_numbers = false;     // M09
  bool releases = false;             // M10
  bool records_as_given = false;     // M11
};

class PatchedRemapper final : public verify::RemapperPart {
 public:
  PatchedRemapper(const hip::Api& api, const verify::RemapperOptions& options, const RemapHabits& habits)
      : api_(api), options_(options), habits_(habits) {}
  ~PatchedRemapper() override {
    for (std::size_t command = 0; command < commands_.size(); ++command) {
      if (const hip::Status first = clear(command); !first) {
        options_.errors(first);
        options_.errors(clear(command));
      }
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      for (Set& set : left_) options_.errors(give_back(set));
    }
  }

  hip::Status step(const Step& step) override {
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, options_.errors);
    if (!scope) return scope.error();
    Command& command = commands_[step.command];
    const std::size_t turn = command.steps % 2, index = habits_.one_set ? 0 : turn;
    Set& set = command.sets[index];
    hip::Status status = ready(command, step.command, set, turn);
    if (status && !habits_.never_waits) status = wait(command.launches[turn], habits_.waits_for_default);
    if (status) status = map(set, step);
    if (status && !set.recorded) {
      status = record(set, index, step);
      set.recorded = status.ok();
    }
    if (!status) return status;
    Launch& before = command.launches[1 - turn];
    if (before.in_flight) status = step.stream.wait(*before.done);
    if (status) status = step.work.launch(index, step.stream);
    if (!status) return status;
    ++command.steps;
    Launch& launch = command.launches[turn];
    status = launch.done->record(step.stream);
    launch.in_flight = status.ok();
    return status ? status : hip::both(std::move(status), step.stream.synchronize());
  }

  hip::Status withdraw(std::uint64_t memory) override {
    hip::Status all;
    hipMemGenericAllocationHandle_t handle = nullptr;
    for (Command& command : commands_) {
      for (Set& set : command.sets) {
        for (Slot& slot : set.slots) {
          if (!slot.mapped || slot.memory.number != memory) continue;
          handle = slot.memory.handle;
          if (habits_.withdraws_in_books) {
            slot.memory = {};
            continue;
          }
          hip::Status gone = wait_for_all(command, habits_.waits_for_default);
          if (gone) gone = unmap(slot);
          all = hip::both(std::move(all), gone);
        }
      }
    }
    if (habits_.releases && handle != nullptr && all) {
      all = hip::call<&hip::Api::hipMemRelease>(api_, handle);
    }
    return all;
  }

  // Recording is due, also after an error: the caller has destroyed its graphs.
  hip::Status clear(std::size_t number) override {
    std::array<bool, 2> recorded{};
    for (std::size_t i = 0; i < recorded.size(); ++i)
      recorded[i] = std::exchange(commands_[number].sets[i].recorded, false);
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, options_.errors);
    if (!scope) return scope.error();
    Command& command = commands_[number];
    hip::Status all = wait_for_all(command, false);
    if (!all) return all;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      Set& set = command.sets[i];
      if (habits_.inherits_recordings && recorded[i] && left_.size() < kLeft) {
        for (Slot& slot : set.slots) all = hip::both(std::move(all), unmap(slot));
        set.recorded = all.ok();
        if (all) left_.push_back(std::exchange(set, {}));
      } else {
        all = hip::both(std::move(all), give_back(set));
      }
    }
    for (Launch& launch : command.launches) {
      if (!launch.done) continue;
      const hip::Status destroyed = launch.done->destroy();
      if (destroyed) launch.done.reset();
      all = hip::both(std::move(all), destroyed);
    }
    return all;
  }

 private:
  static constexpr std::size_t kLeft = 2;
  struct Slot {
    void* address = nullptr;
    std::size_t room = 0, used = 0, mapped_bytes = 0;
    hip::PhysicalMemory memory{};
    bool mapped = false;
  };
  struct Set {
    std::array<Slot, 2> slots;
    bool recorded = false;
  };
  struct Launch {
    std::optional<hip::Event> done;
    bool in_flight = false;
  };
  struct Command {
    std::array<Set, 2> sets;
    std::array<Launch, 2> launches;
    std::size_t steps = 0;
  };

  [[nodiscard]] std::size_t page() const {
    const hipMemAllocationProp properties = hip::memory_of_device(0);
    std::size_t bytes = 0;
    return api_.hipMemGetAllocationGranularity(&bytes, &properties, hipMemAllocationGranularityMinimum) == hipSuccess
               ? bytes
               : 4096;
  }

  // The set has addresses, and the launch an event.
  hip::Status ready(Command& command, std::size_t number, Set& set, std::size_t turn) {
    if (!command.launches[turn].done) {
      hip::Result<hip::Event> made = hip::Event::create(api_, {.errors = options_.errors});
      if (!made) return made.error();
      command.launches[turn].done.emplace(std::move(made).value());
    }
    if (habits_.inherits_recordings && set.slots[0].address == nullptr && !left_.empty()) {
      set = left_.back();
      left_.pop_back();
    }
    const hip::RemappedBuffer& buffer = options_.buffers[number];
    const std::size_t unit = page();
    for (Slot& slot : set.slots) {
      if (slot.address != nullptr) continue;
      slot.room = buffer.most_bytes;
      slot.used = habits_.rounds_down ? std::max(buffer.bytes / unit, std::size_t{1}) * unit : slot.room;
      const hip::Status reserved =
          hip::call<&hip::Api::hipMemAddressReserve>(api_, &slot.address, slot.room, std::size_t{0}, nullptr, 0ULL);
      if (!reserved) return reserved;
    }
    return {};
  }

  hip::Status wait(Launch& launch, bool for_default) const {
    if (!launch.in_flight) return {};
    const hip::Status waited =
        for_default ? hip::StreamRef::of_default(api_).synchronize() : launch.done->synchronize();
    if (!for_default) launch.in_flight = !waited.ok();
    return waited;
  }
  hip::Status wait_for_all(Command& command, bool for_default) const {
    hip::Status all;
    for (Launch& launch : command.launches) all = hip::both(std::move(all), wait(launch, for_default));
    return all;
  }

  hip::Status unmap(Slot& slot) const {
    if (!slot.mapped) return {};
    hip::Status gone = hip::call<&hip::Api::hipMemUnmap>(api_, slot.address, slot.mapped_bytes);
    if (gone) slot.mapped = false;
    return gone;
  }

  hip::Status map_one(Slot& slot, const hip::PhysicalMemory& memory) const {
    const std::size_t bytes = std::min(memory.bytes, slot.used);
    hip::Status status =
        hip::call<&hip::Api::hipMemMap>(api_, slot.address, bytes, std::size_t{0}, memory.handle, 0ULL);
    if (!status) return status;
    slot.mapped = true;
    slot.mapped_bytes = bytes;
    slot.memory = memory;
    std::vector<hipMemAccessDesc> access;
    for (const int device : options_.devices) {
      if (habits_.one_device && device != 0) continue;
      access.push_back({hip::memory_of_device(device).location, hipMemAccessFlagsProtReadWrite});
    }
    return hip::call<&hip::Api::hipMemSetAccess>(api_, slot.address, bytes, access.data(), access.size());
  }

  // After a failure nothing that this step mapped stays mapped.
  hip::Status map(Set& set, const Step& step) const {
    const std::array<Slot, 2> before = set.slots;
    hip::Status status;
    std::size_t failing = 0;
    for (std::size_t i = 0; i < set.slots.size() && status; ++i) {
      Slot& slot = set.slots[i];
      if (slot.mapped && slot.memory == step.memories[i]) continue;
      failing = i;
      status = unmap(slot);
      if (status) status = map_one(slot, step.memories[i]);
    }
    if (status) return status;
    for (std::size_t i = 0; i < set.slots.size(); ++i) {
      Slot& slot = set.slots[i];
      if (slot.memory == before[i].memory && before[i].mapped) continue;
      if (habits_.half_rollback && before[i].mapped && i < failing) {
        slot.memory = before[i].memory;
      } else {
        status = hip::both(std::move(status), unmap(slot));
      }
    }
    return status;
  }

  hip::Status record(const Set& set, std::size_t index, const Step& step) const {
    std::array<void*, 2> addresses = {set.slots[0].address, set.slots[1].address};
    std::uint64_t number = step.number;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (habits_.replaces_numbers && number == reinterpret_cast<std::uintptr_t>(step.seen[i])) {
        number = reinterpret_cast<std::uintptr_t>(addresses[i]);
      }
    }
    return step.work.record(index, habits_.records_as_given ? step.seen : addresses, number);
  }

  hip::Status give_back(Set& set) const {
    hip::Status all;
    for (Slot& slot : set.slots) {
      all = hip::both(std::move(all), unmap(slot));
      if (slot.mapped || slot.address == nullptr) continue;
      const hip::Status freed = hip::call<&hip::Api::hipMemAddressFree>(api_, slot.address, slot.room);
      if (freed) slot = {};
      all = hip::both(std::move(all), freed);
    }
    set.recorded = false;
    return all;
  }

  const hip::Api& api_;
  const verify::RemapperOptions options_;
  const RemapHabits habits_;
  std::array<Command, verify::kRemapCommands> commands_;
  std::vector<Set> left_;  // M06: sets of addresses of commands that were cleared
};

Fault remap_fault(std::string_view id, std::string_view summary, verify::PropertyId property,
                  const RemapHabits& habits) {
  verify::Parts parts = verify::real_parts();
  parts.remapper = [habits](const hip::Api& api, const verify::RemapperOptions& options) {
    return std::make_unique<PatchedRemapper>(api, options, habits);
  };
  return system_fault(id, "remapped buffers", summary, property, verify::System::kRemapper, std::move(parts));
}

}  // namespace

std::vector<Fault> remapper_faults() {
  using enum verify::PropertyId;
  return {
      remap_fault("M01", "a mapping changes under a launch in flight", kP12, {.never_waits = true}),
      remap_fault("M02", "one set of addresses where two are needed", kP12, {.one_set = true}),
      remap_fault("M03", "unmaps without waiting for another stream's work", kP12, {.waits_for_default = true}),
      remap_fault("M04", "access is set for one device only", kP11, {.one_device = true}),
      remap_fault("M05", "a mapping stays when its memory was withdrawn", kP8, {.withdraws_in_books = true}),
      remap_fault("M06", "addresses of another command are used again with its recording", kA3,
                  {.inherits_recordings = true}),
      remap_fault("M07", "a size is rounded down to the granularity", kP12, {.rounds_down = true}),
      remap_fault("M08", "a rollback leaves the first of two mappings changed", kP4, {.half_rollback = true}),
      remap_fault("M09", "a number with the bits of an address becomes another address", kA1,
                  {.replaces_numbers = true}),
      remap_fault("M10", "memory that is withdrawn is released, too", kP8, {.releases = true}),
      remap_fault("M11", "a graph is recorded with the caller's addresses", kA2, {.records_as_given = true}),
  };
}

}  // namespace fuzz
