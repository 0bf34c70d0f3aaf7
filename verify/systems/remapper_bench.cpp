// Scenarios of remapped buffers. The model is the caller's memory as it would be if each command worked on it directly.
//
// A command has a graph for each set of addresses. The graph copies the first half of a page's head from the input to
// the second half of the output's, then writes its number, which is no address, to the output's beginning; command 1
// also fills the head of the second page. The caller sees each memory at an address of its own.
//
//   P12  the bytes that steps leave; races, and accesses to what is not mapped
//   P4   what is mapped under a launch is the step's memory, also after steps that failed
//   A1   the number of a recording; A2 addresses of a recording: none of them is one of the caller's
//   A3   a command launches its own recording; P10 it is recorded again only when it has to be
//   P8   memory that was withdrawn and released is gone, and is still the caller's to release
//   P11  every device may access what is mapped
#include <algorithm>
#include <cstring>
#include <utility>

#include "verify/execute/quirk_context.h"
#include "verify/systems/bench.h"

namespace verify {
namespace {

constexpr std::size_t kHead = 64;  // bytes at the beginning of a page that commands use
constexpr std::size_t kNumberBytes = 16;
constexpr std::size_t kPages = 2;      // of each memory
constexpr std::size_t kTagAt = kHead;  // where each memory has its number, which no command writes

// The bytes that a command writes beside those that it copies: its number, as often as it fits, and a fill.
using Constants = std::array<unsigned char, kNumberBytes + kHead>;
Constants constants_of(std::size_t command, std::uint64_t number) {
  Constants constants;
  for (std::size_t i = 0; i < kNumberBytes; i += sizeof number)
    std::memcpy(constants.data() + i, &number, sizeof number);
  std::fill(constants.begin() + kNumberBytes, constants.end(), static_cast<unsigned char>(0xa0 + command));
  return constants;
}

// The heads of a memory's pages.
using Heads = std::array<unsigned char, kPages * kHead>;

using Numbers = std::array<std::uint64_t, 2>;  // of the memories of a command's buffers

struct Memory {
  hip::PhysicalMemory physical;
  void* view = nullptr;  // reserved for the whole scenario
  Heads bytes{};         // expected
};

// The memory and the devices that the bench and its commands share.
struct Bed {
  BenchContext& context;
  std::array<Memory, kRemapMemories> memories{};
  std::vector<int> devices{};
  std::size_t page = 0;
  std::byte* constants = nullptr;  // of each recording; device memory
  hipStream_t probe = nullptr;     // on which the bench looks at memory: it waits for no other stream
  Numbers numbers{};               // of the step
  bool lost = false;               // a launch has used other memory: nobody knows what the bytes should be

  [[nodiscard]] bool is_view(const void* address) const {
    return std::ranges::any_of(memories, [&](const Memory& memory) {
      const auto* const begin = static_cast<const std::byte*>(memory.view);
      return address >= begin && address < begin + kPages * page;
    });
  }
};

// A command, which notes what it was recorded for.
class RemappedCommand final : public RemapperPart::Work {
 public:
  RemappedCommand(Bed& bed, std::size_t command) : bed_(bed), command_(command) {}
  RemappedCommand(const RemappedCommand&) = delete;
  RemappedCommand& operator=(const RemappedCommand&) = delete;
  ~RemappedCommand() override {
    for (Recorded& each : recorded_) destroy(each);
  }

  hip::Status record(std::size_t set, std::span<void* const> addresses, std::uint64_t number) override {
    Recorded& recorded = recorded_[set];
    destroy(recorded);
    if (std::exchange(refuses, false)) return hip::Error{hipErrorNotSupported, "the command cannot be recorded now"};
    ++recordings;
    expect(number == expected_number, PropertyId::kA1, "the number that the step was given", "another one");
    expect(std::ranges::none_of(addresses, [&](void* address) { return bed_.is_view(address); }), PropertyId::kA2,
           "addresses that were reserved for the command", "an address of the caller's");
    recorded.addresses.assign(addresses.begin(), addresses.end());
    return build(recorded, set, number);
  }

  hip::Status launch(std::size_t set, const hip::StreamRef& stream) override {
    Recorded& recorded = recorded_[set];
    expect(recorded.exec != nullptr, PropertyId::kA3, "a launch of the command's own recording",
           "one of a recording that it does not have");
    if (recorded.exec == nullptr) return {};
    for (const int device : bed_.devices) {
      for (void* address : recorded.addresses) expect_access(address, device);
    }
    recorded.mapped = look(recorded);
    lose(recorded.mapped != bed_.numbers, "the step's memory is mapped");
    return hip::called(bed_.context.inner().hipGraphLaunch(recorded.exec, stream.handle()), "the command");
  }

