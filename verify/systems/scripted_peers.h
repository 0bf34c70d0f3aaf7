// verify::ScriptedPeers: the other ranks of a collective, as one step of a scenario meets them.
//
// A rank asks its peers about each of its collectives whether all can take the fast way, and once more whether all are
// ready to launch: a trace cache asks only where they record, a command buffer asks at every step. The answers of the
// peers are a script, so that one rank on one thread meets every kind of peer.
#pragma once

#include <cstdint>

#include "hip/rank_agreement.h"

namespace verify {

class ScriptedPeers final : public hip::RankAgreement {
 public:
  enum class Kind : std::int32_t {
    kHaveTraces,  // they have traces, and are ready to launch
    kRecord,      // they have to record, and are ready to launch then
    kFail,        // they have to record, and cannot
    kStayAway
  };
  // `collectives`: the number of collectives that a step asks about.
  ScriptedPeers(Kind kind, int collectives) : kind_(kind), collectives_(collectives) {}

  hip::Result<bool> all(bool mine) override {
    ++rounds_;
    if (kind_ == Kind::kStayAway) return hip::Error{hipErrorLaunchTimeOut, "the peers did not come"};
    const bool about_launching = rounds_ > collectives_;
    const bool theirs = about_launching ? kind_ != Kind::kFail : kind_ == Kind::kHaveTraces;
    const bool all = mine && theirs;
    if (!about_launching && !all) ++recorded_;
    return all;
  }
  // Whether the ranks may launch: the peers came, and can launch.
  [[nodiscard]] bool can_launch() const { return kind_ == Kind::kHaveTraces || kind_ == Kind::kRecord; }
  [[nodiscard]] bool come() const { return kind_ != Kind::kStayAway; }
  [[nodiscard]] int rounds() const { return rounds_; }
  // The number of collectives that the ranks agreed to record.
  [[nodiscard]] int recorded() const { return recorded_; }

 private:
  Kind kind_;
  int collectives_;
  int rounds_ = 0, recorded_ = 0;
};

}  // namespace verify
