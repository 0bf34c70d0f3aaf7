// The states of hip::CommandBuffer, and the tables of their transitions.
//
// A command buffer has two state machines for its whole life, and one for each executable graph at each step:
//
//   CommandsState  how far the commands are prepared for being recorded. One for each command buffer.
//   GraphState     whether the executable graph is of the present commands. One for each command buffer, and one for
//                  each executable graph where the commands go into several.
//   Way            what a step is doing to bring one executable graph to the buffers' present addresses. A step begins
//                  with kChoose, and is over at kReady or at kFailed.
//
// A table has one row for each event in each state, in the order of the states and then of the events; this is checked
// at compile time. A row leads to the next state, or says why its event never comes in its state; StateMachine::take
// asserts that such a row is not taken. What is done in a state is said beside the state. Machines count the rows that
// they take, so that a test can check that each was taken.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace hip {

template <class State, class Event>
struct Transition {
  State from;
  Event event;
  State to;
  const char* never = nullptr;  // why the event does not come in this state; null where it does
};

template <class State, class Event>
constexpr Transition<State, Event> never(State state, Event event, const char* why) {
  return {state, event, state, why};
}

// ---- the commands

enum class CommandsState : std::uint8_t {
  kGiven,        // the next step prepares them, and turns known traced commands into nodes
  kGivenOpaque,  // the next step prepares them, and takes each traced command to be opaque
  kReady,        // prepared; known traced commands are nodes
  kReadyOpaque,  // prepared; each traced command is opaque
  kUnsupported,  // each step is refused
};
enum class CommandsEvent : std::uint8_t {
  kSet,             // by set()
  kSetUnsupported,  // by set(), with commands that no step can launch
  kPrepared,
  kFootingMoved,  // known traced commands may be other nodes at the buffers' present addresses
  kGivenUp,       // known traced commands could not be captured, or not be recorded, twice in a row
};

struct CommandsTable {
  using State = CommandsState;
  using Event = CommandsEvent;
  static constexpr std::size_t kStates = 5, kEvents = 5;
  static constexpr const char* kIsPrepared = "commands are prepared only where they are not";
  static constexpr const char* kNotPrepared = "only prepared commands have nodes whose footing is asked about";
  static constexpr const char* kNothingKnown = "no known traced command was made nodes";
  static constexpr const char* kRefused = "the step is refused before it looks at the commands";
  static constexpr std::array<Transition<State, Event>, kStates * kEvents> kRows{{
      {State::kGiven, Event::kSet, State::kGiven},
      {State::kGiven, Event::kSetUnsupported, State::kUnsupported},
      {State::kGiven, Event::kPrepared, State::kReady},
      never(State::kGiven, Event::kFootingMoved, kNotPrepared),
      {State::kGiven, Event::kGivenUp, State::kGivenOpaque},

      {State::kGivenOpaque, Event::kSet, State::kGiven},
      {State::kGivenOpaque, Event::kSetUnsupported, State::kUnsupported},
      {State::kGivenOpaque, Event::kPrepared, State::kReadyOpaque},
      never(State::kGivenOpaque, Event::kFootingMoved, kNotPrepared),
      never(State::kGivenOpaque, Event::kGivenUp, kNothingKnown),

      {State::kReady, Event::kSet, State::kGiven},
      {State::kReady, Event::kSetUnsupported, State::kUnsupported},
      never(State::kReady, Event::kPrepared, kIsPrepared),
      {State::kReady, Event::kFootingMoved, State::kGiven},
      {State::kReady, Event::kGivenUp, State::kGivenOpaque},

      {State::kReadyOpaque, Event::kSet, State::kGiven},
      {State::kReadyOpaque, Event::kSetUnsupported, State::kUnsupported},
      never(State::kReadyOpaque, Event::kPrepared, kIsPrepared),
      never(State::kReadyOpaque, Event::kFootingMoved, kNothingKnown),
      never(State::kReadyOpaque, Event::kGivenUp, kNothingKnown),

      {State::kUnsupported, Event::kSet, State::kGiven},
      {State::kUnsupported, Event::kSetUnsupported, State::kUnsupported},
      never(State::kUnsupported, Event::kPrepared, kRefused),
      never(State::kUnsupported, Event::kFootingMoved, kRefused),
      never(State::kUnsupported, Event::kGivenUp, kRefused),
  }};
};

// ---- the executable graph

enum class GraphState : std::uint8_t {
  kNone,         // there is no executable graph: the next step records
  kFailedFirst,  // there is none, and the last step failed: the next step records
  kCurrent,      // of these commands: the next step compares the buffers' addresses
  kOutdated,     // of other commands: the next step updates or records
  kFailed,       // the last step failed: the next step records, and does not update
};
enum class GraphEvent : std::uint8_t {
  kOtherCommands,  // the commands are to be recorded anew: set() was called, or kFootingMoved came
  kBrought,        // the executable graph is of these commands and has the buffers' present addresses
  kFailed,         // it could not be made so, or could not be launched
};

struct GraphTable {
  using State = GraphState;
  using Event = GraphEvent;
  static constexpr std::size_t kStates = 5, kEvents = 3;
  static constexpr std::array<Transition<State, Event>, kStates * kEvents> kRows{{
      {State::kNone, Event::kOtherCommands, State::kNone},
      {State::kNone, Event::kBrought, State::kCurrent},
      {State::kNone, Event::kFailed, State::kFailedFirst},

      {State::kFailedFirst, Event::kOtherCommands, State::kFailedFirst},
      {State::kFailedFirst, Event::kBrought, State::kCurrent},
      {State::kFailedFirst, Event::kFailed, State::kFailedFirst},

      {State::kCurrent, Event::kOtherCommands, State::kOutdated},
      {State::kCurrent, Event::kBrought, State::kCurrent},
      {State::kCurrent, Event::kFailed, State::kFailed},

      {State::kOutdated, Event::kOtherCommands, State::kOutdated},
      {State::kOutdated, Event::kBrought, State::kCurrent},
      {State::kOutdated, Event::kFailed, State::kFailed},

      {State::kFailed, Event::kOtherCommands, State::kFailed},
      {State::kFailed, Event::kBrought, State::kCurrent},
      {State::kFailed, Event::kFailed, State::kFailed},
  }};
};

