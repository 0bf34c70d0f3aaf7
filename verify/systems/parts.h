// The systems as a scenario drives them: an interface for each, with the real system or a faulty one behind it.
//
// An interface is as narrow as scenarios need; where it says nothing, the contract of the header in hip/ holds. Each
// part is made anew for a scenario, on the table of functions that it is given. One thread at a time uses it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "hip/address_stabilizer.h"
#include "hip/launcher.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "hip/remapped_buffers.h"
#include "hip/scratch_buffer.h"
#include "hip/stream.h"
#include "hip/stream_cache.h"
#include "hip/trace_cache.h"
#include "verify/commands/systems/systems.h"

namespace verify {

// hip::StreamCache and its leases, by number.
class StreamCachePart {
 public:
  virtual ~StreamCachePart() = default;  // every lease is released or closed by then
  virtual hip::Result<hip::StreamRef> acquire(int lease, const hip::StreamKey& key) = 0;
  virtual hip::Status release(int lease) = 0;
  virtual hip::Status clear() = 0;
  virtual void close() = 0;  // destroys the cache; leases stay
};

// hip::StreamRef::synchronize and hip::CurrentStream.
class StreamsPart {
 public:
  virtual ~StreamsPart() = default;
  virtual hip::Status synchronize(const hip::StreamRef& stream) = 0;
  virtual void enter(const hip::StreamRef& stream) = 0;  // on the calling thread
  virtual void leave() = 0;
  [[nodiscard]] virtual std::optional<hip::StreamRef> current() = 0;
};

class ScratchPart {
 public:
  virtual ~ScratchPart() = default;
  virtual hip::Result<void*> reserve(std::size_t bytes) = 0;
  virtual hip::Result<std::array<void*, 2>> pieces(std::size_t first, std::size_t second) = 0;
  [[nodiscard]] virtual void* data() const = 0;
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  [[nodiscard]] virtual hip::StreamRef stream() const = 0;
  virtual hip::Status release() = 0;
  // A buffer that was move-constructed from this one.
  virtual std::unique_ptr<ScratchPart> move_out() = 0;
};

class LauncherPart {
 public:
  virtual ~LauncherPart() = default;
  virtual hip::Status launch(const hip::KernelLaunch& launch) = 0;  // on the active stream
};

class StabilizerPart {
 public:
  virtual ~StabilizerPart() = default;
  virtual hip::Result<hip::StableStep> step(std::uint32_t command, std::span<const hip::StepBuffer> buffers,
                                            const hip::StreamRef& stream, hip::StableWork& work) = 0;
  virtual hip::Status release(std::uint32_t command) = 0;
};

// hip::TraceCache over hip::capture_trace, and hip::CommandBuffer; both also as one rank of several.
class TracesPart {
 public:
  // The function that enqueues a command's work on a stream for its buffers.
  using Work = std::function<hip::Status(hipStream_t stream, std::span<const hip::TraceBuffer> buffers)>;

  virtual ~TracesPart() = default;
  virtual hip::Status step(std::uint64_t command, std::span<const hip::TraceBuffer> buffers,
                           const hip::StreamRef& stream, const Work& work) = 0;
  // The same through another cache, that of a rank, which decides together with its peers.
  virtual hip::Status rank(std::uint64_t command, std::span<const hip::TraceBuffer> buffers,
                           const hip::StreamRef& stream, const Work& work, hip::RankAgreement& peers) = 0;
  // A command buffer by number, with these commands. As long as `version` stays, the commands stay as at its last step.
  // `look` is called with the graph that its executable graph was instantiated from, unless it has several.
  struct Body {
    std::size_t number = 0;  // below kTraceBodies
    std::uint64_t version = 0;
    const hip::Recording& commands;
    std::span<const hip::DeviceAddress> addresses;
    hip::RankAgreement* peers = nullptr;  // for its collectives: null at every step, or given at every step
  };
  virtual hip::Status body(const Body& body, const hip::StreamRef& stream,
                           const std::function<void(hipGraph_t)>& look) = 0;
};

// hip::RemappedBuffers, one for each command. A command has two buffers, what it reads and what it writes.
class RemapperPart {
 public:
  class Work {
   public:
    virtual ~Work() = default;
    // As hip::RemappedWork, with the number that the step was given.
    virtual hip::Status record(std::size_t set, std::span<void* const> addresses, std::uint64_t number) = 0;
    virtual hip::Status launch(std::size_t set, const hip::StreamRef& stream) = 0;
  };
  struct Step {
    std::size_t command = 0;
    std::array<hip::PhysicalMemory, 2> memories;
    std::array<void*, 2> seen;  // where the caller has that memory mapped itself
    std::uint64_t number = 0;   // an argument that is no address; the same at every step of the command
    const hip::StreamRef& stream;
    Work& work;  // of the command
  };
  virtual ~RemapperPart() = default;
  virtual hip::Status step(const Step& step) = 0;
  virtual hip::Status withdraw(std::uint64_t memory) = 0;  // from all commands
  virtual hip::Status clear(std::size_t command) = 0;
};
struct RemapperOptions {
  std::array<hip::RemappedBuffer, kRemapCommands> buffers;  // both buffers of a command
  std::vector<int> devices;                                 // that access the memory
  hip::AddressRanges* ranges = nullptr;                     // of the runtime's release
  hip::ErrorSink errors;
};

struct Parts {
  std::function<std::unique_ptr<StreamCachePart>(const hip::Api&, hip::ErrorSink)> stream_cache;
  std::function<std::unique_ptr<StreamsPart>()> streams;
  std::function<std::unique_ptr<ScratchPart>(const hip::StreamRef&, hip::ErrorSink)> scratch;
  std::function<std::unique_ptr<LauncherPart>(const hip::Api&, hip::ErrorSink)> launcher;
  std::function<std::unique_ptr<StabilizerPart>(const hip::Api&, hip::ErrorSink)> stabilizer;
  std::function<std::unique_ptr<TracesPart>(const hip::Api&, hip::ErrorSink)> traces;
  std::function<std::unique_ptr<RemapperPart>(const hip::Api&, const RemapperOptions&)> remapper;
};

inline constexpr std::size_t kScenarioMaxIdle = 3;  // of the stream cache: small, so that the cache gets full
inline constexpr std::size_t kScenarioContexts = 2;
inline constexpr std::size_t kScenarioGranularity = 256;
inline constexpr std::size_t kScenarioTraces = 4;
// A body has any set of the commands, in one of three forms: its traced commands are opaque, known, or collective.
inline constexpr std::size_t kTraceForms = 3;
inline constexpr std::size_t kTraceBodies = kTraceForms << kTraceCommands;

// The real parts: the implementations in hip/.
// They are made with the quirks of a release, or without quirks.
[[nodiscard]] Parts real_parts(const hip::ReleaseQuirks& quirks = {});

}  // namespace verify
