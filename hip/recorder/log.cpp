#include "hip/recorder/log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "hip/sync/sync.h"

namespace hip::recorder {

namespace {

std::string folder_of_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&keep_file), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}
const std::string& folder() {
  static const std::string& found = *new std::string(folder_of_library());
  return found;
}
// Looked up while the library is loaded: dladdr() takes the loader's lock, under which another thread may wait for a
// lock of the recorder, so it must not be called under one.
[[maybe_unused]] const std::string& found_early = folder();

constexpr std::size_t kChunkBytes = std::size_t{16} << 20;

// A mapped part of the log's file: stored bytes are in the file even if the process crashes.
struct Chunk {
  char* base = nullptr;  // null: there is no room for a log, and nothing is written any more
  hip::sync::Atomic<std::size_t> used{0};
};

// Never destroyed: programs call HIP while they end. Chunks stay mapped, for a thread may still be storing into one.
struct Log {
  hip::sync::Mutex mutex;  // guards the members below
  int fd = -1;
  off_t size = 0;
  hip::sync::Atomic<Chunk*> current{nullptr};
  hip::sync::Atomic<std::size_t> large{0};  // bytes of large contents that are in it
};
Log& log() {
  static Log& instance = *new Log();
  return instance;
}

// Disk space is allocated before it is mapped: a store to a mapped page of a full disk would end the program.
Chunk* next_chunk(Log& own) {
  auto* chunk = new Chunk();
  if (own.fd < 0) {
    const std::string path = folder() + "/log." + std::to_string(getpid());
    own.fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  if (own.fd < 0 || posix_fallocate(own.fd, own.size, kChunkBytes) != 0) return chunk;
  void* const at = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, own.fd, own.size);
  if (at == MAP_FAILED) return chunk;
  own.size += static_cast<off_t>(kChunkBytes);
  chunk->base = static_cast<char*>(at);
  return chunk;
}

// Gives a forked child a log of its own.
void begin_anew() {
  Log& own = log();
  if (own.fd >= 0) close(own.fd);
  own.fd = -1;
  own.size = 0;
  own.current.store(nullptr);
  own.large.store(0);
}

// Whether the log keeps contents of this size in full; contents that it does not keep count for nothing.
bool keeps(std::size_t size) {
  if (size <= kSmallDataBytes) return true;
  if (size > kMaxDataBytes) return false;
  hip::sync::Atomic<std::size_t>& large = log().large;
  std::size_t before = large.load();
  while (before + size <= kMaxLargeData) {
    if (large.compare_exchange_weak(before, before + size)) return true;
  }
  return false;
}

void append(const std::string& text) {
  Log& own = log();
  while (true) {
    Chunk* const chunk = own.current.load();
    if (chunk != nullptr) {
      if (chunk->base == nullptr || text.size() > kChunkBytes) return;
      const std::size_t at = chunk->used.fetch_add(text.size());
      if (at + text.size() <= kChunkBytes) {
        std::memcpy(chunk->base + at, text.data(), text.size());
        return;
      }
    }
    const hip::sync::LockGuard lock(own.mutex);
    if (own.current.load() != chunk) continue;
    own.current.store(next_chunk(own));
  }
}

void append_hex(std::string& text, const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::size_t from = text.size();
  text.resize(from + 2 * size);
  char* to = text.data() + from;
  for (std::size_t i = 0; i < size; ++i) {
    *to++ = kDigits[bytes[i] >> 4];
    *to++ = kDigits[bytes[i] & 15];
  }
}

}  // namespace

void hold_log() {
  log().mutex.lock();
}
void let_go_of_log(bool in_child) {
  if (in_child) begin_anew();
  log().mutex.unlock();
}

Line::Line(const char* word) {
  static hip::sync::Atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t thread = threads.fetch_add(1);
  text_.reserve(kUsualBytes);
  if (thread == 0) {
    text_ = word;
  } else {
    text_ = '@';
    number(thread).word(word);
  }
}

Line::~Line() {
  if (text_.empty()) return;
  const int saved = errno;
  text_ += '\n';
  append(text_);
  errno = saved;
}

Line& Line::number(std::uint64_t value) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  text_ += ' ';
  text_.append(digits.data(), end);
  return *this;
}

Line& Line::word(const std::string& text) {
  text_ += ' ';
  text_ += text.empty() ? "-" : text;
  return *this;
}

Line& Line::data(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  if (keeps(size)) {
    text_ += " =";
    append_hex(text_, from, size);
    return *this;
  }
  text_ += " #";
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          hash_of({static_cast<const std::byte*>(bytes), size}), 16);
  text_.append(digits.data(), end);
  return *this;
}

void keep_file(const std::string& name, std::span<const std::byte> bytes) {
  const int fd = open((folder() + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;  // it is there already
  const char* from = reinterpret_cast<const char*>(bytes.data());
  for (std::size_t left = bytes.size(); left > 0;) {
    const ssize_t n = write(fd, from, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the disk is full: the watched program must not notice
    from += n;
    left -= static_cast<std::size_t>(n);
  }
  close(fd);
}

}  // namespace hip::recorder
