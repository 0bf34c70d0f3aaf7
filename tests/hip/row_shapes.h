// Nodes of rows over two buffers of host memory, and the effect that HIP documents for them.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "hip/recording.h"

namespace shapes {

using Bytes = std::vector<unsigned char>;

inline constexpr std::size_t kBytes = 4096;
inline constexpr hip::BufferIndex kTo = 0, kFrom = 1;

struct Draw {
  std::mt19937_64 engine;
  std::size_t operator()(std::size_t from, std::size_t to) {
    return std::uniform_int_distribution<std::size_t>(from, to)(engine);
  }
};

inline std::vector<hip::DeviceAddress> addresses_of(Bytes& to, Bytes& from) {
  return {reinterpret_cast<hip::DeviceAddress>(to.data()), reinterpret_cast<hip::DeviceAddress>(from.data())};
}

// Runs a node on the host as HIP documents it; the node's addresses are host addresses.
inline void run(const hip::RecordedNode& node, Bytes& to, Bytes& from) {
  const hip::NodeRecord record = hip::relocated(node, addresses_of(to, from));
  if (const auto* memset = std::get_if<hip::MemsetRecord>(&record)) {
    const hipMemsetParams& p = memset->params;
    for (std::size_t y = 0; y < p.height; ++y) {
      for (std::size_t x = 0; x < p.width; ++x) {
        std::memcpy(static_cast<unsigned char*>(p.dst) + y * p.pitch + x * p.elementSize, &p.value, p.elementSize);
      }
    }
    return;
  }
  const hipMemcpy3DParms& p = std::get<hip::CopyRecord>(record).params;
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    for (std::size_t y = 0; y < p.extent.height; ++y) {
      const auto at = [&](const hipPitchedPtr& end, const hipPos& pos) {
        return static_cast<unsigned char*>(end.ptr) + pos.x + end.pitch * (pos.y + y + end.ysize * (pos.z + z));
      };
      std::memcpy(at(p.dstPtr, p.dstPos), at(p.srcPtr, p.srcPos), p.extent.width);
    }
  }
}

inline Bytes pattern(Draw& draw) {
  Bytes bytes(kBytes);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(draw(0, 255));
  return bytes;
}

inline hip::RecordedNode memset_of_rows(Draw& draw) {
  hip::MemsetRecord record;
  hipMemsetParams& p = record.params;
  p.elementSize = 1U << draw(0, 2);
  p.width = draw(1, 16);
  p.height = draw(2, 8);
  p.pitch = p.width * p.elementSize + (draw(0, 2) == 0 ? 0 : draw(1, 40));
  p.value = static_cast<unsigned>(draw(0, 0xffffffff));
  const auto addend = static_cast<std::int64_t>(draw(0, 64) * p.elementSize);
  return {record, {}, {{hip::Field::kMemsetDestination, 0, kTo, addend}}};
}

// `tight`: without gaps, at both ends.
inline hip::RecordedNode copy_of_rows(Draw& draw, bool tight) {
  hip::CopyRecord record;
  hipMemcpy3DParms& p = record.params;
  p.extent = {draw(1, 16), draw(1, 5), draw(1, 4)};
  const auto end = [&](hipPitchedPtr& where, hipPos& position) {
    if (!tight) position = {draw(0, 4), draw(0, 2), draw(0, 2)};
    where.pitch = p.extent.width + position.x + (tight ? 0 : draw(0, 9));
    where.xsize = p.extent.width;
    where.ysize = p.extent.height + position.y + (tight ? 0 : draw(0, 3));
  };
  end(p.dstPtr, p.dstPos);
  end(p.srcPtr, p.srcPos);
  p.kind = hipMemcpyDefault;
  return {record, {}, {{hip::Field::kCopyDestination, 0, kTo, 3}, {hip::Field::kCopySource, 0, kFrom, 5}}};
}

}  // namespace shapes
