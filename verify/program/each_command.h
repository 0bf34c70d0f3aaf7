// Walks over the declarations of commands (verify/commands/fields.h).
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "verify/commands/commands.h"

namespace verify {

// Whether C declares its fields. All commands do, except the actions of systems, which have a table of verbs of their
// own (verify/commands/systems/systems.h).
template <class C>
inline constexpr bool kIsDeclared = !std::is_same_v<C, SystemAction>;

// The member of `command` that a field describes.
template <class At, class C>
decltype(auto) value_at(At at, C& command) {
  return std::invoke(at, command);
}

// The letters and words of targets, in the order of Target; a device has no letter.
inline constexpr std::string_view kTargetLetters = "gesv";
inline constexpr std::array<std::string_view, 5> kTargetWords = {"graph", "exec", "stream", "event", "device"};

// Calls visit(std::type_identity<C>{}) for each declared command, in the order of the variant.
template <class Visit>
constexpr void for_each_declared(Visit visit) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto one = [&]<class C>(std::type_identity<C> type) {
      if constexpr (kIsDeclared<C>) visit(type);
    };
    (one(std::type_identity<std::variant_alternative_t<i, Command>>{}), ...);
  }(std::make_index_sequence<std::variant_size_v<Command>>{});
}

// Calls visit(field) for each field of C, in the order in which they are printed.
template <class C, class Visit>
constexpr void for_each_field(Visit visit) {
  constexpr auto spec = C::spec();
  std::apply([&](const auto&... field) { (visit(field), ...); }, spec.fields);
}

template <class Field>
inline constexpr bool kReadByKey = std::remove_cvref_t<Field>::kByKey;

// Whether any field of C is read by its key.
template <class C>
constexpr bool has_keys() {
  bool any = false;
  for_each_field<C>([&any](const auto& field) { any = any || kReadByKey<decltype(field)>; });
  return any;
}

template <class Field, template <class...> class Kind>
inline constexpr bool kIsOfKind = false;
template <template <class...> class Kind, class... At>
inline constexpr bool kIsOfKind<Kind<At...>, Kind> = true;

// Whether Field is of one of the listed kinds: FieldOf<NameField, NumberKey>. Like OneOf, it serves overloads for lists
// of kinds: the build fails until somebody adds a new kind to one of the lists.
template <class Field, template <class...> class... Kinds>
concept FieldOf = (kIsOfKind<Field, Kinds> || ...);

// The letters with which a field may begin, where it begins with a name; empty: the field may begin with anything. Each
// type of field that may be the first of a command has an overload.
struct LettersOfField {
  std::string operator()(const FieldOf<NameField, NodeNameField> auto& f) const { return {f.letter}; }
  std::string operator()(const FieldOf<TargetField> auto& f) const { return std::string(f.letters); }
  std::string operator()(const FieldOf<NameOrWordField, NodeOfTargetField, NumberField, ChoiceField, ErrorCaseField,
                                       MovesField, NumberKey, ChoiceKey> auto&) const {
    return {};
  }
};

// The letters with which the first field of C may begin. The parser tells commands with the same word apart by them.
template <class C>
std::string first_letters() {
  constexpr auto spec = C::spec();
  return LettersOfField{}(std::get<0>(spec.fields));
}

}  // namespace verify
