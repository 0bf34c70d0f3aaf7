// Memory pools, and the user objects that graphs hold.
#pragma once

#include "hip/recorder/actions.h"

namespace hip::recorder {

AFTER(hipMemPoolCreate, hipMemPool_t* pool, const hipMemPoolProps* p) {
  const bool plain = p->allocType == hipMemAllocationTypePinned && p->handleTypes == hipMemHandleTypeNone &&
                     p->location.type == hipMemLocationTypeDevice && p->location.id == 0 && p->maxSize == 0;
  if (plain) {
    Line("pool").word("new").address(*pool);
  } else {
    Line("lost").word("a-memory-pool-with-properties-of-its-own");
  }
}
ENDS(hipMemPoolDestroy, hipMemPool_t, Line("pool").word("destroy").address(ended))
AFTER(hipDeviceGetDefaultMemPool, hipMemPool_t* pool, int device) {
  if (device == 0) Line("pool").word("default").address(*pool);
}
// The current pool is the default pool until the program sets another.
inline hip::sync::Atomic<bool> pool_was_set{false};
AFTER(hipDeviceGetMemPool, hipMemPool_t* pool, int device) {
  if (device == 0 && !pool_was_set.load()) Line("pool").word("default").address(*pool);
}
AFTER(hipDeviceSetMemPool, int device, hipMemPool_t pool) {
  if (device != 0) return;
  pool_was_set.store(true);
  Line("pool").word("use").address(pool);
}
AFTER_IS(hipMemPoolTrimTo, Line("pool").word("trim").address(pool).number(bytes), hipMemPool_t pool, size_t bytes)
AFTER(hipMemPoolSetAttribute, hipMemPool_t pool, hipMemPoolAttr which, void* value) {
  const bool flag = which < hipMemPoolAttrReleaseThreshold;
  Line("pool")
      .word("attribute")
      .address(pool)
      .number(static_cast<std::uint64_t>(which))
      .number(flag ? static_cast<std::uint64_t>(*static_cast<int*>(value)) : *static_cast<std::uint64_t*>(value));
}
AFTER(hipMemPoolSetAccess, hipMemPool_t pool, const hipMemAccessDesc* list, size_t count) {
  const bool own = count == 1 && list->location.type == hipMemLocationTypeDevice && list->location.id == 0 &&
                   list->flags == hipMemAccessFlagsProtReadWrite;
  if (own) {
    Line("pool").word("access").address(pool);
  } else {
    Line("lost").word("access-of-other-devices-to-a-memory-pool");
  }
}

AFTER_IS(hipUserObjectCreate, Line("object").word("new").address(*o).number(references), hipUserObject_t* o, void*,
         hipHostFn_t, unsigned references, unsigned)
ENDS(hipUserObjectRelease, hipUserObject_t, Line("object").word("release").address(ended).number(0).number(count),
     unsigned count)
AFTER_IS(hipGraphRetainUserObject, Line("object").word("retain").address(o).address(g).number(count).number(flags),
         hipGraph_t g, hipUserObject_t o, unsigned count, unsigned flags)
AFTER_IS(hipGraphReleaseUserObject, Line("object").word("release").address(o).address(g).number(count), hipGraph_t g,
         hipUserObject_t o, unsigned count)

}  // namespace hip::recorder
