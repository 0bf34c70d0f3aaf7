// The family of commands about executable graphs: instantiating, launching, patching and updating them.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// Which of HIP's functions makes an executable graph, and with which of its flags.
enum class InstantiateForm : std::uint8_t { kPlain, kFlags, kParams };
inline constexpr std::array<std::string_view, 3> kInstantiateForms = {"plain", "flags", "params"};
inline constexpr std::uint32_t kAutoFreeOnLaunch = 1, kUploadAtOnce = 2, kUseNodePriority = 8;  // HIP's numbers
inline constexpr std::array<std::pair<std::uint32_t, std::string_view>, 3> kInstantiateFlags = {
    {{kAutoFreeOnLaunch, "auto_free"}, {kUploadAtOnce, "upload"}, {kUseNodePriority, "priority"}}};
struct Instantiate {
  Id exec = 0;
  Id graph = 0;
  InstantiateForm form = InstantiateForm::kPlain;
  std::uint32_t flags = 0;  // none with kPlain
  static constexpr auto spec() {
    return describe_command(
        "instantiate",
        "Makes an executable graph: `hipGraphInstantiate`, `hipGraphInstantiateWithFlags` or "
        "`hipGraphInstantiateWithParams`. The result of the last is an observation. Only `form=params` "
        "takes `upload`.",
        kDrawnByHand, kDescribedByHand, NameField{&Instantiate::exec, 'e', only_leaves(Leaves::kInstantiated)},
        NameField{&Instantiate::graph, 'g', meets("instantiate", Leaves::kNothing)},
        ChoiceKey{"form", &Instantiate::form, kInstantiateForms, "form", "instantiate "},
        FlagsKey{"flags", &Instantiate::flags, kInstantiateFlags});
  }
  bool operator==(const Instantiate&) const = default;
};
bool describe_events(EventEmitter& out, const Instantiate& c);
struct Launch {
  Id exec = 0;
  Id stream = 0;
  static constexpr auto spec() {
    return describe_command(
        "launch",
        "`hipGraphLaunch`. On a stream that captures it becomes a child node that holds what the executable "
        "graph holds now.",
        kDrawnByHand, kDescribedByHand, NameField{&Launch::exec, 'e', meets("launch", Leaves::kLaunched)},
        NameField{&Launch::stream, 's', meets("launch on", Leaves::kNothing), true});
  }
  bool operator==(const Launch&) const = default;
};
bool describe_events(EventEmitter& out, const Launch& c);
struct Patch {
  Target target = Target::kExec;
  Id id = 0;
  static constexpr auto spec() {
    return describe_command(
        "patch", "Brings an executable graph, or a graph's definition, to where the buffers are now, by the strategy.",
        kDrawnByHand, kDescribedByHand,
        field::target(&Patch::target, &Patch::id, "ge", "patch", Leaves::kGraphChanged, Leaves::kPatched));
  }
  bool operator==(const Patch&) const = default;
};
bool describe_events(EventEmitter& out, const Patch& c);
struct Update {
  Id exec = 0;
  Id graph = 0;
  static constexpr auto spec() {
    return describe_command(
        "update",
        "`hipGraphExecUpdate`. A refusal (changed topology, node type or parameter) is an observation, and "
        "so is the reported node where exactly one differs.",
        kDrawnByHand, kDescribedByHand, NameField{&Update::exec, 'e', meets("update", Leaves::kUpdated)},
        NameField{&Update::graph, 'g', meets("update from", Leaves::kNothing)});
  }
  bool operator==(const Update&) const = default;
};
bool describe_events(EventEmitter& out, const Update& c);
struct Upload {
  Id exec = 0;
  Id stream = 0;
  static constexpr auto spec() {
    return describe_command("upload", "`hipGraphUpload`.", drawn(Topic::kQueries, 15), kDescribedByFields,
                            NameField{&Upload::exec, 'e', meets("upload", Leaves::kNothing)},
                            NameField{&Upload::stream, 's', kNotCovered});
  }
  bool operator==(const Upload&) const = default;
};
struct AskFlags {
  Id exec = 0;
  static constexpr auto spec() {
    return describe_command("flags", "`hipGraphExecGetFlags`. The flags that it answers are an observation.",
                            drawn(Topic::kQueries, 15), kNoDeviation,
                            NameField{&AskFlags::exec, 'e', meets("flags of", Leaves::kNothing)});
  }
  bool operator==(const AskFlags&) const = default;
};

using ExecsCommands = CommandList<Instantiate, Launch, Patch, Update, Upload, AskFlags>;

}  // namespace verify
