// Memory that costs what is touched: pages of zeroes, which the system makes when they are first written.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace gfx942 {

class ZeroPages {
 public:
  ZeroPages() = default;
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;
  ZeroPages(ZeroPages&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  ZeroPages& operator=(ZeroPages&&) = delete;
  ~ZeroPages() {
    if (data_ != nullptr) munmap(data_, size_);
  }

  // Reserves `size` bytes, once. False when there is no address space for them.
  [[nodiscard]] bool reserve(std::size_t size) {
    void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return false;
    data_ = pages;
    size_ = size;
    return true;
  }
  [[nodiscard]] std::size_t size() const { return size_; }  // bytes
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gfx942
