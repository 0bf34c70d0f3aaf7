// Scenarios of scratch buffers, against scratch_model.h.
#include <algorithm>

#include "verify/systems/bench.h"
#include "verify/systems/scratch_model.h"

namespace verify {
namespace {

constexpr unsigned kFlagsOfStream[kScratchBuffers] = {hipStreamDefault, hipStreamNonBlocking, hipStreamDefault};

std::string bytes(std::size_t count) {
  return std::to_string(count) + " bytes";
}

class ScratchBench final : public SystemBench {
 public:
  ScratchBench(BenchContext& context, const Parts& parts) : context_(context) {
    const AtHome home(context.inner());
    for (int i = 0; i < kScratchBuffers; ++i) {
      // Buffer 0 is on the default stream.
      hipStream_t handle = nullptr;
      if (i != 0) static_cast<void>(context.inner().hipStreamCreateWithFlags(&handle, kFlagsOfStream[i]));
      streams_.emplace_back(context.api(), handle, 0);
      buffers_.push_back(parts.scratch(streams_.back(), context.sink()));
      model(i).stream = i;
    }
  }

  int run(const SystemAction& action) override {
    const int first = action.fields[0];
    switch (action.verb) {
      case SystemVerb::kScratchReserve:
        return reserve(first, static_cast<std::size_t>(action.fields[1]));
      case SystemVerb::kScratchFill:
        return fill(first, action.fields[1]);
      case SystemVerb::kScratchCheck:
        return check_contents(first, "scratch check " + std::to_string(first));
      case SystemVerb::kScratchPieces:
        return pieces(action);
      case SystemVerb::kScratchMove:
        return move(first, action.fields[1]);
      case SystemVerb::kScratchRelease:
        return release(first);
      default:
        not_of_this_bench(action);
    }
  }

  void finish() override {
    buffers_.clear();
    const AtHome home(context_.inner());
    for (const hip::StreamRef& stream : streams_) {
      static_cast<void>(context_.inner().hipStreamSynchronize(stream.handle()));
      if (stream.handle() != nullptr) static_cast<void>(context_.inner().hipStreamDestroy(stream.handle()));
    }
  }

 private:
  ScratchPart& buffer(int number) { return *buffers_[static_cast<std::size_t>(number)]; }
  ScratchModel& model(int number) { return models_[static_cast<std::size_t>(number)]; }
  hipStream_t stream_of(int number) { return streams_[static_cast<std::size_t>(model(number).stream)].handle(); }

  int reserve(int number, std::size_t wanted) {
    const std::string where = "scratch reserve " + std::to_string(number) + " bytes=" + std::to_string(wanted);
    const std::uint64_t fired = context_.interposer.fired();
    const hip::Result<void*> place = buffer(number).reserve(wanted);
    if (!place) {
      context_.expect(context_.interposer.fired() != fired, PropertyId::kS3, where, "memory", place.error().message);
      check_unchanged(number, where);
      return place.error().code;
    }
    const bool fits = model(number).fits(wanted);
    context_.expect(buffer(number).capacity() >= wanted && place.value() == buffer(number).data(), PropertyId::kS3,
                    where, "at least that much", bytes(buffer(number).capacity()));
    if (fits) check_place(number, where);
    if (!fits) model(number).grew(place.value(), buffer(number).capacity());
    return hipSuccess;
  }

  void check_place(int number, const std::string& where) {
    context_.expect(buffer(number).data() == model(number).place && buffer(number).capacity() == model(number).size,
                    PropertyId::kS3, where, "the buffer where it was, of " + bytes(model(number).size),
                    "one of " + bytes(buffer(number).capacity()));
  }

  // Checks that a failed call has changed nothing: the buffer has the same memory with the same contents.
  void check_unchanged(int number, const std::string& where) {
    check_place(number, where);
    static_cast<void>(check_contents(number, where));
  }

