// hip::ApiLayer: a table of HIP functions around an inner table. The layer replaces some entries by its own functions.
//
// HIP's functions take no context, so a layer's functions act on the layer that was entered last. begin()
// resets a layer: it forgets the handles that it saw before. All other entries are the inner table's.
// Handles are the inner table's throughout, so code that looks inside a runtime by handle still works with a
// layer.
//
// One layer is current in a process at a time, for all threads; threads must not call it at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hip/api/api.h"

namespace hip {

class ApiLayer {
 public:
  ApiLayer() = default;
  ApiLayer(const ApiLayer&) = delete;
  ApiLayer& operator=(const ApiLayer&) = delete;
  virtual ~ApiLayer() = default;

  // Starts over around `inner`.
  void begin(const Api& inner) {
    inner_ = table_ = inner;
    start();
  }
  [[nodiscard]] const Api& table() const { return table_; }

  // The table may be called between enter() and leave().
  void enter() { previous_ = std::exchange(current_layer_, this); }
  void leave() { current_layer_ = previous_; }

  // The sizes of a kernel's arguments, which calls do not carry and a runtime knows from the code object.
  void know_kernel(hipFunction_t function, std::vector<std::size_t> argument_sizes) {
    argument_sizes_[function] = std::move(argument_sizes);
  }

 protected:
  // Forgets everything and puts this layer's functions into table().
  virtual void start() = 0;
  [[nodiscard]] Api& replace() { return table_; }
  [[nodiscard]] const Api& inner() const { return inner_; }
  // Null for a kernel that know_kernel() was not told of.
  [[nodiscard]] const std::vector<std::size_t>* argument_sizes(const void* function) const {
    const auto found = argument_sizes_.find(function);
    return found == argument_sizes_.end() ? nullptr : &found->second;
  }
  template <class Layer>
  [[nodiscard]] static Layer& current() {
    return static_cast<Layer&>(*current_layer_);
  }

 private:
  static inline ApiLayer* current_layer_ = nullptr;  // between enter() and leave()
  Api inner_, table_;
  ApiLayer* previous_ = nullptr;
  std::map<const void*, std::vector<std::size_t>> argument_sizes_;
};

using ApiLayerFactory = std::function<std::unique_ptr<ApiLayer>()>;

}  // namespace hip
