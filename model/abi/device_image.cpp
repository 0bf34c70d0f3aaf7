// Launches of interpreted kernels: the memory that they see, their arguments and their faults; the contract is in the
// header. Sources: AMDGPU's usage document (kernel arguments, dispatch packet); ROCm's device libraries for the counter
// of a grid-wide barrier.
#include "model/abi/device_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>
#include <vector>

#include "model/gfx942/program.h"
#include "model/gfx942/run.h"

namespace model::abi {

struct DeviceImage::Loaded {
  explicit Loaded(gfx942::Program&& loaded) : program(std::move(loaded)) {}
  gfx942::Program program;
  Address allocation = 0;  // 0 once unloaded
  std::vector<std::pair<Address, Address>> read_only;
  bool implicit_v5 = true;  // the layout of implicit arguments since code object version 5
  std::shared_ptr<HostcallService> hostcalls;
};

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kImplicitBytes = 256;
constexpr std::size_t kPacketBytes = 64;
constexpr std::uint32_t kDynamicStackBytes = 16384;  // for kernels with a call depth that the compiler cannot bound

// Which bytes of an allocation a launch touched, one bit each. Random accesses cost the same as walks. A page of bits
// is made when one of its bytes is first touched.
class TouchedBytes {
 public:
  explicit TouchedBytes(const MemoryAccess::Stretch& in)
      : base_(in.begin), pages_((in.end - in.begin + kPageBytes - 1) / kPageBytes) {}

  void add(Address address, std::size_t size) {
    for (std::size_t byte = address - base_, end = byte + size; byte < end;) {
      const std::size_t offset = byte % 64, count = std::min(64 - offset, end - byte);
      page(byte / kPageBytes)[byte % kPageBytes / 64] |= ones(count) << offset;
      byte += count;
    }
  }

  void report(MemoryAccess& memory, bool write) const {
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      if (pages_[i] == nullptr) continue;
      for (std::size_t byte = 0; byte < kPageBytes;) {
        const std::size_t begin = next(*pages_[i], byte, true);
        byte = next(*pages_[i], begin, false);
        if (begin < kPageBytes) memory.touched(base_ + i * kPageBytes + begin, byte - begin, write);
      }
    }
  }

 private:
  static constexpr std::size_t kPageBytes = 32768;
  using Page = std::array<std::uint64_t, kPageBytes / 64>;

  static std::uint64_t ones(std::size_t count) { return ~std::uint64_t{0} >> (64 - count); }
  Page& page(std::size_t index) {
    if (pages_[index] == nullptr) pages_[index] = std::make_unique<Page>();
    return *pages_[index];
  }
  // The first byte from `from` on that is touched (with `touched` false: that is not), or the end.
  static std::size_t next(const Page& page, std::size_t from, bool touched) {
    while (from < kPageBytes) {
      const std::uint64_t word = (touched ? page[from / 64] : ~page[from / 64]) >> (from % 64);
      if (word != 0) return from + static_cast<std::size_t>(__builtin_ctzll(word));
      from = (from / 64 + 1) * 64;
    }
    return kPageBytes;
  }

  Address base_;
  std::vector<std::unique_ptr<Page>> pages_;
};

// Memory that belongs to one launch: its arguments, its packet, the counters of its barriers.
struct OwnBlock {
  std::span<std::byte> bytes;
  bool writable = false;
};

// No allocation comes or goes while a kernel runs, so an allocation that was found once is not looked up again.
class LaunchMemory : public gfx942::Memory {
 public:
  LaunchMemory(const DeviceImage::Loaded& image, MemoryAccess& memory, std::vector<OwnBlock> own)
      : image_(image), memory_(memory), own_(std::move(own)) {}