  // Before a step that may fail.
  void look_before() {
    for (Recorded& recorded : recorded_) recorded.mapped = look(recorded);
  }
  // After a call of the step failed: the step's memory is not mapped for the first buffer alone.
  void look_after_failure() const {
    for (const Recorded& recorded : recorded_) {
      if (recorded.exec == nullptr) continue;
      const Numbers now = look(recorded);
      const bool first = now[0] == bed_.numbers[0] && recorded.mapped[0] != bed_.numbers[0];
      lose(first && now[1] != bed_.numbers[1], "nothing is mapped, the earlier memory or the step's");
    }
  }
  // The command's graphs, after its addresses were given back: they are not launched again.
  void forget() {
    for (Recorded& each : recorded_) destroy(each);
  }
  [[nodiscard]] bool has_both() const { return recorded_[0].exec != nullptr && recorded_[1].exec != nullptr; }

  bool refuses = false;
  std::uint64_t expected_number = 0, recordings = 0;

 private:
  struct Recorded {
    std::vector<void*> addresses;
    hipGraphExec_t exec = nullptr;
    Numbers mapped{};  // before the step, or at the launch
  };

  // The numbers of the memories that are mapped at the addresses of a recording; 0: none.
  [[nodiscard]] Numbers look(const Recorded& recorded) const {
    const hip::Api& api = bed_.context.inner();
    Numbers found{};
    for (std::size_t i = 0; i < recorded.addresses.size(); ++i) {
      hipMemLocation location{};
      location.type = hipMemLocationTypeDevice;
      unsigned long long flags = 0;
      const void* const tag = static_cast<const std::byte*>(recorded.addresses[i]) + kTagAt;
      hipError_t status = api.hipMemGetAccess(&flags, &location, recorded.addresses[i]);
      if (status == hipErrorInvalidValue || (status == hipSuccess && flags == 0)) continue;
      if (status == hipSuccess)
        status = api.hipMemcpyAsync(&found[i], tag, sizeof found[i], hipMemcpyDeviceToHost, bed_.probe);
      if (status == hipSuccess) status = api.hipStreamSynchronize(bed_.probe);
      if (status != hipSuccess) found[i] = bed_.numbers[i];  // the device has faulted, which is found otherwise
    }
    return found;
  }
  void lose(bool lost, const std::string& expected) const {
    if (bed_.lost) return;
    expect(!lost, PropertyId::kP4, expected, "other memory");
    bed_.lost = lost;
  }

  void expect(bool holds, PropertyId property, const std::string& expected, const std::string& observed) const {
    bed_.context.expect(holds, property, "remap step " + std::to_string(command_), expected, observed);
  }

  void expect_access(void* address, int device) const {
    hipMemLocation location{};
    location.type = hipMemLocationTypeDevice;
    location.id = device;
    unsigned long long flags = 0;
    const hipError_t status = bed_.context.inner().hipMemGetAccess(&flags, &location, address);
    expect(status == hipSuccess && flags == hipMemAccessFlagsProtReadWrite, PropertyId::kP11,
           "device " + std::to_string(device) + " may read and write what is mapped", "it may not");
  }

  // Nodes that copy alone: on 6.4 a memset node loses its value (docs/findings.md, memset-value-overwritten). The
  // number and the fill come from the recording's constants.
  hip::Status build(Recorded& recorded, std::size_t set, std::uint64_t number) const {
    const hip::Api& api = bed_.context.inner();
    const auto* const in = static_cast<const std::byte*>(recorded.addresses[0]);
    auto* const out = static_cast<std::byte*>(recorded.addresses[1]);
    std::byte* const own = bed_.constants + (command_ * recorded_.size() + set) * sizeof(Constants);
    const Constants constants = constants_of(command_, number);
    hipError_t status = api.hipMemcpy(own, constants.data(), constants.size(), hipMemcpyHostToDevice);
    hipGraph_t graph = nullptr;
    hipGraphNode_t last = nullptr;
    if (status == hipSuccess) status = api.hipGraphCreate(&graph, 0);
    const auto copy = [&](std::byte* to, const std::byte* from, std::size_t bytes) {
      if (status != hipSuccess) return;
      hipGraphNode_t node = nullptr;
      status = api.hipGraphAddMemcpyNode1D(&node, graph, &last, last == nullptr ? 0 : 1, to, from, bytes,
                                           hipMemcpyDeviceToDevice);
      last = node;
    };
    copy(out + kHead / 2, in, kHead / 2);
    copy(out, own, kNumberBytes);
    if (command_ == 1) copy(out + bed_.page, own + kNumberBytes, kHead);
    if (status == hipSuccess) status = api.hipGraphInstantiate(&recorded.exec, graph, nullptr, nullptr, 0);
    if (graph != nullptr) static_cast<void>(api.hipGraphDestroy(graph));
    return hip::called(status, "recording the command");
  }

