// hipStreamBatchMemOp refuses every batch.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(1);
  MUST(hipStreamWriteValue32(nullptr, memory, 5, 0));
  MUST(hipDeviceSynchronize());
  check("written by hipStreamWriteValue32", 5, read_int(memory));
  hipStreamBatchMemOpParams operation{};
  operation.operation = hipStreamMemOpWriteValue32;
  operation.writeValue.address = memory;
  operation.writeValue.value = 6;
  check("hipStreamBatchMemOp", hipSuccess, hipStreamBatchMemOp(nullptr, 1, &operation, 0));
  MUST(hipDeviceSynchronize());
  check("written by hipStreamBatchMemOp", 6, read_int(memory));
  return verdict();
}
