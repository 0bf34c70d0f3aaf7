// Campaign results to write reports of: one that looks like a real one, and arbitrary ones.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "verify/result.h"

namespace samples {

// "a", "b", ..., "z", "ba": letters distinguish the bugs of two findings; numbers do not.
inline std::string letters(std::uint64_t index) {
  std::string text(1, static_cast<char>('a' + index % 26));
  return index < 26 ? text : letters(index / 26) + text;
}

// A finding as a campaign hands it over: a scalar was overwritten by a patch, one node is to blame. Each is a bug of
// its own.
inline verify::Finding finding(std::uint64_t index) {
  verify::Finding finding;
  finding.id = fmt::format("A1-{:06}", index);
  finding.property = "A1";
  finding.also = {"P3"};
  finding.program_text =
      "hgcheck 1\nbuffer b0 4096\nbuffer b1 4096\ngraph g0\nkernel g0 n0 scale addr(b0)+16 u64 addr(b1)\n"
      "copy g0 n1 after n0 b1+0 b0+0 64\ninstantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0\nread b1\n";
  finding.program_path = finding.id + ".program";
  finding.commands = 6;
  finding.original_commands = 87;
  finding.replay = fmt::format("hgcheck replay {}.program --subject model:patch", finding.id);
  finding.summary = "a scalar equal to an old address was overwritten by a patch";
  finding.seen = 3;
  finding.differences = {{"argument " + letters(index), "launch e0 s0", "00107fa000000000", "00207fa000000000"},
                         {"status of 'launch e0 s0'", "launch e0 s0", "hipSuccess", "hipErrorLaunchFailure"}};
  verify::GraphPicture graph;
  graph.name = "g0";
  graph.nodes = {{"n0", "kernel scale", true}, {"n1", "copy b1 <- b0, 64 bytes", false}, {"n2", "memset b0", false}};
  graph.edges = {{"n0", "n1"}, {"n0", "n2"}};
  finding.graphs = {graph};
  finding.related = {{"quirk", "scalar-like-address", "a scalar is taken for an address"}};
  return finding;
}

inline verify::CampaignResult campaign(std::uint64_t findings) {
  verify::CampaignResult result;
  result.version = "0.1.0";
  result.subject = "model:patch";
  result.baseline = "model:rebuild";
  result.machine = "A processor, 2 processors, Linux";
  result.release = "7.2";
  result.seed = 20'240'607;
  result.size = 40;
  result.jobs = 2;
  result.programs = 12'345;
  result.commands = 456'789;
  result.seconds = 30.25;
  result.generate_us = 125;
  result.judge_us = 2'420;
  result.verdicts.diverge = findings;
  result.verdicts.discarded = 21;
  result.verdicts.unsupported = 4;
  result.verdicts.agree = result.programs - findings - 25;
  result.properties = {{"A1", {8'000, findings}}, {"A2", {7'000, 0}}, {"P10", {0, 0}}, {"P2", {12'000, 0}}};
  result.property_sentences = {
      {"A1", "A patch changes the bytes of relocated pointers and no other byte, whatever the value of a scalar."},
      {"A2", "Every pointer into a moved buffer is patched."},
      {"P10", "Each operation ends, and its cost grows no faster than stated."},
      {"P2", "A setter on an executable graph changes that executable graph alone."}};
  result.coverage = {{"node kernel", 40'000}, {"node memcpy 3D", 120}, {"node conditional", 0}, {"capture fork", 0}};
  result.states = {{"launch", {{"exec: running", 1'200}, {"exec: idle", 0}}}, {"update", {{"exec: running", 7}}}};
  result.triples = {"0190", "5eed", 2, 3, {"launch with exec: idle, after exec: running (1)"}};
  result.unreachable = {{"launch", {{"exec: with old addresses", "a launch has its buffers where they are"}}}};
  result.quirks = {{"Q7 alloc node order", 2}};
  result.reasons = {{"discarded: capture was never joined", 21}, {"unsupported: hipGraphAddNode", 4}};
  result.sampling = {{"P4 every call fails", "1 in 64"}};
  result.costs = {{"update", "bytes", 0, {16, 64}, {1600, 6400}, 1.0, 1.0}};
  result.messages = {"worker 1 was lost once and started again"};
  for (std::uint64_t i = 0; i < findings; ++i) result.findings.push_back(finding(i));
  return result;
}

// Any bytes, often bytes that have a meaning in a format.
inline rc::Gen<std::string> any_text() {
  const auto hostile = rc::gen::element<std::string>(
      "<script>alert(1)</script>", "</pre>", "]]>", "&amp;", "\" onload=\"x", "'", "<!--", "-->", "\xff\xfe",
      "\xed\xa0\x80", "\xef\xbf\xbf", std::string(1, '\0'), "\x1b[31m", "\r\n", "\\n", "\xc3\xa9", "\xf0\x9f\x98\x80");
  const auto part = rc::gen::oneOf(hostile, rc::gen::arbitrary<std::string>());
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(part), [](const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& one : parts) text += one;
    return text;
  });
}

// A result in which every string is `text`, at every place that a string can be.
inline verify::CampaignResult campaign_of(const std::string& text) {
  verify::CampaignResult result = campaign(1);
  result.version = result.subject = result.baseline = result.fault = result.machine = result.release = text;
  result.properties = {{text, {1, 1}}, {"A1", {0, 0}}};
  result.property_sentences = {{text, text}, {"A1", text}};
  result.coverage = {{text, 0}, {"node kernel", 1}};
  result.states = {{text, {{text, 0}}}};
  result.triples = {text, text, 1, 1, {text}};
  result.unreachable = {{text, {{text, text}}}};
  result.quirks = result.reasons = result.steps = {{text, 1}};
  result.sampling = {{text, text}};
  result.messages = {text};
  verify::Finding& finding = result.findings.front();
  finding.id = finding.property = finding.fault = finding.program_text = finding.program_path = text;
  finding.replay = finding.summary = text;
  finding.also = {text};
  finding.related = {{text, text, text}};
  finding.differences = {{text, text, text, text + "x"}};
  finding.graphs = {{text, {{text, text, true}, {"n1", text, false}}, {{text, "n1"}, {"n1", "not listed" + text}}}};
  return result;
}

}  // namespace samples
