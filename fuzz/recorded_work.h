// The work of a node, or of one operation on a stream, from the log of libhgrecorder.so to the words of the language.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// The words of one line of a log. A word that is missing is read as an empty word, or as 0.
class LogWords {
 public:
  explicit LogWords(std::string_view line) {
    while (!line.empty()) {
      const std::size_t space = line.find(' ');
      words_.emplace_back(line.substr(0, space));
      line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
  }
  std::string word() { return next_ < words_.size() ? std::string(words_[next_++]) : std::string(); }
  std::uint64_t number() {
    const std::string text = word();
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
  }
  // As many numbers as the next one says.
  std::vector<std::uint64_t> list() {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t left = number(); left > 0 && !at_end(); --left) numbers.push_back(number());
    return numbers;
  }
  [[nodiscard]] bool at_end() const { return next_ >= words_.size(); }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

// The names of the objects of one kind: "g0", "g1". An object with the handle of an earlier object has a new name.
class RecordedNames {
 public:
  explicit RecordedNames(char letter, unsigned first = 0) : letter_(letter), next_(first) {}
  const std::string& add(std::uint64_t handle) { return names_[handle] = reserve(); }
  // The next name, of an object whose handle is not known yet; name() tells it.
  std::string reserve() { return letter_ + std::to_string(next_++); }
  void name(std::uint64_t handle, const std::string& name) { names_[handle] = name; }
  void forget(std::uint64_t handle) { names_.erase(handle); }
  // Empty: the handle was not recorded.
  [[nodiscard]] std::string of(std::uint64_t handle) const;

 private:
  char letter_;
  unsigned next_;
  std::map<std::uint64_t, std::string> names_;
};

// The names that a program gives to the handles and addresses of a log.
struct RecordedObjects {
  struct Buffer {
    std::uint32_t id = 0;
    std::uint64_t bytes = 0;
    bool of_graph = false;  // a graph or a capture allocates it
  };
  struct Node {
    std::string graph;
    std::uint32_t id = 0;
  };

  // "b0+16" for an address, or nothing. One past the end belongs to a buffer when no other buffer begins there.
  [[nodiscard]] std::optional<std::string> ref(std::uint64_t address) const;
  // The buffer of that address and where it begins, or nothing.
  [[nodiscard]] const std::pair<const std::uint64_t, Buffer>* buffer_at(std::uint64_t address) const;

  std::map<std::uint64_t, Buffer> buffers;                              // by their addresses
  RecordedNames streams{'s', 1}, events{'v'}, graphs{'g'}, execs{'e'};  // stream 0 is the null stream
  RecordedNames modules{'m'};                                           // of the project's own code object
  std::map<std::uint64_t, Node> nodes;
  std::map<std::string, std::uint32_t> next_node;  // by graph
};

// A node's work in the language's words: "kernel", "axpy_u64 out=b0+0 ...".
struct Work {
  std::string word, rest;
  std::string flaw{};  // why the language cannot express it, or empty
  std::string form{};  // " form=generic" of a node that such a function adds or sets, or empty
};

// A copy of rows and slices.
struct Copy3d {
  struct End {
    std::optional<std::string> place{};
    std::uint64_t pitch = 0, rows = 0, x = 0, y = 0, z = 0;
  };
  End dst, src;
  std::uint64_t width = 0, height = 0, depth = 0, kind = 0;

  Copy3d(const RecordedObjects& objects, LogWords& words);
  [[nodiscard]] Work work() const;
};

// "h2d" and so on for HIP's numbers; "default" for any other number.
const char* copy_kind(std::uint64_t kind);

// The project's own code object, whose kernels a program may name, as the recorder spells it.
std::string own_code_object();

class WorkReader {
 public:
  // `note` is called for each point in which the program differs from the log. `objects` outlives the reader.
  WorkReader(const RecordedObjects& objects, std::function<void(const std::string&)> note);
  // Reads the rest of a line, from the kind of work on.
  Work read(LogWords& words);
  [[nodiscard]] bool is_own(const std::string& code_object) const { return code_object == own_; }

 private:
  Work copy(LogWords& words) const;
  Work fill(LogWords& words) const;
  Work kernel(LogWords& words);

  const RecordedObjects& objects_;
  const std::function<void(const std::string&)> note_;
  const std::string own_;  // the hash of the project's code object, whose kernels are named without one
  std::map<std::uint64_t, std::size_t> tags_;
  std::set<std::string> doubtful_;  // fields whose unknown meaning has been noted
};

}  // namespace fuzz
