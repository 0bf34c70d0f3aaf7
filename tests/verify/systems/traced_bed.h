// The bed of tests of traced commands: it makes a few commands, by number, and knows what they do to memory.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "command_bed.h"
#include "hip/traced_command.h"
#include "verify/systems/command_model.h"

// ---- the commands of these tests, by number; each fills its buffers behind the one before

inline constexpr std::size_t kBuffers = 3, kCommands = 8;
enum : std::size_t { kNode, kOpaque, kKnown, kNothing, kCollective, kCopy, kChild, kTracedInChild };

inline const std::array<verify::CommandModel::Command, kCommands>& descriptions() {
  static const std::array<verify::CommandModel::Command, kCommands> all = {{
      {.number = kNode, .buffers = {0}},
      {.number = kOpaque, .buffers = {1}, .traced = true},
      {.number = kKnown, .buffers = {2}, .traced = true, .known = true},
      {.number = kNothing, .buffers = {1}, .traced = true, .empty = true},
      {.number = kCollective, .buffers = {0, 1}, .traced = true, .collective = true},
      {.number = kCopy, .buffers = {0, 1}, .copies = true},
      {.number = kChild, .buffers = {2}},
      {.number = kTracedInChild, .buffers = {1}, .traced = true},
  }};
  return all;
}

inline int value_of(std::size_t command, hip::BufferIndex buffer) {
  return command == kNothing ? 0 : static_cast<int>(16 * (command + 1) + buffer);
}

class TracedBed : public CommandBed {
 public:
  explicit TracedBed(int device = 0) : CommandBed(device) {
    EXPECT_EQ(api().hipMalloc(&shadow_, 4 * kBytes), hipSuccess);
  }
  ~TracedBed() { EXPECT_EQ(api().hipFree(shadow_), hipSuccess); }

  hip::RecordedNode command(std::size_t number) {
    const verify::CommandModel::Command& told = descriptions().at(number);
    if (number == kNode) return fill(value_of(number, 0));
    if (number == kCopy) return copy(0, 1, hipMemcpyDeviceToDevice);
    if (number == kChild) return child(of(fill(value_of(number, 2), 2)));
    hip::TracedWork work{.command = number, .buffers = told.buffers, .work = {}, .collective = told.collective};
    work.errors = sink();
    work.work = [this, number, told](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
      for (const hip::BufferIndex buffer : told.buffers) {
        if (hip::Status status = filling(value_of(number, buffer), buffer)(on, addresses); !status) return status;
      }
      return hip::Status();
    };
    if (told.known) {
      // Apart, so that one past the end of one is not the begin of the other.
      const auto one = reinterpret_cast<hip::DeviceAddress>(shadow_), other = one + 2 * kBytes;
      work.shadows = {
          {{one, one, one}, {other, other, other}}, std::vector<std::uint64_t>(kBuffers, kBytes), told.buffers};
    }
    hip::RecordedNode node = traced(std::move(work));
    return number == kTracedInChild ? child(of(std::move(node))) : node;
  }
  // The commands whose bits are set in the mask, one behind the other.
  hip::Recording commands(std::size_t mask) {
    hip::Recording all;
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) != 0) append(all, command(number));
    }
    return all;
  }
  static std::vector<verify::CommandModel::Command> described(std::size_t mask) {
    std::vector<verify::CommandModel::Command> all;
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) != 0) all.push_back(descriptions().at(number));
    }
    return all;
  }
  using Places = std::array<std::size_t, kBuffers>;
  hip::AddressTable table(const Places& places) const {
    hip::AddressTable addresses;
    for (const std::size_t place : places) addresses.push_back(at(place));
    return addresses;
  }
  // The memory was wiped before the commands ran.
  void expect_bytes(std::size_t mask, const Places& places) {
    std::array<int, kPlaces> expected{};
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) == 0 || number == kNothing) continue;
      for (const hip::BufferIndex buffer : descriptions().at(number).buffers) {
        if (number == kCopy) {
          expected.at(places[1]) = expected.at(places[0]);
        } else {
          expected.at(places.at(buffer)) = value_of(number, buffer);
        }
      }
    }
    for (std::size_t place = 0; place < kPlaces; ++place) EXPECT_EQ(value_at(place), expected.at(place)) << place;
  }

 private:
  void* shadow_ = nullptr;
};

inline constexpr std::size_t kAll = (std::size_t{1} << kCommands) - 1;
