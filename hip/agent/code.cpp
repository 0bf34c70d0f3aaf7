// Loading and finding; the contract is in the header.
#include "hip/agent/code.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace agent {
namespace {

constexpr std::size_t kDecodedObjects = 256;                   // how many are kept
constexpr std::size_t kDecodedBytes = std::size_t{256} << 20;  // the size of their files

constexpr std::size_t kSharedImageBytes = std::size_t{4} << 20;  // smaller ones are copied: each costs a descriptor

// The segments of a large code object at address 0, in a memory file: agents that load it share the pages that they do
// not change.
class CodeImage {
 public:
  // Null where there is no such file.
  static std::shared_ptr<const CodeImage> of(const gfx942::Program& program) {
    if (program.extent() < kSharedImageBytes) return nullptr;
    auto image = std::make_shared<CodeImage>();
    image->file_ = memfd_create("hgagent-code", MFD_CLOEXEC);
    const auto bytes = static_cast<off_t>(round_up(program.extent(), kPage));
    bool written = image->file_ >= 0 && ftruncate(image->file_, bytes) == 0;
    for (const gfx942::LoadedSegment& s : program.segments()) written = written && image->write(s.address, s.bytes);
    return written ? image : nullptr;
  }
  CodeImage() = default;
  CodeImage(const CodeImage&) = delete;
  CodeImage& operator=(const CodeImage&) = delete;
  ~CodeImage() {
    if (file_ >= 0) close(file_);
  }
  // Puts the pages at these addresses. False: the pages that were there may be gone.
  [[nodiscard]] bool map(u64 base, u64 extent) const {
    constexpr int kOwn = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED;
    return mmap(pointer_to(base), round_up(extent, kPage), PROT_READ | PROT_WRITE, kOwn, file_, 0) != MAP_FAILED;
  }

 private:
  [[nodiscard]] bool write(u64 at, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (written <= 0) return false;
      at += static_cast<u64>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }

  int file_ = -1;
};

// Writes the pages that differ, so that the others stay shared.
void copy_differing(u64 to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::byte> page = bytes.first(std::min<std::size_t>(bytes.size(), kPage - to % kPage));
    if (std::memcmp(pointer_to(to), page.data(), page.size()) != 0) {
      std::memcpy(pointer_to(to), page.data(), page.size());
    }
    to += page.size();
    bytes = bytes.subspan(page.size());
  }
}

struct DecodedObject {
  std::shared_ptr<const gfx942::Program> program;
  std::shared_ptr<const CodeImage> image;  // may be null
};

u64 hash_of(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Programs at address 0, found by size and hash of their files. (A load takes the code of such a program only after it
// has compared it.) Lives as long as the process; beyond the bounds above, all entries are dropped.
class DecodedObjects {
 public:
  std::variant<DecodedObject, gfx942::LoadError> get(std::span<const std::byte> bytes) {
    const u64 hash = hash_of(bytes);
    const hip::sync::LockGuard lock(mutex_);
    const auto [first, last] = entries_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (it->second.bytes == bytes.size()) return it->second.object;
    }
    auto loaded = gfx942::Program::load(bytes, 0);
    if (auto* error = std::get_if<gfx942::LoadError>(&loaded)) return *error;
    count_.fetch_add(1, std::memory_order_relaxed);
    auto& program = std::get<gfx942::Program>(loaded);
    DecodedObject object{nullptr, CodeImage::of(program)};
    program.drop_bytes();
    object.program = std::make_shared<const gfx942::Program>(std::move(program));
    if (entries_.size() >= kDecodedObjects || kept_bytes_ + bytes.size() > kDecodedBytes) {
      entries_.clear();
      kept_bytes_ = 0;
    }
    kept_bytes_ += bytes.size();
    entries_.emplace(hash, Entry{bytes.size(), object});
    return object;
  }
  [[nodiscard]] u64 count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::size_t bytes;
    DecodedObject object;
  };
  hip::sync::Mutex mutex_;
  std::unordered_multimap<u64, Entry> entries_;
  std::size_t kept_bytes_ = 0;
  hip::sync::Atomic<u64> count_{0};
};

