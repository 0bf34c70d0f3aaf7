// The host's side of hostcall: a running kernel asks the host for a service, mostly for device printf.
//
// A wave takes a packet from the buffer's free stack, fills it, pushes it on the ready stack and waits until the host
// clears the packet's ready flag. AMD's device libraries define the layout and the services. serve() answers the
// packets on the ready stack. The code that runs the kernel calls serve() between two instructions: the buffer needs no
// atomic operations here.
//
// Services: 1 calls a function of the host, 2 prints. Anything else (3 is device memory) is refused: its packet is
// answered with zeroes, and refused() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace model::abi {

inline constexpr std::uint32_t kHostcallPackets = 2048;  // a power of two, more than there can be resident waves
inline constexpr std::size_t kMaxMessageWords = std::size_t{1} << 20;  // of one message
inline constexpr std::size_t kMaxMessages = 65536;                     // that have begun and not ended

enum class PrintTo : std::uint8_t { kStdout, kStderr };
using Print = std::function<void(PrintTo, std::string_view)>;

// The text of a printf message: a format, padded to 8 bytes, and its arguments, a word each (strings padded to 8
// bytes). The text ends at the first conversion that is invalid or has no argument.
[[nodiscard]] std::string format_message(const std::uint64_t* words, std::size_t count);

class HostcallService {
 public:
  explicit HostcallService(Print print);
  HostcallService(const HostcallService&) = delete;
  HostcallService& operator=(const HostcallService&) = delete;
  ~HostcallService();

  // The buffer's address, for the implicit argument, and its bytes.
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes_); }
  [[nodiscard]] std::byte* bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Answers every packet that is ready.
  void serve();
  // The requests that are not supported, in the order in which they were first made; empty: none.
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  struct Message {
    bool live = false;
    std::vector<std::uint64_t> words;
  };
  void serve_packet(std::uint64_t pointer);
  void serve_lane(std::uint32_t service, std::uint64_t* slot);
  void take_message(std::uint64_t* slot);
  [[nodiscard]] bool open_message(std::uint64_t* id);
  void print(std::uint64_t* slot, const std::vector<std::uint64_t>& words);
  void refuse(const std::string& what);

  Print print_;
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Message> messages_;
  std::vector<std::uint64_t> unused_;  // free indices of messages_
  std::string refused_;
};

}  // namespace model::abi
