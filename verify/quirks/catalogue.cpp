// The quirks that are known, by cause. docs/findings.md tells each one's story for people who own the runtime.
#include "verify/quirks/quirk.h"

namespace verify {

namespace {

constexpr Quirk kQuirks[] = {
    {"side-roots-unordered", "x", "7.2", "op=launch roots>=2 nodes<16 busy=1", "bytes host", "", "", "", "", ""},
    {"memset-2d-element", "x", "7.2 6.4 5.7", "op=launch node=memset height>1 element>1", "bytes", "", "", "", "", ""},
    {"memset-2d-update", "x", "7.2 6.4 5.7", "op=update node=memset height>1", "status=910", "", "", "", "", ""},
    {"memset-2d-graph-set", "x", "7.2 6.4 5.7",
     "op=set target=graph node=memset height>1;op=patch target=graph node=memset height>1;op=set target=exec node=memset level>0 height>1;op=patch target=exec node=memset level>0 height>1",
     "status=1", "", "", "", "", ""},
    {"memcpy-h2h-mixed", "x", "7.2 6.4 5.7",
     "op=add node=memcpy kind=h2h dmem=pinned smem=pageable;op=add node=memcpy kind=h2h dmem=pageable smem=pinned",
     "status=1", "", "", "", "", ""},
    {"memcpy-3d-host-linear", "x", "7.2 6.4 5.7", "op=launch node=memcpy linear=0 dmem=pageable smem=pageable", "bytes", "", "", "", "", ""},
    {"child-16", "x", "7.2", "op=launch node=child inner>0 level=0 nodes>=16", "crash", "", "", "", "", ""},
    {"child-update-lost", "x", "7.2 6.4 5.7", "op=update node=child inner>0", "bytes host", "", "", "", "", ""},
    {"child-set-nested", "x", "7.2 6.4 5.7", "op=set target=exec node=child below>1;op=patch target=exec node=child below>1", "bytes host", "", "", "", "", ""},
    {"pageable-copy-early", "x", "7.2 6.4 5.7", "op=launch node=memcpy smem=pageable busy=1", "bytes", "", "", "", "", ""},
    {"memcpy-graph-set-3d-on-1d", "x", "7.2 6.4 5.7", "op=set target=graph node=memcpy waslinear=1 linear=0", "bytes", "", "", "", "", ""},
    {"memcpy-graph-set-1d-on-3d", "x", "7.2 6.4 5.7", "op=set target=graph node=memcpy waslinear=0 linear=1", "bytes", "", "", "", "", ""},
    {"memcpy-set-from-pageable", "x", "7.2 6.4 5.7", "op=set target=exec node=memcpy linear=1 waspageable=1 pageable=0;op=update node=memcpy linear=1 waspageable=1 pageable=0", "bytes", "", "", "", "", ""},
    {"memcpy-set-to-pageable", "x", "7.2 6.4 5.7", "op=set target=exec node=memcpy linear=1 waspageable=0 pageable=1 neighbours>0;op=update node=memcpy linear=1 waspageable=0 pageable=1 neighbours>0", "bytes", "", "", "", "", ""},
    {"host-params-late", "x", "7.2 6.4 5.7",
     "op=set target=exec node=host busy=1;op=update node=host busy=1;op=set target=graph node=host busy=1",
     "host bytes", "", "", "", "", ""},
};

}  // namespace

std::span<const Quirk> quirks() {
  return kQuirks;
}

}  // namespace verify
