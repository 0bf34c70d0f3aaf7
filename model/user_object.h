// model::UserObjects: resources of the program that graphs keep alive, by counting references.
//
// An object's function runs when its last reference is released, inside the call (or the launch) that releases it; HIP
// forbids calls from inside it. Holders of references are the program (hipUserObjectRetain), graphs, and through
// UserReferences everything made from a graph: its clones, its executable graphs, launches that are pending (CUDA's
// programming guide, "CUDA User Objects": references are cloned with the graph, an executable graph keeps its own until
// it is destroyed and its launches are over, and an update replaces them by the new graph's).
//
// Behaviour beyond HIP's documentation, from catch/unit/graph (Unit_hipUserObj_Negative_Test,
// Unit_hipGraphRetainUserObject_Negative_Basic): releasing more references than exist succeeds and releases none; an
// object that is gone can be retained and released, successfully and without effect.
#pragma once

#include <cstdint>
#include <map>

#include "model/object.h"
#include "model/status.h"

namespace model {

class UserObjects {
 public:
  using Function = void (*)(void*);

  // `calling` is true while a function runs.
  UserObjects(ObjectTable& objects, bool& calling) : objects_(objects), calling_(calling) {}
  UserObjects(const UserObjects&) = delete;
  UserObjects& operator=(const UserObjects&) = delete;

  ObjectId create(Function destroy, void* data, std::uint64_t references);
  // Whether the id ever belonged to an object. retain() and release() answer kInvalidValue for any other id.
  [[nodiscard]] bool known(std::uint64_t id) const { return objects_of_.contains(id); }
  [[nodiscard]] std::uint64_t references(std::uint64_t id) const;  // 0: gone
  Status retain(std::uint64_t id, std::uint64_t count);
  Status release(std::uint64_t id, std::uint64_t count);
  [[nodiscard]] std::size_t live() const { return objects_.live(ObjectKind::kUserObject); }
  // Forgets everything; no function runs.
  void abandon();

 private:
  struct Object {
    Function destroy = nullptr;
    void* data = nullptr;
    std::uint64_t references = 0;
  };
  ObjectTable& objects_;
  bool& calling_;
  std::map<std::uint64_t, Object> objects_of_;  // by id; also destroyed objects, with no reference left
};

// References of one holder. A copy holds as many references of its own; the destructor gives back the remaining ones.
class UserReferences {
 public:
  UserReferences() = default;
  UserReferences(const UserReferences& other);
  UserReferences(UserReferences&& other) noexcept { swap(other); }
  UserReferences& operator=(UserReferences other) noexcept {
    swap(other);
    return *this;
  }
  ~UserReferences();

  // Takes over references that the caller has retained for this holder (or that the program moves to it).
  void take(UserObjects& objects, std::uint64_t id, std::uint64_t count);
  // Releases references; none when `count` is more than this holder has or than the object has.
  Status give_back(std::uint64_t id, std::uint64_t count);
  // Retains as many references as `other` holds.
  void add(const UserReferences& other);
  [[nodiscard]] std::uint64_t held(std::uint64_t id) const;
  [[nodiscard]] bool empty() const { return held_.empty(); }
  void swap(UserReferences& other) noexcept { std::swap(objects_, other.objects_), held_.swap(other.held_); }

 private:
  UserObjects* objects_ = nullptr;  // null: holds nothing
  std::map<std::uint64_t, std::uint64_t> held_;
};

}  // namespace model