DecodedObjects& decoded_objects() {
  // Never destroyed: static destructors of the program above may still load code.
  static DecodedObjects& objects = *new DecodedObjects;
  return objects;
}

void add_symbols(LoadedObject& object) {
  for (const gfx942::Kernel& k : object.program->kernels()) {
    object.symbols.push_back(std::make_unique<Symbol>(
        Symbol{k.name + ".kd", HSA_SYMBOL_KIND_KERNEL, object.agent, k.descriptor, sizeof(u64) * 8, &k}));
  }
  for (const gfx942::Variable& v : object.program->variables()) {
    object.symbols.push_back(
        std::make_unique<Symbol>(Symbol{v.name, HSA_SYMBOL_KIND_VARIABLE, object.agent, v.address, v.size, nullptr}));
  }
}

}  // namespace

Code::~Code() {
  for (auto& [key, executable] : executables_) {
    for (LoadedObject& object : executable->objects) unload(object);
  }
}

Executable* Code::create() {
  auto executable = std::make_unique<Executable>();
  Executable* key = executable.get();
  const hip::sync::LockGuard lock(mutex_);
  executables_[key] = std::move(executable);
  return key;
}

bool Code::known(const Executable* executable) const {
  const hip::sync::LockGuard lock(mutex_);
  return executables_.contains(executable);
}

hsa_status_t Code::destroy(Executable* executable) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = executables_.find(executable);
  if (it == executables_.end()) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  for (LoadedObject& object : it->second->objects) unload(object);
  executables_.erase(it);
  return HSA_STATUS_SUCCESS;
}

void Code::unload(LoadedObject& object) {
  for (const gfx942::Kernel& k : object.program->kernels()) kernels_.erase(k.descriptor);
  for (const gfx942::LoadedSegment& s : object.program->segments()) map_.erase(s.address, Kind::kCode);
  heaps_[object.agent]->release(object.base, object.extent);
}

hsa_status_t Code::load(Executable& executable, u32 agent, std::span<const std::byte> bytes) {
  const auto decoded = decoded_objects().get(bytes);
  const auto* twin = std::get_if<DecodedObject>(&decoded);
  if (twin == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  LoadedObject object;
  object.agent = agent;
  object.extent = twin->program->extent();
  object.base = heaps_[agent]->allocate(object.extent);
  if (object.base == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  auto loaded = gfx942::Program::load(bytes, object.base, twin->program.get());
  if (std::holds_alternative<gfx942::LoadError>(loaded)) {
    heaps_[agent]->release(object.base, object.extent);
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  }
  auto& program = std::get<gfx942::Program>(loaded);
  if (program.extent() > object.extent) {  // another file with the same hash
    heaps_[agent]->release(object.base, object.extent);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  if (twin->image != nullptr && !twin->image->map(object.base, object.extent)) {
    if (renew_pages(object.base, object.extent)) heaps_[agent]->release(object.base, object.extent);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  for (const gfx942::LoadedSegment& s : program.segments()) {
    if (twin->image != nullptr) {
      copy_differing(s.address, s.bytes);
    } else {
      std::memcpy(pointer_to(s.address), s.bytes.data(), s.bytes.size());
    }
    Range range;
    range.base = s.address;
    range.size = s.size;
    range.kind = Kind::kCode;
    range.owner = agent;
    range.readers = ~AgentSet{0};
    // Constants can be written: copies do so, and small copies are kernels. Code must not change: it is decoded once.
    if (!s.executable) range.writers = ~AgentSet{0};
    map_.insert(range);
  }
  program.drop_bytes();
  object.program = std::make_shared<const gfx942::Program>(std::move(program));
  add_symbols(object);
  const hip::sync::LockGuard lock(mutex_);
  for (const gfx942::Kernel& k : object.program->kernels()) kernels_[k.descriptor] = {object.program, &k};
  executable.objects.push_back(std::move(object));
  return HSA_STATUS_SUCCESS;
}

FoundKernel Code::kernel_at(u64 descriptor) const {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = kernels_.find(descriptor);
  return it == kernels_.end() ? FoundKernel{} : it->second;
}

u64 Code::live() const {
  const hip::sync::LockGuard lock(mutex_);
  return executables_.size();
}

u64 Code::decoded() {
  return decoded_objects().count();
}

}  // namespace agent