  gfx942::Extent reach(std::uint64_t address, std::size_t size, bool write) override {
    std::vector<Known>& known = known_[write ? 1 : 0];
    std::size_t& latest = latest_[write ? 1 : 0];
    if (latest < known.size() && known[latest].holds(address, size)) return touch(known[latest], address, size);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!known[i].holds(address, size)) continue;
      latest = i;
      return touch(known[i], address, size);
    }
    return reach_elsewhere(address, size, write);
  }

  std::string explain(std::uint64_t address, std::size_t size, bool write) override {
    if (write && is_read_only(address, size)) return "code or constants";
    return memory_.bad() ? describe_owner(*memory_.bad()) : "memory of the launch itself";
  }

  void finish() {
    for (const int write : {0, 1}) {
      for (const Known& known : known_[write]) known.touched.report(memory_, write != 0);
    }
  }

 private:
  struct Known {
    explicit Known(const MemoryAccess::Stretch& found) : in(found), touched(found) {}
    [[nodiscard]] bool holds(Address address, std::size_t size) const {
      return address >= in.begin && address < in.end && size <= in.end - address;
    }
    MemoryAccess::Stretch in;
    TouchedBytes touched;
  };

  gfx942::Extent touch(Known& known, std::uint64_t address, std::size_t size) const {
    if (!memory_.logs()) return {known.in.bytes, known.in.begin, known.in.end};
    known.touched.add(address, size);
    return {known.in.bytes + (address - known.in.begin), address, address + size};
  }

  gfx942::Extent reach_elsewhere(std::uint64_t address, std::size_t size, bool write) {
    for (const OwnBlock& block : own_) {
      const auto begin = reinterpret_cast<std::uint64_t>(block.bytes.data());
      if (address < begin || address - begin >= block.bytes.size()) continue;
      if (size > block.bytes.size() - (address - begin) || (write && !block.writable)) return {};
      return {block.bytes.data(), begin, begin + block.bytes.size()};
    }
    if (in_hostcalls(address, size)) return reach_hostcalls();
    if (write && is_read_only(address, size)) return {};
    const MemoryAccess::Stretch in = memory_.reach(address, size, write);
    if (in.bytes == nullptr) return {};
    // Only parts of the image may be written, so each write to the image is checked anew.
    if (write && in.begin == image_.allocation) {
      memory_.touched(address, size, true);
      return {in.bytes + (address - in.begin), address, address + size};
    }
    known_[write ? 1 : 0].emplace_back(in);
    return touch(known_[write ? 1 : 0].back(), address, size);
  }

  [[nodiscard]] bool in_hostcalls(std::uint64_t address, std::size_t size) const {
    const HostcallService& service = *image_.hostcalls;
    return address >= service.address() && address - service.address() < service.size() &&
           size <= service.size() - (address - service.address());
  }
  // A wave that waits for the host polls the buffer, so every access answers all requests first.
  gfx942::Extent reach_hostcalls() {
    HostcallService& service = *image_.hostcalls;
    service.serve();
    return {service.bytes(), service.address(), service.address() + service.size()};
  }
  [[nodiscard]] bool is_read_only(std::uint64_t address, std::size_t size) const {
    return std::ranges::any_of(
        image_.read_only, [&](const auto& range) { return address < range.second && address + size > range.first; });
  }

  const DeviceImage::Loaded& image_;
  MemoryAccess& memory_;
  std::vector<OwnBlock> own_;
  std::vector<Known> known_[2];  // by direction
  std::size_t latest_[2] = {0, 0};
};

template <class T>
void put(std::span<std::byte> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

using Dimensions = std::array<std::uint32_t, 3>;
Dimensions dimensions(const Dim3& d) {
  return {d.x, d.y, d.z};
}

// The counters of __ockl_grid_sync, in its layout: only the number of workgroups and the counter are used.
struct alignas(8) GridSync {
  std::uint64_t other_devices = 0;
  std::uint32_t grid = 0, grids = 1;
  std::uint64_t items_before = 0, items_in_all = 0;
  std::uint32_t arrived = 0, unused = 0;
  std::uint32_t workgroups = 0, padding = 0;
};
static_assert(sizeof(GridSync) == 48);

struct Arguments {
  std::vector<std::byte> block;
  std::array<std::byte, kPacketBytes> packet{};
  GridSync grid_sync;
};

void fill_implicit(const DeviceImage::Loaded& image, const LaunchShape& shape, std::size_t at, Arguments& out) {
  const std::uint64_t hostcalls = image.hostcalls->address();
  const std::uint64_t barrier = shape.cooperative ? reinterpret_cast<std::uint64_t>(&out.grid_sync) : 0;
  const std::span<std::byte> block(out.block);
  if (!image.implicit_v5) {
    put(block, at + 24, hostcalls);
    put(block, at + 48, barrier);
    return;
  }
  const Dimensions grid = dimensions(shape.grid), workgroup = dimensions(shape.block);
  std::uint16_t used = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    put(block, at + 4 * i, grid[i]);
    put(block, at + 12 + 2 * i, static_cast<std::uint16_t>(workgroup[i]));
    if (grid[i] * workgroup[i] > 1) used = static_cast<std::uint16_t>(i + 1);
  }
  put(block, at + 64, used);
  put(block, at + 80, hostcalls);
  put(block, at + 88, barrier);
  put(block, at + 120, shape.shared_bytes);
}

