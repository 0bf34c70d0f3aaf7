// verify::ScriptedPeers: the other ranks of a collective, as one step of a scenario meets them.
//
// A rank asks its peers about each of its collectives whether all can take the fast way, and once more whether all are
// ready to launch: a trace cache asks only where they record, a command buffer asks at every step. The answers of the
// peers are a script, so that one rank on one thread meets every kind of peers.
#pragma once

#include <cstdint>

#include "hip/rank_agreement.h"

namespace verify {

class ScriptedPeers final : public hip::RankAgreement {
 public:
  enum class Kind : std::int32_t {
    kHaveTraces,  // and are ready to launch
    kRecord,      // and are ready to launch then
    kFail,        // have to record, and cannot
    kStayAway
  };
  // `collectives` is about how many a step asks.
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
  // Whether anybody may launch: the peers came, and could.
  [[nodiscard]] bool can_launch() const { return kind_ == Kind::kHaveTraces || kind_ == Kind::kRecord; }
  [[nodiscard]] bool come() const { return kind_ != Kind::kStayAway; }
  [[nodiscard]] int rounds() const { return rounds_; }
  // Collectives that all agreed to record.
  [[nodiscard]] int recorded() const { return recorded_; }

 private:
  Kind kind_;
  int collectives_;
  int rounds_ = 0, recorded_ = 0;
};

}  // namespace verify
