#include "verify/execute/patcher_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <deque>

#include "verify/execute/command_library.h"
#include "verify/execute/interposer.h"
#include "verify/execute/library_place.h"
#include "verify/execute/shown_nodes.h"

namespace verify {

namespace {

// The functions of a loaded library, and the handle that keeps it loaded.
struct Library {
  std::shared_ptr<void> handle;
  std::string path;
  decltype(&hgpatcher_record) record = nullptr;
  decltype(&hgpatcher_patch) patch = nullptr;
  decltype(&hgpatcher_destroy) destroy = nullptr;
  decltype(&hgpatcher_launch) launch = nullptr;  // may be missing
  std::uint32_t wants = 0;
};

// A recording as the ABI's plain structs: copies, so that they can be overwritten afterwards.
class View {
 public:
  // The view shows the buffers at `addresses`; the recording holds the addresses from when it was made.
  View(const hip::Recording& recording, const hip::RecordedGraph& graph, hipGraphExec_t exec,
       std::span<const hip::DeviceAddress> addresses, bool relocations)
      : shown_(addresses), relocations_(relocations), graph_(view(recording, &graph.nodes)) {
    graph_.handle = graph.graph;
    graph_.exec = exec;
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  [[nodiscard]] hgpatcher_graph& graph() { return graph_; }
  void overwrite() {
    shown_.overwrite();
    for (std::vector<hgpatcher_node>& nodes : nodes_) {
      for (hgpatcher_node& node : nodes) std::memset(static_cast<void*>(&node), static_cast<int>(kPoison), sizeof node);
    }
  }

 private:
  hgpatcher_graph view(const hip::Recording& recording, const std::vector<hipGraphNode_t>* handles) {
    std::vector<hgpatcher_node> nodes;
    for (std::size_t i = 0; i < recording.nodes().size(); ++i) {
      const hip::RecordedNode& recorded = recording.nodes()[i];
      hgpatcher_node node = shown_.show(recorded);
      if (handles != nullptr) node.handle = (*handles)[i];
      if (const auto* child = std::get_if<hip::ChildRecord>(&recorded.record)) {
        node.child = &children_.emplace_back(view(*child->graph, nullptr));
      }
      if (relocations_ && node.kind != HGPATCHER_OPAQUE) show_relocations(node, recorded);
      nodes.push_back(node);
    }
    nodes_.push_back(std::move(nodes));
    hgpatcher_graph graph{};
    graph.nodes = nodes_.back().data();
    graph.node_count = nodes_.back().size();
    return graph;
  }
  void show_relocations(hgpatcher_node& node, const hip::RecordedNode& recorded) {
    std::vector<hgpatcher_relocation> list;
    for (const hip::Relocation& r : recorded.relocations) {
      list.push_back({static_cast<std::uint32_t>(r.field), r.offset, r.buffer, r.addend});
    }
    node.relocations = shown_.copy(list);
    node.relocation_count = list.size();
  }

  ShownNodes shown_;
  bool relocations_;
  std::deque<std::vector<hgpatcher_node>> nodes_;
  std::deque<hgpatcher_graph> children_;
  hgpatcher_graph graph_;
};

hip::PatchError record_again(int code, std::string message) {
  return {hip::PatchFailure::kRecordAgain, code, std::move(message)};
}

class LibraryPatcher final : public ExecPatcher {
 public:
  LibraryPatcher(const Library& library, const PatchTarget& target)
      : library_(library),
        finder_(target.api),
        recording_(target.recording),
        graph_(target.graph),
        exec_(target.exec),
        poison_(target.poison),
        addresses_(target.addresses.begin(), target.addresses.end()),
        bytes_(target.buffer_bytes.begin(), target.buffer_bytes.end()) {}
  ~LibraryPatcher() override { forget(); }

