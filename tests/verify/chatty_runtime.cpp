// A HIP runtime that prints to standard output when it is loaded: the model, with a voice.
#include <cstdio>

namespace {

[[gnu::constructor]] void print_a_banner() {
  std::puts("Welcome to this runtime! HGC1");
  std::fflush(stdout);
}

}  // namespace