void fill(const DeviceImage::Loaded& image, const gfx942::Kernel& kernel, std::span<const std::byte> arguments,
          const LaunchShape& shape, Arguments* out) {
  const std::size_t implicit = (arguments.size() + 7) / 8 * 8;
  // Compilers load whole groups of argument words: the block ends at a multiple of 64 bytes.
  const std::size_t size = std::max<std::size_t>(implicit + kImplicitBytes, kernel.kernarg_bytes);
  out->block.resize((size + 63) / 64 * 64);
  std::copy(arguments.begin(), arguments.end(), out->block.begin());
  out->grid_sync.workgroups = shape.grid.x * shape.grid.y * shape.grid.z;
  fill_implicit(image, shape, implicit, *out);
  const Dimensions grid = dimensions(shape.grid), workgroup = dimensions(shape.block);
  for (std::size_t i = 0; i < 3; ++i) {
    put(out->packet, 4 + 2 * i, static_cast<std::uint16_t>(workgroup[i]));
    put(out->packet, 12 + 4 * i, grid[i] * workgroup[i]);
  }
}

void run(const DeviceImage::Loaded& image, const gfx942::Kernel& kernel, std::span<const std::byte> arguments,
         const LaunchShape& shape, MemoryAccess& memory) {
  Arguments own;
  fill(image, kernel, arguments, shape, &own);
  const std::span<std::byte> barrier(reinterpret_cast<std::byte*>(&own.grid_sync), sizeof own.grid_sync);
  LaunchMemory seen(image, memory, {{own.block, false}, {own.packet, false}, {barrier, true}});
  gfx942::Dispatch dispatch;
  dispatch.kernel = &kernel;
  const Dimensions grid = dimensions(shape.grid);
  dispatch.workgroup = dimensions(shape.block);
  for (std::size_t i = 0; i < 3; ++i) dispatch.grid[i] = grid[i] * dispatch.workgroup[i];
  dispatch.kernarg_address = reinterpret_cast<std::uint64_t>(own.block.data());
  dispatch.packet_address = reinterpret_cast<std::uint64_t>(own.packet.data());
  dispatch.group_bytes = kernel.group_bytes + shape.shared_bytes;
  if (kernel.dynamic_stack) dispatch.private_bytes = kDynamicStackBytes;
  gfx942::Limits limits;
  limits.instructions = kInstructionBudget;
  const gfx942::Outcome outcome = gfx942::run(image.program, dispatch, seen, limits);
  image.hostcalls->serve();  // serves packets that no wave waited for
  seen.finish();
  const auto* fault = std::get_if<gfx942::Fault>(&outcome);
  if (fault == nullptr) return;
  // The model adds the kernel's name to the text itself.
  const std::string name = "kernel '" + fault->kernel + "': ";
  const std::string text = fault->text.starts_with(name) ? fault->text.substr(name.size()) : fault->text;
  const std::string& refused = image.hostcalls->refused();
  memory.fail(fault->kind == gfx942::FaultKind::kMemory ? Status::kIllegalAddress : Status::kLaunchFailure,
              text + (refused.empty() ? "" : " (not supported and asked for before: " + refused + ")"));
}

