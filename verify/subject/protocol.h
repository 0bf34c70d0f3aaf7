// The protocol between the process that judges programs and a subject process: frames over a pair of pipes.
//
// A frame is 12 bytes, then its body:
//
//   0  4  "HGC1"
//   4  4  length of the body in bytes, little-endian; at most kMaxFrame
//   8  4  FNV-1a (32 bits) of the body, little-endian
//
// A body is one MessagePack map. Its "kind" says which:
//
//   hello   subject, once, first: protocol, release ("7.2"), headers (HIP_VERSION of its build), runtime (the
//           version from hip::version_of_release), library (as loaded)
//   sorry   subject, instead of hello: reason. The subject then ends.
//   run     request: strategy, patcher (path or empty), layer (a runtime fault or empty), program (text), options,
//           script, code_objects (by id: the ELF files that its foreign kernels are in)
//   step    subject, in a death throe: step, signal. Written by its signal handler.
//   ran     subject: the trace, and script
//
// A subject reads requests until its standard input ends and answers each in turn. Standard output carries frames only:
// the subject moves this pipe to another descriptor before it loads a runtime, so that output of a runtime breaks
// nothing. Anything that is no frame is garbage, and the reader ends the subject. Both ends have to speak the same
// kProtocol; docs/subjects.md describes the protocol for starting subjects by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"
#include "verify/execute/runner.h"

namespace verify {

inline constexpr std::uint32_t kProtocol = 8;
inline constexpr std::size_t kMaxFrame = std::size_t{256} << 20;  // bytes
inline constexpr std::size_t kFrameHeader = 12;

struct Hello {
  std::uint32_t protocol = kProtocol;
  std::string release;       // "7.2": of the headers that the subject was built against
  int headers = 0;           // their HIP_VERSION
  int runtime = 0;           // hip::version_of_release
  std::string library;       // the runtime's path as it was loaded
  bool schedulable = false;  // the runtime lets its schedule be seeded (the software gfx942)
  int devices = 1;           // that programs may use: the number asked for, or the machine's own
};

struct Request {
  StrategyKind strategy = StrategyKind::kPatch;
  std::string patcher;  // a library on the subject's machine; empty: the strategy's own patcher
  std::string layer;    // a runtime fault by id, or empty
  std::string program;
  RunOptions options;
  AddressScript script;
  std::map<std::string, std::vector<std::byte>> code_objects;  // that the program's foreign kernels are in, by id
};

struct Throe {
  std::size_t step = 0;
  int signal = 0;
};

// Bodies. Decoding trusts nothing: an error names the flaw of the body.
[[nodiscard]] std::string encode_hello(const Hello& hello);
[[nodiscard]] std::string encode_sorry(std::string_view reason);
[[nodiscard]] std::string encode_request(const Request& request);
[[nodiscard]] std::string encode_result(const RunResult& result);
[[nodiscard]] hip::Result<Hello> decode_hello(std::string_view body);  // a `sorry` becomes an error with its reason
[[nodiscard]] hip::Result<Request> decode_request(std::string_view body);
// A result, or (`dying`) a throe.
struct Answer {
  RunResult result;
  bool dying = false;
  Throe throe;
};
[[nodiscard]] hip::Result<Answer> decode_answer(std::string_view body);

// The whole frame of a body.
[[nodiscard]] std::string frame(std::string_view body);
// The frame of a throe, into `out`, without allocating: for signal handlers. Returns its size.
inline constexpr std::size_t kThroeFrame = 64;
std::size_t throe_frame(const Throe& throe, unsigned char (&out)[kThroeFrame]);

// Takes bytes as they arrive and returns the bodies of the frames.
class FrameReader {
 public:
  void append(const char* bytes, std::size_t size) { pending_.append(bytes, size); }
  enum class State : std::uint8_t { kNeedsMore, kFrame, kGarbage };
  // kFrame: `body` is the next body. kGarbage: `body` is the beginning of the garbage, made printable.
  [[nodiscard]] State next(std::string& body);

 private:
  std::string pending_;
};

}  // namespace verify
