// hip::TraceCache: executable graphs of traces, kept from one step to the next.
//
// A trace is the work that a command enqueued, recorded as a graph. Recording is slow, launching a recording is fast. A
// step names the command and its buffers, each by identity and by address, and the cache decides:
//
//   hit       the same command, the same buffers, all of them at the same addresses: the trace is launched as it is.
//   patched   the same buffers, some of them at other addresses: the trace is patched, then launched. Never for a
//             command that enqueued nothing: at other addresses it may enqueue something, so it is recorded.
//   recorded  in all other cases, and where patching failed. An address that was freed and belongs to another buffer
//             now is another buffer: the identity decides, never the address alone.
//   bound     at most max_traces are kept; beyond that, the trace that was not executed for longest is destroyed.
//   failure   a patch that fails is followed by recording, and counted. A failure of recording or of a launch is
//             returned, and the trace is dropped, so that the next step records it.
//   together  with ranks, all of them take the fast way or all record (C6): a rank that could take the fast way records
//             when a peer could not. After recording they agree once more before the launch, because a rank whose
//             recorder failed would leave its peers waiting in the collective. Each rank has a cache of its own. An
//             error of the agreement, or of a peer's recording, is returned, and nothing was launched. Steps of a rank
//             are rounds of all ranks: one thread of a rank at a time, in the same order on each.
//
// Any thread may call any function. Steps of one trace run one after another; steps of different traces do not wait for
// each other. No lock is held while a trace is patched, recorded, launched or destroyed. A recorder may execute other
// traces, but not its own trace (it would wait for itself). A recorder that throws has failed: its exception goes to
// the caller.
//
// Does not check: that buffers of one identity have one size, and that a recorder depends on the buffers alone. Make
// both part of the command's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "hip/errors.h"
#include "hip/rank_agreement.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

// A buffer of a step. No two buffers ever have the same `identity`, not even if one is freed before the other exists.
struct TraceBuffer {
  std::uint64_t identity = 0;
  std::uint64_t address = 0;
  bool operator==(const TraceBuffer&) const = default;
};

// A trace that the cache keeps. One thread at a time; none of its functions throws.
class Trace {
 public:
  // May be called while the last launch still runs.
  virtual ~Trace() = default;
  // Sets the trace to these addresses, all at once. After an error, record it again; it must not be launched any more.
  [[nodiscard]] virtual Status patch(std::span<const TraceBuffer> buffers) = 0;
  [[nodiscard]] virtual Status launch(const StreamRef& stream) = 0;
};

enum class TraceOutcome : std::uint8_t { kHit, kPatched, kRecorded };

struct TraceCacheCounts {
  std::uint64_t hits = 0, patched = 0, recorded = 0;
  std::uint64_t refused = 0;    // patches that failed: recorded instead
  std::uint64_t overruled = 0;  // fast ways not taken because a peer could not
  std::uint64_t failed = 0;     // steps that returned an error
  std::uint64_t evicted = 0;
};

struct TraceCacheOptions {
  std::size_t max_traces = 64;     // at least 1
  RankAgreement* ranks = nullptr;  // of this cache's rank with its peers; outlives the cache
  // False for a cache whose traces are only collected: its owner then agrees with the peers before it launches them.
  bool agree_to_launch = true;
};

class TraceCache {
 public:
  // Returns null for a command that enqueues nothing: the cache keeps that, and launching it does nothing.
  using Recorder = std::function<Result<std::unique_ptr<Trace>>(std::span<const TraceBuffer> buffers)>;

  explicit TraceCache(const TraceCacheOptions& options = {});
  TraceCache(const TraceCache&) = delete;
  TraceCache& operator=(const TraceCache&) = delete;
  // No step may be under way.
  ~TraceCache();

  // Launches the command's work on the stream.
  [[nodiscard]] Result<TraceOutcome> execute(std::uint64_t command, std::span<const TraceBuffer> buffers,
                                             const StreamRef& stream, const Recorder& record);
  // The buffer is gone: drops the traces that use it. A step that is under way still finishes with its trace.
  void forget(std::uint64_t identity);
  void clear();
  // Keeps at least so many traces, even if the options say fewer.
  void keep_at_least(std::size_t traces);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] TraceCacheCounts counts() const;

 private:
  struct Entry {
    std::uint64_t command = 0;
    std::vector<TraceBuffer> buffers;
    bool taken = false;    // a step uses the entry
    bool dropped = false;  // not in the list any more: the step that uses it destroys its trace
    // Belongs to the step that uses the entry; guarded by mutex_ while no step does.
    sync::Cell<std::unique_ptr<Trace>> trace;
  };
  using EntryPointer = std::shared_ptr<Entry>;
  struct Cache {
    std::list<EntryPointer> entries;  // in the order in which they were executed last
    std::size_t most = 0;             // the most entries that are kept
    TraceCacheCounts counts;
  };
  using Traces = std::vector<std::unique_ptr<Trace>>;
  struct Taken {
    EntryPointer entry;
    TraceOutcome outcome = TraceOutcome::kRecorded;
    Traces evicted;
  };

  [[nodiscard]] Taken take(std::uint64_t command, std::span<const TraceBuffer> buffers);
  [[nodiscard]] std::list<EntryPointer>::iterator find(std::uint64_t command, std::span<const TraceBuffer> buffers);
  [[nodiscard]] Status bring(Taken& taken, std::span<const TraceBuffer> buffers, const Recorder& record);
  [[nodiscard]] Result<std::unique_ptr<Trace>> recorded(std::span<const TraceBuffer> buffers, const Recorder& record);
  [[nodiscard]] Result<bool> agree(bool could);
  [[nodiscard]] Status agree_to_launch(Status recorded);
  void give_back(const Taken& taken, bool keep);
  [[nodiscard]] static std::unique_ptr<Trace> drop(Entry& entry);

  const TraceCacheOptions options_;
  mutable sync::Mutex mutex_;
  sync::ConditionVariable given_back_;
  sync::Cell<Cache> cache_;  // guarded by mutex_
};

}  // namespace hip
