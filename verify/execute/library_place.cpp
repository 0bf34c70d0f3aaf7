#include "verify/execute/library_place.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace verify {
namespace {

constexpr std::size_t kNoCommand = ~std::size_t{0};

struct Noted {
  std::atomic<const char*> function = nullptr;
  std::atomic<std::size_t> command = kNoCommand;
};

// Shared with the processes that `owner` forks. They do not unmap it.
struct Page {
  Noted* noted = nullptr;
  pid_t owner = 0;
};
Page page;

void note(const char* function, std::size_t command) {
  if (page.noted == nullptr) return;
  page.noted->command.store(command, std::memory_order_relaxed);
  page.noted->function.store(function, std::memory_order_relaxed);
}

}  // namespace

LibraryPlace::LibraryPlace(const char* function, std::optional<std::size_t> command) {
  note(function, command.value_or(kNoCommand));
}

LibraryPlace::~LibraryPlace() {
  note(nullptr, kNoCommand);
}

void LibraryPlace::share() {
  if (page.owner != getpid()) {  // a page of the process that forked this one is that process's
    void* const memory = mmap(nullptr, sizeof(Noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page = {memory == MAP_FAILED ? nullptr : new (memory) Noted, getpid()};
  }
  note(nullptr, kNoCommand);
}

std::string LibraryPlace::text() {
  const char* const function = page.noted == nullptr ? nullptr : page.noted->function.load(std::memory_order_relaxed);
  if (function == nullptr) return {};
  const std::size_t command = page.noted->command.load(std::memory_order_relaxed);
  return command == kNoCommand ? fmt::format(" in {}", function) : fmt::format(" in {}, command {}", function, command);
}

}  // namespace verify
