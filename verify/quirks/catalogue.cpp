// The quirks that are known, by cause. docs/findings.md tells each one's story for people who own the runtime; "CUDA"
// stands for CUDA's documentation of the function of the same name, which HIP's mirrors and refers to.
#include "verify/quirks/quirk.h"

namespace verify {

namespace {

// In the order of the fields of Quirk: id, title; releases, strategy of the regression; triggers; effects; expected,
// observed; documentation; evidence; importance.
constexpr Quirk kQuirks[] = {
    // ---- order
    {"side-roots-unordered", "a graph with several root nodes does not wait for what its stream was doing before",
     "7.2 5.7", "patch", "op=launch roots>=2 nodes<16 busy=1", "bytes host crash",
     "the second graph's copy sees what the first graph's kernel wrote", "it sees what was there before",
     "hipGraphLaunch: launches in a stream are ordered with respect to prior work in that stream",
     "the packets: the side queue's first dispatch follows no barrier that depends on the launch stream's last signal; "
     "6.4 runs the same programs in order on the same agent",
     "silent wrong results in any pipeline of graphs; synchronise before launching, or give graphs one root"},
    {"side-leaves-unordered", "a synchronisation or later work does not wait for all nodes of a launched graph", "7.2",
     "patch", "op=launch roots>=14 nodes<16", "bytes host", "all nodes have run", "some of the last ones have not",
     "hipStreamSynchronize waits for all work of the stream, and later work of the stream follows it",
     "the packets: the launch's last barrier waits for the first of three kernels of a side queue; 6.4 and 5.7 are "
     "right",
     "results are read before they are written; end such a graph with one node that depends on all leaves"},
    {"fifth-dependent-unordered", "a node's fifth dependent, and later ones, may start before it has finished",
     "7.2 6.4", "patch", "op=launch dependents>=5 nodes>=16", "bytes host", "each dependent sees what the node wrote",
     "the later ones see what was there before", "a node runs after the nodes that it depends on (HIP, HIP graphs)",
     "ROCm/clr, Graph::RunOneNode makes the first four dependents wait; 5.7 is right on the same agent",
     "silent wrong results in wide graphs; put an empty node between"},
    {"h2h-side-unordered", "nodes on other streams do not wait for a copy between host buffers", "7.2 6.4", "patch",
     "op=launch node=memcpy smem!=device dmem!=device nodes>=16", "bytes host",
     "the dependent sees what the copy wrote", "it sees what was there before",
     "a node runs after the nodes that it depends on (HIP, HIP graphs)",
     "ROCm/clr: such a copy is done by the host and leaves no signal to wait for; 5.7 is right on the same agent",
     "silent wrong results in graphs of 16 nodes and more"},
    {"host-params-late", "a host node takes its parameters when it runs and not when it was launched", "7.2 6.4 5.7",
     "patch", "op=set target=exec node=host busy=1;op=update node=host busy=1", "host bytes",
     "the function runs as it was when the graph was launched", "it runs with what a setter stored afterwards",
     "CUDA: a setter of an executable graph affects future launches; launches that are enqueued are not affected",
     "kernel, copy and memset nodes in the same place keep what they were launched with",
     "use after free when the first parameters are freed after the update; synchronise before setting host nodes"},
    {"pageable-copy-early", "a copy from pageable memory reads its source when the graph is launched", "7.2 6.4",
     "patch",
     "op=launch node=memcpy smem=pageable busy=1;op=launch node=memcpy smem=pageable hosts>0;"
     "op=launch node=memcpy smem=pageable topageable>0",
     "bytes", "the copy takes what the host node before it wrote",
     "it takes what was there when hipGraphLaunch was called",
     "a node runs after the nodes that it depends on (HIP, graph management: dependencies)",
     "the same copy from pinned memory is in order, and 5.7 orders both",
     "stale input; use pinned memory for what host nodes produce"},

    // ---- copies
    {"memcpy-h2h-mixed", "a host-to-host copy node between pinned and pageable memory is refused", "7.2 6.4 5.7",
     "patch",
     "op=add node=memcpy kind=h2h dmem=pinned smem=pageable;op=add node=memcpy kind=h2h dmem=pageable smem=pinned;"
     "op=set node=memcpy kind=h2h dmem=pinned smem=pageable;op=set node=memcpy kind=h2h dmem=pageable smem=pinned",
     "status=1", "hipSuccess", "hipErrorInvalidValue",
     "hipMemcpyHostToHost: from host to host; pinned memory is host memory",
     "the same nodes with hipMemcpyDefault, or with both ends of one kind, are accepted",
     "a valid graph cannot be built; use hipMemcpyDefault"},
    {"memcpy-3d-host-linear", "a 3D copy node between two pageable buffers is done as one linear copy", "7.2 6.4 5.7",
     "patch", "op=launch node=memcpy linear=0 dmem=pageable smem=pageable", "bytes", "rows at their pitches",
     "width*height*depth bytes in one piece, from the very start of both buffers",
     "hipMemcpy3DParms: extent, positions and pitches hold for every kind",
     "the same node is right as soon as one end is pinned or on the device",
     "silent corruption, also of bytes outside the rows"},

    // ---- memsets
    {"memset-2d-element", "a 2D memset of elements of 2 or 4 bytes writes rows that are 2 or 4 times too long",
     "7.2 6.4 5.7", "patch", "op=launch node=memset height>1 element>1", "bytes later=700", "width elements a row",
     "width*elementSize elements a row", "hipMemsetParams: width is in elements, elementSize in bytes",
     "right for elements of one byte and for a single row; each row is too long by that factor",
     "silent corruption beside each row; use elements of one byte"},

    // ---- setters and updates
    {"memset-2d-graph-set", "the setter of a graph's own 2D memset is refused", "7.2 6.4 5.7", "patch",
     "op=set target=graph node=memset height>1;op=patch target=graph node=memset height>1;"
     "op=set target=exec node=memset level>0 height>1;op=patch target=exec node=memset level>0 height>1",
     "status=1", "hipSuccess", "hipErrorInvalidValue, even for the parameters that it has",
     "hipGraphMemsetNodeSetParams: sets a memset node's parameters; no shape is excluded",
     "hipGraphAddMemsetNode and hipGraphExecMemsetNodeSetParams take the same parameters",
     "2D memsets cannot be changed in a graph, nor in a child by hipGraphExecChildGraphNodeSetParams; record again"},
    {"memset-2d-update", "an update with a graph that holds a 2D memset fails, even when nothing changed",
     "7.2 6.4 5.7", "patch", "op=update node=memset height>1", "status=910", "hipSuccess",
     "hipErrorGraphExecUpdateFailure, result hipGraphExecUpdateErrorParametersChanged",
     "CUDA excludes changing multi-dimensional operands; unchanged ones are not excluded",
     "the exec setter takes the same node", "every update of such a graph falls back to instantiating"},
    {"memcpy-graph-set-3d-on-1d", "3D parameters set on a copy node that was added as a linear one are ignored",
     "7.2 6.4", "patch", "op=set target=graph node=memcpy waslinear=1 linear=0", "bytes crash later=1 corrupts",
     "the new copy", "the old one, and the setter answered hipSuccess",
     "hipGraphMemcpyNodeSetParams: sets a memcpy node's parameters, whichever call added it",
     "the right result when the node was added with hipGraphAddMemcpyNode",
     "a patch that reports success and does nothing"},
    {"memcpy-graph-set-1d-on-3d", "linear parameters set on a copy node that was added as a 3D one are ignored",
     "7.2 6.4", "patch", "op=set target=graph node=memcpy waslinear=0 linear=1", "bytes crash later=1 corrupts",
     "the new copy", "the old one, and the setter answered hipSuccess",
     "hipGraphMemcpyNodeSetParams1D: sets a memcpy node's parameters to a 1D copy",
     "the right result when the node was added with hipGraphAddMemcpyNode1D",
     "a patch that reports success and does nothing"},
    {"memcpy-set-from-pageable", "a linear copy that is set from pageable to other memory goes on as before", "7.2",
     "patch",
     "op=set target=exec node=memcpy linear=1 waspageable=1 pageable=0;"
     "op=update node=memcpy linear=1 waspageable=1 pageable=0",
     "bytes", "the new source", "nothing is copied, and the setter answered hipSuccess",
     "hipGraphExecMemcpyNodeSetParams1D: sets the parameters; both are host memory, and the direction is the same",
     "6.4 and 5.7 do the new copy; from pinned to pinned and from pageable to pageable it is right",
     "a patch that reports success, and a copy that is lost"},
    {"memcpy-set-to-pageable", "a linear copy beside other nodes that is set to pageable memory goes on as before",
     "7.2", "patch",
     "op=set target=exec node=memcpy linear=1 waspageable=0 pageable=1 neighbours>0;"
     "op=update node=memcpy linear=1 waspageable=0 pageable=1 neighbours>0",
     "bytes", "the new source", "the old one, and the setter answered hipSuccess", "as memcpy-set-from-pageable",
     "right when the node is alone in its graph, and on 6.4 and 5.7",
     "a patch that reports success and reads freed memory"},

    // ---- child graphs
    {"child-16", "launching a graph of 16 nodes or more of which one is a child graph crashes", "7.2", "patch",
     "op=launch node=child inner>0 level=0 nodes>=16", "crash", "the graph runs",
     "a segmentation fault in hipGraphLaunch", "no bound on the nodes of a graph with child graphs is documented",
     "in the host's own code, before any packet; 15 nodes are fine, and so are 6.4 and 5.7", "crash of the process"},
    {"update-half-way", "an update that fails at a node has changed those before it", "7.2 6.4 5.7", "patch",
     "op=update outcome=type", "bytes host", "the executable graph is as it was",
     "its first nodes have the new parameters",
     "hipErrorGraphExecUpdateFailure: the graph update was not performed (the header's comment)",
     "in the host's own code: the nodes are set one after another until one does not fit",
     "a launch after a refused update runs a mixture of two graphs; instantiate again"},
    {"child-update-lost", "an update does not reach into child graphs", "7.2 6.4", "patch",
     "op=update node=child inner>0", "bytes host", "the child's new parameters",
     "its old ones, and the update answered hipSuccess",
     "CUDA: an update takes the parameters of all nodes, those of child graphs included",
     "right at the top level; 5.7 does it", "an update that reports success and leaves stale addresses"},
    {"child-set-nested", "setting a child graph does not reach into the child graphs inside it", "7.2 6.4", "patch",
     "op=set target=exec node=child below>1;op=patch target=exec node=child below>1", "bytes host",
     "the new parameters", "the old ones, and the setter answered hipSuccess",
     "hipGraphExecChildGraphNodeSetParams: updates node parameters in the child graph node, at every depth",
     "right one level deep; 5.7 does it", "a patch that reports success and leaves stale addresses"},

    // ---- 6.4 and 5.7 only
    {"memset-pinned-early",
     "a memset node on pinned memory writes when it is instantiated or set, and not only when it is launched", "6.4",
     "patch",
     "op=instantiate node=memset memory=pinned;op=set node=memset memory=pinned;"
     "op=update node=memset memory=pinned;op=patch node=memset memory=pinned",
     "bytes", "nothing is written before a launch", "the memset is done by hipGraphInstantiate",
     "hipGraphInstantiate creates an executable graph; hipGraphLaunch executes it",
     "no launch is in the program, and 7.2 and 5.7 leave the memory alone",
     "host memory that is still in use is overwritten"},
    {"copy-to-pageable-at-set", "setting a copy of pageable memory, or a 3D copy, does the copy at once", "6.4",
     "patch",
     "op=set node=memcpy linear=1 pageable=1;op=update node=memcpy linear=1 pageable=1;"
     "op=patch node=memcpy linear=1 pageable=1;op=set node=memcpy linear=0;op=update node=memcpy linear=0;"
     "op=patch node=memcpy linear=0",
     "bytes", "nothing is written before a launch", "the setter does the copy",
     "hipGraphExecMemcpyNodeSetParams1D sets parameters",
     "no launch is in the program, and 7.2 and 5.7 leave the memory alone",
     "memory that is still in use is overwritten"},
    {"child-successors-unordered", "what follows a child graph node does not wait for it", "6.4", "patch",
     "op=launch node=child", "bytes host", "the successor sees what the child wrote", "it sees what was there before",
     "dependencies: a node runs after the nodes that it depends on",
     "7.2 and 5.7 run the same program in order on the same agent",
     "silent wrong results; join with a kernel of the parent instead"},
    {"relaunch-crash",
     "launching a graph with several roots crashes after others were destroyed and instantiated again", "6.4",
     "rebuild", "op=launch roots>=2", "crash", "the graph runs", "a segmentation fault in hipGraphLaunch",
     "hipGraphExecDestroy releases one executable graph and no other",
     "in the host's own code; 7.2 and 5.7 run the same calls; one instantiation less, and 6.4 does as well",
     "crash of a process that records again at every change"},
    {"memset-2d-pinned-rows", "a 2D memset of pinned memory writes one run of bytes instead of rows", "6.4 5.7",
     "patch", "op=launch node=memset memory=pinned height>1", "bytes", "height rows at their pitch",
     "width*height bytes from the start", "hipMemsetParams: height rows of width elements, pitch bytes apart",
     "the same node on device memory is right, and so is 7.2", "silent corruption"},
    {"memcpy-3d-launch-refused",
     "a 3D copy node whose pitches are not what the device's copy engine likes fails at launch", "5.7", "patch",
     "op=launch node=memcpy linear=0", "status=1 bytes", "hipSuccess", "hipErrorInvalidValue",
     "hipMemcpy3DParms puts no alignment on pitches of linear memory", "7.2 and 6.4 launch it",
     "valid copies fail; use pitches that are multiples of 4"},
    {"memcpy-3d-update", "an update with a graph that holds a 3D copy fails or crashes", "5.7", "patch",
     "op=update node=memcpy linear=0", "status=910 crash", "hipSuccess", "hipErrorGraphExecUpdateFailure",
     "CUDA excludes changing multi-dimensional operands; unchanged ones are not excluded", "7.2 and 6.4 update it",
     "every update of such a graph fails"},
    {"memcpy-3d-graph-set-crash", "the setter of a 3D copy node crashes or refuses what the node was added with", "5.7",
     "patch", "op=set node=memcpy linear=0;op=patch node=memcpy linear=0", "status=1 crash bytes", "hipSuccess",
     "a crash in the setter", "hipGraphMemcpyNodeSetParams: sets a memcpy node's parameters", "7.2 and 6.4 set it",
     "crash of the process"},
    {"child-empty-launch", "launching a graph whose child graph is empty crashes", "5.7", "patch",
     "op=launch empties>0", "crash", "the graph runs", "a segmentation fault in hipGraphLaunch",
     "an empty graph is a valid graph", "in the host's own code; 7.2 and 6.4 launch it", "crash of the process"},
    {"memcpy-graph-set-form", "a graph's copy node that is set to another form (linear, 3D) fails or does not copy",
     "5.7", "patch",
     "op=set target=graph node=memcpy waslinear=0 linear=1;op=set target=graph node=memcpy waslinear=1 linear=0;"
     "op=launch node=memcpy",
     "status=1 bytes crash corrupts", "the new copy", "hipErrorInvalidValue at launch, or no copy at all",
     "hipGraphMemcpyNodeSetParams and -1D: set a memcpy node's parameters, whichever call added it",
     "7.2 and 6.4 launch it (and do the old copy: memcpy-graph-set-1d-on-3d)",
     "a patch that reports success and fails at the launch"},
    {"joins-unordered", "a node that joins several branches does not wait for all of them", "5.7", "patch",
     "op=launch roots>=2", "bytes host", "the copy sees what the kernel wrote", "it sees what was there before",
     "dependencies: a node runs after the nodes that it depends on",
     "7.2 and 6.4 run the same program in order on the same agent", "silent wrong results in parallel branches"},
};

}  // namespace

std::span<const Quirk> quirks() {
  return kQuirks;
}

}  // namespace verify
