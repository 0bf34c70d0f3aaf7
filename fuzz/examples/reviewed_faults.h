// The decisions of reviewed_commands.cpp: of the mended ones, with the review's findings. Each finding is the function
// that its author wrote, over the mended function of that name. `F07<Mended>` has one fault.
//
// The author believed that between two steps only addresses change, and kept a table of them: what a copy, a memset or
// an argument of eight bytes held in the step before, and what it holds now.
//
// | finding | the author's version | property |
// | --- | --- | --- |
// | F01 | an argument of eight bytes that equals a tracked address follows it | A1 |
// | F02 | a word of the packed block that equals a tracked address follows it | A1 |
// | F03 | only a multiple of the allocator's alignment is an address: slices stay | A2 |
// | F04 | the moves are applied one after another | A3 |
// | F05 | each argument is packed as eight bytes | A4 |
// | F06 | arguments behind the sixteenth are not looked at | A2 |
// | F07 | every copy is linear, of width * height * depth bytes | A5 |
// | F08 | every copy is from device to device | A5 |
// | F09 | nodes of nested command buffers are not looked at | A2 |
// | F10 | looks into nested command buffers with a large frame for each, without a bound | P11 |
// | F11 | a command of a kind that it does not know is taken as unchanged | A7, P3 |
// | F12 | dependencies of a flattened graph go by position | P5 |
// | F13 | sets the definition's nodes | P3 |
// | F14 | keeps the caller's argument block | P1 |
// | F15 | a setter's error is dropped | P4 |
// | F16 | the table of addresses is never freed | P8 |
// | F17 | a node counts as set before the setter has answered | P4 |
// | F18 | the first command of a nested command buffer decides, also where there is none | P11 |
// | F19 | nothing comes behind a nested command buffer without commands | P5 |
// | F20 | traces are found by a set of addresses, whoever has them | A3, A7 |
// | R22 | a memset's rows behind the first are dropped | A1, P3 |
// | R23 | copies and memsets keep the size of the step before | P3 |
// | R24 | the graph of the steps before is not destroyed when all is recorded again | P8 |
// | R25 | launches on the null stream | P3, P5 |
// | R26 | a copy's positions are dropped | A5 |
// | R27 | only the first dependency is kept | P5 |
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "reviewed_decisions.h"

namespace reviewed {

inline uint64_t number_of(const void* address) {
  return reinterpret_cast<uint64_t>(address);
}

inline bool is_word(const hgpatcher_kernel& kernel, size_t argument) {
  return kernel.sizes[argument] == kWord;
}

// ---- the table of tracked addresses

using Moves = std::vector<std::pair<uint64_t, uint64_t>>;

inline void track(uint64_t before, uint64_t now, Moves& moves) {
  const bool known = std::ranges::find(moves, before, &Moves::value_type::first) != moves.end();
  if (before != now && !known) moves.emplace_back(before, now);
}

// Adds a command's addresses: in the step before, and now.
inline void track(const Parameters& kept, const hgpatcher_node& now, Moves& moves) {
  if (kept.kind == HGPATCHER_COPY) {
    track(number_of(kept.copy.dstPtr.ptr), number_of(now.copy.dstPtr.ptr), moves);
    track(number_of(kept.copy.srcPtr.ptr), number_of(now.copy.srcPtr.ptr), moves);
  }
  if (kept.kind == HGPATCHER_MEMSET) track(number_of(kept.memset.dst), number_of(now.memset.dst), moves);
  if (kept.kind != HGPATCHER_KERNEL) return;
  const auto* arguments = static_cast<const unsigned char*>(now.kernel.arguments);
  for (size_t i = 0; i < now.kernel.count; ++i) {
    const uint32_t at = now.kernel.offsets[i];
    if (is_word(now.kernel, i) && at + kWord <= kept.kernel.arguments.bytes)
      track(word_at(kept.kernel.arguments.at.get() + at), word_at(arguments + at), moves);
  }
}

inline void track(const Level& level, const std::vector<Leaf>& leaves, Moves& moves) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (level.nodes[i].inner)
      track(*level.nodes[i].inner, leaves[i].inner, moves);
    else
      track(level.nodes[i].kept, leaves[i].command->node, moves);
  }
}

template <class Base>
struct Tracking : Base {
  static Step look(const Level& level, const std::vector<Leaf>& leaves) {
    Step step = Base::look(level, leaves);
    step.moves.clear();
    track(level, leaves, step.moves);
    return step;
  }
};

// Where a tracked address is now; a value that is none stays.
inline uint64_t follow(uint64_t value, const Step& step) {
  const auto found = std::ranges::find(step.moves, value, &Moves::value_type::first);
  return found == step.moves.end() ? value : found->second;
}

