// model::Random: the only source of choice in the model: a seeded sequence, the same on every machine (splitmix64).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace model {

class Random {
 public:
  // With this bit in the seed, the choices are not random: they are the digits of the rest of the seed, each in the
  // base of its bound. Counting from 0 up to the product of the bounds makes every sequence of choices.
  static constexpr std::uint64_t kCounting = std::uint64_t{1} << 63;

  explicit Random(std::uint64_t seed) : state_(seed & ~kCounting), counting_((seed & kCounting) != 0) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, bound). The bias of a remainder does not matter here.
  std::size_t below(std::size_t bound) {
    assert(bound > 0);
    if (counting_) {
      const std::uint64_t digit = state_ % bound;
      state_ /= bound;
      return static_cast<std::size_t>(digit);
    }
    return static_cast<std::size_t>(next() % bound);
  }

 private:
  std::uint64_t state_;
  bool counting_;
};

}  // namespace model
