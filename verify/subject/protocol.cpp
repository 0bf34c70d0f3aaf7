#include "verify/subject/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

namespace verify {

// These structs are written and read as maps of their fields by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOptions, poison, keep_passed, failures, fresh_addresses, inspect, isolation,
                                   costs, held, signature, schedule_seed, fail_graph_call)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, protocol, release, headers, runtime, library, schedulable, devices)

namespace {

using nlohmann::json;

constexpr char kMagic[4] = {'H', 'G', 'C', '1'};
constexpr int kBadBody = 1;  // hipErrorInvalidValue

std::uint32_t checksum(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint32_t hash = 0x811c9dc5U;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x01000193U;
  return hash;
}

void put_word(std::uint32_t word, unsigned char* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<unsigned char>(word >> (8 * i));
}
std::uint32_t get_word(const char* in) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= std::uint32_t{static_cast<unsigned char>(in[i])} << (8 * i);
  return word;
}

void put_header(const void* body, std::size_t size, unsigned char* out) {
  std::memcpy(out, kMagic, 4);
  put_word(static_cast<std::uint32_t>(size), out + 4);
  put_word(checksum(body, size), out + 8);
}

std::string packed(const json& body) {
  std::string text;
  json::to_msgpack(body, nlohmann::detail::output_adapter<char>(text));
  return text;
}

// Every decoder runs in here: an exception that the library throws for a malformed body becomes an error.
template <class Value, class Decode>
hip::Result<Value> decoded(std::string_view body, const char* what, const Decode& decode) {
  try {
    return decode(json::from_msgpack(body.begin(), body.end()));
  } catch (const json::exception& error) {
    return hip::Error{kBadBody, fmt::format("a malformed {}: {}", what, error.what())};
  }
}

// ---- structs that travel as lists of their fields

template <class T, class Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

auto fields_of(Is<StepStatus> auto& s) {
  return std::tie(s.code, s.update_result, s.seen, s.repetition);
}
auto fields_of(Is<StepCost> auto& c) {
  return std::tie(c.calls, c.allocations, c.bytes, c.steps, c.instantiations);
}
auto fields_of(Is<Held> auto& h) {
  return std::tie(h.what, h.count);
}
auto fields_of(Is<BytesSeen> auto& seen) {
  return std::tie(seen.step, seen.buffer, seen.bytes);
}
auto fields_of(Is<TopologySeen> auto& seen) {
  return std::tie(seen.graph, seen.types, seen.edges);
}
auto fields_of(Is<RuntimeNotes> auto& notes) {
  return std::tie(notes.fault, notes.races, notes.first_race);
}
// An observation's counts.
auto fields_of(Is<Observation> auto& o) {
  return std::tie(o.calls, o.patches, o.fallbacks, o.steps, o.failures_fired, o.spoils_process);
}

json written(const auto& field) {
  return field;
}
json written(const std::vector<std::byte>& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return json::binary({data, data + bytes.size()});
}
void read(const json& value, auto& field) {
  value.get_to(field);
}
void read(const json& value, std::vector<std::byte>& bytes) {
  const auto& binary = value.get_binary();
  const auto* data = reinterpret_cast<const std::byte*>(binary.data());
  bytes.assign(data, data + binary.size());
}

json list_of(const auto& item) {
  return std::apply([](const auto&... field) { return json::array({written(field)...}); }, fields_of(item));
}
void read_list(const json& list, auto& item) {
  std::size_t at = 0;
  std::apply([&](auto&... field) { (read(list.at(at++), field), ...); }, fields_of(item));
}
template <class Item>
json lists_of(const std::vector<Item>& items) {
  json lists = json::array();
  for (const Item& item : items) lists.push_back(list_of(item));
  return lists;
}
template <class Item>
void read_lists(const json& lists, std::vector<Item>& items) {
  for (const json& list : lists) read_list(list, items.emplace_back());
}

json encode_violations(const std::vector<Violation>& violations) {
  json list = json::array();
  for (const Violation& v : violations) {
    list.push_back({static_cast<int>(v.property), v.step, v.where, v.expected, v.observed});
  }
  return list;
}

json encode_observation(const Observation& observation) {
  json tags = json::array();
  for (const auto& [tag, count] : observation.host_tags) tags.push_back({tag, count});
  return {{"statuses", lists_of(observation.statuses)},
          {"costs", lists_of(observation.costs)},
          {"held", lists_of(observation.held)},
          {"signature", observation.signature},
          {"reads", lists_of(observation.reads)},
          {"topology", lists_of(observation.topology)},
          {"tags", tags},
          {"violations", encode_violations(observation.violations)},
          {"exercised", observation.exercised},
          {"notes", list_of(observation.notes)},
          {"counts", list_of(observation)},
          {"in_place", observation.patched_in_place},
          {"unsupported", observation.unsupported},
          {"harness_error", observation.harness_error}};
}

void decode_violations(const json& list, Observation& observation) {
  for (const json& v : list) {
    const auto property = v.at(0).get<std::size_t>();
    if (property >= kProperties) continue;  // of a later version
    observation.violations.push_back({static_cast<PropertyId>(property), v.at(1).get<std::size_t>(),
                                      v.at(2).get<std::string>(), v.at(3).get<std::string>(),
                                      v.at(4).get<std::string>()});
  }
}

