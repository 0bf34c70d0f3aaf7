#include "hip/by_host.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/captured_graph.h"

namespace hip {
namespace {

// A box of bytes in host memory: rows at a pitch, in slices.
struct Box {
  unsigned char* begin = nullptr;
  std::size_t pitch = 0, slice = 0;

  [[nodiscard]] unsigned char* row(std::size_t y, std::size_t z) const { return begin + y * pitch + z * slice; }
};
struct Extent {
  std::size_t bytes = 0, rows = 1, slices = 1;  // bytes of a row; rows of a slice; slices of the box
};

Box box_of(const hipPitchedPtr& end, const hipPos& position) {
  const std::size_t slice = end.pitch * end.ysize;
  return {static_cast<unsigned char*>(end.ptr) + position.x + end.pitch * position.y + slice * position.z, end.pitch,
          slice};
}

Extent extent_of(const CopyRecord& copy) {
  const hipExtent& extent = copy.params.extent;
  if (copy.linear) return {extent.width, 1, 1};
  return {extent.width, extent.height, extent.depth};
}

// The work of a host node, and the pinned memory that it works on.
class HostWork {
 public:
  HostWork(const Api& api, const ErrorSink& errors) : api_(api), errors_(errors) {}
  HostWork(const HostWork&) = delete;
  HostWork& operator=(const HostWork&) = delete;
  ~HostWork() {
    if (staging_ == nullptr) return;
    const BesideCaptures scope(api_, errors_);
    errors_(free_pinned(api_, staging_));
  }

  void set(const hipMemsetParams& params) {
    to_ = {static_cast<unsigned char*>(params.dst), params.pitch, 0};
    extent_ = {params.width * params.elementSize, params.height, 1};
    value_ = params.value;
    element_ = params.elementSize;
  }
  void copy(const CopyRecord& copy) {
    // The 1D form, by which a linear copy is recorded, has no positions.
    from_ = box_of(copy.params.srcPtr, copy.linear ? hipPos{} : copy.params.srcPos);
    to_ = box_of(copy.params.dstPtr, copy.linear ? hipPos{} : copy.params.dstPos);
    extent_ = extent_of(copy);
  }
  // The same copy, to pinned memory of the same extent without gaps.
  Status stage(const CopyRecord& staged) {
    copy(staged);
    const BesideCaptures scope(api_, errors_);
    const std::size_t bytes = extent_.bytes * extent_.rows * extent_.slices;
    if (Status s = call<&Api::hipHostMalloc>(api_, &staging_, bytes, hipHostMallocDefault); !s) return s;
    to_ = {static_cast<unsigned char*>(staging_), extent_.bytes, extent_.bytes * extent_.rows};
    return {};
  }
  // The pinned memory as the source of the copy node.
  [[nodiscard]] hipPitchedPtr staged() const { return {staging_, extent_.bytes, extent_.bytes, extent_.rows}; }

  static void run(void* work) { static_cast<const HostWork*>(work)->run(); }

 private:
  void run() const {
    for (std::size_t z = 0; z < extent_.slices; ++z) {
      for (std::size_t y = 0; y < extent_.rows; ++y) write(y, z);
    }
  }
  void write(std::size_t y, std::size_t z) const {
    unsigned char* const row = to_.row(y, z);
    if (element_ == 0) {
      std::memmove(row, from_.row(y, z), extent_.bytes);
      return;
    }
    for (std::size_t at = 0; at < extent_.bytes; at += element_) std::memcpy(row + at, &value_, element_);
  }

  const Api& api_;
  const ErrorSink errors_;
  Box to_, from_;
  Extent extent_;
  unsigned value_ = 0;
  std::size_t element_ = 0;  // 0: the work is a copy
  void* staging_ = nullptr;
};

std::vector<Relocation> of_field(const RecordedNode& node, Field field) {
  std::vector<Relocation> found;
  std::ranges::copy_if(node.relocations, std::back_inserter(found),
                       [&](const Relocation& relocation) { return relocation.field == field; });
  return found;
}

OpaqueRecord opaque(const char* reason) {
  OpaqueRecord record;
  record.by_host = true;
  record.reason = reason;
  return record;
}

using Node = std::shared_ptr<const RecordedNode>;  // the original node; its address is the key of its HostWork in Kept

RecordedNode host_node(const Node& node, bool staged, const ErrorSink& errors) {
  OpaqueRecord record = opaque("the host writes to where it was recorded for");
  for (const Relocation& relocation : node->relocations) record.buffers.push_back(relocation.buffer);
  record.record = [node, staged, errors](const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                                         std::span<const DeviceAddress> addresses,
                                         Kept& kept) -> Result<hipGraphNode_t> {
    const auto work = std::make_shared<HostWork>(api, errors);
    const NodeRecord here = relocated(*node, addresses);
    if (const auto* memset = std::get_if<MemsetRecord>(&here)) {
      work->set(memset->params);
    } else if (const auto& copy = std::get<CopyRecord>(here); !staged) {
      work->copy(copy);
    } else if (Status status = work->stage(copy); !status) {
      return status.error();
    }
    const hipHostNodeParams params{HostWork::run, work.get()};
    hipGraphNode_t added = nullptr;
    const Status status =
        call<&Api::hipGraphAddHostNode>(api, &added, graph, dependencies.data(), dependencies.size(), &params);
    kept.add(node.get(), work);
    if (!status) return status.error();
    return added;
  };
  return {std::move(record), {}, {}};
}

// The copy node that follows the host node that fills the pinned memory.
RecordedNode staged_copy(const Node& node) {
  OpaqueRecord record = opaque("it copies from memory of the node before");
  record.with_the_one_before = true;
  for (const Relocation& to : of_field(*node, Field::kCopyDestination)) record.buffers.push_back(to.buffer);
  record.record = [node](const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                         std::span<const DeviceAddress> addresses, Kept& kept) -> Result<hipGraphNode_t> {
    const auto* work = static_cast<const HostWork*>(kept.of(node.get()));
    assert(work != nullptr);
    CopyRecord copy = std::get<CopyRecord>(node->record);
    copy.params.srcPtr = work->staged();
    copy.params.srcPos = {};
    NodeExtras none;
    return record_node(api, graph, {copy, {}, of_field(*node, Field::kCopyDestination), node->form}, dependencies,
                       addresses, none);
  };
  return {std::move(record), {}, {}};
}

}  // namespace

bool host_can_do(const NodeRecord& record) {
  if (const auto* memset = std::get_if<MemsetRecord>(&record)) return memset->params.width * memset->params.height != 0;
  const auto* copy = std::get_if<CopyRecord>(&record);
  if (copy == nullptr || copy->params.srcArray != nullptr || copy->params.dstArray != nullptr) return false;
  const Extent extent = extent_of(*copy);
  return extent.bytes * extent.rows * extent.slices != 0;
}

std::vector<RecordedNode> by_host(const RecordedNode& node, bool to_host, const ErrorSink& errors) {
  if (!host_can_do(node.record)) return {};
  const auto same = std::make_shared<const RecordedNode>(node);
  const bool staged = std::holds_alternative<CopyRecord>(node.record) && !to_host;
  std::vector<RecordedNode> nodes = {host_node(same, staged, errors)};
  if (staged) nodes.push_back(staged_copy(same));
  return nodes;
}

}  // namespace hip
