// Memory files and their names in /proc; the contract is in the header.
#include "hip/agent/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hip/agent/heap.h"
#include "hip/agent/pools.h"

namespace agent {
namespace {

constexpr u32 kHandleMark = 0x68676970;  // of a handle that an agent of this version made
constexpr int kShared = MAP_SHARED | MAP_NORESERVE;
constexpr int kOrdinary = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// The 32 bytes of a handle.
struct SharedHandle {
  u32 mark = kHandleMark;
  u32 process = 0;
  u32 descriptor = 0;
  u32 pool = 0;
  u64 size = 0;   // of the allocation; the file has whole pages
  u64 inode = 0;  // of the file: tells it from a later one with the same descriptor
};
static_assert(sizeof(SharedHandle) == sizeof(hsa_amd_ipc_memory_t));

u64 pages_of(u64 size) {
  return round_up(size, kPage);
}

hsa_status_t refuse_sharing(const char* why, const SharedHandle& handle, hsa_status_t status) {
  std::fprintf(stderr, "hgagent: memory that process %u shares as descriptor %u cannot be attached: %s\n",
               handle.process, handle.descriptor, why);
  return status;
}

hsa_status_t cannot_share(const char* why) {
  std::fprintf(stderr, "hgagent: an allocation cannot be shared: %s\n", why);
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

const char* why_not_opened(int error) {
  switch (error) {
    case ENOENT:
      return "the allocation is freed, or its process has ended (or is in another process namespace)";
    case EACCES:
    case EPERM:
      return "that process is another user's, or does not let others look at it (PR_SET_DUMPABLE)";
    case EMFILE:
    case ENFILE:
      return "too many files are open (ulimit -n)";
    default:
      return std::strerror(error);
  }
}

// The device number of all memory files; false: no memory file can be made.
bool device_of_memory_files(dev_t* device) {
  const int file = memfd_create("hgagent-device", MFD_CLOEXEC);
  struct stat about{};
  const bool known = file >= 0 && fstat(file, &about) == 0;
  if (file >= 0) close(file);
  *device = about.st_dev;
  return known;
}

// Opens the file of a handle for itself; -1 and the status: it is not there.
int open_shared(const SharedHandle& handle, hsa_status_t* status) {
  char name[64];
  dev_t device{};
  if (!device_of_memory_files(&device)) {
    *status = refuse_sharing(why_not_opened(errno), handle, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    return -1;
  }
  const auto is_it = [&](const struct stat& file) {
    return S_ISREG(file.st_mode) && file.st_dev == device && file.st_ino == handle.inode;
  };
  std::snprintf(name, sizeof(name), "/proc/%u/fd/%u", handle.process, handle.descriptor);
  // Not every file may be opened without effect (a terminal, a pipe), so it is looked at first.
  struct stat about{};
  const bool found = stat(name, &about) == 0;
  if (found && !is_it(about)) {
    *status = refuse_sharing(why_not_opened(ENOENT), handle, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    return -1;
  }
  const int file = found ? open(name, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0 && fstat(file, &about) == 0 && is_it(about)) return file;
  const int error = file >= 0 ? ENOENT : errno;
  if (file >= 0) close(file);
  const bool scarce = error == EMFILE || error == ENFILE;
  *status = refuse_sharing(why_not_opened(error), handle,
                           scarce ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return -1;
}

// Maps a file of whole pages, and an inaccessible page behind it; 0 and errno: that fails.
u64 map_shared(int file, u64 bytes) {
  void* whole = mmap(nullptr, bytes + kPage, PROT_NONE, kOrdinary, -1, 0);
  if (whole == MAP_FAILED) return 0;
  if (mmap(whole, bytes, PROT_READ | PROT_WRITE, kShared | MAP_FIXED, file, 0) != MAP_FAILED) return address_of(whole);
  const int error = errno;
  munmap(whole, bytes + kPage);
  errno = error;
  return 0;
}

// Writes pages that are not zero to a file that is all zeros, so that memory that nobody touched stays without pages.
bool write_pages(int file, u64 base, u64 bytes) {
  alignas(64) static constexpr u8 kZeros[kPage] = {};
  for (u64 at = 0; at < bytes; at += kPage) {
    const void* page = pointer_to(base + at);
    if (std::memcmp(page, kZeros, kPage) == 0) continue;
    if (pwrite(file, page, kPage, static_cast<off_t>(at)) != static_cast<ssize_t>(kPage)) return false;
  }
  return true;
}

}  // namespace

SharedMemory::~SharedMemory() {
  for (const auto& [base, file] : files_) close(file);
  for (const auto& [base, length] : attached_) munmap(pointer_to(base), length);
  for (const auto& [base, length] : left_) munmap(pointer_to(base), length);
}

bool SharedMemory::move_to_file(const Range& allocation, int file) {
  const u64 bytes = pages_of(allocation.size);
  bool moved = false;
  const bool still = map_.while_still([&] {
    moved =
        write_pages(file, allocation.base, bytes) &&
        mmap(pointer_to(allocation.base), bytes, PROT_READ | PROT_WRITE, kShared | MAP_FIXED, file, 0) != MAP_FAILED;
  });
  return still && moved;
}

hsa_status_t SharedMemory::create(const Range& allocation, hsa_amd_ipc_memory_t* handle) {
  const hip::sync::LockGuard lock(mutex_);
  auto it = files_.find(allocation.base);
  if (it == files_.end()) {
    const int file = memfd_create("hgagent-shared", MFD_CLOEXEC);
    if (file < 0) return cannot_share(why_not_opened(errno));
    if (ftruncate(file, static_cast<off_t>(pages_of(allocation.size))) != 0 || !move_to_file(allocation, file)) {
      close(file);
      return cannot_share("its bytes cannot be moved into a memory file (too little memory, or a kernel that uses it)");
    }
    it = files_.emplace(allocation.base, file).first;
  }
  struct stat about{};
  if (fstat(it->second, &about) != 0) return HSA_STATUS_ERROR;
  SharedHandle made;
  made.process = static_cast<u32>(getpid());
  made.descriptor = static_cast<u32>(it->second);
  made.pool = allocation.pool;
  made.size = allocation.size;
  made.inode = about.st_ino;
  std::memcpy(handle, &made, sizeof(made));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t SharedMemory::attach(const hsa_amd_ipc_memory_t& handle, u64 size, u32 devices, AgentSet agents,
                                  u64* base) {
  SharedHandle wanted;
  std::memcpy(&wanted, &handle, sizeof(wanted));
  const u32 owner = owner_of_pool(wanted.pool);
  if (wanted.mark != kHandleMark || wanted.size == 0 || wanted.size > kDeviceMemoryBytes) {
    return refuse_sharing("this is no handle of this agent's", wanted, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  }
  if (pages_of(size) != pages_of(wanted.size)) {
    return refuse_sharing("another length is asked for", wanted, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  }
  if (owner == kHostAgent || owner > devices) {
    return refuse_sharing("it is memory of a gfx942 that this process does not have", wanted,
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  }
  hsa_status_t status = HSA_STATUS_SUCCESS;
  const int file = open_shared(wanted, &status);
  if (file < 0) return status;
  const u64 bytes = pages_of(wanted.size);
  struct stat about{};
  const bool whole = fstat(file, &about) == 0 && static_cast<u64>(about.st_size) == bytes;
  const u64 mapped = whole ? map_shared(file, bytes) : 0;
  const int error = errno;
  close(file);  // the mapping keeps the memory
  if (!whole) return refuse_sharing("its file has another size", wanted, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  if (mapped == 0) return refuse_sharing(std::strerror(error), wanted, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  Range range;
  range.base = mapped;
  range.size = wanted.size;
  range.kind = Kind::kAttached;
  range.owner = owner;
  range.pool = wanted.pool;
  range.readers = agents | agent_bit(kHostAgent);
  range.writers = range.readers;
  const hip::sync::LockGuard lock(mutex_);
  map_.insert(range);
  attached_[mapped] = bytes + kPage;
  *base = mapped;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t SharedMemory::detach(u64 base) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = attached_.find(base);
  if (it == attached_.end() || !map_.erase(base, Kind::kAttached)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (map_.quiesce()) {
    munmap(pointer_to(base), it->second);
  } else {
    left_.insert(*it);
  }
  attached_.erase(it);
  return HSA_STATUS_SUCCESS;
}

bool SharedMemory::take_back(const Range& allocation) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = files_.find(allocation.base);
  if (it == files_.end()) return true;
  // A kernel that still uses the memory goes on with the new pages: they are accessible, and nobody else's.
  static_cast<void>(map_.quiesce());
  if (!renew_pages(allocation.base, allocation.size)) {
    std::fprintf(stderr, "hgagent: the addresses of a freed allocation of %llu bytes stay shared and are lost: %s\n",
                 static_cast<unsigned long long>(allocation.size), std::strerror(errno));
    return false;
  }
  close(it->second);
  files_.erase(it);
  return true;
}

}  // namespace agent
