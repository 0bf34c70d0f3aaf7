// Atomic operations on flat and global memory.
#include "model/gfx942/atomics.h"

namespace gfx942 {

void add_vector_atomics(Table& table) {
  for (const AtomicFamily& f : {AtomicFamily{table, "flat_atomic_", Shape::kAtomic, Segment::kFlat},
                                AtomicFamily{table, "global_atomic_", Shape::kAtomic, Segment::kGlobal}}) {
    add_atomics<Addresses>(f);
    f.add("pk_add_bf16", Type::kU32, &Atomics<Addresses>::run<u32, kAtomicPackedAddBf16>, 1);
  }
}

}  // namespace gfx942
