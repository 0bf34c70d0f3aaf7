// Errors that a test keeps as they are told.
#pragma once

#include <vector>

#include "hip/errors.h"

inline hip::ErrorSink into(std::vector<hip::Error>& list) {
  return {[](void* all, const hip::Error& error) { static_cast<std::vector<hip::Error>*>(all)->push_back(error); },
          &list};
}
