// Captures, graphs, their nodes, and executable graphs.
#pragma once

#include <optional>

#include "hip/recorder/actions.h"
#include "hip/recorder/host_memory.h"
#include "hip/recorder/words.h"

namespace hip::recorder {

// capture
AFTER_IS(hipStreamBeginCapture, Line("capture").address(s).number(static_cast<std::uint64_t>(mode)), hipStream_t s,
         hipStreamCaptureMode mode)
inline void nodes(Line& line, const hipGraphNode_t* nodes, size_t count) {
  line.number(count);
  for (size_t i = 0; i < count; ++i) line.address(nodes[i]);
}
AFTER(hipStreamBeginCaptureToGraph, hipStream_t s, hipGraph_t g, const hipGraphNode_t* after, const hipGraphEdgeData*,
      size_t count, hipStreamCaptureMode mode) {
  Line line("capture");
  line.address(s).number(static_cast<std::uint64_t>(mode)).address(g);
  nodes(line, after, count);
}
AFTER_IS(hipStreamEndCapture, Line("endcapture").address(s).address(*g), hipStream_t s, hipGraph_t* g)

// The answers name nodes of the capture.
AFTER(hipStreamGetCaptureInfo_v2, hipStream_t s, hipStreamCaptureStatus* status, unsigned long long*, hipGraph_t* g,
      const hipGraphNode_t** after, size_t* count) {
  if (*status != hipStreamCaptureStatusActive) return;
  Line line("info");
  line.address(s).address(g == nullptr ? nullptr : *g);
  nodes(line, after == nullptr ? nullptr : *after, after == nullptr || count == nullptr ? 0 : *count);
}
AFTER(hipStreamUpdateCaptureDependencies, hipStream_t s, hipGraphNode_t* after, size_t count, unsigned flags) {
  Line line("depend");
  line.address(s).number(flags);
  nodes(line, after, count);
}
BEFORE(hipThreadExchangeStreamCaptureMode, hipStreamCaptureMode* mode) {
  if (mode != nullptr) Line("mode").number(static_cast<std::uint64_t>(*mode));
}
AFTER(hipThreadExchangeStreamCaptureMode, hipStreamCaptureMode*) {}

// graphs
AFTER(hipGraphGetNodes, hipGraph_t g, hipGraphNode_t* all, size_t* count) {
  if (all == nullptr) return;
  Line line("nodes");
  line.address(g);
  nodes(line, all, *count);
}
AFTER_IS(hipGraphCreate, Line("graph").address(*g), hipGraph_t* g, unsigned)
ENDS(hipGraphDestroy, hipGraph_t, Line("gone").word("graph").address(ended))
AFTER_IS(hipGraphClone, Line("clone").address(*g).address(from), hipGraph_t* g, hipGraph_t from)
AFTER_IS(hipGraphNodeFindInClone, Line("found").address(*n).address(from).address(g), hipGraphNode_t* n,
         hipGraphNode_t from, hipGraph_t g)
inline void node_words(Line& line, hipGraphNode_t* n, hipGraph_t g, const hipGraphNode_t* after, size_t count) {
  line.address(*n).address(g);
  nodes(line, after, count);
}
#define ADDS(name, words, ...)                                                                                 \
  AFTER(name, hipGraphNode_t* n, hipGraph_t g, const hipGraphNode_t* d, size_t c __VA_OPT__(, ) __VA_ARGS__) { \
    Line line("node");                                                                                         \
    node_words(line, n, g, d, c);                                                                              \
    words;                                                                                                     \
  }
ADDS(hipGraphAddKernelNode, kernel_words(line, *p), const hipKernelNodeParams* p)
ADDS(hipGraphAddMemcpyNode, copy_words(line, *p), const hipMemcpy3DParms* p)
ADDS(hipGraphAddMemcpyNode1D, copy_words(line, dst, src, n1, k), void* dst, const void* src, size_t n1, hipMemcpyKind k)
ADDS(hipGraphAddMemcpyNodeToSymbol, copy_words(line, symbol_at(symbol, at), src, n1, k), const void* symbol,
     const void* src, size_t n1, size_t at, hipMemcpyKind k)
ADDS(hipGraphAddMemcpyNodeFromSymbol, copy_words(line, dst, symbol_at(symbol, at), n1, k), void* dst,
     const void* symbol, size_t n1, size_t at, hipMemcpyKind k)
ADDS(hipGraphAddMemsetNode, fill_words(line, *p), const hipMemsetParams* p)
ADDS(hipGraphAddHostNode, host_words(line, reinterpret_cast<const void*>(p->fn)), const hipHostNodeParams* p)
ADDS(hipGraphAddEmptyNode, line.word("empty"))
ADDS(hipGraphAddChildGraphNode, line.word("child").address(child), hipGraph_t child)
ADDS(hipGraphAddEventRecordNode, line.word("eventrecord").address(e), hipEvent_t e)
inline void memory_words(Line& line, const hipMemAllocNodeParams& p) {
  Line("alloc").word("graph").address(p.dptr).number(p.bytesize);
  line.word("alloc").address(p.dptr);
}
ADDS(hipGraphAddMemAllocNode, memory_words(line, *p), hipMemAllocNodeParams* p)
ADDS(hipGraphAddMemFreeNode, line.word("free").address(p), void* p)
ADDS(hipGraphAddEventWaitNode, line.word("eventwait").address(e), hipEvent_t e)
// The functions that take any type, and the driver's: the words of the node come behind "form generic|driver".
inline Line& form(Line& line, const char* name) {
  return line.word("form").word(name);
}
// `adds`: a node that allocates is added. No setter may change it, so no memory begins there.
inline void generic_words(Line& line, const hipGraphNodeParams& p, bool adds) {
  form(line, "generic");
  switch (p.type) {
    case hipGraphNodeTypeKernel:
      return kernel_words(line, p.kernel);
    case hipGraphNodeTypeMemcpy:
      return copy_words(line, p.memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return fill_words(line, p.memset);
    case hipGraphNodeTypeHost:
      return host_words(line, reinterpret_cast<const void*>(p.host.fn));
    case hipGraphNodeTypeGraph:
      line.word("child").address(p.graph.graph);
      return;
    case hipGraphNodeTypeEmpty:
      line.word("empty");
      return;
    case hipGraphNodeTypeWaitEvent:
      line.word("eventwait").address(p.eventWait.event);
      return;
    case hipGraphNodeTypeEventRecord:
      line.word("eventrecord").address(p.eventRecord.event);
      return;
    case hipGraphNodeTypeMemAlloc:
      if (adds) return memory_words(line, p.alloc);
      line.word("other");
      return;
    case hipGraphNodeTypeMemFree:
      line.word("free").address(p.free.dptr);
      return;
    default:
      line.word("other");
  }
}
BEFORE_IS(hipGraphAddNode, adopt_ends(p), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          hipGraphNodeParams* p)
ADDS(hipGraphAddNode, generic_words(line, *p, true), hipGraphNodeParams* p)
BEFORE_IS(hipDrvGraphAddMemcpyNode, adopt_ends(p), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          const HIP_MEMCPY3D* p, hipCtx_t)
ADDS(hipDrvGraphAddMemcpyNode, copy_words(form(line, "driver"), of_driver(*p)), const HIP_MEMCPY3D* p, hipCtx_t)
ADDS(hipDrvGraphAddMemsetNode, fill_words(form(line, "driver"), *p), const hipMemsetParams* p, hipCtx_t)
ADDS(hipDrvGraphAddMemFreeNode, form(line, "driver").word("free").address(p), hipDeviceptr_t p)
BEFORE_IS(hipGraphAddMemcpyNode, adopt_ends(p), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          const hipMemcpy3DParms* p)
BEFORE_IS(hipGraphAddMemcpyNode1D, adopt_ends(d, s, n, k), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          void* d, const void* s, size_t n, hipMemcpyKind k)
BEFORE_IS(hipGraphAddMemcpyNodeToSymbol, adopt_ends(symbol, s, n, k), hipGraphNode_t*, hipGraph_t,
          const hipGraphNode_t*, size_t, const void* symbol, const void* s, size_t n, size_t, hipMemcpyKind k)
BEFORE_IS(hipGraphAddMemcpyNodeFromSymbol, adopt_ends(d, symbol, n, k), hipGraphNode_t*, hipGraph_t,
          const hipGraphNode_t*, size_t, void* d, const void* symbol, size_t n, size_t, hipMemcpyKind k)
ENDS(hipGraphDestroyNode, hipGraphNode_t, Line("gone").word("node").address(ended))
inline void edges(const char* word, hipGraph_t g, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) Line(word).address(g).address(from[i]).address(to[i]);
}
AFTER_IS(hipGraphAddDependencies, edges("edge", g, from, to, n), hipGraph_t g, const hipGraphNode_t* from,
         const hipGraphNode_t* to, size_t n)
AFTER_IS(hipGraphRemoveDependencies, edges("unedge", g, from, to, n), hipGraph_t g, const hipGraphNode_t* from,
         const hipGraphNode_t* to, size_t n)

// setters: where they set a node of the graph itself, 0 stands for the executable graph
#define SETS(name, words, ...)                 \
  AFTER(name, hipGraphNode_t n, __VA_ARGS__) { \
    Line line("set");                          \
    line.number(0).address(n);                 \
    words;                                     \
  }
#define EXEC_SETS(name, words, ...)                              \
  AFTER(name, hipGraphExec_t e, hipGraphNode_t n, __VA_ARGS__) { \
    Line line("set");                                            \
    line.address(e).address(n);                                  \
    words;                                                       \
  }
// The values may be the node's own, which HIP frees in the call: the line is made before the call.
inline thread_local std::optional<Line> node_set;
BEFORE(hipGraphKernelNodeSetParams, hipGraphNode_t n, const hipKernelNodeParams* p) {
  if (p != nullptr) kernel_words(node_set.emplace("set").number(0).address(n), *p);
}
AFTER_IS(hipGraphKernelNodeSetParams, node_set.reset(), hipGraphNode_t, const hipKernelNodeParams*)
BEFORE_IS(hipGraphMemcpyNodeSetParams, adopt_ends(p), hipGraphNode_t, const hipMemcpy3DParms* p)
SETS(hipGraphMemcpyNodeSetParams, copy_words(line, *p), const hipMemcpy3DParms* p)
BEFORE_IS(hipGraphMemcpyNodeSetParams1D, adopt_ends(d, s, c, k), hipGraphNode_t, void* d, const void* s, size_t c,
          hipMemcpyKind k)
SETS(hipGraphMemcpyNodeSetParams1D, copy_words(line, d, s, c, k), void* d, const void* s, size_t c, hipMemcpyKind k)
BEFORE_IS(hipGraphMemcpyNodeSetParamsToSymbol, adopt_ends(symbol, s, c, k), hipGraphNode_t, const void* symbol,
          const void* s, size_t c, size_t, hipMemcpyKind k)
SETS(hipGraphMemcpyNodeSetParamsToSymbol, copy_words(line, symbol_at(symbol, at), s, c, k), const void* symbol,
     const void* s, size_t c, size_t at, hipMemcpyKind k)
BEFORE_IS(hipGraphMemcpyNodeSetParamsFromSymbol, adopt_ends(d, symbol, c, k), hipGraphNode_t, void* d,
          const void* symbol, size_t c, size_t, hipMemcpyKind k)
SETS(hipGraphMemcpyNodeSetParamsFromSymbol, copy_words(line, d, symbol_at(symbol, at), c, k), void* d,
     const void* symbol, size_t c, size_t at, hipMemcpyKind k)
SETS(hipGraphMemsetNodeSetParams, fill_words(line, *p), const hipMemsetParams* p)
SETS(hipGraphHostNodeSetParams, host_words(line, reinterpret_cast<const void*>(p->fn)), const hipHostNodeParams* p)
EXEC_SETS(hipGraphExecKernelNodeSetParams, kernel_words(line, *p), const hipKernelNodeParams* p)
BEFORE_IS(hipGraphExecMemcpyNodeSetParams, adopt_ends(p), hipGraphExec_t, hipGraphNode_t, hipMemcpy3DParms* p)
EXEC_SETS(hipGraphExecMemcpyNodeSetParams, copy_words(line, *p), hipMemcpy3DParms* p)
BEFORE_IS(hipGraphExecMemcpyNodeSetParams1D, adopt_ends(d, s, c, k), hipGraphExec_t, hipGraphNode_t, void* d,
          const void* s, size_t c, hipMemcpyKind k)
EXEC_SETS(hipGraphExecMemcpyNodeSetParams1D, copy_words(line, d, s, c, k), void* d, const void* s, size_t c,
          hipMemcpyKind k)
BEFORE_IS(hipGraphExecMemcpyNodeSetParamsToSymbol, adopt_ends(symbol, s, c, k), hipGraphExec_t, hipGraphNode_t,
          const void* symbol, const void* s, size_t c, size_t, hipMemcpyKind k)
EXEC_SETS(hipGraphExecMemcpyNodeSetParamsToSymbol, copy_words(line, symbol_at(symbol, at), s, c, k), const void* symbol,
          const void* s, size_t c, size_t at, hipMemcpyKind k)
BEFORE_IS(hipGraphExecMemcpyNodeSetParamsFromSymbol, adopt_ends(d, symbol, c, k), hipGraphExec_t, hipGraphNode_t,
          void* d, const void* symbol, size_t c, size_t, hipMemcpyKind k)
EXEC_SETS(hipGraphExecMemcpyNodeSetParamsFromSymbol, copy_words(line, d, symbol_at(symbol, at), c, k), void* d,
          const void* symbol, size_t c, size_t at, hipMemcpyKind k)
EXEC_SETS(hipGraphExecMemsetNodeSetParams, fill_words(line, *p), const hipMemsetParams* p)
EXEC_SETS(hipGraphExecHostNodeSetParams, host_words(line, reinterpret_cast<const void*>(p->fn)),
          const hipHostNodeParams* p)
EXEC_SETS(hipGraphExecChildGraphNodeSetParams, line.word("child").address(child), hipGraph_t child)
BEFORE(hipGraphNodeSetParams, hipGraphNode_t n, hipGraphNodeParams* p) {
  adopt_ends(p);
  if (p != nullptr) generic_words(node_set.emplace("set").number(0).address(n), *p, false);
}
AFTER_IS(hipGraphNodeSetParams, node_set.reset(), hipGraphNode_t, hipGraphNodeParams*)
BEFORE_IS(hipGraphExecNodeSetParams, adopt_ends(p), hipGraphExec_t, hipGraphNode_t, hipGraphNodeParams* p)
EXEC_SETS(hipGraphExecNodeSetParams, generic_words(line, *p, false), hipGraphNodeParams* p)
BEFORE_IS(hipDrvGraphMemcpyNodeSetParams, adopt_ends(p), hipGraphNode_t, const HIP_MEMCPY3D* p)
SETS(hipDrvGraphMemcpyNodeSetParams, copy_words(form(line, "driver"), of_driver(*p)), const HIP_MEMCPY3D* p)
BEFORE_IS(hipDrvGraphExecMemcpyNodeSetParams, adopt_ends(p), hipGraphExec_t, hipGraphNode_t, const HIP_MEMCPY3D* p,
          hipCtx_t)
EXEC_SETS(hipDrvGraphExecMemcpyNodeSetParams, copy_words(form(line, "driver"), of_driver(*p)), const HIP_MEMCPY3D* p,
          hipCtx_t)
EXEC_SETS(hipDrvGraphExecMemsetNodeSetParams, fill_words(form(line, "driver"), *p), const hipMemsetParams* p, hipCtx_t)
SETS(hipGraphEventRecordNodeSetEvent, line.word("eventrecord").address(e), hipEvent_t e)
SETS(hipGraphEventWaitNodeSetEvent, line.word("eventwait").address(e), hipEvent_t e)
EXEC_SETS(hipGraphExecEventRecordNodeSetEvent, line.word("eventrecord").address(event), hipEvent_t event)
EXEC_SETS(hipGraphExecEventWaitNodeSetEvent, line.word("eventwait").address(event), hipEvent_t event)
AFTER(hipGraphKernelNodeSetAttribute, hipGraphNode_t n, hipLaunchAttributeID which, const hipLaunchAttributeValue* v) {
  if (which == hipLaunchAttributePriority) {
    Line("attribute").address(n).word("priority").number(static_cast<std::uint64_t>(std::int64_t{v->priority}));
  } else if (which == hipLaunchAttributeCooperative) {
    Line("attribute").address(n).word("cooperative").number(v->cooperative != 0);
  } else {
    Line("lost").word("an-attribute-of-a-kernel-node");
  }
}
AFTER_IS(hipGraphKernelNodeCopyAttributes, Line("copyattributes").address(to).address(from), hipGraphNode_t from,
         hipGraphNode_t to)
AFTER_IS(hipGraphNodeSetEnabled, Line("enable").address(e).address(n).number(enabled), hipGraphExec_t e,
         hipGraphNode_t n, unsigned enabled)

// executable graphs
AFTER_IS(hipGraphInstantiate, Line("instantiate").address(*e).address(g).word("plain").number(0), hipGraphExec_t* e,
         hipGraph_t g, hipGraphNode_t*, char*, size_t)
AFTER_IS(hipGraphInstantiateWithFlags, Line("instantiate").address(*e).address(g).word("flags").number(flags),
         hipGraphExec_t* e, hipGraph_t g, unsigned long long flags)
AFTER_IS(hipGraphInstantiateWithParams, Line("instantiate").address(*e).address(g).word("params").number(p->flags),
         hipGraphExec_t* e, hipGraph_t g, hipGraphInstantiateParams* p)
ENDS(hipGraphExecDestroy, hipGraphExec_t, Line("gone").word("exec").address(ended))
GIVES(hipGraphLaunch, nullptr, Line("launch").address(e).address(s), hipGraphExec_t e, hipStream_t s)
AFTER_IS(hipGraphUpload, Line("upload").address(e).address(s), hipGraphExec_t e, hipStream_t s)
AFTER_IS(hipGraphExecUpdate, Line("update").address(e).address(g), hipGraphExec_t e, hipGraph_t g, hipGraphNode_t*,
         hipGraphExecUpdateResult*)

AFTER(hipDeviceGraphMemTrim, int device) {
  if (device == 0) {
    Line("trim");
  } else {
    Line("other").word("hipDeviceGraphMemTrim-of-another-device");
  }
}

}  // namespace hip::recorder
