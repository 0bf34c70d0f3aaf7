// verify::SystemsBench: drives the systems around the patcher, one action at a time, and compares each with its model.
//
// A bench runs on a platform's HIP (through an interposer that counts and injects failures), with the real systems or
// with other implementations of their interfaces (parts.h). After every action it compares the result with the model
// and names the broken property; finish() tears everything down and looks for leaks.
//
//   C1  the streams that a cache hands out: key, device, idle, free of error     stream_cache_model.h
//   C2  two leases of one stream; streams that are left over
//   C5  anything else in which the cache differs from its model
//   P4  an injected failure that nobody reported
//   S1  order on streams, of work and of memory                                  streams_model.h, launcher_model.h
//   S2  a thread's current stream
//   A3, P10, P11  traces: stale ones, recorded too often, without work           trace_model.h
//   C6  a rank that does not act as its peers do                                  scripted_peers.h
//   S4  the bytes that steps leave with the caller, and when commands are recorded stabilizer_model.h
//   C3  only recorded work is launched; C4 errors of teardown, and nothing given back twice; P10 allocations
//   P12, A1, A2, A3, P4, P8, P10, P11  steps over memory that is mapped under them     remapper_bench.cpp
//   S3  scratch buffers that fail or move; results and their one synchronisation scratch_model.h, launcher_model.h
//
// Not checked: races between threads (an explorer of schedules drives the same parts), time, and the savings of the
// cache's bound; nor leaks after several calls of one action failed, because destructors try again only once. After the
// runtime reports a fault nothing more is checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/commands/systems/systems.h"
#include "verify/execute/interposer.h"
#include "verify/execute/observation.h"
#include "verify/execute/platform.h"
#include "verify/systems/parts.h"

namespace verify {

// The devices that a scenario may name; a runtime with fewer devices cannot run scenarios that name more.
inline constexpr int kScenarioDevices = 2;

// The state that the benches of the single systems share. An implementation detail.
struct BenchContext {
  Platform& platform;
  Interposer& interposer;
  std::vector<std::string> reported{};  // the errors that the sink received during the action
  std::vector<Violation> found{};       // the violations that the action has shown
  std::array<std::uint64_t, kProperties> exercised{};

  [[nodiscard]] const hip::Api& api() const { return interposer.table(); }    // the functions that the systems call
  [[nodiscard]] const hip::Api& inner() const { return interposer.inner(); }  // the functions that the bench calls
  [[nodiscard]] hip::ErrorSink sink();
  void expect(bool holds, PropertyId property, const std::string& where, const std::string& expected,
              const std::string& observed);
};

// Makes device 0 current for the bench's own calls; its destructor restores the device that was current.
class AtHome {
 public:
  explicit AtHome(const hip::Api& api) : api_(api) {
    static_cast<void>(api_.hipGetDevice(&before_));
    static_cast<void>(api_.hipSetDevice(0));
  }
  AtHome(const AtHome&) = delete;
  AtHome& operator=(const AtHome&) = delete;
  ~AtHome() { static_cast<void>(api_.hipSetDevice(before_)); }

 private:
  const hip::Api& api_;
  int before_ = 0;
};

// The bench of one system. An implementation detail.
class SystemBench {
 public:
  virtual ~SystemBench() = default;
  // Runs the action and returns its hipError_t.
  virtual int run(const SystemAction& action) = 0;
  // Gives everything back.
  virtual void finish() = 0;

 protected:
  // Ends the process: the action belongs to another system, or the bench does not know its verb yet.
  [[noreturn]] static void not_of_this_bench(const SystemAction& action);
};

// A function of the runtime that the system's scenarios need and the runtime lacks, or null.
[[nodiscard]] const char* missing_function(System system, const hip::Api& api);

class SystemsBench {
 public:
  // `platform` has begun and is entered, and stays entered until finish().
  SystemsBench(Platform& platform, const Parts& parts);
  SystemsBench(const SystemsBench&) = delete;
  SystemsBench& operator=(const SystemsBench&) = delete;
  ~SystemsBench();

  struct Outcome {
    int code = 0;                       // hipError_t
    std::vector<Violation> violations;  // the caller sets their step
  };
  [[nodiscard]] Outcome run(const SystemAction& action);
  [[nodiscard]] Outcome finish();
  [[nodiscard]] const std::array<std::uint64_t, kProperties>& exercised() const { return context_.exercised; }
  [[nodiscard]] std::uint64_t failures_fired() const { return interposer_.fired(); }
  [[nodiscard]] std::uint64_t calls() const { return interposer_.calls(); }

  // Lets a caller make the nth call of an injectable function fail (instead of, or besides, actions that inject).
  [[nodiscard]] Interposer& interposer() { return interposer_; }

 private:
  [[nodiscard]] SystemBench& bench_of(System system);
  int dispatch(const SystemAction& action);
  void look_for_faults(System system);

  Interposer interposer_;
  BenchContext context_;
  const Parts& parts_;
  std::array<std::unique_ptr<SystemBench>, kSystems> benches_;
  std::optional<System> last_;
  int injections_ = 0;
  std::uint64_t most_fired_ = 0;  // the most failures in one action; a destructor survives one
  bool stopped_ = false;          // the runtime has faulted
};

// One function for each system, in cache_bench.cpp and the other files of benches.
[[nodiscard]] std::unique_ptr<SystemBench> make_cache_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_streams_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_scratch_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_launcher_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_stabilizer_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_trace_bench(BenchContext& context, const Parts& parts);
[[nodiscard]] std::unique_ptr<SystemBench> make_remapper_bench(BenchContext& context, const Parts& parts);

}  // namespace verify
