// The table of semantics, the handlers that end a launch, and set_mode().
#include "model/gfx942/table.h"

#include "model/gfx942/mode.h"
#include "model/gfx942/wave.h"

namespace gfx942 {

const Table& semantics_table() {
  static const Table table = [] {
    Table t;
    for (const auto add :
         {&add_scalar_operations,     &add_scalar_control,    &add_scalar_memory,  &add_vector_integers,
          &add_vector_short_integers, &add_vector_floats,     &add_vector_doubles, &add_divisions,
          &add_vector_halves,         &add_conversions,       &add_compares,       &add_lane_operations,
          &add_packed_operations,     &add_vector_memory,     &add_vector_atomics, &add_buffer_memory,
          &add_buffer_atomics,        &add_matrix_operations, &add_small_floats,   &add_local_memory,
          &add_local_atomics}) {
      add(t);
    }
    return t;
  }();
  return table;
}

void run_unknown(Wave& w, const Instruction& /*in*/) {
  w.raise(FaultKind::kUnknown, "this instruction, or this form of it, is not known to the interpreter");
}

void run_past_the_end(Wave& w, const Instruction& /*in*/) {
  w.raise(FaultKind::kControlFlow, "execution ran past the end of the code");
}

void set_mode(Wave& w, u32 bits) {
  constexpr u32 kKeep = 3;  // a denormal field: both inputs and results are kept
  const u32 single_denormals = bits >> 4 & 3;
  const u32 double_denormals = bits >> 6 & 3;
  const auto one_sided = [](u32 field) { return field == 1 || field == 2; };
  if ((bits & 15) != 0) return w.raise(FaultKind::kUnknown, "a rounding mode other than to nearest even");
  if (one_sided(single_denormals) || one_sided(double_denormals)) {
    return w.raise(FaultKind::kUnknown, "a mode that flushes denormal inputs but not results, or the other way round");
  }
  w.mode.bits = bits;
  w.mode.flush32 = single_denormals != kKeep;
  w.mode.flush64 = double_denormals != kKeep;
}

}  // namespace gfx942
