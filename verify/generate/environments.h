// verify::Environments: the environment variables that a campaign sets for the runtimes under test.
//
// A campaign states variables for all its programs, or draws others as well, from the settings of the vendor's runtime
// that change how it executes: the ones on AMD's page "HIP environment variables" and others that its 7.2 and 6.4 read,
// and those of CUDA's programming guide. Settings that hide devices, log, or need another driver are not drawn.
#pragma once

#include <cstdint>
#include <string_view>

#include "verify/program/environment.h"

namespace verify {

enum class DrawnFrom : std::uint8_t { kNothing, kAmd, kNvidia };

struct Environments {
  Environment stated;  // of every program, and never drawn otherwise
  DrawnFrom drawn_from = DrawnFrom::kNothing;
};

// So many programs in a row share so many sets of drawn variables, because each set needs a subject process of its own.
inline constexpr std::uint64_t kProgramsWithSameSets = 1024, kSetsAtATime = 4;

// The variables of the campaign's `index`-th program: a function of the three alone.
[[nodiscard]] Environment campaign_environment(const Environments& environments, std::uint64_t seed,
                                               std::uint64_t index);

// Whether a variable may be drawn, from any vendor's settings.
[[nodiscard]] bool is_runtime_setting(std::string_view name);

}  // namespace verify
