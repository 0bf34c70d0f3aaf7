#include "bench/counting_api.h"

#include <cassert>
#include <string_view>

#include "verify/execute/heap_counter.h"
#include "verify/execute/interposer.h"

namespace bench {

namespace {

CountingApi* active = nullptr;

bool is_setter(verify::Function function) {
  const std::string_view name = verify::function_name(function);
  return name.starts_with("hipGraphExec") && name.find("SetParams") != std::string_view::npos;
}

template <verify::Function kFunction, auto Member>
struct Counted;
template <verify::Function kFunction, class R, class... Args, R (*hip::Api::*Member)(Args...)>
struct Counted<kFunction, Member> {
  static R call(Args... args) {
    static const bool setter = is_setter(kFunction);
    CountingApi& self = CountingApi::current();
    ApiCounts& counts = self.counting();
    ++counts.calls;
    if (setter) ++counts.setters;
    if (kFunction == verify::Function::k_hipGraphLaunch) ++counts.launches;
    const std::uint64_t before = verify::heap_use().allocations;
    const R answer = (self.inner().*Member)(args...);
    counts.allocations += verify::heap_use().allocations - before;
    return answer;
  }
};

template <verify::Function kFunction, auto Member>
void wrap(hip::Api& table) {
  if (table.*Member != nullptr) table.*Member = Counted<kFunction, Member>::call;
}

hip::Api counted(const hip::Api& inner) {
  hip::Api table = inner;
#define HIP_FUNCTION(name, ...) wrap<verify::Function::k_##name, &hip::Api::name>(table);
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  return table;
}

}  // namespace

CountingApi::CountingApi(const hip::Api& inner) : inner_(inner), table_(counted(inner)) {
  assert(active == nullptr && "one table counts at a time");
  active = this;
}

CountingApi::~CountingApi() {
  active = nullptr;
}

CountingApi& CountingApi::current() {
  return *active;
}

hip::Api without_launches(const hip::Api& inner) {
  hip::Api table = inner;
  table.hipGraphLaunch = [](hipGraphExec_t, hipStream_t) { return hipSuccess; };
  table.hipEventRecord = [](hipEvent_t, hipStream_t) { return hipSuccess; };
  return table;
}

}  // namespace bench
