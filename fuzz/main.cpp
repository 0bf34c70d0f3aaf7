// hgcheck: the command line. Parsing only; each command has a file of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "fuzz/commands.h"
#include "fuzz/race/options.h"
#include "fuzz/usage.h"
#include "hip/sync/sync.h"

#ifndef HGCHECK_VERSION
#error "the build defines HGCHECK_VERSION"
#endif

namespace {

void add_setup(CLI::App& app, fuzz::SetupOptions& setup) {
  app.add_option("--subject", setup.subject,
                 "The subject under test, as RUNTIME:STRATEGY ('hgcheck subjects' lists them)")
      ->capture_default_str();
  app.add_flag("--no-quirks", setup.no_quirks, "Report known deviations of the release like anything else");
  app.add_option("--fault", setup.fault, "Switch on a known defect ('hgcheck faults' lists them)");
}

void add_baseline(CLI::App& app, fuzz::SetupOptions& setup) {
  app.add_option("--baseline", setup.baseline, "The subject to compare with")->capture_default_str();
}

void add_timeout(CLI::App& app, fuzz::SetupOptions& setup) {
  app.add_option("--program-timeout", setup.program_timeout, "Seconds after which a program hangs")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
}

// The options of a campaign on one machine and on many. Returns --programs.
CLI::Option* add_judging(CLI::App& app, fuzz::CampaignCommand& campaign) {
  fuzz::CampaignOptions& o = campaign.campaign;
  add_setup(app, o.setup);
  add_baseline(app, o.setup);
  auto* programs = app.add_option("--programs", o.programs, "How many programs")
                       ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 48));
  app.add_option("--seed", o.seed, "The same seed, size and version give the same programs")->capture_default_str();
  app.add_option("--size", o.size, "Commands in a program, about")->check(CLI::Range(8U, 2000U))->capture_default_str();
  app.add_option("--jobs", o.jobs, "Worker processes")->check(CLI::Range(1U, 256U))->capture_default_str();
  app.add_option("--property", o.properties, "Report findings of these properties only")->take_all();
  add_timeout(app, o.setup);
  app.add_option("--environment", o.setup.environment,
                 "NAME=VALUE: a variable of the subject's process, for all programs")
      ->take_all();
  app.add_flag("--draw-environment", o.setup.draw_environment,
               "Draw variables that change how the runtime works: four sets for 1,024 programs");
  auto* shared = app.add_option("--shared-corpus", o.shared_corpus,
                                "Folder of programs that tasks exchange while they run; a seed does not repeat theirs");
  app.add_flag("--guide-runtime", o.guided_by_runtime,
               "Share as well what made the runtime do something new (rocm-soft)")
      ->needs(shared);
  app.add_option("--accept", campaign.accept, "File of known causes, one a line; they do not fail the campaign");
  return programs;
}

// The options of a fleet that it passes on to its tasks.
void add_task(CLI::App& app, fuzz::FleetTask& task) {
  add_judging(app, task.campaign);
  app.add_option("--hours", task.hours, "Hours of a task; a task that begins again has the rest of them")
      ->required()
      ->check(CLI::Range(fuzz::kFewestHours, 1e4));
  app.add_option("--copy-every", task.campaign.campaign.copy_every, "Seconds between copies to the output folder")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
}

// "2/8": the second of eight.
std::string parse_shard(const std::string& text, fuzz::CampaignOptions& options) {
  const std::size_t slash = text.find('/');
  try {
    std::size_t used = 0, used_too = 0;
    options.shard = std::stoull(text.substr(0, slash), &used);
    const std::string total = slash == std::string::npos ? "" : text.substr(slash + 1);
    options.shards = std::stoull(total, &used_too);
    if (used == slash && used_too == total.size() && options.shard >= 1 && options.shard <= options.shards) return {};
  } catch (const std::exception&) {  // std::stoull throws for text that is no number
  }
  return fmt::format("'{}' is not a shard: write I/N with I from 1 to N, like 1/4", text);
}