  hip::PatchResult patch(std::span<const hip::Move> moves) override {
    if (exec_ == nullptr && (library_.wants & HGPATCHER_WANTS_DEFINITIONS) == 0) {
      return moves.empty() ? hip::PatchResult(hip::PatchReport{})
                           : record_again(0, "the library does not patch definitions");
    }
    if (patcher_ == nullptr) {
      if (const hipError_t status = show(); status != hipSuccess || patcher_ == nullptr) {
        return record_again(status, fmt::format("hgpatcher_record answered {}", hip::status_name(status)));
      }
    }
    std::vector<hgpatcher_move> passed;
    for (const hip::Move& move : moves) passed.push_back({move.buffer, move.from, move.to, bytes_[move.buffer]});
    hipError_t error = hipSuccess;
    const hgpatcher_status status = [&] {
      const LibraryPlace place("hgpatcher_patch");
      return library_.patch(patcher_, passed.data(), passed.size(), &error);
    }();
    if (poison_ && !passed.empty()) {
      std::memset(static_cast<void*>(passed.data()), static_cast<int>(kPoison), passed.size() * sizeof passed[0]);
      moves_.push_back(std::move(passed));
    }
    return outcome(status, error, moves);
  }
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    recording_.replace(node, std::move(record), std::move(relocations));
    forget();
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    recording_ = recording;
    addresses_.assign(addresses.begin(), addresses.end());
    forget();
  }
  hipError_t launch(const hip::Api& api, hipGraphExec_t exec, hipStream_t stream) override {
    if (library_.launch == nullptr || patcher_ == nullptr) return api.hipGraphLaunch(exec, stream);
    const LibraryPlace place("hgpatcher_launch");
    return library_.launch(patcher_, stream);
  }

 private:
  hipError_t show() {
    const bool relocations = (library_.wants & HGPATCHER_WANTS_RELOCATIONS) != 0;
    views_.push_back(std::make_unique<View>(recording_, graph_, exec_, addresses_, relocations));
    tables_.push_back({addresses_, bytes_});
    hgpatcher_graph& graph = views_.back()->graph();
    graph.addresses = tables_.back().addresses.data();
    graph.bytes = tables_.back().bytes.data();
    graph.buffer_count = addresses_.size();
    const hipError_t status = [&] {
      const LibraryPlace place("hgpatcher_record");
      return library_.record(&finder_.base, &graph, &patcher_);
    }();
    if (poison_) {
      views_.back()->overwrite();
      for (hip::DeviceAddress& address : tables_.back().addresses) std::memset(&address, 0xdb, sizeof address);
      for (std::uint64_t& size : tables_.back().bytes) std::memset(&size, 0xdb, sizeof size);
    }
    if (status != hipSuccess) patcher_ = nullptr;
    return status;
  }
  hip::PatchResult outcome(hgpatcher_status status, hipError_t error, std::span<const hip::Move> moves) {
    const std::string name = fmt::format("hgpatcher_patch answered {}", static_cast<int>(status));
    switch (status) {
      case HGPATCHER_DONE:
        for (const hip::Move& move : moves) addresses_[move.buffer] = move.to;
        return hip::PatchReport{};
      case HGPATCHER_RECORD_AGAIN:
        return record_again(error, name);
      case HGPATCHER_ROLLED_BACK:
        return hip::PatchError{hip::PatchFailure::kRolledBack, error, name};
      case HGPATCHER_UNUSABLE:
        break;
    }
    return hip::PatchError{hip::PatchFailure::kUnusable, error, name};
  }
  void forget() {
    const LibraryPlace place("hgpatcher_destroy");
    if (patcher_ != nullptr) library_.destroy(patcher_);
    patcher_ = nullptr;
  }

  struct Tables {
    std::vector<hip::DeviceAddress> addresses;
    std::vector<std::uint64_t> bytes;
  };
  const Library library_;
  HipFinder finder_;
  hip::Recording recording_;
  hip::RecordedGraph graph_;
  hipGraphExec_t exec_;
  bool poison_;
  hip::AddressTable addresses_;
  std::vector<std::uint64_t> bytes_;
  hgpatcher* patcher_ = nullptr;
  // The data that the library was shown: kept, so that a stale reference reads poison.
  std::vector<std::unique_ptr<View>> views_;
  std::deque<Tables> tables_;
  std::vector<std::vector<hgpatcher_move>> moves_;
};

template <class Function>
bool find(const std::shared_ptr<void>& handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle.get(), name));
  return function != nullptr;
}

