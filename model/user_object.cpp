// Counting references to user objects; the contract is in the header.
#include "model/user_object.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace model {

ObjectId UserObjects::create(Function destroy, void* data, std::uint64_t references) {
  assert(destroy != nullptr && references > 0);
  const ObjectId id = objects_.add(ObjectKind::kUserObject, this);
  objects_of_[id] = {destroy, data, references};
  return id;
}

std::uint64_t UserObjects::references(std::uint64_t id) const {
  const auto found = objects_of_.find(id);
  return found == objects_of_.end() ? 0 : found->second.references;
}

Status UserObjects::retain(std::uint64_t id, std::uint64_t count) {
  const auto found = objects_of_.find(id);
  if (found == objects_of_.end() || count == 0) return Status::kInvalidValue;
  if (found->second.references > 0) found->second.references += count;
  return Status::kSuccess;
}

Status UserObjects::release(std::uint64_t id, std::uint64_t count) {
  const auto found = objects_of_.find(id);
  if (found == objects_of_.end() || count == 0) return Status::kInvalidValue;
  Object& object = found->second;
  if (object.references == 0 || count > object.references) return Status::kSuccess;
  object.references -= count;
  if (object.references > 0) return Status::kSuccess;
  objects_.remove(static_cast<ObjectId>(id));
  const Object gone = object;
  const bool outer = std::exchange(calling_, true);
  gone.destroy(gone.data);
  calling_ = outer;
  return Status::kSuccess;
}

void UserObjects::abandon() {
  for (const auto& [id, object] : objects_of_) {
    if (object.references > 0) objects_.remove(static_cast<ObjectId>(id));
  }
  objects_of_.clear();
}

UserReferences::UserReferences(const UserReferences& other) {
  add(other);
}

// Ids that are no longer known belong to objects that were abandoned.
UserReferences::~UserReferences() {
  for (const auto& [id, count] : held_) {
    const std::uint64_t left = objects_->references(id);
    if (left > 0) (void)objects_->release(id, std::min(count, left));  // succeeds: the id is known
  }
}

void UserReferences::take(UserObjects& objects, std::uint64_t id, std::uint64_t count) {
  objects_ = &objects;
  held_[id] += count;
}

Status UserReferences::give_back(std::uint64_t id, std::uint64_t count) {
  const auto found = held_.find(id);
  if (found == held_.end() || count > found->second || count > objects_->references(id)) return Status::kSuccess;
  found->second -= count;
  if (found->second == 0) held_.erase(found);
  return objects_->release(id, count);
}

void UserReferences::add(const UserReferences& other) {
  for (const auto& [id, count] : other.held_) {
    if (other.objects_->references(id) == 0) continue;
    (void)other.objects_->retain(id, count);  // succeeds: the object is alive
    take(*other.objects_, id, count);
  }
}

std::uint64_t UserReferences::held(std::uint64_t id) const {
  const auto found = held_.find(id);
  return found == held_.end() ? 0 : found->second;
}

}  // namespace model
