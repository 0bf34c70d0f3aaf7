// Atomic operations on buffers. The range check takes an operation whole or drops it.
#include "model/gfx942/atomics.h"
#include "model/gfx942/buffer.h"

namespace gfx942 {

void add_buffer_atomics(Table& table) {
  add_atomics<BufferPlaces>({table, "buffer_atomic_", Shape::kBufferAtomic, Segment::kGlobal});
}

}  // namespace gfx942
