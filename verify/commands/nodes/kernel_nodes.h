// The parameters of nodes that run a kernel: how they are read, printed, made simpler and counted. Only node_types.cpp
// calls these functions. Their contracts are the contracts of the functions for all types (node_types.h).
#pragma once

#include <functional>
#include <iterator>
#include <string>

#include "verify/commands/nodes/node_types.h"

namespace verify {

using Out = std::back_insert_iterator<std::string>;
using EmitKernel = std::function<void(const KernelParams&)>;

// Reads the name of a kernel; fails where no kernel has that name.
[[nodiscard]] NodeParams parse_kernel_name(Line& line);
void parse_kernel_keys(Attributes& attributes, KernelParams& params);
void print_kernel(Out out, const KernelParams& p);
void simplify_kernel(const KernelParams& p, const EmitKernel& emit);
void count_kernel_features(const KernelParams& kernel, const std::vector<std::uint64_t>& buffer_bytes,
                           const CountFeature& add);

}  // namespace verify