constexpr bool has_failed(GraphState state) {
  return state == GraphState::kFailedFirst || state == GraphState::kFailed;
}

// ---- a step of one executable graph

enum class Way : std::uint8_t {
  kChoose,    // looks at the GraphState
  kCompare,   // finds the buffers that moved, and asks for the traces of the traced commands that use them
  kPatch,     // sets the nodes of moved buffers in the executable graph
  kHandOver,  // replaces the child of each traced command that has another trace
  kRecord,    // asks for the other traces, and records a graph
  kUpdate,    // updates the executable graph to the recorded one
  kReplace,   // instantiates the recorded graph, and destroys the former executable graph
  kReady,     // nothing: the graph can be launched
  kFailed,    // nothing: the error is returned
};
enum class WayEvent : std::uint8_t {
  kArrived,   // the executable graph has the buffers' present addresses
  kGoesOn,    // this part is done; there is more to do
  kGivesWay,  // this way is not possible: a slower one is taken, for the reason that the step notes
  kFails,
};

struct WayTable {
  using State = Way;
  using Event = WayEvent;
  static constexpr std::size_t kStates = 7, kEvents = 4;  // kReady and kFailed have no events
  static constexpr const char* kOnlyChooses = "nothing was done yet";
  static constexpr const char* kThereIsMore = "traces are looked at behind the nodes";
  static constexpr const char* kIsLast = "nothing is left to do behind it";
  static constexpr const char* kIsSlower = "a failure is told to the error sink, and a slower way is taken";
  static constexpr const char* kIsSlowest = "there is no slower way";
  static constexpr const char* kIsNotLaunched = "the recorded graph is not yet an executable one";
  static constexpr std::array<Transition<State, Event>, kStates * kEvents> kRows{{
      never(State::kChoose, Event::kArrived, kOnlyChooses),   {State::kChoose, Event::kGoesOn, State::kCompare},
      {State::kChoose, Event::kGivesWay, State::kRecord},     {State::kChoose, Event::kFails, State::kFailed},

      {State::kCompare, Event::kArrived, State::kReady},      {State::kCompare, Event::kGoesOn, State::kPatch},
      {State::kCompare, Event::kGivesWay, State::kRecord},    {State::kCompare, Event::kFails, State::kFailed},

      never(State::kPatch, Event::kArrived, kThereIsMore),    {State::kPatch, Event::kGoesOn, State::kHandOver},
      {State::kPatch, Event::kGivesWay, State::kRecord},      never(State::kPatch, Event::kFails, kIsSlower),

      {State::kHandOver, Event::kArrived, State::kReady},     never(State::kHandOver, Event::kGoesOn, kIsLast),
      {State::kHandOver, Event::kGivesWay, State::kRecord},   never(State::kHandOver, Event::kFails, kIsSlower),

      never(State::kRecord, Event::kArrived, kIsNotLaunched), {State::kRecord, Event::kGoesOn, State::kUpdate},
      {State::kRecord, Event::kGivesWay, State::kReplace},    {State::kRecord, Event::kFails, State::kFailed},

      {State::kUpdate, Event::kArrived, State::kReady},       never(State::kUpdate, Event::kGoesOn, kIsLast),
      {State::kUpdate, Event::kGivesWay, State::kReplace},    never(State::kUpdate, Event::kFails, kIsSlower),

      {State::kReplace, Event::kArrived, State::kReady},      never(State::kReplace, Event::kGoesOn, kIsLast),
      never(State::kReplace, Event::kGivesWay, kIsSlowest),   {State::kReplace, Event::kFails, State::kFailed},
  }};
};

// ---- machines

template <class Table>
constexpr std::size_t row_of(typename Table::State state, typename Table::Event event) {
  return static_cast<std::size_t>(state) * Table::kEvents + static_cast<std::size_t>(event);
}

// Whether each event has its row in each state.
template <class Table>
constexpr bool is_total() {
  for (std::size_t i = 0; i < Table::kRows.size(); ++i) {
    if (row_of<Table>(Table::kRows[i].from, Table::kRows[i].event) != i) return false;
    if (static_cast<std::size_t>(Table::kRows[i].event) >= Table::kEvents) return false;
  }
  return true;
}
static_assert(is_total<CommandsTable>() && is_total<GraphTable>() && is_total<WayTable>());

// How often each row was taken.
template <class Table>
using TakenRows = std::array<std::uint64_t, Table::kRows.size()>;
struct CommandTransitions {
  TakenRows<CommandsTable> commands{};
  TakenRows<GraphTable> graphs{};
  TakenRows<WayTable> ways{};
};

// Begins in the first state of its table.
template <class Table>
class StateMachine {
 public:
  [[nodiscard]] typename Table::State state() const { return state_; }
  void take(typename Table::Event event, TakenRows<Table>& taken) {
    assert(static_cast<std::size_t>(state_) < Table::kStates && "no event comes behind the end");
    const std::size_t row = row_of<Table>(state_, event);
    assert(Table::kRows[row].never == nullptr && "this event never comes in this state");
    ++taken[row];
    state_ = Table::kRows[row].to;
  }

 private:
  typename Table::State state_{};
};

}  // namespace hip