struct Commands {
  CLI::App app{"Is a HIP graph that was patched in place still the graph you would have got by recording it again?",
               "hgcheck"};
  fuzz::CampaignCommand campaign;
  fuzz::ReplayCommand replay;
  fuzz::ShrinkCommand shrink;
  fuzz::ExportCommand exporting;
  fuzz::ReportCommand reporting;
  fuzz::HistoryCommand history;
  fuzz::MergeCommand merge;
  fuzz::RecordCommand record;
  fuzz::FleetCommand fleet;
  std::string check_file, list_json, shard, shell;
  std::uint64_t share_programs = 0;

  void add_campaign() {
    CLI::App* c = app.add_subcommand(
        "campaign", "Generate programs, run them on a subject and a baseline, shrink the programs that differ");
    fuzz::CampaignOptions& o = campaign.campaign;
    auto* programs = add_judging(*c, campaign);
    c->add_option("--seconds", o.seconds, "How long (30 when neither is given)")
        ->check(CLI::Range(0.1, 1e8))
        ->excludes(programs);
    c->add_option("--shard", shard, "I/N: only every N-th program, beginning with the I-th");
    auto* corpus = c->add_option("--corpus", campaign.corpus, "Folder of programs to begin from and to add to");
    c->add_option("--db", o.db,
                  "Database that remembers findings, progress and a corpus: a campaign that was stopped goes on")
        ->excludes(corpus);
    c->add_option("--compare", campaign.compare,
                  "An earlier --json or report.json: print how many causes are new, fixed, still there");
    c->add_option("--report", o.report, "Folder for the report and the findings' programs");
    c->add_option("--json", campaign.json, "File for the result as JSON ('-': standard output)");
    auto* quiet = c->add_flag("--quiet", campaign.quiet, "Findings and the verdict only");
    c->add_flag("--verbose", campaign.verbose,
                "Print all findings, notes, measured costs, and what was never generated")
        ->excludes(quiet);
  }
  void add_program_commands() {
    CLI::App* r = app.add_subcommand("replay", "Run programs and show the differences");
    r->add_option("file", replay.files, "FILE.program, or several")->required();
    add_setup(*r, replay.setup);
    add_baseline(*r, replay.setup);
    add_timeout(*r, replay.setup);
    r->add_flag("--trace", replay.trace, "Print every command and how it ended");
    r->add_option("--json", replay.json, "File for the verdict as JSON, of one program");
    r->add_option("--report", replay.report, "Folder for the report");
    CLI::App* s = app.add_subcommand("shrink", "Make a diverging program as short as it can be");
    s->add_option("file", shrink.file, "FILE.program")->required();
    add_setup(*s, shrink.setup);
    add_timeout(*s, shrink.setup);
    s->add_option("-o", shrink.output, "File for the program (default: standard output)");
    CLI::App* k = app.add_subcommand("check", "Parse and validate a program");
    k->add_option("file", check_file, "FILE.program")->required();
  }
  void add_export() {
    CLI::App* e = app.add_subcommand("export", "Write a program as one HIP source that needs nothing of hgcheck");
    e->add_option("file", exporting.file, "FILE.program")->required();
    e->add_option("--as", exporting.form, "hip: a program of its own; catch2: a test for AMD's HIP tests")
        ->check(CLI::IsMember({"hip", "catch2"}))
        ->capture_default_str();
    exporting.setup.subject.clear();
    e->add_option("--subject", exporting.setup.subject,
                  "The subject on which it fails (default: the first release with the known quirk of that name, else "
                  "model:patch)");
    e->add_option("-o", exporting.output, "File for the source (default: standard output)");
  }
  void add_report() {
    CLI::App* p = app.add_subcommand(
        "report", "Write the report of a campaign, or of a run of benchmarks, from its JSON or database");
    p->add_option("file", reporting.file,
                  "report.json, or what --json wrote, or a database of --db, or Google Benchmark's --benchmark_out")
        ->required();
    p->add_option("--compare", reporting.compare,
                  "An earlier one: show causes that are new, fixed, still there, or benchmarks that took longer");
    p->add_option("--report", reporting.report, "Folder for the report")->capture_default_str();
  }
  void add_record() {
    CLI::App* r = app.add_subcommand("record", "Run a command and write its HIP calls as a program: record -- ./app");
    r->add_option("-o", record.output, "File for the program")->capture_default_str();
    r->add_option("command", record.command, "-- COMMAND and its arguments")->required();
  }
  void add_history() {
    CLI::App* h = app.add_subcommand("history", "Show the results of campaigns with --db");
    h->add_option("--db", history.db, "The database")->required();
    h->add_option("--json", history.json, "File for all of it as JSON ('-': standard output)");
  }
  void add_merge() {
    CLI::App* m = app.add_subcommand("merge", "Join the databases and reports of a campaign's shards");
    m->add_option("inputs", merge.inputs,
                  "Databases of --db, JSON of --json, and folders: every *.db and report.json below them")
        ->required();
    m->add_option("-o", merge.output, "The database to write")->required();
    m->add_option("--report", merge.report, "Folder for the report of the whole, and the findings' programs");
    m->add_option("--json", merge.json, "File for the whole as JSON ('-': standard output)");
    m->add_flag("--keep-going", merge.keep_going, "Leave out what cannot be read, and list it");
  }
  void add_fleet() {
    CLI::App* f = app.add_subcommand("fleet", "Run a campaign on many machines, as an array of jobs: fleet slurm");
    f->add_option("scheduler", fleet.scheduler, "slurm")->required()->check(CLI::IsMember({"slurm"}));
    f->add_option("--nodes", fleet.nodes, "How many nodes")->check(CLI::Range(1U, 1000000U))->capture_default_str();
    f->add_option("--jobs-per-node", fleet.jobs_per_node, "Tasks for each node, one for each GPU of a GPU node")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str();
    f->add_option("--output", fleet.task.output, "Folder that all nodes share: databases, reports, logs")
        ->capture_default_str();
    f->add_option("--local", fleet.task.local, "Folder on a node's own disk; $VARIABLES are the node's")
        ->capture_default_str();
    f->add_option("--gres", fleet.gres, "The GPU of a task (gpu:1 for the subjects rocm and nvidia)");
    f->add_option("--sbatch", fleet.sbatch, "One more option of sbatch: --sbatch=--partition=low")->take_all();
    f->add_flag("--dry-run", fleet.dry_run, "Print the script and the command, and submit nothing");
    add_task(*f, fleet.task);
    // Jobs of a fleet run this command; an empty group hides it.
    CLI::App* t = app.add_subcommand("fleet-task", "Run one task of a fleet")->group("");
    t->add_option("shard", shard, "I/N")->required();
    t->add_option("output", fleet.task.output)->required();
    t->add_option("local", fleet.task.local)->required();
    add_task(*t, fleet.task);
  }
  void add_usage() {
    app.add_subcommand("completion", "Print the completion of a shell: source <(hgcheck completion bash)")
        ->add_option("shell", shell, "bash or zsh")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    app.add_subcommand("man", "Print the manual page: hgcheck man | man -l -");
  }
  static int show(const std::string& text) {
    std::cout << text;
    return fuzz::kAgreed;
  }
  void add_lists() {
    for (const auto& [name, what] :
         {std::pair{"subjects", "List the subjects of this machine"}, std::pair{"faults", "List the known defects"},
          std::pair{"properties", "List the properties that must hold"},
          std::pair{"quirks", "List the known deviations of AMD's runtime"}}) {
      app.add_subcommand(name, what)->add_option("--json", list_json, "File for the list as JSON");
    }
    app.get_subcommand("quirks")
        ->add_option("--share", share_programs,
                     "Print the share of so many generated programs that may show each on 7.2, in the environment that "
                     "it needs; w: known to be wide; empty: 7.2 does not have it")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  }