  void destroy(Recorded& recorded) const {
    if (recorded.exec != nullptr) static_cast<void>(bed_.context.inner().hipGraphExecDestroy(recorded.exec));
    recorded = {};
  }

  Bed& bed_;
  std::size_t command_;
  std::array<Recorded, hip::RemappedBuffers::kSets> recorded_;
};

class RemapperBench final : public SystemBench {
 public:
  RemapperBench(BenchContext& context, const Parts& parts)
      : context_(context),
        ranges_(free_addresses_of(context.platform)),
        bed_{.context = context},
        works_{{{bed_, 0}, {bed_, 1}}} {
    const AtHome home(inner());
    int devices = 1;
    static_cast<void>(inner().hipGetDeviceCount(&devices));
    // AMD's releases use another device's mapped memory in ways that no quirk tells yet.
    devices = context.platform.white_box() ? std::min(devices, kScenarioDevices) : 1;
    for (int device = 0; device < devices; ++device) {
      bed_.devices.push_back(device);
      const hipMemAllocationProp properties = hip::memory_of_device(device);
      std::size_t page = 0;
      static_cast<void>(inner().hipMemGetAllocationGranularity(&page, &properties, hipMemAllocationGranularityMinimum));
      bed_.page = std::max(bed_.page, page);
    }
    void* constants = nullptr;
    set_up(inner().hipMalloc(&constants, works_.size() * hip::RemappedBuffers::kSets * sizeof(Constants)), "memory");
    bed_.constants = static_cast<std::byte*>(constants);
    set_up(inner().hipStreamCreateWithFlags(&bed_.probe, hipStreamNonBlocking), "a stream");
    for (int i = 0; i < kRemapStreams; ++i) {
      hipStream_t handle = nullptr;  // the first stream is the default stream
      if (i != 0) set_up(inner().hipStreamCreateWithFlags(&handle, hipStreamNonBlocking), "a stream");
      streams_.emplace_back(context.api(), handle, 0);
    }
    for (Memory& memory : bed_.memories) {
      const hip::Result<void*> view = ranges_.reserve(inner(), kPages * bed_.page);
      set_up(view ? hipSuccess : static_cast<hipError_t>(view.error().code), "a range of addresses");
      if (!view) continue;
      memory.view = view.value();
      create(memory);
    }
    works_[0].expected_number = 0x01020304;
    works_[1].expected_number = reinterpret_cast<std::uintptr_t>(bed_.memories[0].view);
    RemapperOptions options{.buffers = {}, .devices = bed_.devices, .ranges = &ranges_, .errors = context.sink()};
    options.buffers[0] = {kHead, kPages * bed_.page};
    options.buffers[1] = {bed_.page + kHead, kPages * bed_.page};
    part_ = parts.remapper(context.api(), options);
  }

  // Parts give addresses back, which a launch may still use where the scenario was not finished.
  ~RemapperBench() override { wait(); }

  int run(const SystemAction& action) override {
    const auto first = static_cast<std::size_t>(action.fields[0]);
    switch (action.verb) {
      case SystemVerb::kRemapStep:
        return step(action);
      case SystemVerb::kRemapCheck:
        wait();
        compare(print_action(action));
        return hipSuccess;
      case SystemVerb::kRemapMemory:
        return replace(action, bed_.memories[first]);
      case SystemVerb::kRemapWithdraw:
        return code_of(withdraw(action, bed_.memories[first]));
      case SystemVerb::kRemapRefuse:
        works_[first].refuses = true;
        return hipSuccess;
      case SystemVerb::kRemapClear:
        return clear(action);
      default:
        not_of_this_bench(action);
    }
  }

  void finish() override {
    wait();
    compare("the end");
    const std::uint64_t fired = context_.interposer.fired();
    part_.reset();
    expect_told(fired, hip::Status(), "the end");
    for (RemappedCommand& work : works_) work.forget();
    const AtHome home(inner());
    for (Memory& memory : bed_.memories) {
      destroy(memory, "the end");
      static_cast<void>(ranges_.free(inner(), memory.view, kPages * bed_.page));
    }
    static_cast<void>(inner().hipFree(bed_.constants));
    streams_.emplace_back(inner(), bed_.probe, 0);
    for (const hip::StreamRef& stream : streams_) {
      if (stream.handle() != nullptr) static_cast<void>(inner().hipStreamDestroy(stream.handle()));
    }
  }

