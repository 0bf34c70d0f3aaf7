// The functions of configure.h.
#include "hip/agent/configure.h"

#include "hip/agent/machine.h"

using agent::Machine;

extern "C" {

void hgagent_defaults(hgagent_options* options) {
  *options = agent::default_options();
}

int hgagent_configure(const hgagent_options* options) {
  return options == nullptr ? 1 : Machine::get().configure(*options);
}

size_t hgagent_last_fault(char* text, size_t size) {
  const std::string last = Machine::get().faults().last();
  if (text != nullptr && size != 0) text[last.copy(text, size - 1)] = '\0';
  return last.size();
}

uint64_t hgagent_counters(uint32_t counter) {
  return Machine::get().counter(counter);
}

int hgagent_rest() {
  return Machine::get().rest() ? 0 : 1;
}

void hgagent_wake() {
  Machine::get().wake();
}

int hgagent_step() {
  return Machine::get().stepper().host_yields() ? 1 : 0;
}

void hgagent_signature_begin() {
  Machine::get().signature().begin();
}

size_t hgagent_signature(uint16_t* features, size_t size) {
  return Machine::get().signature().read(features, size);
}
}