Observation decode_observation(const json& data) {
  Observation observation;
  read_lists(data.at("statuses"), observation.statuses);
  read_lists(data.at("costs"), observation.costs);
  read_lists(data.at("held"), observation.held);
  data.at("signature").get_to(observation.signature);
  read_lists(data.at("reads"), observation.reads);
  read_lists(data.at("topology"), observation.topology);
  for (const json& t : data.at("tags"))
    observation.host_tags[t.at(0).get<std::uint32_t>()] = t.at(1).get<std::uint64_t>();
  decode_violations(data.at("violations"), observation);
  data.at("exercised").get_to(observation.exercised);
  read_list(data.at("notes"), observation.notes);
  read_list(data.at("counts"), observation);
  data.at("in_place").get_to(observation.patched_in_place);
  data.at("unsupported").get_to(observation.unsupported);
  data.at("harness_error").get_to(observation.harness_error);
  return observation;
}

}  // namespace

std::string encode_hello(const Hello& hello) {
  json body = hello;
  body["kind"] = "hello";
  return packed(body);
}

std::string encode_sorry(std::string_view reason) {
  return packed({{"kind", "sorry"}, {"reason", reason}});
}

std::string encode_request(const Request& request) {
  json code_objects = json::object();
  for (const auto& [id, elf] : request.code_objects) code_objects[id] = written(elf);
  return packed({{"kind", "run"},
                 {"strategy", strategy_name(request.strategy)},
                 {"patcher", request.patcher},
                 {"layer", request.layer},
                 {"program", request.program},
                 {"options", request.options},
                 {"script", request.script},
                 {"code_objects", code_objects}});
}

std::string encode_result(const RunResult& result) {
  json body = encode_observation(result.observation);
  body["kind"] = "ran";
  body["script"] = result.script;
  return packed(body);
}

hip::Result<Hello> decode_hello(std::string_view body) {
  return decoded<Hello>(body, "greeting", [](const json& data) -> hip::Result<Hello> {
    const auto kind = data.at("kind").get<std::string>();
    if (kind == "sorry") return hip::Error{kBadBody, data.at("reason").get<std::string>()};
    if (kind != "hello") return hip::Error{kBadBody, fmt::format("the first message is '{}', not 'hello'", kind)};
    const auto protocol = data.at("protocol").get<std::uint32_t>();
    if (protocol != kProtocol) {
      return hip::Error{kBadBody, fmt::format("it speaks version {} of the protocol, and this hgcheck version {}",
                                              protocol, kProtocol)};
    }
    return data.get<Hello>();
  });
}

hip::Result<Request> decode_request(std::string_view body) {
  return decoded<Request>(body, "request", [](const json& data) -> hip::Result<Request> {
    Request request;
    const auto name = data.at("strategy").get<std::string>();
    const std::optional<StrategyKind> strategy = find_strategy(name);
    if (!strategy) return hip::Error{kBadBody, fmt::format("there is no strategy '{}'", name)};
    request.strategy = *strategy;
    data.at("patcher").get_to(request.patcher);
    data.at("layer").get_to(request.layer);
    data.at("program").get_to(request.program);
    data.at("options").get_to(request.options);
    data.at("script").get_to(request.script);
    for (const auto& [id, elf] : data.at("code_objects").items()) read(elf, request.code_objects[id]);
    return request;
  });
}

hip::Result<Answer> decode_answer(std::string_view body) {
  return decoded<Answer>(body, "answer", [](const json& data) -> hip::Result<Answer> {
    Answer answer;
    const auto kind = data.at("kind").get<std::string>();
    if (kind == "step") {
      answer.dying = true;
      answer.throe = {data.at("step").get<std::size_t>(), data.at("signal").get<int>()};
      return answer;
    }
    if (kind != "ran") return hip::Error{kBadBody, fmt::format("an answer of kind '{}'", kind)};
    answer.result.observation = decode_observation(data);
    data.at("script").get_to(answer.result.script);
    return answer;
  });
}

std::string frame(std::string_view body) {
  unsigned char header[kFrameHeader];
  put_header(body.data(), body.size(), header);
  std::string whole(reinterpret_cast<const char*>(header), kFrameHeader);
  return whole.append(body);
}

// MessagePack by hand, because nothing that allocates may be called here: a map of three with short strings and
// unsigned 32-bit numbers.
std::size_t throe_frame(const Throe& throe, unsigned char (&out)[kThroeFrame]) {
  std::size_t at = kFrameHeader;
  const auto byte = [&](unsigned value) { out[at++] = static_cast<unsigned char>(value); };
  const auto text = [&](std::string_view value) {
    byte(0xa0U | static_cast<unsigned>(value.size()));
    for (const char c : value) byte(static_cast<unsigned char>(c));
  };
  const auto number = [&](std::uint32_t value) {
    byte(0xceU);
    for (int shift = 24; shift >= 0; shift -= 8) byte(value >> shift & 0xffU);
  };
  byte(0x83U);
  text("kind");
  text("step");
  text("step");
  number(static_cast<std::uint32_t>(throe.step));
  text("signal");
  number(static_cast<std::uint32_t>(throe.signal));
  put_header(out + kFrameHeader, at - kFrameHeader, out);
  return at;
}

FrameReader::State FrameReader::next(std::string& body) {
  constexpr std::size_t kShownGarbage = 64;
  const std::size_t known = std::min(pending_.size(), sizeof kMagic);
  const auto garbage = [&] {
    body.clear();
    for (const char c : pending_.substr(0, kShownGarbage)) {
      body += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return State::kGarbage;
  };
  if (pending_.compare(0, known, kMagic, known) != 0) return garbage();
  if (pending_.size() < kFrameHeader) return State::kNeedsMore;
  const std::size_t length = get_word(pending_.data() + 4);
  if (length > kMaxFrame) return garbage();
  if (pending_.size() < kFrameHeader + length) return State::kNeedsMore;
  if (get_word(pending_.data() + 8) != checksum(pending_.data() + kFrameHeader, length)) return garbage();
  body = pending_.substr(kFrameHeader, length);
  pending_.erase(0, kFrameHeader + length);
  return State::kFrame;
}

}  // namespace verify
