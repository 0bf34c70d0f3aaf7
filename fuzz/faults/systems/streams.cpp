// F35: a stream layer that takes handle 0 for "no stream": there is nothing to wait for.
//
// To its author a null handle was a stream that had not been created yet, so no work could be on it. But HIP's handle 0
// is the default stream, and it has work.
//
// F36: the current stream is a variable of the process, because its author's program had one thread.
#include <vector>

#include "fuzz/faults/lists.h"

namespace fuzz {
namespace {

// Has the real scopes for the thread's current stream, but a synchronize() of its own.
class NothingOnHandleZero final : public verify::StreamsPart {
 public:
  hip::Status synchronize(const hip::StreamRef& stream) override {
    if (stream.handle() == nullptr) return {};
    return hip::call<&hip::Api::hipStreamSynchronize>(stream.api(), stream.handle());
  }
  void enter(const hip::StreamRef& stream) override { scopes_.push_back(std::make_unique<hip::CurrentStream>(stream)); }
  void leave() override { scopes_.pop_back(); }
  std::optional<hip::StreamRef> current() override { return hip::CurrentStream::get(); }
  ~NothingOnHandleZero() override {
    while (!scopes_.empty()) scopes_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<hip::CurrentStream>> scopes_;
};

class SharedCurrentStream final : public verify::StreamsPart {
 public:
  hip::Status synchronize(const hip::StreamRef& stream) override { return stream.synchronize(); }
  void enter(const hip::StreamRef& stream) override { stack_.push_back(stream); }
  void leave() override { stack_.pop_back(); }
  std::optional<hip::StreamRef> current() override {
    return stack_.empty() ? std::nullopt : std::optional(stack_.back());
  }

 private:
  std::vector<hip::StreamRef> stack_;
};

template <class Part>
verify::Parts with() {
  verify::Parts parts = verify::real_parts();
  parts.streams = [] { return std::make_unique<Part>(); };
  return parts;
}

}  // namespace

std::vector<Fault> stream_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {
      system_fault("F35", "streams", "synchronising handle 0 is a no-op", kS1, kStreams, with<NothingOnHandleZero>()),
      system_fault("F36", "streams", "current stream shared between threads", kS2, kStreams,
                   with<SharedCurrentStream>())};
}

}  // namespace fuzz