inline void put(uint64_t word, Bytes& bytes, size_t at) {
  if (at + kWord <= bytes.size()) std::memcpy(bytes.data() + at, &word, kWord);
}

// ---- argument blocks

// F01. The author believed: an argument may be older than the move, so one that equals an old address has to follow.
// The mistake: a number may equal an address.
template <class Base>
struct F01 : Tracking<Base> {
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    Bytes bytes = Base::arguments(kept, next, step);
    for (size_t i = 0; i < next.count; ++i) {
      const uint32_t at = next.offsets[i];
      if (!is_word(next, i) || at + kWord > kept.arguments.bytes) continue;
      const uint64_t before = word_at(kept.arguments.at.get() + at);
      if (follow(before, step) != before) put(follow(before, step), bytes, at);
    }
    return bytes;
  }
};

// F02. The author believed: structs hold pointers as well, and a pointer is aligned. The mistake is that of F01, for
// every word of the block.
template <class Base>
struct F02 : Tracking<Base> {
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    Bytes bytes = Base::arguments(kept, next, step);
    for (size_t at = 0; at + kWord <= kept.arguments.bytes; at += kWord) {
      const uint64_t before = word_at(kept.arguments.at.get() + at);
      if (follow(before, step) != before) put(follow(before, step), bytes, at);
    }
    return bytes;
  }
};

// F03. The author believed: hipMalloc aligns memory at 256 bytes, so any other word is a number, and numbers do not
// change. The mistake: a slice may begin anywhere.
template <class Base>
struct F03 : Base {
  static constexpr uint64_t kAlignment = 256;
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    Bytes bytes = Base::arguments(kept, next, step);
    for (size_t i = 0; i < next.count; ++i) {
      const uint32_t at = next.offsets[i];
      if (!is_word(next, i) || at + kWord > kept.arguments.bytes) continue;
      const uint64_t before = word_at(kept.arguments.at.get() + at);
      if (before % kAlignment != 0) put(before, bytes, at);
    }
    return bytes;
  }
};

// F04. The author believed: a step's moves can be carried out one after another. The mistake: when a goes to b's place
// and b elsewhere, the second move takes along what the first has brought.
template <class Base>
struct F04 : Tracking<Base> {
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    Bytes bytes = Base::arguments(kept, next, step);
    for (size_t i = 0; i < next.count; ++i) {
      const uint32_t at = next.offsets[i];
      if (!is_word(next, i) || at + kWord > kept.arguments.bytes) continue;
      const uint64_t before = word_at(kept.arguments.at.get() + at);
      uint64_t word = before;
      for (const auto& [from, to] : step.moves) word = word == from ? to : word;
      if (follow(before, step) != before) put(word, bytes, at);
    }
    return bytes;
  }
};

// F05. The author believed: an argument is a word, so the block is a list of words.
template <class Base>
struct F05 : Base {
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    const Bytes bytes = Base::arguments(kept, next, step);
    Bytes packed(next.count * kWord);
    for (size_t i = 0; i < next.count; ++i) {
      const size_t left = bytes.size() - std::min<size_t>(bytes.size(), next.offsets[i]);
      const size_t size = std::min<size_t>(kWord, left);
      std::memcpy(packed.data() + i * kWord, bytes.data() + next.offsets[i], size);
    }
    return packed;
  }
};

// F06. The author believed: no kernel has more arguments than the table has room for.
template <class Base>
struct F06 : Base {
  static constexpr size_t kMostArguments = 16;
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    const Bytes bytes = Base::arguments(kept, next, step);
    Bytes block(kept.arguments.at.get(), kept.arguments.at.get() + kept.arguments.bytes);
    block.resize(bytes.size());
    for (size_t i = 0; i < std::min(next.count, kMostArguments); ++i)
      std::memcpy(block.data() + next.offsets[i], bytes.data() + next.offsets[i], next.sizes[i]);
    return block;
  }
};

// F14. The author believed: the commands live as long as the graph, so their argument blocks need no copy; only words
// change in them. The mistake: they are the caller's, and gone when the step is.
template <class Base>
struct F14 : Base {
  static Block keep(const hgpatcher_kernel& kernel) {
    const auto* bytes = static_cast<const unsigned char*>(kernel.arguments);
    return {std::shared_ptr<const unsigned char>(bytes, [](const unsigned char*) {}), kernel.bytes};
  }
  static Bytes arguments(const Kernel& kept, const hgpatcher_kernel& next, const Step& step) {
    const Bytes bytes = Base::arguments(kept, next, step);
    Bytes block(kept.arguments.at.get(), kept.arguments.at.get() + kept.arguments.bytes);
    for (size_t i = 0; i < next.count; ++i) {
      if (is_word(next, i)) put(word_at(bytes.data() + next.offsets[i]), block, next.offsets[i]);
    }
    return block;
  }
};

