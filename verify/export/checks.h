// The checks that no single command makes: bytes of buffers, user objects, host functions and topology at the end.
#pragma once

#include <map>

#include "verify/export/names.h"
#include "verify/export/text.h"

namespace verify {

class Exporter;

class ReproducerChecks {
 public:
  ReproducerChecks(Exporter& out, const Reproducer& reproducer) : out_(out), reproducer_(reproducer) {}

  // Checks the bytes that are expected at that step.
  void bytes(std::size_t step);
  // Called after each command: checks which user objects' functions ran.
  void user_objects();
  // Called after the last command.
  void host_functions();
  void topology();
  void owned_graphs();
  void tear_down();

 private:
  Exporter& out_;
  const Reproducer& reproducer_;
  std::map<Id, unsigned> wents_;  // by user object: how often its function has to have run
};

}  // namespace verify
