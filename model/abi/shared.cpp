// libhgmodel.so: the instance that calls act on. There is one for the whole process, behind one lock.
//
// Addresses are real (AddressSpaceOptions::identity), so that programs can dereference pointers from hipHostMalloc.
// Memory that HIP did not allocate is the program's own. hgmodel_configure sets the options, before the first call of
// HIP; otherwise the defaults hold.
//
// A fault's text goes to stderr, once.
//
// Not promised: that host functions run on a thread of their own (they run inside the call that synchronises).
#include "model/abi/shared.h"

#include <cstdio>
#include <memory>
#include <string>

#include "hip/sync/sync.h"
#include "model/abi/registration.h"

namespace model::abi {
namespace {

struct Process {
  hip::sync::Mutex mutex;
  std::unique_ptr<InProcess> instance;
  InProcessOptions options;
  bool reported = false;  // whether the fault was printed
};

// Never destroyed: the program's own destructors may still call HIP.
Process& process() {
  static Process* const only = [] {
    auto* made = new Process;
    made->options.kernels = hg::host_kernels();
    return made;
  }();
  return *only;
}

// Prints the cause of a fault once, because programs print the name of an error at best.
void report_fault(Process& only) {
  if (only.reported || only.instance == nullptr || !only.instance->runtime().fault()) return;
  only.reported = true;
  std::fprintf(stderr, "hgmodel: %s\n", only.instance->runtime().fault()->text.c_str());
}

thread_local ThreadState thread_state;
thread_local int calls_inside = 0;  // of this thread: a host function that calls HIP would wait for its own lock

}  // namespace

Entry::Entry() {
  if (++calls_inside > 1) {
    refusal_ = hipErrorNotSupported;
    return;
  }
  Process& only = process();
  only.mutex.lock();
  if (only.instance == nullptr) {
    only.options.model.memory.identity = true;
    only.options.model.memory.unknown_is_host = true;
    only.instance = std::make_unique<InProcess>(only.options);
    only.instance->state().registered_kernel = &registered_kernel;
    only.instance->state().host_function_of_kernel = &host_function_of_kernel;
    only.instance->state().variable_of_symbol = &registered_variable;
  }
  state_ = &only.instance->state();
  state_->thread = &thread_state;
}

Entry::~Entry() {
  if (--calls_inside > 0) return;
  report_fault(process());
  process().mutex.unlock();
}

}  // namespace model::abi

extern "C" int hgmodel_configure(const HgModelOptions* options) {
  using model::abi::process;
  const hip::sync::LockGuard lock(process().mutex);
  if (options == nullptr || options->devices < 1 || options->devices > model::kMaxDevices) return hipErrorInvalidValue;
  if (process().instance != nullptr) return hipErrorSetOnActiveProcess;
  process().options.model.devices = options->devices;
  process().options.model.schedule_seed = options->schedule_seed;
  process().options.model.detect_races = options->detect_races != 0;
  return hipSuccess;
}

extern "C" unsigned long long hgmodel_races_seen() {
  using model::abi::process;
  const hip::sync::LockGuard lock(process().mutex);
  return process().instance == nullptr ? 0 : process().instance->runtime().races_seen();
}

extern "C" size_t hgmodel_fault_text(char* text, size_t size) {
  using model::abi::process;
  const hip::sync::LockGuard lock(process().mutex);
  if (process().instance == nullptr || !process().instance->runtime().fault()) return 0;
  const std::string& fault = process().instance->runtime().fault()->text;
  if (text != nullptr && size > 0) {
    const size_t length = fault.copy(text, size - 1);
    text[length] = '\0';
  }
  return fault.size();
}
