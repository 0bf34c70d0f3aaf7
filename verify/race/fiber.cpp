#include "verify/race/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cassert>
#include <cstdlib>

#include "verify/race/sanitizers.h"

namespace verify::race {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;

}  // namespace

namespace context = boost::context::detail;

// Both ends of a switch; it lives on the stack that is left until the other end has read it.
struct Fiber::Switching {
  Fiber* from;
  Fiber* to;

  static void arrived(context::transfer_t transfer) {
    const Switching* const switching = static_cast<const Switching*>(transfer.data);
    Fiber* const from = switching->from;
    Fiber* const to = switching->to;
    from->context_ = transfer.fctx;
    sanitizers::arrived(to->fake_stack_, &from->bounds_bottom_, &from->bounds_size_);
  }
  [[noreturn]] static void begin(context::transfer_t transfer) {
    Fiber* const me = static_cast<const Switching*>(transfer.data)->to;
    arrived(transfer);
    me->entry_(me->argument_);
    std::abort();
  }
};

Fiber::~Fiber() {
  if (ours_) sanitizers::destroy_fiber(sanitizer_);
  if (stack_ != nullptr) munmap(stack_, kStackBytes);
}

void Fiber::allocate_stack() {
  void* const memory =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (mprotect(memory, page, PROT_NONE) != 0) std::abort();
  stack_ = memory;
  bounds_bottom_ = static_cast<std::byte*>(memory) + page;
  bounds_size_ = kStackBytes - page;
}

void Fiber::prepare(void (*entry)(void*), void* argument) {
  if (stack_ == nullptr) allocate_stack();
  sanitizers::forget_stack(bounds_bottom_, bounds_size_);
  if (ours_) sanitizers::destroy_fiber(sanitizer_);
  fake_stack_ = nullptr;
  entry_ = entry;
  argument_ = argument;
  context_ = context::make_fcontext(static_cast<std::byte*>(stack_) + kStackBytes, bounds_size_, Switching::begin);
  sanitizer_ = sanitizers::create_fiber();
  ours_ = true;
}

void Fiber::order_before_caller() {
  if (ours_) sanitizers::acquire_all_of(sanitizer_);
}

void Fiber::adopt() {
  sanitizer_ = sanitizers::current_fiber();
}

void Fiber::switch_to(Fiber& from, Fiber& to) {
  assert(&from != &to);
  Switching switching{&from, &to};
  sanitizers::leave(&from.fake_stack_, to.bounds_bottom_, to.bounds_size_, to.sanitizer_);
  Switching::arrived(context::jump_fcontext(to.context_, &switching));
}

}  // namespace verify::race