  int run() {
    if (!shard.empty()) {
      auto& sharded = app.got_subcommand("campaign") ? campaign.campaign : fleet.task.campaign.campaign;
      if (const std::string error = parse_shard(shard, sharded); !error.empty()) {
        std::cerr << "hgcheck: --shard: " << error << "\n";
        return fuzz::kUsage;
      }
    }
    const std::string name = app.get_subcommands().front()->get_name();
    if (name == "campaign") return fuzz::run(campaign);
    if (name == "replay") return fuzz::run(replay);
    if (name == "shrink") return fuzz::run(shrink);
    if (name == "completion") return show(shell == "bash" ? fuzz::bash_completion(app) : fuzz::zsh_completion(app));
    if (name == "man") return show(fuzz::man_page(app, HGCHECK_VERSION));
    if (name == "report") return fuzz::run(reporting);
    if (name == "record") return fuzz::run(record);
    if (name == "fleet-task") return fuzz::run(fleet.task);
    if (name == "fleet") {
      fleet.passed_on = fuzz::given_options(*app.get_subcommand("fleet"), *app.get_subcommand("fleet-task"));
      return fuzz::run(fleet);
    }
    if (name == "history") return fuzz::run(history);
    if (name == "merge") return fuzz::run(merge);
    if (name == "export") return fuzz::run(exporting);
    if (name == "check") return fuzz::check(check_file);
    if (name == "subjects") return fuzz::list_subjects(list_json);
    if (name == "faults") return fuzz::list_faults(list_json);
    if (name == "quirks") return fuzz::list_quirks(list_json, share_programs);
    return fuzz::list_properties(list_json);
  }
};