 private:
  [[nodiscard]] const hip::Api& inner() const { return context_.inner(); }
  static int code_of(const hip::Status& status) { return status ? hipSuccess : status.error().code; }

  // The bench's own calls: if one fails, nothing that follows means anything. After a fault all calls fail.
  void set_up(hipError_t status, const char* what) const {
    const bool well = status == hipSuccess || !context_.platform.notes().fault.empty();
    context_.expect(well, PropertyId::kP12, "remap: set-up", what,
                    well ? "" : hip::called(status, "it").error().message);
  }

  void create(Memory& memory) {
    const hipMemAllocationProp properties = hip::memory_of_device(0);
    memory.physical = {nullptr, kPages * bed_.page, ++numbers_};
    set_up(inner().hipMemCreate(&memory.physical.handle, memory.physical.bytes, &properties, 0), "memory");
    set_up(inner().hipMemMap(memory.view, memory.physical.bytes, 0, memory.physical.handle, 0), "a mapping");
    std::vector<hipMemAccessDesc> access;
    for (const int device : bed_.devices)
      access.push_back({hip::memory_of_device(device).location, hipMemAccessFlagsProtReadWrite});
    set_up(inner().hipMemSetAccess(memory.view, memory.physical.bytes, access.data(), access.size()), "access");
    for (std::size_t i = 0; i < memory.bytes.size(); ++i)
      memory.bytes[i] = static_cast<unsigned char>(numbers_ * 37 + i * 5);
    for (std::size_t page = 0; page < kPages; ++page) {
      static_cast<void>(inner().hipMemcpy(static_cast<std::byte*>(memory.view) + page * bed_.page,
                                          memory.bytes.data() + page * kHead, kHead, hipMemcpyHostToDevice));
    }
    static_cast<void>(inner().hipMemcpy(static_cast<std::byte*>(memory.view) + kTagAt, &numbers_, sizeof numbers_,
                                        hipMemcpyHostToDevice));
  }

  // The part has given the memory up.
  void destroy(Memory& memory, const std::string& where) const {
    static_cast<void>(inner().hipMemUnmap(memory.view, memory.physical.bytes));
    if (bed_.lost) {
      static_cast<void>(inner().hipMemRelease(memory.physical.handle));
      return;
    }
    const std::size_t before = held();
    const hipError_t released = inner().hipMemRelease(memory.physical.handle);
    context_.expect(released != hipErrorInvalidValue, PropertyId::kP8, where, "the memory is its owner's to release",
                    "it was released already");
    context_.expect(before == 0 || released != hipSuccess || held() + 1 == before, PropertyId::kP8, where,
                    "memory that was withdrawn is gone when it is released", "it is still mapped");
  }
  // The physical memories that live; 0: the platform cannot say.
  [[nodiscard]] std::size_t held() const {
    for (const Held& each : context_.platform.held()) {
      if (each.what == "physical memories") return each.count;
    }
    return 0;
  }

  int step(const SystemAction& action) {
    const auto command = static_cast<std::size_t>(action.fields[0]);
    const std::string where = print_action(action);
    Memory& in = bed_.memories[static_cast<std::size_t>(action.fields[1])];
    Memory& out = bed_.memories[static_cast<std::size_t>(action.fields[2])];
    const hip::StreamRef& stream = streams_[static_cast<std::size_t>(action.fields[3])];
    RemappedCommand& work = works_[command];
    // The caller orders the accesses of two commands to its memory; a command's steps are ordered by themselves.
    if (std::exchange(last_command_, command) != command) wait();
    const std::uint64_t fired = context_.interposer.fired(), recordings = work.recordings;
    const bool refuses = work.refuses, had_both = work.has_both();
    bed_.numbers = {in.physical.number, out.physical.number};
    if (context_.interposer.armed()) work.look_before();
    const hip::Status done = part_->step({.command = command,
                                          .memories = {in.physical, out.physical},
                                          .seen = {in.view, out.view},
                                          .number = work.expected_number,
                                          .stream = stream,
                                          .work = work});
    const bool failed = context_.interposer.fired() != fired, refused = refuses && !work.refuses;
    failed_[command] = failed_[command] || failed || refused;
    context_.expect(done.ok() || failed || refused, PropertyId::kP12, where, "a step",
                    done.ok() ? "" : done.error().message);
    context_.expect(!done.ok() || !refused, PropertyId::kP4, where, "an error: recording failed", "success");
    context_.expect(failed_[command] || !had_both || work.recordings == recordings, PropertyId::kP10, where,
                    "launched as it was recorded", "recorded again");
    if (!done) {
      wait();
      if (context_.interposer.fired() - fired == 1) work.look_after_failure();
    }
    note(command, in.bytes, out, done.ok());
    return code_of(done);
  }

