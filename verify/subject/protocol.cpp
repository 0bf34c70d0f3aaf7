#include "verify/subject/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace verify {

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

// Every decoder runs in here: what the library throws at a body that is not as it should be becomes an error.
template <class Value, class Decode>
hip::Result<Value> decoded(std::string_view body, const char* what, const Decode& decode) {
  try {
    return decode(json::from_msgpack(body.begin(), body.end()));
  } catch (const json::exception& error) {
    return hip::Error{kBadBody, fmt::format("a malformed {}: {}", what, error.what())};
  }
}

json bytes_of(const std::vector<std::byte>& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return json::binary({data, data + bytes.size()});
}

json encode_violations(const std::vector<Violation>& violations) {
  json list = json::array();
  for (const Violation& v : violations) {
    list.push_back({static_cast<int>(v.property), v.step, v.where, v.expected, v.observed});
  }
  return list;
}

json encode_observation(const Observation& observation) {
  json statuses = json::array(), reads = json::array(), topology = json::array(), tags = json::array();
  for (const StepStatus& status : observation.statuses) {
    statuses.push_back({status.code, status.update_result, status.seen, status.repetition});
  }
  json costs = json::array();
  for (const StepCost& c : observation.costs)
    costs.push_back({c.calls, c.allocations, c.bytes, c.steps, c.instantiations});
  json held = json::array();
  for (const Held& h : observation.held) held.push_back({h.what, h.count});
  for (const BytesSeen& seen : observation.reads) reads.push_back({seen.step, seen.buffer, bytes_of(seen.bytes)});
  for (const TopologySeen& seen : observation.topology) topology.push_back({seen.graph, seen.types, seen.edges});
  for (const auto& [tag, count] : observation.host_tags) tags.push_back({tag, count});
  return {{"statuses", statuses},
          {"costs", costs},
          {"held", held},
          {"reads", reads},
          {"topology", topology},
          {"tags", tags},
          {"violations", encode_violations(observation.violations)},
          {"exercised", observation.exercised},
          {"notes", {observation.notes.fault, observation.notes.races, observation.notes.first_race}},
          {"counts", {observation.calls, observation.patches, observation.fallbacks, observation.failures_fired}},
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

std::vector<std::byte> bytes_from(const json& value) {
  const auto& binary = value.get_binary();
  const auto* data = reinterpret_cast<const std::byte*>(binary.data());
  return {data, data + binary.size()};
}

Observation decode_observation(const json& data) {
  Observation observation;
  for (const json& s : data.at("statuses")) {
    observation.statuses.push_back(
        {s.at(0).get<int>(), s.at(1).get<int>(), s.at(2).get<std::string>(), s.at(3).get<std::uint32_t>()});
  }
  for (const json& c : data.at("costs")) {
    observation.costs.push_back({c.at(0).get<std::uint64_t>(), c.at(1).get<std::uint64_t>(),
                                 c.at(2).get<std::uint64_t>(), c.at(3).get<std::uint64_t>(),
                                 c.size() > 4 ? c.at(4).get<std::uint64_t>() : 0});
  }
  for (const json& h : data.at("held"))
    observation.held.push_back({h.at(0).get<std::string>(), h.at(1).get<std::uint64_t>()});
  for (const json& r : data.at("reads")) {
    observation.reads.push_back({r.at(0).get<std::size_t>(), r.at(1).get<Id>(), bytes_from(r.at(2))});
  }
  for (const json& t : data.at("topology")) {
    TopologySeen seen;
    seen.graph = t.at(0).get<Id>();
    t.at(1).get_to(seen.types);
    t.at(2).get_to(seen.edges);
    observation.topology.push_back(std::move(seen));
  }
  for (const json& t : data.at("tags"))
    observation.host_tags[t.at(0).get<std::uint32_t>()] = t.at(1).get<std::uint64_t>();
  decode_violations(data.at("violations"), observation);
  data.at("exercised").get_to(observation.exercised);
  observation.notes = {data.at("notes").at(0).get<std::string>(), data.at("notes").at(1).get<std::uint64_t>(),
                       data.at("notes").at(2).get<std::string>()};
  const json& counts = data.at("counts");
  observation.calls = counts.at(0).get<std::uint64_t>();
  observation.patches = counts.at(1).get<std::uint64_t>();
  observation.fallbacks = counts.at(2).get<std::uint64_t>();
  observation.failures_fired = counts.at(3).get<std::uint64_t>();
  data.at("in_place").get_to(observation.patched_in_place);
  data.at("unsupported").get_to(observation.unsupported);
  data.at("harness_error").get_to(observation.harness_error);
  return observation;
}

}  // namespace

std::string encode_hello(const Hello& hello) {
  return packed({{"kind", "hello"},
                 {"protocol", hello.protocol},
                 {"release", hello.release},
                 {"headers", hello.headers},
                 {"runtime", hello.runtime},
                 {"library", hello.library},
                 {"schedulable", hello.schedulable}});
}

std::string encode_sorry(std::string_view reason) {
  return packed({{"kind", "sorry"}, {"reason", reason}});
}

std::string encode_request(const Request& request) {
  json code_objects = json::object();
  for (const auto& [id, elf] : request.code_objects) code_objects[id] = bytes_of(elf);
  const RunOptions& o = request.options;
  return packed({{"kind", "run"},
                 {"strategy", strategy_name(request.strategy)},
                 {"patcher", request.patcher},
                 {"layer", request.layer},
                 {"program", request.program},
                 {"options",
                  {{"poison", o.poison},
                   {"keep_passed", o.keep_passed},
                   {"failures", o.failures},
                   {"fresh_addresses", o.fresh_addresses},
                   {"inspect", o.inspect},
                   {"isolation", o.isolation},
                   {"costs", o.costs},
                   {"held", o.held},
                   {"schedule_seed", o.schedule_seed},
                   {"fail_graph_call", o.fail_graph_call}}},
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
    Hello hello;
    data.at("protocol").get_to(hello.protocol);
    if (hello.protocol != kProtocol) {
      return hip::Error{kBadBody, fmt::format("it speaks version {} of the protocol, and this hgcheck version {}",
                                              hello.protocol, kProtocol)};
    }
    data.at("release").get_to(hello.release);
    data.at("headers").get_to(hello.headers);
    data.at("runtime").get_to(hello.runtime);
    data.at("library").get_to(hello.library);
    data.at("schedulable").get_to(hello.schedulable);
    return hello;
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
    const json& options = data.at("options");
    options.at("poison").get_to(request.options.poison);
    options.at("keep_passed").get_to(request.options.keep_passed);
    options.at("failures").get_to(request.options.failures);
    options.at("fresh_addresses").get_to(request.options.fresh_addresses);
    options.at("inspect").get_to(request.options.inspect);
    options.at("isolation").get_to(request.options.isolation);
    options.at("costs").get_to(request.options.costs);
    options.at("held").get_to(request.options.held);
    options.at("schedule_seed").get_to(request.options.schedule_seed);
    options.at("fail_graph_call").get_to(request.options.fail_graph_call);
    data.at("script").get_to(request.script);
    for (const auto& [id, elf] : data.at("code_objects").items()) request.code_objects[id] = bytes_from(elf);
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
