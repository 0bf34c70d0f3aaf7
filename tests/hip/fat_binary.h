// A code object as compilers hand it to __hipRegisterFatBinary: bundled with an empty entry for the host, behind a
// wrapper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// Stays where it is for as long as the runtime does.
class FatBinary {
 public:
  explicit FatBinary(std::span<const std::byte> code) {
    constexpr std::pair<std::string_view, bool> kEntries[] = {{"host-x86_64-unknown-linux--", false},
                                                              {"hipv4-amdgcn-amd-amdhsa--gfx942", true}};
    text("__CLANG_OFFLOAD_BUNDLE__");
    number(std::size(kEntries));
    for (const auto& [target, device] : kEntries) {
      number(kPage);
      number(device ? code.size() : 0);
      number(target.size());
      text(target);
    }
    bytes_.resize(kPage);
    bytes_.insert(bytes_.end(), code.begin(), code.end());
    wrapper_.binary = bytes_.data();
  }
  FatBinary(const FatBinary&) = delete;
  FatBinary& operator=(const FatBinary&) = delete;

  [[nodiscard]] const void* wrapper() const { return &wrapper_; }

 private:
  static constexpr std::uint64_t kPage = 4096;
  struct Wrapper {
    unsigned magic = 0x48495046;  // "HIPF"
    unsigned version = 1;
    const void* binary = nullptr;
    void* unused = nullptr;
  };

  void text(std::string_view add) {
    const auto* begin = reinterpret_cast<const std::byte*>(add.data());
    bytes_.insert(bytes_.end(), begin, begin + add.size());
  }
  void number(std::uint64_t add) {
    bytes_.resize(bytes_.size() + sizeof add);
    std::memcpy(&bytes_[bytes_.size() - sizeof add], &add, sizeof add);
  }

  std::vector<std::byte> bytes_;
  Wrapper wrapper_;
};
