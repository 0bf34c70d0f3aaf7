#include "verify/language/foreign_kernels.h"

#include <algorithm>
#include <map>
#include <memory>

namespace verify {

namespace {

constexpr std::size_t kIdDigits = 16;

std::map<std::string, std::unique_ptr<const CodeObject>, std::less<>>& known() {
  static std::map<std::string, std::unique_ptr<const CodeObject>, std::less<>> objects;
  return objects;
}

bool is_id(std::string_view text) {
  return text.size() == kIdDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

const CodeObject& know_code_object(CodeObject object) {
  const auto [place, fresh] = known().try_emplace(object.id);
  if (!fresh) return *place->second;
  auto kept = std::make_unique<CodeObject>(std::move(object));
  for (KernelSpec& kernel : kept->kernels) kernel.object = kept.get();
  place->second = std::move(kept);
  return *place->second;
}

const CodeObject* find_code_object(std::string_view id) {
  const auto found = known().find(id);
  return found == known().end() ? nullptr : found->second.get();
}

const KernelSpec* find_foreign_kernel(std::string_view name) {
  const CodeObject* object = find_code_object(name.substr(name.rfind('@') + 1));
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(object->kernels, name, &KernelSpec::name);
  return found == object->kernels.end() ? nullptr : &*found;
}

std::vector<std::string> code_objects_named_in(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("#")) continue;
    const std::size_t at = line.find('@');
    if (at == std::string_view::npos) continue;
    const std::string_view id = line.substr(at + 1, kIdDigits);
    if (is_id(id) && std::ranges::find(ids, id) == ids.end()) ids.emplace_back(id);
  }
  return ids;
}

}  // namespace verify
