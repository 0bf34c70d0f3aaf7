#include "fuzz/recorded_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

static constexpr std::size_t kMaxDropped = 20000;  // invalid commands; each costs a validation of the whole program

void ProgramText::say_what_waits() {
  std::ranges::move(later_, std::back_inserter(body_));
  later_.clear();
}

void ProgramText::say_before_captures(const std::string& module, const std::vector<std::string>& texts) {
  const auto begin = body_.begin() + static_cast<std::ptrdiff_t>(captures_);
  const auto loaded = std::ranges::find(begin, body_.end(), module, &Line::text);
  if (loaded != body_.end()) {
    std::rotate(begin, loaded, loaded + 1);
    ++captures_;
  }
  for (const std::string& text : texts)
    body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(captures_++), {text, {}});
}

void ProgramText::note(const std::string& why) {
  ++not_recorded_[why];
  say("# not recorded: " + why);
}

RecordedProgram ProgramText::finish(const std::vector<std::string>& header, const verify::Environment& environment) && {
  say_what_waits();
  std::ranges::move(body_, std::back_inserter(lines_));
  drop_what_may_not_stand();
  RecordedProgram program;
  program.not_recorded = std::move(not_recorded_);
  std::uint32_t number = 0;
  const auto put = [&](const std::string& text) {
    program.text += text + "\n";
    ++number;
    if (!text.empty() && text[0] != '#') ++program.commands;
  };
  put("hgcheck-program 1");
  for (const std::string& comment : header) put("# " + comment);
  put("placement native");
  for (const auto& [name, value] : environment) put(fmt::format("environment {}={}", name, value));
  for (const Line& line : lines_) {
    put(line.text);
    if (line.read) program.reads[number] = *line.read;
  }
  return program;
}

void ProgramText::drop_what_may_not_stand() {
  for (std::size_t i = 0; i < kMaxDropped; ++i) {
    std::string text = "hgcheck-program 1\nplacement native\n";
    for (const Line& line : lines_) text += line.text + "\n";
    const auto parsed = verify::parse_program(text);
    std::size_t number = 0;
    std::string why;
    if (const auto* error = std::get_if<verify::ParseError>(&parsed)) {
      number = error->line;
      why = error->message;
    } else if (const auto invalid = verify::validate(std::get<verify::Program>(parsed))) {
      number = invalid->line;
      why = invalid->reason;
    } else {
      return;
    }
    constexpr std::size_t kHeader = 3;  // lines are counted from 1
    if (number < kHeader || number - kHeader >= lines_.size()) return;
    Line& line = lines_[number - kHeader];
    ++not_recorded_[why];
    line = {fmt::format("# not recorded: {} ({})", line.text.substr(0, 200), why), {}};
  }
}

std::string Recording::stream(std::uint64_t handle) {
  constexpr std::uint64_t kLegacy = 1, kPerThread = 2;  // HIP's predefined stream handles
  if (handle == 0 || handle == kLegacy) return "s0";
  std::string s = objects.streams.of(handle);
  if (!s.empty()) return s;
  s = objects.streams.add(handle);
  text.say_first(fmt::format("stream {}{}", s, handle == kPerThread ? " per_thread" : ""));
  return s;
}

}  // namespace fuzz
