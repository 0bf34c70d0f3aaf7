// The part of a session that all ways of running a step share: the commands, and enqueueing them.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "bench/step_session.h"
#include "bench/synthetic.h"
#include "hip/captured_graph.h"
#include "hip/errors.h"
#include "hip/stream.h"

namespace bench {

using Commands = std::span<const StepCommand>;

class StepWayBase : public StepSession {
 public:
  StepWayBase(const StepOptions& options, StepBed& bed, const hip::Api& api)
      : options_(options), bed_(bed), api_(api), stream_(api, bed.stream(), 0) {}

 protected:
  [[nodiscard]] Commands commands() const { return bed_.workload().commands; }
  // On the capturing stream, a collective costs options_.collective_capture_us on top.
  [[nodiscard]] hip::Status enqueue(Commands some, hipStream_t on, std::span<const hip::DeviceAddress> at) const {
    for (const StepCommand& command : some) {
      if (command.collective && on == bed_.capturing() && options_.collective_capture_us != 0)
        spend(options_.collective_capture_us);
      if (hip::Status status = bed_.enqueue(api_, command, on, at); !status) return status;
    }
    return {};
  }
  [[nodiscard]] hip::Result<hip::CapturedGraph> capture(Commands some, std::span<const hip::DeviceAddress> at) const {
    return hip::CapturedGraph::capture(api_, bed_.capturing(), [&](hipStream_t on) { return enqueue(some, on, at); });
  }
  [[nodiscard]] hip::Status launch(hipGraphExec_t exec) const {
    return hip::call<&hip::Api::hipGraphLaunch>(api_, exec, stream_.handle());
  }

  const StepOptions options_;
  StepBed& bed_;
  const hip::Api& api_;
  const hip::StreamRef stream_;
};

template <class Session>
hip::Result<std::unique_ptr<StepSession>> prepared(const StepOptions& options, StepBed& bed, const hip::Api& api) {
  auto session = std::make_unique<Session>(options, bed, api);
  if (hip::Status status = session->prepare(); !status) return status.error();
  return std::unique_ptr<StepSession>(std::move(session));
}

// The way `remap`.
[[nodiscard]] hip::Result<std::unique_ptr<StepSession>> make_remapped(const StepOptions& options, StepBed& bed,
                                                                      const hip::Api& api);

}  // namespace bench
