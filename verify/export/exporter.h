// The exporter: writes the commands of a program one by one, and knows the program's state before and after each.
//
// The family of a command decides how it is written (verify/commands/export.h), and uses the parts below.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/export/captures.h"
#include "verify/export/checks.h"
#include "verify/export/memory.h"
#include "verify/export/names.h"
#include "verify/export/nodes.h"
#include "verify/export/reproducer.h"
#include "verify/export/strategies.h"
#include "verify/export/text.h"
#include "verify/program/state.h"

namespace verify {

class Exporter {
 public:
  // `known`: the needs of the file, empty in the run that finds them out.
  Exporter(const Reproducer& reproducer, ReproducerForm form, const NeedsOfFile& known);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  ~Exporter() = default;

  // Writes the body of the file. file(): the whole file around it.
  hip::Status write();
  [[nodiscard]] std::string file() const { return text_.file(reproducer_); }

  // The program's state before and after the command that is written, and how the command has to end.
  [[nodiscard]] const State& before() const { return before_; }
  [[nodiscard]] const State& after() const { return after_; }
  [[nodiscard]] const ExpectedStatus& expected() const { return reproducer_.statuses[step_]; }
  [[nodiscard]] Id devices() const { return devices_; }

  // The parts of the file.
  ReproducerText& text() { return text_; }
  NeedsOfFile& needs() { return needs_; }
  NamesOfFile& names() { return names_; }
  ReproducerMemory& memory() { return memory_; }
  ReproducerNodes& nodes() { return nodes_; }
  ReproducerCaptures& captures() { return captures_; }
  ReproducerStrategies& strategies() { return strategies_; }

  // Notes that the command names nodes of that graph: the file needs their handles if the nodes were captured.
  void use_nodes_of(const GraphState& graph);
  // Writes a HIP call that has to end as the command has to end.
  void call(const std::string& text) { text_.call(expected(), text); }
  // Adds the node that the command leaves as the last of its stream's capture to the graph of that capture.
  void add_by_hand(Id stream);
  // Checks the bytes that are expected at this command.
  void check_bytes() { checks_.bytes(step_); }
  // Checks the attributes that a kernel node answers with, where the attributes differ.
  void check_attributes(const std::string& node, std::uint32_t fan);

  // Notes that the file checks what this command answers besides its status, where that differs.
  void answered() { answered_ = true; }
  // Makes the exporter write each repetition of the command, because repetitions differ in meaning.
  void write_out_repetitions() { written_out_ = true; }
  // Notes that a capture has begun in the program.
  void capture_begins() { captures_begun_ = true; }

  // Report why the command cannot be exported. refuse_command(): it never has a stand-alone form.
  void refuse_command();
  void refuse(const std::string& reason);
  // Fails with `message` as the whole error. command_text() is the text of the command.
  void fail(std::string message) { error_ = std::move(message); }
  [[nodiscard]] std::string command_text() const;

 private:
  void declare_variables(const NeedsOfFile& known);
  void write_step(const Step& step);
  void write_block();
  void write_threads();
  // The state before a block that the calls of each round, and of what stands after the block, rely on.
  struct BeforeBlock {
    NamesOfFile names;
    std::map<std::uint64_t, std::size_t> captures;       // the number of nodes of each open capture, by its serial
    std::vector<std::pair<Patch, std::vector<Id>>> due;  // what a round patches, and the moved buffers it is due for
    std::map<std::pair<Id, std::uint32_t>, std::uint32_t> mapped;  // the pages of each mapping, by range and first page
  };
  // Why a round that ends here cannot be a round of a loop, or nothing.
  [[nodiscard]] BeforeBlock before_block() const;
  [[nodiscard]] Reason flaw_of_round(const BeforeBlock& before) const;
  [[nodiscard]] std::map<std::uint64_t, std::size_t> nodes_of_captures() const;
  [[nodiscard]] std::map<std::pair<Id, std::uint32_t>, std::uint32_t> mapped_pages() const;
  // Follows the later rounds of the block whose first round is the `length` steps from `begin` on.
  void follow_rounds(std::size_t begin, std::size_t length, const BeforeBlock& before);
  void fail_block(const std::string& reason);
  [[nodiscard]] bool ends_alike(std::size_t step, std::size_t other) const;
  void write_once(const Command& command);
  void write_end();

  const Reproducer& reproducer_;
  NeedsOfFile needs_;
  NamesOfFile names_;
  ReproducerText text_;
  ReproducerMemory memory_;
  ReproducerNodes nodes_;
  ReproducerCaptures captures_;
  ReproducerStrategies strategies_;
  ReproducerChecks checks_;
  State before_, after_;
  Id devices_ = 1;
  std::size_t step_ = 0;
  bool captures_begun_ = false;
  bool answered_ = true, written_out_ = false;  // about the command that is being written
  std::string error_;
};

}  // namespace verify