constexpr const char* kFiveThings =
    R"(hgcheck: is a HIP graph that was patched in place still the graph you would have got by recording it again?

Five things to do with it:
  hgcheck campaign --seconds 60 --report report     look for divergences; report/index.html shows what was found
  hgcheck campaign --fault F01                      see it find a known defect
  hgcheck replay report/A1-000123.program --trace   look at a finding
  hgcheck shrink mine.program -o small.program      make a program of your own small
  hgcheck export small.program --as hip -o small.hip   one HIP source for those who own the runtime

'hgcheck subjects' lists the subjects of this machine, 'hgcheck --help' all commands. )"
    R"(docs/tutorial.md takes ten minutes.
)";

constexpr const char* kExitStatuses = R"(
Exit status: 0 no divergence, 1 divergence (or the fault was found), 2 usage or bad input, 3 harness error or cap,
125 replay: cannot run, 130 interrupted.)";

}  // namespace

int main(int argc, char** argv) {
  Commands commands;
  commands.campaign.campaign.version = commands.exporting.version = commands.record.version = commands.replay.version =
      commands.fleet.task.campaign.campaign.version = HGCHECK_VERSION;
  commands.campaign.campaign.jobs = std::clamp(hip::sync::Thread::hardware_concurrency(), 1U, 256U);
  commands.app.set_version_flag("--version", std::string("hgcheck ") + HGCHECK_VERSION);
  commands.app.footer(kExitStatuses);
  commands.app.require_subcommand(0, 1);
  commands.add_campaign();
  commands.add_program_commands();
  commands.add_export();
  commands.add_lists();
  commands.add_report();
  commands.add_history();
  commands.add_merge();
  commands.add_record();
  commands.add_fleet();
  commands.add_usage();
  fuzz::RaceOptions race;
  fuzz::add_race(commands.app, race);  // with --library; else hgcheck-race parses them
  const auto names_library = [](std::string_view one) { return one == "--library" || one.starts_with("--library="); };
  if (argc > 1 && std::string_view(argv[1]) == "race" && std::none_of(argv, argv + argc, names_library))
    return fuzz::run_race_program({argv + 1, argv + argc});
  if (argc > 1 && argv[1][0] != '-') {
    const auto known = commands.app.get_subcommands([](CLI::App*) { return true; });
    const bool found = std::ranges::any_of(known, [&](CLI::App* app) { return app->get_name() == argv[1]; });
    if (!found) {
      std::cerr << fmt::format("hgcheck: there is no command '{}'; 'hgcheck --help' lists them\n", argv[1]);
      return fuzz::kUsage;
    }
  }
  try {
    commands.app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help and --version
    return commands.app.exit(done);
  } catch (const CLI::ParseError& error) {
    std::cerr << "hgcheck: " << error.what() << " ('--help' after a command explains it)\n";
    return fuzz::kUsage;
  }
  if (commands.app.get_subcommands().empty()) {
    std::cout << kFiveThings;
    return argc > 1 ? fuzz::kUsage : fuzz::kAgreed;
  }
  if (commands.app.got_subcommand("race")) {
    return fuzz::run(fuzz::LibraryRaceCommand{race.library, race.json, race.ranks, race.bound, race.schedules,
                                              race.seconds, race.quiet});
  }
  return commands.run();
}