// The bytes of address space that the segments of an ELF need, from address 0; 0 if `code` is no ELF. The loader checks
// the ELF again.
std::size_t extent_of(std::span<const std::byte> code) {
  Elf64_Ehdr header{};
  if (code.size() < sizeof header) return 0;
  std::memcpy(&header, code.data(), sizeof header);
  std::size_t extent = 0;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::size_t at = header.e_phoff + i * sizeof segment;
    if (at > code.size() || sizeof segment > code.size() - at) return 0;
    std::memcpy(&segment, code.data() + at, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr > gfx942::kMaxImageBytes || segment.p_memsz > gfx942::kMaxImageBytes) return 0;
    extent = std::max<std::size_t>(extent, segment.p_vaddr + segment.p_memsz);
  }
  return extent;
}

}  // namespace

DeviceImage::DeviceImage() = default;
DeviceImage::~DeviceImage() = default;

Status DeviceImage::load(AddressSpace& memory, int device, std::span<const std::byte> code,
                         std::shared_ptr<HostcallService> hostcalls, std::shared_ptr<DeviceImage>* out,
                         std::string* why) {
  const std::size_t extent = extent_of(code);
  if (extent == 0) {
    *why = "the code object has no segments to load";
    return Status::kInvalidImage;
  }
  Address allocation = 0;
  const Status allocated = memory.allocate(extent + kPage, MemoryKind::kDevice, device, &allocation);
  if (allocated != Status::kSuccess) {
    *why = "there is no memory for the code object";
    return allocated;
  }
  const Address base = (allocation + kPage - 1) / kPage * kPage;
  auto loaded = gfx942::Program::load(code, base);
  if (const auto* error = std::get_if<gfx942::LoadError>(&loaded)) {
    *why = error->text;
    return memory.release(allocation) == Status::kSuccess ? Status::kInvalidImage : Status::kUnknown;
  }
  std::shared_ptr<DeviceImage> image(new DeviceImage);
  image->loaded_ = std::make_unique<Loaded>(std::move(std::get<gfx942::Program>(loaded)));
  image->loaded_->allocation = allocation;
  image->loaded_->implicit_v5 = static_cast<unsigned char>(code[EI_ABIVERSION]) >= 3;
  image->loaded_->hostcalls = std::move(hostcalls);
  for (const gfx942::LoadedSegment& segment : image->loaded_->program.segments()) {
    if (segment.bytes.empty()) continue;
    std::memcpy(memory.peek(segment.address, segment.bytes.size()), segment.bytes.data(), segment.bytes.size());
    if (!segment.writable) {
      image->loaded_->read_only.emplace_back(segment.address, segment.address + segment.bytes.size());
    }
  }
  *out = std::move(image);
  return Status::kSuccess;
}

void DeviceImage::unload(AddressSpace& memory) {
  if (loaded_->allocation == 0) return;
  // Fails only after a reset of the whole address space.
  static_cast<void>(memory.release(loaded_->allocation));
  loaded_->allocation = 0;
}

std::optional<DeviceImage::Variable> DeviceImage::find_variable(std::string_view name) const {
  for (const gfx942::Variable& variable : loaded_->program.variables()) {
    if (variable.name == name) return Variable{variable.address, variable.size};
  }
  return std::nullopt;
}

Semantics DeviceImage::semantics(const std::shared_ptr<DeviceImage>& image, const std::string& kernel) {
  return [image, kernel](std::span<const std::byte> arguments, const LaunchShape& shape, MemoryAccess& memory) {
    const gfx942::Kernel* found = image->loaded_->program.find_kernel(kernel);
    if (found == nullptr) {
      memory.fail(Status::kInvalidDeviceFunction, "the code object has no descriptor of kernel '" + kernel + "'");
    } else {
      run(*image->loaded_, *found, arguments, shape, memory);
    }
  };
}

Resources DeviceImage::resources(std::string_view kernel) const {
  const gfx942::Kernel* found = loaded_->program.find_kernel(kernel);
  if (found == nullptr) return {};
  return {found->group_bytes, found->private_bytes, found->vgprs};
}

}  // namespace model::abi