// ---- copies and memsets

// F07. The author believed: a copy moves width * height * depth bytes, so the linear form serves for every copy.
template <class Base>
struct F07 : Base {
  static void shape(Parameters& p) {
    Base::shape(p);
    p.linear = 1;
    p.copy.extent = {p.copy.extent.width * p.copy.extent.height * p.copy.extent.depth, 1, 1};
  }
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    hgpatcher_node linear = next;
    linear.linear = 1;
    return Base::can_set(kept, linear);
  }
};

// F08. The author believed: a graph copies memory of the device only.
template <class Base>
struct F08 : Base {
  static void shape(Parameters& p) {
    Base::shape(p);
    p.copy.kind = hipMemcpyDeviceToDevice;
  }
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    hgpatcher_node on_device = next;
    on_device.copy.kind = hipMemcpyDeviceToDevice;
    return Base::can_set(kept, on_device);
  }
};

// R22. The author believed: a memset has one row.
template <class Base>
struct R22 : Base {
  static void shape(Parameters& p) {
    Base::shape(p);
    p.memset.height = 1;
  }
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    hgpatcher_node row = next;
    row.memset.height = 1;
    return Base::can_set(kept, row);
  }
};

// R23. The author believed: only addresses change.
template <class Base>
struct R23 : Base {
  static void carry(const Parameters& kept, Parameters& next) {
    Base::carry(kept, next);
    next.copy.extent = kept.copy.extent;
    next.memset.width = kept.memset.width;
    next.memset.height = kept.memset.height;
    next.memset.value = kept.memset.value;
  }
};

// R26. The author believed: a copy begins where its pointers point.
template <class Base>
struct R26 : Base {
  static void carry(const Parameters& kept, Parameters& next) {
    Base::carry(kept, next);
    next.copy.dstPos = next.copy.srcPos = {0, 0, 0};
  }
};

// ---- nested and traced commands

// F09. The author believed: the list of a graph's nodes shows every node.
template <class Base>
struct F09 : Base {
  static bool walks(const Leaf& leaf, const Step& step) {
    return !leaf.nested && leaf.inner.empty() && Base::walks(leaf, step);
  }
};

// F10. The author believed: command buffers nest two or three deep. The mistake: the caller decides how deep, and a
// stack ends.
template <class Base>
struct F10 : Base {
  static constexpr size_t kMostNodesOfALevel = 65536;
  static size_t depth(const hgcommands_command* commands, size_t count, size_t above = 0) {
    std::array<const hgcommands_command*, kMostNodesOfALevel> nested;
    size_t found = 0, deepest = above;
    for (size_t i = 0; i < count && found < nested.size(); ++i) {
      if (commands[i].node.kind == HGPATCHER_CHILD) nested[found++] = &commands[i];
    }
    for (size_t i = 0; i < found; ++i)
      deepest = std::max(deepest, depth(nested[i]->nested, nested[i]->nested_count, above + 1));
    return deepest;
  }
};

// F11. The author believed: a command of another kind than kernels, copies and memsets holds no address.
template <class Base>
struct F11 : Base {
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    return next.kind == HGPATCHER_OPAQUE || Base::can_set(kept, next);
  }
  static bool walks(const Leaf& leaf, const Step& step) {
    const uint32_t kind = leaf.command->node.kind;
    const bool known = kind == HGPATCHER_KERNEL || kind == HGPATCHER_COPY || kind == HGPATCHER_MEMSET;
    return (known || kind == HGPATCHER_CHILD) && Base::walks(leaf, step);
  }
};

// F12. The author believed: a command's dependencies are the nodes at their positions. The mistake: positions change
// once nested command buffers are flattened.
template <class Base>
struct F12 : Base {
  static bool flattens(const hgcommands_command&) { return true; }
  static Ends behind(const hgpatcher_node& node, const std::vector<Ends>&, const Ends& entry,
                     std::pair<size_t, size_t> range) {
    Ends all = node.dependency_count == 0 ? entry : Ends();
    for (size_t i = 0; i < node.dependency_count; ++i) {
      const size_t position = range.first + node.dependencies[i];
      if (position < range.second) all.push_back(position);
    }
    return all;
  }
};

// R27. The author believed: commands are recorded in a chain.
template <class Base>
struct R27 : Base {
  static Ends behind(const hgpatcher_node& node, const std::vector<Ends>& ends, const Ends& entry,
                     std::pair<size_t, size_t> range) {
    hgpatcher_node first = node;
    first.dependency_count = std::min<size_t>(node.dependency_count, 1);
    return Base::behind(first, ends, entry, range);
  }
};

