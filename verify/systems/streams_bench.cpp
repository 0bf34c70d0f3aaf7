// Scenarios of streams, events and the current stream, against streams_model.h.
#include "hip/event.h"
#include "hip/sync/sync.h"
#include "verify/systems/bench.h"
#include "verify/systems/streams_model.h"

namespace verify {
namespace {

// Work is a host function that writes its number down. Runtimes run host functions on threads of their own.
struct WorkLog {
  hip::sync::Mutex mutex;
  hip::sync::Cell<std::vector<int>> done;  // guarded by mutex
};
struct Work {
  WorkLog* log = nullptr;
  int number = 0;
};

void write_down(void* user_data) {
  const Work& work = *static_cast<Work*>(user_data);
  const hip::sync::LockGuard lock(work.log->mutex);
  work.log->done.write().push_back(work.number);
}

std::string text_of(StreamsModel::Set set) {
  std::string text;
  for (int work = 0; work < kMaxStreamWorks; ++work) {
    if ((set & StreamsModel::bit(work)) != 0) text += (text.empty() ? "" : ", ") + std::to_string(work);
  }
  return text.empty() ? "none" : "work " + text;
}

class StreamsBench final : public SystemBench {
 public:
  StreamsBench(BenchContext& context, const Parts& parts) : context_(context), part_(parts.streams()) {
    for (int i = 0; i < kMaxStreamWorks; ++i) works_[static_cast<std::size_t>(i)] = {&log_, i};
  }

  int run(const SystemAction& action) override {
    const int code = dispatch(action);
    look_at_the_order();
    return code;
  }

  void finish() override {
    while (model_.current()) leave();
    const AtHome home(context_.inner());
    for (std::optional<hip::Stream>& stream : streams_) {
      if (stream) context_.sink()(stream->destroy());
      stream.reset();
    }
    static_cast<void>(context_.inner().hipDeviceSynchronize());
    for (std::optional<hip::Event>& event : events_) event.reset();
    look_at_the_order();
  }

 private:
  int dispatch(const SystemAction& action) {
    const int first = action.fields[0];
    switch (action.verb) {
      case SystemVerb::kStreamMake:
        return make(action);
      case SystemVerb::kStreamDrop:
        return drop(first);
      case SystemVerb::kStreamWork:
        return work(first);
      case SystemVerb::kStreamSync:
        return synchronize(first);
      case SystemVerb::kStreamQuery:
        return query(first);
      case SystemVerb::kStreamRecord:
        return record(first, action.fields[1]);
      case SystemVerb::kStreamWait:
        return wait(first, action.fields[1]);
      case SystemVerb::kEventSync:
        return await(first);
      case SystemVerb::kEventQuery:
        return ask(first);
      case SystemVerb::kStreamEnter:
        return enter(first);
      case SystemVerb::kStreamLeave:
        return leave();
      case SystemVerb::kStreamThread:
        return enter_on_another_thread(first);
      default:
        not_of_this_bench(action);
    }
  }

  // No value for a stream that could not be made.
  [[nodiscard]] std::optional<hip::StreamRef> stream(int number) const {
    if (number == 0) return hip::StreamRef::of_default(context_.api());
    const std::optional<hip::Stream>& made = streams_[static_cast<std::size_t>(number)];
    return made ? std::optional(made->ref()) : std::nullopt;
  }
  static int code_of(const hip::Status& status) { return status.ok() ? hipSuccess : status.error().code; }

  int make(const SystemAction& action) {
    const hip::StreamKey key{action.fields[1], static_cast<unsigned>(action.fields[2]), action.fields[3]};
    hip::Result<hip::Stream> made = hip::Stream::create(context_.api(), key, context_.sink());
    if (!made) return made.error().code;
    model_.make(action.fields[0], key.device, (key.flags & hipStreamNonBlocking) == 0);
    streams_[static_cast<std::size_t>(action.fields[0])].emplace(std::move(made).value());
    return hipSuccess;
  }

  int drop(int number) {
    std::optional<hip::Stream>& made = streams_[static_cast<std::size_t>(number)];
    if (!made) return hipSuccess;
    const int code = code_of(made->destroy());
    made.reset();  // the destructor tries again
    model_.drop(number);
    return code;
  }

  int work(int number) {
    const std::optional<hip::StreamRef> on = stream(number);
    if (!on) return hipSuccess;
    const AtHome home(context_.inner());
    const int work = model_.work(number);
    return context_.inner().hipLaunchHostFunc(on->handle(), write_down, &works_[static_cast<std::size_t>(work)]);
  }

  int synchronize(int number) {
    const std::optional<hip::StreamRef> on = stream(number);
    if (!on) return hipSuccess;
    const hip::Status status = part_->synchronize(*on);
    if (status) expect_done(model_.waited_for(number), "streams sync " + std::to_string(number));
    return code_of(status);
  }

  int query(int number) {
    const std::optional<hip::StreamRef> on = stream(number);
    if (!on) return hipSuccess;
    const hip::Result<bool> idle = on->idle();
    if (!idle) return idle.error().code;
    if (idle.value()) expect_done(model_.waited_for(number), "streams query " + std::to_string(number));
    return hipSuccess;
  }

