// A stand-in for CUDA's runtime and driver libraries, for tests on machines with no GPU: it records calls, gives the
// answers that a test sets, and counts live objects.
//
// One library plays both, in two builds: 12.4 and 13.0, which differ in the symbols that CUDA 13 renamed (a build has
// only its own version's names). Each function of hip/nvidia/cuda_functions.inc records its call and answers success,
// or the answer in State::answers. It does nothing else, but for:
//   - functions that make something write a new handle and count it; functions that end something count it down
//   - the versions, a current context, and the last error of the runtime, one a thread
// Not checked: whether a handle is one that was made, or whether CUDA would refuse the arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stub {

struct Argument {
  std::uint64_t word = 0;  // a number, an enumeration, a handle or an address
  std::vector<std::byte>
      pointee;  // the bytes at the address before the call, one element of its type; or a struct passed by value
};

struct Call {
  std::string function;
  std::vector<Argument> arguments;

  [[nodiscard]] std::uint64_t word(std::size_t index) const { return arguments.at(index).word; }
  // Returns the value that the argument points to. Throws if the argument pointed to no value of that size.
  template <class T>
  [[nodiscard]] T pointee(std::size_t index) const {
    const std::vector<std::byte>& bytes = arguments.at(index).pointee;
    if (bytes.size() != sizeof(T)) throw std::logic_error(function + ": the argument points to something else");
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

struct State {
  std::vector<Call> calls;
  std::map<std::string, int> answers;  // by function: every call answers this
  std::map<std::pair<std::string, std::size_t>, std::vector<std::byte>> outputs;  // by function and argument
  std::map<std::string, long> alive;                                              // by kind of thing: "graph", ...
  std::uint64_t next_handle = 0x1000;

  // A successful call of the function then writes `value` where its argument points.
  template <class T>
  void give(const std::string& function, std::size_t argument, const T& value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    outputs[{function, argument}] = std::move(bytes);
  }
  // The last call of a function. Throws where there was none.
  [[nodiscard]] const Call& last(const std::string& function) const {
    for (std::size_t n = calls.size(); n > 0; --n) {
      if (calls[n - 1].function == function) return calls[n - 1];
    }
    throw std::logic_error("CUDA was not asked for " + function);
  }
  [[nodiscard]] bool was_called(const std::string& function) const {
    for (const Call& call : calls) {
      if (call.function == function) return true;
    }
    return false;
  }
};

}  // namespace stub

// The state of the library that exports this. Not for calls from several threads at a time.
extern "C" stub::State* hgstub_state();
