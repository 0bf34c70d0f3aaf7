// One source of choices for every generator.
//
// A generator asks for numbers below a bound and nothing else, so that the same code draws from RapidCheck's randomness
// (properties and campaigns: the same seed gives the same program on every machine) and from a fuzzer's bytes
// (libFuzzer steers every decision). Only the choices are random: a generator returns plain data.
#pragma once

#include <rapidcheck/Random.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace verify {

class Choices {
 public:
  virtual ~Choices() = default;

  // A number below `bound` (0 when the bound is 0 or 1).
  [[nodiscard]] virtual std::uint64_t below(std::uint64_t bound) = 0;
  // True when further choices mean nothing: a generator then finishes. Random sources never run out.
  [[nodiscard]] virtual bool exhausted() const { return false; }

  [[nodiscard]] std::uint64_t between(std::uint64_t lo, std::uint64_t hi) { return lo + below(hi - lo + 1); }
  // True in about `percent` of 100 draws. A fuzzer's byte 0 draws `false`.
  [[nodiscard]] bool percent(unsigned percent) { return below(100) >= 100 - percent; }
};

class RandomChoices final : public Choices {
 public:
  explicit RandomChoices(const rc::Random& random) : random_(random) {}
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) override { return bound < 2 ? 0 : random_.next() % bound; }

 private:
  rc::Random random_;
};

// Reads as few bytes as the bound needs, little-endian; past the end every choice is 0.
class ByteChoices final : public Choices {
 public:
  explicit ByteChoices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) override {
    if (bound < 2) return 0;
    std::uint64_t value = 0;
    int shift = 0;
    for (std::uint64_t rest = bound - 1; rest != 0; rest >>= 8, shift += 8) value |= std::uint64_t{next()} << shift;
    return value % bound;
  }
  [[nodiscard]] bool exhausted() const override { return at_ >= bytes_.size(); }

 private:
  std::uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : std::uint8_t{0}; }
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace verify
