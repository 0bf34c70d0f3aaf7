#include "verify/execute/user_objects.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "hip/errors.h"
#include "verify/execute/strategy.h"

namespace verify {

namespace {

hip::Status missing() {
  return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
}

// A leak is worth that much of a program's time, and no more: shrinking one runs hundreds of programs.
constexpr std::chrono::milliseconds kLate(500), kPause(1);

// A file in memory with a path that this process can open, gone with this. (A file in a folder costs a tenth of a
// campaign's time on the model.)
class PassingFile {
 public:
  PassingFile() : file_(memfd_create("hgcheck-dot", MFD_CLOEXEC)) {
    if (file_ >= 0) path_ = fmt::format("/proc/self/fd/{}", file_);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() {
    if (file_ >= 0) close(file_);
  }
  // Empty where there is no such file: no function that is told to write opens that.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace

hip::Status UserObjects::perform(const DeclareUserObject& c) {
  if (machine_.api.hipUserObjectCreate == nullptr) return lacking(machine_, "hipUserObjectCreate");
  if (machine_.api.hipUserObjectRelease == nullptr) return lacking(machine_, "hipUserObjectRelease");
  Object& object = objects_[c.object];
  hip::Status status =
      hip::called(machine_.api.hipUserObjectCreate(
                      &object.handle, &object, [](void* data) { static_cast<Object*>(data)->runs.fetch_add(1); }, 1,
                      hipUserObjectNoDestructorSync),
                  "hipUserObjectCreate");
  if (status) {
    object.held = 1;
  } else {
    objects_.erase(c.object);
  }
  return status;
}

hip::Status UserObjects::perform(const RetainUserObject& c, GraphObject* graph) {
  const auto found = objects_.find(c.object);
  if (found == objects_.end() || graph == nullptr) return missing();
  if (machine_.api.hipGraphRetainUserObject == nullptr) return lacking(machine_, "hipGraphRetainUserObject");
  hip::Status status = hip::called(machine_.api.hipGraphRetainUserObject(graph->handles.graph, found->second.handle, 1,
                                                                         c.move ? hipGraphUserObjectMove : 0),
                                   "hipGraphRetainUserObject");
  if (!status) return status;
  ++graph->held_objects[found->second.handle];
  if (c.move) --found->second.held;
  return status;
}

hip::Status UserObjects::perform(const ReleaseUserObject& c, GraphObject* graph) {
  const auto found = objects_.find(c.object);
  if (found == objects_.end() || (c.graph && graph == nullptr)) return missing();
  if (c.graph) {
    if (machine_.api.hipGraphReleaseUserObject == nullptr) return lacking(machine_, "hipGraphReleaseUserObject");
    hip::Status status =
        hip::called(machine_.api.hipGraphReleaseUserObject(graph->handles.graph, found->second.handle, 1),
                    "hipGraphReleaseUserObject");
    if (!status) return status;
    const auto held = graph->held_objects.find(found->second.handle);
    if (held != graph->held_objects.end() && --held->second == 0) graph->held_objects.erase(held);
    return status;
  }
  hip::Status status = hip::called(machine_.api.hipUserObjectRelease(found->second.handle, 1), "hipUserObjectRelease");
  if (status) --found->second.held;
  return status;
}

std::string UserObjects::gone() {
  std::string text;
  for (auto& [id, object] : objects_) {
    const std::uint32_t runs = object.runs.load();
    for (; object.told < runs; ++object.told) text += fmt::format("{}u{} went", text.empty() ? "" : ", ", id);
  }
  return text;
}

// hipUserObjectNoDestructorSync: nothing says when the function runs. 7.2.4 leaves it to its signal thread where the
// executable graph that held the object was launched last, and the device's end may be known before that is there.
void UserObjects::wait_for_late_functions() {
  const auto waiting = [](const auto& entry) { return entry.second.runs.load() == 0; };
  for (std::chrono::milliseconds slept(0); slept < kLate; slept += kPause) {
    if (std::none_of(objects_.begin(), objects_.end(), waiting)) return;
    hip::sync::sleep_for(kPause);
  }
}

std::string UserObjects::finish() {
  for (auto& [id, object] : objects_) {
    for (; object.held > 0; --object.held) {
      if (machine_.api.hipUserObjectRelease(object.handle, 1) != hipSuccess) return fmt::format("u{} not released", id);
    }
  }
  wait_for_late_functions();
  for (auto& [id, object] : objects_) {
    if (object.runs.load() != 1) return fmt::format("the function of u{} ran {} times", id, object.runs.load());
  }
  return {};
}

hip::Result<std::string> count_dot(Machine& machine, hipGraph_t graph) {
  if (machine.api.hipGraphDebugDotPrint == nullptr) return lacking(machine, "hipGraphDebugDotPrint");
  const PassingFile file;
  const hip::Status status =
      hip::called(machine.api.hipGraphDebugDotPrint(graph, file.path().c_str(), 0), "hipGraphDebugDotPrint");
  if (!status) return status.error();
  std::ifstream text(file.path());
  std::size_t nodes = 0, edges = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.find("->") != std::string::npos) {
      ++edges;
    } else if (line.starts_with('"') && line.find("label=") != std::string::npos) {
      ++nodes;  // a node's line begins with its quoted name
    }
  }
  return fmt::format("{} nodes, {} edges", nodes, edges);
}

}  // namespace verify
