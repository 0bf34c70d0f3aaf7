// The results that a campaign, a replay or a shrink hands to reports/. Plain data, no behaviour.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace verify {

enum class VerdictKind : std::uint8_t {
  kAgree,
  kDiverge,
  kKnownQuirk,
  kPoisoned,
  kUnsupported,
  kDiscarded,
  kHarnessError,
};

// One place where subject and baseline differ, by symbolic name.
struct Difference {
  std::string where;     // "b1+512", "status", "topology of g0", "process"
  std::string command;   // the program line at which it was seen
  std::string expected;  // hex bytes or words
  std::string observed;
  // The place for code that has to tell places apart. It is not written to files: `where` is for people.
  enum class Place : std::uint8_t { kOther, kBuffer, kStatus, kProcess };
  Place place = Place::kOther;
  std::uint32_t buffer = 0;  // of kBuffer
};

// A drawing of one graph of the program. It shows the parts that a person needs, not the state of a runtime.
struct GraphPicture {
  struct Node {
    std::string name;
    std::string label;
    bool at_fault = false;
  };
  struct Edge {
    std::string from;
    std::string to;
  };
  std::string name;  // "g0"
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// How the cost of one command of a program grew with its graph (P10).
struct CostMeasurement {
  std::string operation;  // "update"
  std::string measure;    // "calls", "allocations", "bytes", "steps"
  std::uint64_t step = 0;
  std::vector<std::uint64_t> sizes;   // nodes
  std::vector<std::uint64_t> values;  // the cost at each size
  double exponent = 0;                // fitted; 0 for a constant
  double bound = 0;                   // stated
};

// A known quirk or fault that may be related to a finding.
struct Related {
  std::string kind;   // "quirk" of the release, or "fault" of the catalogue
  std::string id;     // "memset-2d-element", "F04"
  std::string title;  // its sentence
};

// When and where a finding was seen first: kept by databases of campaigns.
struct Sighting {
  std::string time;                     // "2026-11-28T05:04:40Z", or empty: not kept
  std::uint64_t shard = 0, shards = 0;  // "3 of 8"
  std::string node, session;            // the host, and the name of the session
};

// A divergence that a campaign found, of any cause. A known deviation of a runtime is a documented finding and has a
// folder in verify/findings.
struct Finding {
  std::string id;                 // "A1-000123": property and index of the program in the campaign
  std::string property;           // the most specific property that it breaks
  std::string cause;              // the same for all findings of one bug: as --accept spells it
  std::vector<std::string> also;  // the other properties that it breaks
  std::string fault;              // the fault that was switched on, or empty
  std::string program_text;       // shrunk
  std::string program_path;       // where it was written, or empty
  std::uint64_t commands = 0;     // of the shrunk program, declarations and reads left out
  std::uint64_t original_commands = 0;
  std::string replay;      // the one-line command
  std::string summary;     // one line for a person
  std::uint64_t seen = 1;  // how many programs of the campaign showed the same cause
  std::vector<Difference> differences;
  std::vector<GraphPicture> graphs;
  std::vector<Related> related;
  Sighting first;
};

struct PropertyCount {
  std::uint64_t exercised = 0;
  std::uint64_t violated = 0;
};

struct VerdictCounts {
  std::uint64_t agree = 0, diverge = 0, known_quirk = 0, poisoned = 0, unsupported = 0, discarded = 0,
                harness_error = 0;
};

// The progress of a campaign after some time.
struct Moment {
  double seconds = 0;
  std::uint64_t programs = 0, findings = 0, features = 0;
};

// The part of a campaign that one process did. A report with it can be merged with reports of other processes.
struct Session {
  // Findings that shrink to one program are one finding, with the causes of all of them.
  struct Cause {
    std::string cause, finding;  // `finding`: its id
    std::uint64_t index = 0;     // of the program that showed it
    std::uint64_t seen = 0;
    bool shrunk = false;
    std::string death;  // how the worker died, if the finding showed that way
    Sighting first;
  };
  std::string name;  // no two sessions have the same; empty: the result is not of one session
  std::string begun, last;
  std::uint64_t shard = 1, shards = 1;
  std::uint64_t settled = 0;          // how many of the shard's programs
  std::uint64_t programs_before = 0;  // by earlier sessions of the shard
  double seconds_before = 0;
  bool quirks = true;                   // known quirks are told apart
  std::vector<std::string> properties;  // findings of other properties were not wanted; empty: all
  std::vector<Cause> causes;
};

// A shard of a campaign that was joined of several.
struct ShardState {
  std::uint64_t shard = 0;
  std::string state;  // "done", "interrupted", "cut off" (its process died or still works), "missing"
  std::uint64_t programs = 0, findings = 0;
  std::string node, begun, last;  // of the last session: its node; of all sessions: the times
};

// The work of one node on a campaign that was joined of several.
struct NodeWork {
  std::string node;
  std::uint64_t sessions = 0, programs = 0;
  double seconds = 0;  // during which at least one session ran
};

// Triples (operation, state, state before it) of verify/program/coverage.h.
struct TripleCoverage {
  std::string digits;  // a digit a triple: how often it was met; 9: nine times or more
  std::string names;   // a hash of the triples' names in their order, without which the digits mean nothing
  std::uint64_t met = 0, possible = 0;
  std::vector<std::string> rarest;  // of the triples that were met, with their digits
};

struct CampaignResult {
  std::string version;
  std::string subject;
  std::string baseline;
  std::string fault;
  std::string machine;  // processor, number of processors, operating system
  std::string release;  // the release that the subject's runtime reports, or empty
  std::uint64_t seed = 0;
  std::uint64_t size = 0;
  std::uint64_t jobs = 1;
  std::uint64_t programs = 0;
  std::uint64_t commands = 0;
  double seconds = 0;
  double generate_us = 0;  // time of one worker for one program, on average; 0 for "not measured"
  double judge_us = 0;     // the same, for running and judging a program
  bool interrupted = false;
  VerdictCounts verdicts;
  std::map<std::string, PropertyCount> properties;        // every known property, exercised or not
  std::map<std::string, std::string> property_sentences;  // id -> sentence
  std::map<std::string, std::uint64_t> coverage;          // feature -> count
  // operation -> state of its object -> how often the operation met the object in that state
  std::map<std::string, std::map<std::string, std::uint64_t>> states;
  TripleCoverage triples;
  std::map<std::string, std::map<std::string, std::string>> unreachable;  // the pairs that no program shows, and why
  std::map<std::string, std::uint64_t> quirks;
  // What the steps of command buffers did (verify/execute/observation.h); empty for other subjects.
  std::map<std::string, std::uint64_t> steps;
  std::map<std::string, std::uint64_t> reasons;  // "discarded: ...", "poisoned: ..." -> count
  std::map<std::string, std::string> sampling;   // check -> stated rate, e.g. "P4 every call fails" -> "1 in 64"
  std::vector<CostMeasurement> costs;            // measured once in a campaign
  std::vector<Finding> findings;
  std::vector<Moment> history;        // in the order of time, a bounded number of moments
  std::vector<std::string> messages;  // caps exceeded, workers lost, and the like
  Session session;
  std::vector<ShardState> shards;  // of a joined campaign, the missing ones included; else empty
  std::vector<NodeWork> nodes;
};

}  // namespace verify
