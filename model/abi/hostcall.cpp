// Packets and messages; the contract is in the header. Facts from ROCm's device libraries (ockl: hostcall, services)
// and from the layout that AMD's runtime gives the buffer.
#include "model/abi/hostcall.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace model::abi {
namespace {

constexpr std::size_t kLanes = 64;
constexpr std::size_t kSlotWords = 8;
constexpr std::uint32_t kReady = 1;  // the flag in PacketHeader::control

enum Service : std::uint32_t { kFunctionCall = 1, kPrintf = 2 };

struct PacketHeader {
  std::uint64_t next;
  std::uint64_t active_lanes;
  std::uint32_t service;
  std::uint32_t control;
};
struct Payload {
  std::uint64_t slots[kLanes][kSlotWords];
};

// The part of the buffer that the kernel knows. An HSA signal follows it: the kernel adds to the signal, and no thread
// waits for it.
struct Buffer {
  std::uint64_t headers;
  std::uint64_t payloads;
  std::uint64_t doorbell;
  std::uint64_t free_stack;
  std::uint64_t ready_stack;
  std::uint64_t index_mask;
  std::uint64_t signal[8];
  std::uint64_t padding[2];
};
static_assert(sizeof(PacketHeader) == 24 && sizeof(Payload) == 4096 && sizeof(Buffer) == 128);
constexpr std::size_t kHeadersAt = sizeof(Buffer);
constexpr std::size_t kPayloadsAt = (kHeadersAt + kHostcallPackets * sizeof(PacketHeader) + 63) / 64 * 64;
static_assert((kHostcallPackets & (kHostcallPackets - 1)) == 0);

template <class T>
T* at(std::byte* bytes, std::size_t offset) {
  return reinterpret_cast<T*>(bytes + offset);
}

// The descriptor in the first word of a message: begin, end, number of words, and the message's number.
constexpr std::uint64_t kBegin = 1, kEnd = 2;
std::size_t words_of(std::uint64_t descriptor) {
  return descriptor >> 5 & 7;
}
constexpr int kIdShift = 8;

}  // namespace

HostcallService::HostcallService(Print print) : print_(std::move(print)) {
  size_ = kPayloadsAt + kHostcallPackets * sizeof(Payload);
  // Pages that no packet uses are never touched.
  bytes_ = static_cast<std::byte*>(std::calloc(1, size_));
  assert(bytes_ != nullptr && reinterpret_cast<std::uintptr_t>(bytes_) % alignof(std::max_align_t) == 0);
  auto* buffer = at<Buffer>(bytes_, 0);
  buffer->headers = address() + kHeadersAt;
  buffer->payloads = address() + kPayloadsAt;
  buffer->doorbell = address() + offsetof(Buffer, signal);
  buffer->index_mask = kHostcallPackets - 1;
  // A stack of packet indices, with a tag in the bits above. A pointer of 0 ends the stack, so packet 0 has tag 1.
  auto* headers = at<PacketHeader>(bytes_, kHeadersAt);
  std::uint64_t top = kHostcallPackets;
  for (std::uint64_t i = 1; i < kHostcallPackets; ++i) {
    headers[i].next = top;
    top = i;
  }
  buffer->free_stack = top;
}

HostcallService::~HostcallService() {
  std::free(bytes_);
}

// Serves the latest packet first. Each wave has at most one packet on the stack, so any order will do.
void HostcallService::serve() {
  auto* buffer = at<Buffer>(bytes_, 0);
  std::uint64_t pointer = std::exchange(buffer->ready_stack, 0);
  // A kernel may have written anything into the buffer: a stack longer than the number of packets is a cycle.
  for (std::uint32_t i = 0; pointer != 0 && i < kHostcallPackets; ++i) {
    const std::uint64_t next = at<PacketHeader>(bytes_, kHeadersAt)[pointer % kHostcallPackets].next;
    serve_packet(pointer);
    pointer = next;
  }
}

void HostcallService::serve_packet(std::uint64_t pointer) {
  PacketHeader& header = at<PacketHeader>(bytes_, kHeadersAt)[pointer % kHostcallPackets];
  Payload& payload = at<Payload>(bytes_, kPayloadsAt)[pointer % kHostcallPackets];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((header.active_lanes >> lane & 1) != 0) serve_lane(header.service, payload.slots[lane]);
  }
  header.control &= ~kReady;
}

void HostcallService::serve_lane(std::uint32_t service, std::uint64_t* slot) {
  switch (service) {
    case kFunctionCall: {
      std::uint64_t output[2] = {};
      reinterpret_cast<void (*)(std::uint64_t*, const std::uint64_t*)>(slot[0])(output, slot + 1);
      std::memcpy(slot, output, sizeof output);
      return;
    }
    case kPrintf:
      take_message(slot);
      return;
    default:
      refuse("hostcall service " + std::to_string(service));
      slot[0] = slot[1] = 0;
  }
}

void HostcallService::refuse(const std::string& what) {
  if (refused_.find(what) != std::string::npos) return;
  refused_ += (refused_.empty() ? "" : ", ") + what;
}

bool HostcallService::open_message(std::uint64_t* id) {
  if (unused_.empty()) {
    if (messages_.size() == kMaxMessages) return false;
    unused_.push_back(messages_.size());
    messages_.emplace_back();
  }
  *id = unused_.back();
  unused_.pop_back();
  messages_[*id].live = true;
  return true;
}

// A message comes in pieces of up to seven words; the kernel learns its number from the answer to the first.
void HostcallService::take_message(std::uint64_t* slot) {
  std::uint64_t id = slot[0] >> kIdShift;
  if ((slot[0] & kBegin) != 0) {
    if (!open_message(&id)) return refuse("more printf messages at once than there is room for");
    slot[0] = (slot[0] & ((1u << kIdShift) - 1) & ~kBegin) | id << kIdShift;
  }
  if (id >= messages_.size() || !messages_[id].live) return refuse("a printf message that was not begun");
  Message& message = messages_[id];
  const std::size_t count = words_of(slot[0]);
  if (message.words.size() + count > kMaxMessageWords) return refuse("a printf message without an end");
  message.words.insert(message.words.end(), slot + 1, slot + 1 + count);
  if ((slot[0] & kEnd) == 0) return;
  print(slot, message.words);
  message.words.clear();
  message.live = false;
  unused_.push_back(id);
}

// The first word selects the output stream; the slot returns printf's result.
void HostcallService::print(std::uint64_t* slot, const std::vector<std::uint64_t>& words) {
  if (words.empty() || words[0] > 1) {
    slot[0] = ~std::uint64_t{0};
    return;
  }
  const std::string text = format_message(words.data() + 1, words.size() - 1);
  print_(words[0] == 1 ? PrintTo::kStderr : PrintTo::kStdout, text);
  slot[0] = text.size();
}

}  // namespace model::abi