  // An event is made by its first record; before that there is nothing to wait for.
  int await(int event) {
    const std::optional<hip::Event>& made = events_[static_cast<std::size_t>(event)];
    if (!made) return hipSuccess;
    const hip::Status status = made->synchronize();
    if (status) expect_done(model_.waited_for_event(event), "streams await " + std::to_string(event));
    return code_of(status);
  }

  int ask(int event) {
    const std::optional<hip::Event>& made = events_[static_cast<std::size_t>(event)];
    if (!made) return hipSuccess;
    const hip::Result<bool> done = made->done();
    if (!done) return done.error().code;
    if (done.value()) expect_done(model_.waited_for_event(event), "streams done " + std::to_string(event));
    return hipSuccess;
  }

  void expect_done(StreamsModel::Set must, const std::string& where) {
    look_at_the_order();
    context_.expect((must & ~done_) == 0, PropertyId::kS1, where, text_of(must) + " done", text_of(done_) + " done");
  }

  // An event belongs to the device of its stream. For a record on another device it is made anew.
  int record(int event, int number) {
    const std::optional<hip::StreamRef> on = stream(number);
    if (!on) return hipSuccess;
    std::optional<hip::Event>& place = events_[static_cast<std::size_t>(event)];
    if (!place || place->device() != on->device()) {
      place.reset();
      model_.forget(event);
      hip::Result<hip::Event> made =
          hip::Event::create(context_.api(), {.device = on->device(), .errors = context_.sink()});
      if (!made) return made.error().code;
      place.emplace(std::move(made).value());
    }
    const hip::Status status = place->record(*on);
    if (status) model_.record(event, number);
    return code_of(status);
  }

  int wait(int number, int event) {
    const std::optional<hip::StreamRef> on = stream(number);
    const std::optional<hip::Event>& made = events_[static_cast<std::size_t>(event)];
    if (!on || !made) return hipSuccess;
    const hip::Status status = on->wait(*made);
    if (status) model_.wait(number, event);
    return code_of(status);
  }

  int enter(int number) {
    // A stream that could not be made cannot be a current stream; the default stream takes its place.
    const int entered = stream(number) ? number : 0;
    part_->enter(*stream(entered));
    model_.enter(entered);
    check_current("this thread", model_.current());
    return hipSuccess;
  }

  int leave() {
    part_->leave();
    model_.leave();
    check_current("this thread", model_.current());
    return hipSuccess;
  }

  void check_current(const std::string& where, std::optional<int> expected) {
    const std::optional<hip::StreamRef> is = part_->current();
    const std::optional<hip::StreamRef> must = expected ? stream(*expected) : std::nullopt;
    const auto text = [](const std::optional<hip::StreamRef>& ref) -> std::string {
      return ref ? "a stream of device " + std::to_string(ref->device()) : "none";
    };
    context_.expect(is == must, PropertyId::kS2, "the current stream of " + where, text(must),
                    is && must ? "another stream" : text(is));
  }

  // The other thread starts without a current stream, enters its own, and does not change the current stream of this
  // thread, which checks it meanwhile. The two threads take turns, so the result does not depend on their timing.
  int enter_on_another_thread(int number) {
    const std::optional<hip::StreamRef> own = stream(number);
    if (!own) return hipSuccess;
    std::optional<hip::StreamRef> at_start, inside;
    hip::sync::Mutex mutex;
    hip::sync::ConditionVariable turned;
    hip::sync::Cell<int> turn{0};
    hip::sync::Thread other([&] {
      at_start = part_->current();
      part_->enter(*own);
      inside = part_->current();
      hip::sync::UniqueLock lock(mutex);
      turn.write() = 1;
      turned.notify_all();
      turned.wait(lock, [&] { return turn.read() == 2; });
      part_->leave();
    });
    {
      hip::sync::UniqueLock lock(mutex);
      turned.wait(lock, [&] { return turn.read() == 1; });
      check_current("this thread while another one has its own", model_.current());
      turn.write() = 2;
      turned.notify_all();
    }
    other.join();
    context_.expect(!at_start, PropertyId::kS2, "the current stream of a new thread", "none", "one");
    context_.expect(inside == own, PropertyId::kS2, "the current stream of the other thread", "its own",
                    "another one, or none");
    return hipSuccess;
  }

  // Checks each work that was done since the last call: all work before it must be done already.
  void look_at_the_order() {
    const hip::sync::LockGuard lock(log_.mutex);
    const std::vector<int>& order = log_.done.read();
    for (; looked_at_ < order.size(); ++looked_at_) {
      const int work = order[looked_at_];
      const StreamsModel::Set before = model_.before(work);
      context_.expect((before & ~done_) == 0, PropertyId::kS1, "work " + std::to_string(work),
                      text_of(before) + " done before it", text_of(done_) + " done");
      done_ |= StreamsModel::bit(work);
    }
  }

  BenchContext& context_;
  WorkLog log_;
  std::array<Work, kMaxStreamWorks> works_;
  std::unique_ptr<StreamsPart> part_;
  StreamsModel model_;
  std::array<std::optional<hip::Stream>, kSystemStreams> streams_;
  std::array<std::optional<hip::Event>, kSystemEvents> events_;
  StreamsModel::Set done_ = 0;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::unique_ptr<SystemBench> make_streams_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<StreamsBench>(context, parts);
}

}  // namespace verify
