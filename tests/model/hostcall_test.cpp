// The host's side of device printf: texts of messages, and packets as a wave would hand them over.
#include "model/abi/hostcall.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace model::abi {
namespace {

// A message as device code makes it: the format, then arguments.
struct Message {
  explicit Message(const std::string& format) { text(format); }
  Message& text(const std::string& value) {
    std::vector<std::uint64_t> padded((value.size() + 1 + 7) / 8);
    std::memcpy(padded.data(), value.c_str(), value.size() + 1);
    words.insert(words.end(), padded.begin(), padded.end());
    return *this;
  }
  Message& integer(long long value) {
    words.push_back(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(double value) {
    words.emplace_back();
    std::memcpy(&words.back(), &value, sizeof value);
    return *this;
  }
  [[nodiscard]] std::string formatted() const { return format_message(words.data(), words.size()); }
  std::vector<std::uint64_t> words;
};

TEST(DevicePrintf, ConversionsAreThoseOfTheCLibrary) {
  EXPECT_EQ(Message("plain, 100%% of it\n").formatted(), "plain, 100% of it\n");
  EXPECT_EQ(Message("%d %s %f\n").integer(-3).text("words and more words").real(0.5).formatted(),
            "-3 words and more words 0.500000\n");
  EXPECT_EQ(Message("%5u|%-5d|%05d|%+d").integer(42).integer(-7).integer(33).integer(1).formatted(),
            "   42|-7   |00033|+1");
  EXPECT_EQ(Message("%x %X %o %#x").integer(255).integer(255).integer(8).integer(16).formatted(), "ff FF 10 0x10");
  EXPECT_EQ(Message("%.2f %10.3e %g %a").real(3.14159).real(12345.678).real(1e10).real(1.0).formatted(),
            "3.14  1.235e+04 1e+10 0x1p+0");
  EXPECT_EQ(Message("%c%c").integer('o').integer('k').formatted(), "ok");
  EXPECT_EQ(Message("[%8s|%-8s|%.2s]").text("abc").text("abc").text("abc").formatted(), "[     abc|abc     |ab]");
  EXPECT_EQ(Message("%*d|%-*d|%.*f").integer(4).integer(7).integer(4).integer(7).integer(1).real(2.25).formatted(),
            "   7|7   |2.2");
}

TEST(DevicePrintf, AnIntegerHasTheBitsOfItsType) {
  EXPECT_EQ(Message("%d").integer(0xffffffffLL).formatted(), "-1");
  EXPECT_EQ(Message("%u").integer(-1).formatted(), "4294967295");
  EXPECT_EQ(Message("%lld %llx %zu").integer(1LL << 40).integer(-1).integer(7).formatted(),
            "1099511627776 ffffffffffffffff 7");
  EXPECT_EQ(Message("%hhd %hu").integer(0x1ff).integer(0x12345).formatted(), "-1 9029");
}

TEST(DevicePrintf, WhatTheArgumentsDoNotReachEndsTheText) {
  EXPECT_EQ(Message("a %d b %d c").integer(1).formatted(), "a 1 b ");
  EXPECT_EQ(Message("a %d b").formatted(), "a ");
  EXPECT_EQ(Message("a %y b").integer(1).formatted(), "a ");
  EXPECT_EQ(Message("a %").integer(1).formatted(), "a ");
  EXPECT_EQ(Message("a %n%d").integer(5).integer(6).formatted(), "a 6");
  EXPECT_EQ(format_message(nullptr, 0), "");
  const std::uint64_t no_end[] = {0x6161616161616161};
  EXPECT_EQ(format_message(no_end, 1), "aaaaaaaa");
}

// A wave that fills packets as ROCm's device libraries do.
class Wave {
 public:
  explicit Wave(HostcallService& service) : service_(service) {}

  std::uint64_t& word(std::size_t offset) { return *reinterpret_cast<std::uint64_t*>(service_.bytes() + offset); }

  // One call of `service` by lanes 0 and 2, each with its own eight words; the words come back.
  std::array<std::vector<std::uint64_t>, 2> call(std::uint32_t service, std::vector<std::uint64_t> first,
                                                 std::vector<std::uint64_t> second) {
    const std::uint64_t mask = word(40), pointer = word(24);
    std::byte* header = host(word(0)) + (pointer & mask) * 24;
    std::byte* payload = host(word(8)) + (pointer & mask) * 4096;
    const std::uint64_t lanes = 5;
    std::uint64_t next = 0;
    std::memcpy(&next, header, 8);
    word(24) = next;
    first.resize(8), second.resize(8);
    std::memcpy(payload, first.data(), 64);
    std::memcpy(payload + 128, second.data(), 64);
    const std::uint32_t ready = 1;
    std::memcpy(header + 8, &lanes, 8);
    std::memcpy(header + 16, &service, 4);
    std::memcpy(header + 20, &ready, 4);
    std::memcpy(header, &word(32), 8);
    word(32) = pointer;
    service_.serve();
    std::uint32_t control = 1;
    std::memcpy(&control, header + 20, 4);
    EXPECT_EQ(control & 1, 0u) << "the wave would wait for ever";
    EXPECT_EQ(word(32), 0u);
    std::memcpy(first.data(), payload, 64);
    std::memcpy(second.data(), payload + 128, 64);
    std::memcpy(header, &word(24), 8);  // back on the free stack, with the next tag
    word(24) = pointer + mask + 1;
    return {first, second};
  }

 private:
  std::byte* host(std::uint64_t address) { return service_.bytes() + (address - service_.address()); }
  HostcallService& service_;
};

struct Printed {
  std::string out, err;
  Print print() {
    return [this](PrintTo where, std::string_view text) { (where == PrintTo::kStderr ? err : out) += text; };
  }
};

constexpr std::uint64_t kBegin = 1, kEnd = 2;
constexpr std::uint64_t words_in_packet(std::uint64_t count) {
  return count << 5;
}

TEST(Hostcall, AMessageInPiecesIsPrintedWhenItEnds) {
  Printed printed;
  HostcallService service(printed.print());
  Wave wave(service);
  const Message message = Message("%d is a number, and this is long enough for several packets\n").integer(41);
  // The first packet has the word that says where to; lane 2 prints something else meanwhile.
  const auto begun = wave.call(2, {kBegin | words_in_packet(1), 0}, {kBegin | words_in_packet(1), 1});
  EXPECT_NE(begun[0][0] >> 8, begun[1][0] >> 8) << "two messages, two numbers";
  EXPECT_EQ(printed.out, "");
  std::vector<std::uint64_t> id = {begun[0][0] >> 8 << 8, begun[1][0] >> 8 << 8};
  const Message other("to the other stream\n");
  std::size_t at = 0;
  bool first = true;
  while (at < message.words.size()) {
    const std::size_t count = std::min<std::size_t>(7, message.words.size() - at);
    const std::uint64_t last = at + count == message.words.size() ? kEnd : 0;
    std::vector<std::uint64_t> packet = {id[0] | words_in_packet(count) | last};
    packet.insert(packet.end(), message.words.begin() + static_cast<std::ptrdiff_t>(at),
                  message.words.begin() + static_cast<std::ptrdiff_t>(at + count));
    std::vector<std::uint64_t> second = {id[1] | words_in_packet(0)};
    if (first) {
      second = {id[1] | words_in_packet(other.words.size()) | kEnd};
      second.insert(second.end(), other.words.begin(), other.words.end());
    }
    if (!first) second = {kBegin | kEnd | words_in_packet(2), 0, 0};
    const auto answer = wave.call(2, packet, second);
    at += count;
    if (last != 0) {
      EXPECT_EQ(answer[0][0], printed.out.size()) << "printf's result goes back";
    }
    first = false;
  }
  EXPECT_EQ(printed.out, "41 is a number, and this is long enough for several packets\n");
  EXPECT_EQ(printed.err, "to the other stream\n");
  EXPECT_EQ(service.refused(), "");
}

TEST(Hostcall, PacketsAreUsedAgainAndAgain) {
  Printed printed;
  HostcallService service(printed.print());
  Wave wave(service);
  Message x("x");
  for (int i = 0; i < 3 * static_cast<int>(kHostcallPackets); ++i) {
    std::vector<std::uint64_t> packet = {kBegin | kEnd | words_in_packet(2), 0, x.words[0]};
    wave.call(2, packet, packet);
  }
  EXPECT_EQ(printed.out.size(), 6 * kHostcallPackets);
}

TEST(Hostcall, AFunctionOfTheHostIsCalled) {
  HostcallService service([](PrintTo, std::string_view) {});
  Wave wave(service);
  void (*function)(std::uint64_t*, const std::uint64_t*) = [](std::uint64_t* out, const std::uint64_t* in) {
    out[0] = in[0] + in[1];
    out[1] = in[6];
  };
  const auto address = reinterpret_cast<std::uint64_t>(function);
  const auto answer = wave.call(1, {address, 2, 3, 0, 0, 0, 0, 9}, {address, 20, 30, 0, 0, 0, 0, 90});
  EXPECT_EQ(answer[0][0], 5u);
  EXPECT_EQ(answer[0][1], 9u);
  EXPECT_EQ(answer[1][0], 50u);
  EXPECT_EQ(answer[1][1], 90u);
}

TEST(Hostcall, WhatIsNotThereIsRefusedByName) {
  HostcallService service([](PrintTo, std::string_view) {});
  Wave wave(service);
  EXPECT_EQ(wave.call(3, {0, 4096}, {0, 4096})[0][0], 0u);
  EXPECT_EQ(service.refused(), "hostcall service 3");
  wave.call(2, {words_in_packet(1) | 77 << 8, 1}, {words_in_packet(1) | 77 << 8, 1});
  EXPECT_EQ(service.refused(), "hostcall service 3, a printf message that was not begun");
}

}  // namespace
}  // namespace model::abi
