// A fixture for functions that pass their arguments on: checks the arguments of CUDA's call and the returned error.
#pragma once

#include <cstdint>
#include <vector>

#include "nvidia/nvidia_fixture.h"

namespace nvidia {

class CallsTest : public NvidiaTest {
 protected:
  // An argument that points to something of the library's own.
  static constexpr std::uint64_t kSomewhere = 0xeeeeeeeeeeeeeeee;

  static std::uint64_t at(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

  // The call succeeds, having handed the words to `function` once; and it answers the error that CUDA answers.
  // The word of a struct that is handed over by value is 0 (its bytes: pointee).
  template <class Call>
  void expect(const char* function, const std::vector<std::uint64_t>& words, Call call) {
    SCOPED_TRACE(function);
    const std::size_t before = cuda().calls.size();
    EXPECT_EQ(call(), hipSuccess);
    std::size_t count = 0;
    for (std::size_t n = before; n < cuda().calls.size(); ++n) count += cuda().calls[n].function == function ? 1 : 0;
    ASSERT_EQ(count, 1U);
    const stub::Call& made = last(function);
    ASSERT_EQ(made.arguments.size(), words.size());
    for (std::size_t n = 0; n < words.size(); ++n) {
      if (words[n] == kSomewhere) {
        EXPECT_NE(made.word(n), 0U) << "argument " << n;
      } else {
        EXPECT_EQ(made.word(n), words[n]) << "argument " << n;
      }
    }
    cuda().answers[function] = 2;
    EXPECT_EQ(call(), hipErrorOutOfMemory);
    EXPECT_EQ(hipGetLastError(), hipErrorOutOfMemory);
    cuda().answers.erase(function);
  }
};

}  // namespace nvidia