  int check_contents(int number, const std::string& where) {
    if (model(number).size == 0) return hipSuccess;
    const AtHome home(context_.inner());
    std::vector<unsigned char> seen(model(number).size);
    hipError_t status = context_.inner().hipStreamSynchronize(stream_of(number));
    if (status == hipSuccess) {
      status = context_.inner().hipMemcpy(seen.data(), model(number).place, seen.size(), hipMemcpyDeviceToHost);
    }
    context_.expect(status == hipSuccess, PropertyId::kS3, where, "memory that can be read", hip::status_name(status));
    if (status != hipSuccess || !model(number).value) return status;
    const int value = *model(number).value;
    const bool same = std::ranges::all_of(seen, [value](unsigned char byte) { return byte == value; });
    context_.expect(same, PropertyId::kS3, where, "the bytes that were written last", "others");
    return status;
  }

  int fill(int number, int value) {
    ScratchModel& now = model(number);
    if (now.size == 0) return hipSuccess;
    const AtHome home(context_.inner());
    const hipError_t status =
        context_.inner().hipMemsetAsync(buffer(number).data(), value, now.size, stream_of(number));
    context_.expect(status == hipSuccess, PropertyId::kS3, "scratch fill " + std::to_string(number),
                    "memory that can be written", hip::status_name(status));
    if (status == hipSuccess) now.value = value;
    return status;
  }

  int pieces(const SystemAction& action) {
    const int number = action.fields[0];
    const std::string where = print_action(action);
    const std::size_t sizes[] = {static_cast<std::size_t>(action.fields[1]),
                                 static_cast<std::size_t>(action.fields[2])};
    const std::uint64_t fired = context_.interposer.fired();
    const hip::Result<std::array<void*, 2>> cut = buffer(number).pieces(sizes[0], sizes[1]);
    if (!cut) {
      context_.expect(context_.interposer.fired() != fired, PropertyId::kS3, where, "memory", cut.error().message);
      // The contract does not say whether a failed call for several pieces has grown the buffer.
      if (buffer(number).data() != model(number).place) {
        model(number).grew(buffer(number).data(), buffer(number).capacity());
      }
      check_unchanged(number, where);
      return cut.error().code;
    }
    model(number).grew(buffer(number).data(), buffer(number).capacity());
    const AtHome home(context_.inner());
    hipError_t status = hipSuccess;
    for (int i = 0; i < 2 && status == hipSuccess; ++i) {
      status =
          context_.inner().hipMemsetAsync(cut.value()[static_cast<std::size_t>(i)], i + 1, sizes[i], stream_of(number));
    }
    bool right = true;
    for (int i = 0; i < 2 && status == hipSuccess; ++i) {
      std::vector<unsigned char> seen(sizes[i]);
      status = context_.inner().hipStreamSynchronize(stream_of(number));
      if (status == hipSuccess) {
        status = context_.inner().hipMemcpy(seen.data(), cut.value()[static_cast<std::size_t>(i)], sizes[i],
                                            hipMemcpyDeviceToHost);
      }
      right = right && std::ranges::all_of(seen, [i](unsigned char byte) { return byte == i + 1; });
    }
    context_.expect(status == hipSuccess && right, PropertyId::kS1, where, "two pieces that keep what is written",
                    status == hipSuccess ? "other bytes" : hip::status_name(status));
    return status;
  }

  int move(int from, int to) {
    const std::string where = "scratch move " + std::to_string(from) + " to=" + std::to_string(to);
    std::unique_ptr<ScratchPart> moved = buffer(from).move_out();
    buffers_[static_cast<std::size_t>(to)] = std::move(moved);
    model(to) = model(from).move_out();
    check_place(from, where + ": the source");
    check_place(to, where);
    for (const int number : {from, to}) {
      const bool same = buffer(number).stream() == streams_[static_cast<std::size_t>(model(number).stream)];
      context_.expect(same, PropertyId::kS3, where, "on the stream that it was made for", "on another one");
    }
    return hipSuccess;
  }

  int release(int number) {
    const hip::Status status = buffer(number).release();
    if (!status) {
      check_unchanged(number, "scratch release " + std::to_string(number));
      return status.error().code;
    }
    model(number).released();
    check_place(number, "scratch release " + std::to_string(number));
    return hipSuccess;
  }

  BenchContext& context_;
  std::vector<hip::StreamRef> streams_;
  std::vector<std::unique_ptr<ScratchPart>> buffers_;
  std::array<ScratchModel, kScratchBuffers> models_;
};

}  // namespace

std::unique_ptr<SystemBench> make_scratch_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<ScratchBench>(context, parts);
}

}  // namespace verify