hip::Error unusable(const std::string& path, const std::string& what) {
  return {hipErrorSharedObjectInitFailed,
          fmt::format("{} is no patcher library: {}; docs/check-your-own-patcher.md says what one is", path, what)};
}

}  // namespace

hip::Result<LoadedLibrary> load_library(const std::string& path) {
  // dlopen would look for a name without a slash in the system's library folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return unusable(path, fmt::format("it cannot be loaded ({})", dlerror()));
  Library library;
  library.handle = std::shared_ptr<void>(handle, [](void* h) { dlclose(h); });
  library.path = path;
  decltype(&hgpatcher_abi) abi = nullptr;
  if (!find(library.handle, "hgpatcher_abi", abi)) return unusable(path, "it does not export hgpatcher_abi");
  const std::uint32_t answer = abi();
  const std::uint32_t version = answer >> 16;
  if (version == 0) {
    return unusable(path,
                    fmt::format("hgpatcher_abi answers {:#x}, which holds no version: the version belongs into the "
                                "upper 16 bits, as in HGPATCHER_ABI_COMMANDS << 16",
                                answer));
  }
  if (version != HGPATCHER_ABI_VERSION && version != HGPATCHER_ABI_COMMANDS) {
    return unusable(path, fmt::format("it was built for version {} of the interface, and this hgcheck has versions {} "
                                      "and {}: build it again with this hgcheck's hip/patcher_abi.h",
                                      version, HGPATCHER_ABI_VERSION, HGPATCHER_ABI_COMMANDS));
  }
  library.wants = answer & 0xffffU;
  const std::uint32_t known = version == HGPATCHER_ABI_COMMANDS
                                  ? HGCOMMANDS_SEVERAL_DEVICES
                                  : HGPATCHER_WANTS_RELOCATIONS | HGPATCHER_WANTS_DEFINITIONS;
  if ((library.wants & ~known) != 0) {
    return unusable(
        path, fmt::format("hgpatcher_abi answers {:#x}: version {} knows no wish {:#x} in the lower 16 bits", answer,
                          version, library.wants & ~known));
  }
  std::string missing;
  const auto require = [&](const char* name, auto& function) {
    if (!find(library.handle, name, function)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  };
  LoadedLibrary loaded;
  if (version == HGPATCHER_ABI_COMMANDS) {
    CommandLibrary commands{.handle = library.handle};
    commands.several_devices = (library.wants & HGCOMMANDS_SEVERAL_DEVICES) != 0;
    require("hgcommands_create", commands.create);
    require("hgcommands_begin", commands.begin);
    require("hgcommands_update", commands.update);
    require("hgcommands_launch", commands.launch);
    require("hgcommands_destroy", commands.destroy);
    loaded.commands = std::make_shared<const CommandLibrary>(commands);
    loaded.strategy = [commands] { return make_library_strategy(commands); };
  } else {
    require("hgpatcher_record", library.record);
    require("hgpatcher_patch", library.patch);
    require("hgpatcher_destroy", library.destroy);
    static_cast<void>(find(library.handle, "hgpatcher_launch", library.launch));
    loaded.patchers = [library](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
      return std::make_unique<LibraryPatcher>(library, target);
    };
  }
  decltype(&hgcommands_begin) begin = nullptr;
  if (!missing.empty() && version == HGPATCHER_ABI_VERSION && find(library.handle, "hgcommands_begin", begin))
    missing += " (it exports hgcommands_begin: does hgpatcher_abi have to answer HGPATCHER_ABI_COMMANDS << 16?)";
  if (!missing.empty()) return unusable(path, "it does not export " + missing);
  return loaded;
}

}  // namespace verify
