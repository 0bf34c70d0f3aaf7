// The text of a reproducer as it grows: lines of the test's body, and which helpers they need. One class for both
// forms, which differ in how a call is checked and in nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "verify/export/helpers.h"
#include "verify/export/reproducer.h"

namespace verify {

// Local variables of the body have a number in their name; each kind is numbered on its own.
enum class LocalKind : std::uint8_t { kCall, kNode, kRecording, kUpdate, kCapture, kPool };
inline constexpr std::size_t kLocalKinds = 6;

class ReproducerText {
 public:
  explicit ReproducerText(ReproducerForm form) : form_(form) {}

  void line(std::string text) { lines_.push_back(std::move(text)); }
  // Writes a call that has to succeed; if it fails, the case could not run.
  void must(std::string_view call);
  // Writes a call that has to end as `expected` says: the file shows its failure when it `differs`.
  void call(const ExpectedStatus& expected, std::string_view call);
  // Writes a check that two expressions of strings, `value` and `expected`, are equal.
  void equal(std::string_view what, std::string_view expected, std::string_view value);
  [[nodiscard]] ReproducerForm form() const { return form_; }
  // `call` as made by helper thread `thread` (0: the thread whose lines are written).
  [[nodiscard]] std::string on_thread(std::uint32_t thread, const std::string& call);
  void wait();  // for the device, unless the last line did so; not in a thread of a block
  // Begins the lines of one of a block's `count` threads, and puts the lines from `from` on into that thread.
  void begin_thread(std::uint32_t thread, std::size_t count);
  void end_thread(std::size_t from);
  [[nodiscard]] bool in_thread() const { return thread_ != 0; }
  // Puts the threads of the lines from `from` on into a block that waits for them.
  void in_threads(std::size_t from, const std::set<std::uint32_t>& threads);
  // The lines from here on may run again behind their last one: they do not rely on the line before them.
  void begin_rounds() { begun_ = lines_.size(); }
  // With more than one device, waiting for the device means waiting for all of them.
  void use_devices(std::uint32_t count) { devices_ = count; }
  // Runs `write`; the device is current for the lines that it writes.
  template <class Write>
  void on_device(std::uint32_t device, const Write& write) {
    if (device != 0) must("hipSetDevice(" + std::to_string(device) + ")");
    write();
    if (device != 0) must("hipSetDevice(0)");
  }
  // The next number of that kind, from 1.
  unsigned number(LocalKind kind) { return ++numbers_[static_cast<std::size_t>(kind)]; }

  void need(HelperFunction helper) { helpers_.insert(helper); }
  void need_header(std::string_view name) { headers_.insert(std::string(name)); }
  void need_kernel(std::string_view name) { kernels_.insert(std::string(name)); }
  // Adds the n-th variable of device code, as large as the project's variables, for a buffer.
  void need_variable(std::uint32_t buffer, std::uint32_t n) { variables_[buffer] = n; }
  // The variable's name.
  [[nodiscard]] std::string variable_of(std::uint32_t buffer) const;
  // Removes the lines from `from` on and returns them.
  [[nodiscard]] std::vector<std::string> take(std::size_t from);
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  // Puts the lines from `from` on into a loop.
  void in_loop(std::size_t from, std::string_view variable, std::uint32_t times);

  // The whole file around the body.
  [[nodiscard]] std::string file(const Reproducer& reproducer) const;

 private:
  void write_includes(std::string& out, const Reproducer& reproducer) const;
  void write_helpers(std::string& out) const;
  void write_checks(std::string& out, bool dies) const;

  ReproducerForm form_;
  std::vector<std::string> lines_;
  std::array<unsigned, kLocalKinds> numbers_{};
  std::set<HelperFunction> helpers_;
  std::set<std::string> kernels_, headers_;
  std::map<std::uint32_t, std::uint32_t> variables_;  // by buffer
  std::size_t begun_ = 0;                             // begin_rounds()
  bool checks_ = false, fails_ = false;
  std::uint32_t devices_ = 1;
  std::uint32_t thread_ = 0;  // whose lines are written
};

// The sources of kernels of the project as plain HIP, with everything that they use, each once. `plain_names`: device
// code has them by the names of C.
[[nodiscard]] std::string kernel_sources(const std::set<std::string>& names, bool plain_names);

// Turns runs of lines that differ only in the node that they add into loops.
[[nodiscard]] std::vector<std::string> looped(const std::vector<std::string>& lines);

// Breaks a line that is too long after commas, and indents the rest.
[[nodiscard]] std::string wrapped(const std::string& line, std::size_t indent);

}  // namespace verify