  // The bytes of the memory that the step wrote. After an error it may have written them, or not.
  void note(std::size_t command, const Heads& in, Memory& out, bool done) {
    Heads after = out.bytes;
    std::array<unsigned char, kHead / 2> taken{};
    std::copy_n(in.begin(), taken.size(), taken.begin());
    std::ranges::copy(taken, after.begin() + kHead / 2);
    const Constants constants = constants_of(command, works_[command].expected_number);
    std::copy_n(constants.begin(), kNumberBytes, after.begin());
    if (command == 1) std::copy_n(constants.begin() + kNumberBytes, kHead, after.begin() + kHead);
    if (!done) {
      const Heads seen = look(out);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i] != after[i]) after[i] = out.bytes[i];
      }
    }
    out.bytes = after;
  }

  void wait() const {
    const AtHome home(inner());
    static_cast<void>(inner().hipDeviceSynchronize());
  }

  [[nodiscard]] Heads look(const Memory& memory) const {
    const AtHome home(inner());
    Heads seen{};
    for (std::size_t page = 0; page < kPages; ++page) {
      static_cast<void>(inner().hipMemcpy(seen.data() + page * kHead,
                                          static_cast<std::byte*>(memory.view) + page * bed_.page, kHead,
                                          hipMemcpyDeviceToHost));
    }
    return seen;
  }

  void compare(const std::string& where) const {
    if (bed_.lost) return;
    for (const Memory& memory : bed_.memories) {
      const auto n = static_cast<std::size_t>(&memory - bed_.memories.data());
      context_.expect(look(memory) == memory.bytes, PropertyId::kP12, where,
                      "memory " + std::to_string(n) + " as the commands leave it without remapping", "other bytes");
    }
  }

  hip::Status withdraw(const SystemAction& action, const Memory& memory) {
    const std::uint64_t fired = context_.interposer.fired();
    hip::Status status = part_->withdraw(memory.physical.number);
    expect_told(fired, status, print_action(action));
    context_.expect(status.ok() || context_.interposer.fired() != fired, PropertyId::kP12, print_action(action),
                    "the memory is mapped nowhere", status.ok() ? "" : status.error().message);
    hipMemAllocationProp properties{};
    context_.expect(
        inner().hipMemGetAllocationPropertiesFromHandle(&properties, memory.physical.handle) != hipErrorInvalidValue,
        PropertyId::kP8, print_action(action), "the memory is its owner's to release", "it was released already");
    return status;
  }

  // Memory that could not be withdrawn stays.
  int replace(const SystemAction& action, Memory& memory) {
    hip::Status gone = withdraw(action, memory);
    if (!gone) return gone.error().code;
    const AtHome home(inner());
    destroy(memory, print_action(action));
    create(memory);
    return hipSuccess;
  }

  int clear(const SystemAction& action) {
    const auto command = static_cast<std::size_t>(action.fields[0]);
    const std::uint64_t fired = context_.interposer.fired();
    const hip::Status status = part_->clear(command);
    expect_told(fired, status, print_action(action));
    failed_[command] = failed_[command] || context_.interposer.fired() != fired;
    if (status) failed_[command] = false;
    if (!status) wait();
    works_[command].forget();  // recording is due, also after an error
    return code_of(status);
  }

  void expect_told(std::uint64_t fired, const hip::Status& status, const std::string& where) {
    if (context_.interposer.fired() == fired) return;
    context_.expect(!status.ok() || !context_.reported.empty(), PropertyId::kC4, where, "an error of teardown is told",
                    "silence");
  }

  BenchContext& context_;
  hip::AddressRanges ranges_;
  Bed bed_;
  std::array<RemappedCommand, kRemapCommands> works_;
  std::vector<hip::StreamRef> streams_;
  std::unique_ptr<RemapperPart> part_;  // before the works
  std::array<bool, kRemapCommands> failed_{};
  std::size_t last_command_ = kRemapCommands;
  std::uint64_t numbers_ = 0;
};

}  // namespace

std::unique_ptr<SystemBench> make_remapper_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<RemapperBench>(context, parts);
}

}  // namespace verify
