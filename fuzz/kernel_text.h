// Standard output has the verdicts, the reports and the programs of hgcheck. While a KernelTextToErrors lives, text
// that kernels of the model print (device printf) goes to standard error instead.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace fuzz {

class KernelTextToErrors {
 public:
  KernelTextToErrors() {
    flush();
    output_ = dup(STDOUT_FILENO);
    if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  KernelTextToErrors(const KernelTextToErrors&) = delete;
  KernelTextToErrors& operator=(const KernelTextToErrors&) = delete;
  ~KernelTextToErrors() {
    flush();
    if (output_ < 0) return;
    dup2(output_, STDOUT_FILENO);
    close(output_);
  }

 private:
  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
  }

  int output_ = -1;
};

}  // namespace fuzz