// F18. The author believed: a nested command buffer has a command. Kernels are worth flattening, others are not.
template <class Base>
struct F18 : Base {
  static bool flattens(const hgcommands_command& nested) { return nested.nested[0].node.kind == HGPATCHER_KERNEL; }
};

// F19. The author believed: a command buffer without commands has nothing to wait for. The mistake: the commands behind
// it still come behind the commands before it.
template <class Base>
struct F19 : Base {
  static bool flattens(const hgcommands_command&) { return true; }
  static Ends ends_of_nothing(const Ends&) { return {}; }
};

inline void add_addresses(const Parameters& kept, std::vector<uint64_t>& addresses) {
  if (kept.kind == HGPATCHER_COPY) {
    addresses.push_back(number_of(kept.copy.dstPtr.ptr));
    addresses.push_back(number_of(kept.copy.srcPtr.ptr));
  }
  if (kept.kind == HGPATCHER_MEMSET) addresses.push_back(number_of(kept.memset.dst));
  if (kept.kind != HGPATCHER_KERNEL) return;
  for (size_t at = 0; at + kWord <= kept.kernel.arguments.bytes; at += kWord)
    addresses.push_back(word_at(kept.kernel.arguments.at.get() + at));
}

inline std::vector<uint64_t> as_set(std::vector<uint64_t> addresses) {
  std::ranges::sort(addresses);
  addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
  return addresses;
}

// F20. The author believed: a trace serves as long as the slices of the step have the same addresses. The mistake: the
// same addresses may belong to other buffers.
template <class Base>
struct F20 : Base {
  static bool can_set(const Parameters& kept, const hgpatcher_node& next) {
    return next.kind == HGPATCHER_OPAQUE || Base::can_set(kept, next);
  }
  static Step look(const Level& level, const std::vector<Leaf>& leaves) {
    Step step = Base::look(level, leaves);
    std::vector<uint64_t> before, now;
    for (const Node& node : level.nodes) add_addresses(node.kept, before);
    for (const Leaf& leaf : leaves)
      add_addresses(parameters_of(*leaf.command, owned(bytes_of(leaf.command->node.kernel))), now);
    step.hits_traces = as_set(before) == as_set(now);
    return step;
  }
  static bool walks(const Leaf& leaf, const Step& step) {
    return !(step.hits_traces && leaf.command->node.kind == HGPATCHER_OPAQUE) && Base::walks(leaf, step);
  }
};

// ---- calls of HIP

// F13. The author believed: a graph that has been instantiated is launched as its nodes are.
template <class Base>
struct F13 : Base {
  static hipGraphExec_t target(hipGraphExec_t) { return nullptr; }
};

// F15. The author believed: a setter of a node that exists does not fail.
template <class Base>
struct F15 : Base {
  static hipError_t answered(hipError_t) { return hipSuccess; }
  static bool usable_without(Node&, Parameters) { return true; }
};

// F16. The author believed: the table is needed as long as the process. It is in pinned memory, so that a kernel can
// read it, and nothing owns it.
template <class Base>
struct F16 : Base {
  static hipError_t recorded(const hgpatcher_hip* hip, size_t nodes) {
    const auto allocate = reinterpret_cast<hipError_t (*)(void**, size_t, unsigned)>(hip->find(hip, "hipHostMalloc"));
    void* table = nullptr;
    const hipError_t status = allocate(&table, (nodes + 1) * kWord, hipHostMallocDefault);
    return status != hipSuccess ? status : Base::recorded(hip, nodes);
  }
};

// F17. The author believed: the parameters that a node was given are those that it has. The mistake: after a setter has
// failed it does not have them, and the next step finds nothing to do.
template <class Base>
struct F17 : Base {
  static bool usable_without(Node& node, Parameters next) {
    node.kept = std::move(next);
    return true;
  }
};

// R24. The author believed: the runtime frees a graph with its executable graph.
template <class Base>
struct R24 : Base {
  static bool destroys_old_graphs() { return false; }
};

// R25. The author believed: a step has one stream.
template <class Base>
struct R25 : Base {
  static hipStream_t stream(hipStream_t) { return nullptr; }
};

// All of them. Some hide others: F15 hides F17, F12 hides R27, F11 hides F20.
using AsReviewed = F01<F02<F03<F04<F05<F06<
    F07<F08<F09<F10<F11<F12<F13<F14<F15<F16<F17<F18<F19<F20<R22<R23<R24<R25<R26<R27<Mended>>>>>>>>>>>>>>>>>>>>>>>>>>;

}  // namespace reviewed
