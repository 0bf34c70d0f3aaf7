// Explores the cache of word_cache.h: every schedule of two threads that ask for the same word.
//
// Prints the result of each way to look up a word. Exit status 0: the right way is clean and the wrong way is caught.
#include <cstdio>

#include "verify/race/explore.h"
#include "verify/race/operators.h"
#include "word_cache.h"

namespace {

using Length = std::size_t (example::WordCache::*)(const std::string&);

// The code of one schedule. Every schedule makes its objects anew.
class TwoReaders final : public verify::race::Body {
 public:
  explicit TwoReaders(Length length) : length_(length) {}

  void run(verify::race::ScheduleRunner& runner) override {
    example::WordCache cache;
    hip::sync::Thread first([&] { (void)(cache.*length_)("word"); });
    hip::sync::Thread second([&] { (void)(cache.*length_)("word"); });
    first.join();
    second.join();
    if (cache.computed() != 1) {
      runner.fail(verify::race::FailureKind::kInvariant, "a word's length is computed more than once");
    }
  }

 private:
  Length length_;
};

verify::race::Exploration explore(const char* name, Length length) {
  TwoReaders body(length);
  verify::race::ScheduleRunner runner;
  verify::race::Exploration result = verify::race::explore(runner, body, {});
  std::printf("%s: %llu schedules, %s\n", name, static_cast<unsigned long long>(result.schedules),
              result.failures == 0 ? "clean" : result.failure.message.c_str());
  return result;
}

}  // namespace

int main() {
  verify::race::count_memory();
  const bool right = explore("length", &example::WordCache::length).failures == 0;
  const bool wrong = explore("length_in_two_steps", &example::WordCache::length_in_two_steps).failures != 0;
  return right && wrong ? 0 : 1;
}
