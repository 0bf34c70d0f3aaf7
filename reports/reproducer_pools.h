// Stream-ordered memory and memory pools in reproducers: the calls that the executor makes, as a person would write
// them.
#pragma once

#include <string>

#include "reports/reproducer_text.h"
#include "verify/program/program.h"

namespace reports {

class ReproducerPools {
 public:
  explicit ReproducerPools(ReproducerText& text) : text_(text) {}

  void write(const verify::MallocAsync& c, const std::string& stream, const ExpectedStatus& expected);
  void write(const verify::DeclarePool& c, const ExpectedStatus& expected);
  void write(const verify::TrimPool& c, const ExpectedStatus& expected);
  void write(const verify::UsePool& c, const ExpectedStatus& expected);
  void write(const verify::DestroyPool& c, const ExpectedStatus& expected);
  // Whether all that the command answers beside its status is checked where it has to be.
  bool write(const verify::AskPool& c, const ExpectedStatus& expected);
  bool write(const verify::AccessPool& c, const ExpectedStatus& expected);

 private:
  ReproducerText& text_;
  unsigned locals_ = 0;
};

}  // namespace reports
