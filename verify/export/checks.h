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

  // The bytes that are expected at that step.
  void bytes(std::size_t step);
  // Behind each command: which user objects' functions ran.
  void user_objects();
  // Behind the last command.
  void host_functions();
  void topology();
  void owned_graphs();
  void tear_down();

 private:
  Exporter& out_;
  const Reproducer& reproducer_;
  std::map<Id, unsigned> wents_;  // how often the function of each user object has to have run
};

}  // namespace verify
