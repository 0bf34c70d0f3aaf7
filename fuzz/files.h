// Files that commands read and write; every error names the path and the remedy.
#pragma once

#include <string>

#include "hip/result/result.h"
#include "verify/program/program.h"

namespace fuzz {

// A program from a file, parsed and validated. The code objects that its foreign kernels name (NAME@CODE_OBJECT) are
// read from CODE_OBJECT.co beside it.
[[nodiscard]] hip::Result<verify::Program> load_program(const std::string& path);
// Writes the code objects that a program's text names beside the program's file, where they are not there yet. Does
// nothing for standard output ("-").
[[nodiscard]] hip::Status write_code_objects(const std::string& path, const std::string& text);
// How a shell calls this program: by its path from the current folder if it is below it, by its name if $PATH leads to
// it, otherwise by its whole path.
[[nodiscard]] std::string this_program();
// "-" is standard output.
[[nodiscard]] hip::Status write_text(const std::string& path, const std::string& text);
// Whether `path` can be written, asked before hours of work. Changes no existing file and leaves no new file.
[[nodiscard]] hip::Status writable(const std::string& option, const std::string& path);
// Makes the folder if it is missing and tries to write in it.
[[nodiscard]] hip::Status usable_folder(const std::string& option, const std::string& path);

}  // namespace fuzz
