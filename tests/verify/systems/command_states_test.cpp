// The tables of hip/command_states.h: each has one row for each event in each state, and hip::CommandBuffer takes each
// row that does not say why it is never taken, and none of the others.
#include "hip/command_states.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <utility>

#include "command_buffers.h"

namespace {

// ---- the tables themselves

// A row is missing, and the one behind it is there twice.
struct RowTwice : hip::GraphTable {
  static constexpr auto kRows = [] {
    auto rows = hip::GraphTable::kRows;
    rows[3] = rows[4];
    return rows;
  }();
};
struct RowsInAnotherOrder : hip::GraphTable {
  static constexpr auto kRows = [] {
    auto rows = hip::GraphTable::kRows;
    std::swap(rows[3], rows[4]);
    return rows;
  }();
};

TEST(CommandTables, AreTotalOnlyWithOneRowForEachEventInEachStateInOrder) {
  static_assert(hip::is_total<hip::GraphTable>());
  static_assert(!hip::is_total<RowTwice>());
  static_assert(!hip::is_total<RowsInAnotherOrder>());
}

TEST(CommandTablesDeathTest, ARowThatIsNeverTakenIsAsserted) {
  hip::StateMachine<hip::CommandsTable> commands;
  hip::TakenRows<hip::CommandsTable> taken{};
  commands.take(hip::CommandsEvent::kPrepared, taken);
  ASSERT_EQ(commands.state(), hip::CommandsState::kReady);
  EXPECT_DEATH(commands.take(hip::CommandsEvent::kPrepared, taken), "this event never comes in this state");
}

// ---- the rows that command buffers take

struct CommandStates : WithQuirks {
  // Steps of one buffer on the bed's stream.
  class Scene {
   public:
    Scene(CommandStates& bed, const hip::Api& api, hip::CommandBufferOptions options)
        : bed_(bed), buffer_(api, std::move(options)) {}
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;
    ~Scene() { bed_.add(buffer_.counts().transitions); }

    Scene& set(hip::Recording commands) {
      buffer_.set(std::move(commands));
      return *this;
    }
    Scene& succeeds(std::size_t place, std::size_t offset = 0) {
      step_of(buffer_, std::array{bed_.at(place) + offset}, bed_.stream());
      return *this;
    }
    Scene& fails(std::size_t place) {
      EXPECT_FALSE(buffer_.step(std::array{bed_.at(place)}, bed_.stream()));
      return *this;
    }
    Scene& after_failing(const char* function) {
      bed_.interposer_.fail(*verify::find_function(function), 1);
      return *this;
    }

   private:
    CommandStates& bed_;
    hip::CommandBuffer buffer_;
  };

  Scene scene(hip::CommandBufferOptions options = {}) {
    options.errors = sink();
    return {*this, api(), std::move(options)};
  }

  // A memset that is captured, as a traced command; `fails_from` and `nothing_from` are places of its buffer.
  hip::Recording captured_memset(std::size_t fails_from, std::size_t nothing_from, std::optional<hip::Shadows> known) {
    const hip::EnqueueAt work = [=, this](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      if (where[0] >= at(fails_from)) return hip::Status(hip::Error{hipErrorInvalidValue, "no such memory"});
      if (where[0] >= at(nothing_from)) return hip::Status();
      return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(where[0]), 7, kBytes / 2, on), "memset");
    };
    return of(traced({.command = 1, .buffers = {0}, .work = work, .shadows = std::move(known), .errors = sink()}));
  }
  // Capturing it at its shadows fails.
  hip::Recording fails_at_shadows() { return captured_memset(4, kPlaces, shadows()); }
  hip::Recording known() { return captured_memset(kPlaces, kPlaces, shadows()); }
  hip::Recording opaque(std::size_t fails_from, std::size_t nothing_from = kPlaces) {
    return captured_memset(fails_from, nothing_from, {});
  }

  void add(const hip::CommandTransitions& taken) {
    add(taken_.commands, taken.commands);
    add(taken_.graphs, taken.graphs);
    add(taken_.ways, taken.ways);
  }
  template <class Table>
  static void expect_each_row(const char* name, const std::array<std::uint64_t, Table::kRows.size()>& taken) {
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const auto& row = Table::kRows.at(i);
      EXPECT_EQ(taken.at(i) != 0, row.never == nullptr)
          << name << ": state " << static_cast<int>(row.from) << ", event " << static_cast<int>(row.event)
          << (row.never == nullptr ? "" : row.never);
    }
  }

  hip::CommandTransitions taken_;

 private:
  template <std::size_t Rows>
  static void add(std::array<std::uint64_t, Rows>& sum, const std::array<std::uint64_t, Rows>& taken) {
    for (std::size_t i = 0; i < Rows; ++i) sum.at(i) += taken.at(i);
  }
};

TEST_F(CommandStates, EachRowIsTakenThatDoesNotSayWhyItIsNever) {
  // The commands are set in each of their states.
  for (const bool supported : {true, false}) {
    const auto others = [&] { return supported ? of(fill(8)) : unsupported(); };
    scene().set(others());
    scene().set(of(fill(7))).succeeds(0).set(others());
    scene(options(k72)).set(fails_at_shadows()).fails(0).fails(0).set(others());
    scene(options(k72)).set(fails_at_shadows()).fails(0).fails(0).succeeds(0).set(others());
    scene().set(unsupported()).fails(0).set(others());
  }
  // Known commands that cannot be recorded, and known commands on another footing.
  hip::Api refusing = api();
  refusing.hipGraphAddMemsetNode = [](auto...) { return hipErrorOutOfMemory; };
  Scene(*this, refusing, options(k72)).set(known()).fails(0).fails(0).succeeds(0);
  scene(options(k72)).set(known()).succeeds(0).succeeds(1, 1);

  // The graph is of other commands, or failed to be launched or to be recorded.
  scene().set(of(fill(7))).succeeds(0).set(of(fill(8))).set(of(fill(9))).succeeds(0);
  scene().set(of(fill(7))).succeeds(0).after_failing("hipGraphLaunch").fails(0).set(of(fill(8))).succeeds(0);
  scene().set(opaque(2)).succeeds(0).set(opaque(2)).fails(3).fails(3).succeeds(0);

  // Ways: nothing changed, patched and handed over, and whatever is done instead.
  scene()
      .set(of(fill(7)))
      .succeeds(0)
      .succeeds(0)
      .succeeds(1)
      .after_failing("hipGraphExecMemsetNodeSetParams")
      .succeeds(2);
  scene({.patch = false, .update = true})
      .set(of(fill(7)))
      .succeeds(0)
      .succeeds(1)
      .set(in_a_row({fill(9), fill(10)}))
      .succeeds(0);
  scene().set(opaque(4, 2)).succeeds(0).succeeds(1).succeeds(2).succeeds(0).fails(5);
  scene().set(of(fill(7))).after_failing("hipGraphInstantiate").fails(0);
  // The nodes that a library enqueued may be rows of another device.
  scene(options(k72, {.several_devices = true})).set(of(captured(7))).fails(0);

  expect_each_row<hip::CommandsTable>("commands", taken_.commands);
  expect_each_row<hip::GraphTable>("graph", taken_.graphs);
  expect_each_row<hip::WayTable>("way", taken_.ways);
}

}  // namespace
