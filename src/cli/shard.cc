// ouro shard: cuts a history into shards, checks them, and merges what was found.

#include "ouro/shard.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/terminal.h"
#include "ouro/pieces.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;

struct ShardFlags {
  std::string action;
  std::vector<std::string> paths;
  std::string out;  // Of split: the folder.
  std::uint32_t keys = 2;
  std::uint32_t sessions = 1;
  std::optional<std::uint64_t> before;
  bool plan_only = false;
  std::string format;
  std::string level = "session-si";
  std::int64_t clock_drift = 0;
  double memory_limit = 0;
  double time_limit = 0;
  std::size_t examples = 1;
  std::string history;  // Of merge: the whole.
  std::string certificate;
  bool json = false;
  bool quiet = false;
};

constexpr char kShardDetails[] =
    "A history with timestamps can be checked in parts, on several machines. 'split' cuts the "
    "history PATH into shards, files of native text in the folder that -o names: --keys shards of "
    "keys, which have each transaction with its operations on some of the keys; one of rows, if "
    "there are scans, selects or aggregates; --sessions shards of sessions, which have their "
    "transactions without operations; and one of clocks, if there are any. Each shard is a history "
    "like any other, and what is wrong with it is wrong with the whole.\n\n"
    "Several machines can split one history: each splits a part of it, with --before, the number "
    "of "
    "transactions in the parts before it, and 'join' puts the folders PATH of all parts "
    "together.\n\n"
    "'check' checks the shards PATH, or all shards of the folder PATH, at one LEVEL that "
    "timestamps decide, as 'ouro check --stream' does, and writes a verdict beside each. On "
    "another machine it needs the shard and shards.json in one folder.\n\n"
    "'merge' puts the verdicts in the folder PATH together to the verdict on the whole, and prints "
    "that as 'ouro check' does. With --history it shows whole transactions; without, their parts "
    "in the shards. --certificate, which needs --history, writes a certificate of the whole for "
    "'ouro certify'.";

std::string counted(std::uint64_t txns, std::uint64_t ops) {
  return fmt::format("{} transaction{}, {} operation{}", txns, txns == 1 ? "" : "s", ops,
                     ops == 1 ? "" : "s");
}

void print_plan(const std::string& title, const ShardPlan& plan) {
  std::string text = fmt::format("{}: {}\n", title, counted(plan.txns, plan.ops));
  for (const ShardFile& shard : plan.shards) {
    text += fmt::format("  {}: {}\n", name(shard.id), counted(shard.txns, shard.ops));
  }
  print(text);
}

int split_history(const ShardFlags& flags) {
  const auto format = parse_format(flags.format);
  if (!format) return kBadInput;
  if (flags.out.empty()) return fail("name a folder for the shards: -o FOLDER");
  if (flags.paths.size() != 1) return fail("'ouro shard split' takes one history");
  for (const std::uint32_t count : {flags.keys, flags.sessions}) {
    if (count >= 1 && count <= ShardCounts::kMost) continue;
    return fail(
        fmt::format("{} shards cannot be; give a number from 1 to {}", count, ShardCounts::kMost));
  }
  const std::string& path = flags.paths.front();
  std::optional<Result<ShardPlan>> plan;
  watched("splitting " + display_name(path), [&] {
    plan = split(path, flags.out,
                 {.keys = flags.keys,
                  .sessions = flags.sessions,
                  .read = {.format = *format},
                  .before = flags.before});
  });
  if (!plan->ok()) {
    Error error = plan->error();
    if (error.file.empty()) error.file = display_name(path);
    return fail(error);
  }
  if (!flags.quiet) print_plan(display_name(path), **plan);
  return kHolds;
}

// Makes shards.json alone: somebody else puts the shards together.
Result<ShardPlan> join_plans(const ShardFlags& flags) {
  std::vector<ShardPlan> parts;
  for (const std::string& path : flags.paths) {
    auto part = read_shard_plan(path);
    if (!part.ok()) return part;
    parts.push_back(*std::move(part));
  }
  auto whole = join(std::move(parts));
  if (!whole.ok()) return whole;
  std::error_code ignored;  // If there is no folder, the plan cannot be written.
  fs::create_directories(flags.out, ignored);
  const auto written = write_shard_plan(*whole, flags.out);
  return written.ok() ? std::move(whole) : Result<ShardPlan>(written.error());
}

int join_parts(const ShardFlags& flags) {
  if (flags.out.empty()) return fail("name a folder for the shards: -o FOLDER");
  std::optional<Result<ShardPlan>> plan;
  watched("joining " + flags.paths.front(),
          [&] { plan = flags.plan_only ? join_plans(flags) : join(flags.paths, flags.out); });
  if (!plan->ok()) return fail(plan->error());
  if (!flags.quiet) print_plan(flags.out, **plan);
  return kHolds;
}

// Checks shards of one folder.
class ShardChecker {
 public:
  ShardChecker(const ShardFlags& flags, Level level)
      : flags_(flags), level_(level), limits_(flags.time_limit, 0) {}

  int check_all(const std::string& path) {
    const bool whole = fs::is_directory(path);
    const std::string folder = whole ? path : fs::path(path).parent_path().string();
    const auto plan = read_shard_plan(folder.empty() ? "." : folder);
    if (!plan.ok()) return fail(plan.error());
    int status = kHolds;
    bool known = false;
    for (const ShardFile& shard : plan->shards) {
      if (!whole && fs::path(path).filename() != name(shard.id) + ".jsonl") continue;
      known = true;
      status = worse(status, check_one(folder.empty() ? "." : folder, *plan, shard));
      if (output_closed() || interrupted()) break;
    }
    if (known) return interrupted() ? worse(status, kUndecided) : status;
    return fail(fmt::format("{}: is no shard of the plan beside it", path));
  }

 private:
  int check_one(const std::string& folder, const ShardPlan& plan, const ShardFile& shard) {
    PiecesOptions options;
    options.level = level_;
    options.clock_drift = flags_.clock_drift;
    options.time_limit = limits_.time_left();
    if (flags_.memory_limit > 0) {
      options.memory_limit = static_cast<std::size_t>(std::min(flags_.memory_limit, 1e9) * 1e6);
    }
    options.examples = flags_.examples;
    options.cancelled = &interrupted();
    std::optional<Result<ShardVerdict>> verdict;
    watched("checking " + name(shard.id),
            [&] { verdict = check_shard(folder, plan, shard, options); });
    if (!verdict->ok()) return fail(verdict->error());
    if (auto status = write_shard_verdict(**verdict, plan, folder); !status.ok()) {
      return fail(status.error());
    }
    const Outcome outcome = (*verdict)->outcome;
    if (!flags_.quiet) {
      print(fmt::format("{}: {} {}{}\n", name(shard.id), name(outcome), info(level_).name,
                        outcome == Outcome::Undecided ? ": " + (*verdict)->reason : ""));
    }
    return outcome == Outcome::Holds      ? kHolds
           : outcome == Outcome::Violated ? kViolated
                                          : kUndecided;
  }

  const ShardFlags& flags_;
  Level level_;
  Limits limits_;
};

int check_shards(const ShardFlags& flags) {
  const auto level = parse_level(flags.level);
  if (!level) return kBadInput;
  if (!decidable(*level, Evidence::Timestamps)) {
    return fail(fmt::format("level '{}' cannot be decided by timestamps, and so not by shards",
                            info(*level).name));
  }
  catch_interrupt();
  ShardChecker checker(flags, *level);
  int status = kHolds;
  for (const std::string& path : flags.paths) {
    status = worse(status, checker.check_all(path));
    if (output_closed() || interrupted()) break;
  }
  return status;
}

int print_merged(const ShardFlags& flags, const ShardPlan& plan, const MergedShards& merged) {
  const std::string& title = flags.history.empty() ? plan.history : flags.history;
  ReportOptions report{.name = title, .colour = stdout_is_terminal()};
  report.whole = {plan.txns, plan.ops};
  if (!flags.quiet) {
    const Explanation explanation =
        explain(merged.history, merged.verdict,
                {.examples = flags.examples, .clock_drift = flags.clock_drift});
    report.explanations = {&explanation, 1};
    print(flags.json ? to_json(merged.history, merged.verdict, report)
                     : describe(merged.history, merged.verdict, report));
  }
  if (merged.certificate) {
    const auto status = write_certificate(*merged.certificate, flags.certificate);
    if (!status.ok()) return fail(status.error());
  }
  const Outcome outcome = merged.verdict.outcome;
  return outcome == Outcome::Holds ? kHolds : outcome == Outcome::Violated ? kViolated : kUndecided;
}

int merge_shards(const ShardFlags& flags) {
  const auto format = parse_format(flags.format);
  if (!format) return kBadInput;
  if (flags.paths.size() != 1) return fail("'ouro shard merge' takes one folder");
  if (!flags.certificate.empty() && flags.history.empty()) {
    return fail("--certificate is about the whole history; name it by --history");
  }
  const std::string& folder = flags.paths.front();
  const auto plan = read_shard_plan(folder);
  if (!plan.ok()) return fail(plan.error());
  const auto verdicts = read_shard_verdicts(*plan, folder);
  if (!verdicts.ok()) return fail(verdicts.error());
  MergeOptions options{.examples = flags.examples, .whole = {}};
  options.certificate = !flags.certificate.empty();
  if (!flags.history.empty()) {
    auto whole = pieces_of(flags.history, {.format = *format});
    if (!whole.ok()) return fail(whole.error());
    options.whole = *std::move(whole);
  }
  std::optional<Result<MergedShards>> merged;
  watched("merging " + folder, [&] { merged = merge(*plan, folder, *verdicts, options); });
  if (!merged->ok()) return fail(merged->error());
  return print_merged(flags, *plan, **merged);
}

int run_shard(const ShardFlags& flags) {
  if (flags.action == "split") return split_history(flags);
  if (flags.action == "join") return join_parts(flags);
  return flags.action == "check" ? check_shards(flags) : merge_shards(flags);
}

}  // namespace

void add_shard(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<ShardFlags>();
  CLI::App* app = root.add_subcommand("shard", "check in parts, on several machines");
  app->add_option("ACTION", flags->action, "split, join, check or merge")
      ->required()
      ->type_name("split|join|check|merge")
      ->check(one_of({"split", "join", "check", "merge"}));
  app->add_option("PATH", flags->paths, "history; folders; shards or their folder; folder")
      ->required()
      ->type_name("PATH");
  app->add_option("-o,--output", flags->out, "split, join: folder to make")->type_name("FOLDER");
  app->add_option("--keys", flags->keys, "split: shards of keys [2]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("--sessions", flags->sessions, "split: shards of sessions [1]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("--before", flags->before, "split a part: transactions in the parts before it")
      ->type_name("N")
      ->check(number_at_least_zero());
  app->add_flag("--plan-only", flags->plan_only,
                "join: only shards.json; something else puts the shards together");
  app->add_option("-f,--format", flags->format, "format of the history [detected]")
      ->type_name("FORMAT");
  app->add_option("-l,--level", flags->level, "check: isolation level [session-si]")
      ->type_name("LEVEL");
  add_clock_drift(*app, flags->clock_drift);
  app->add_option("--memory-limit", flags->memory_limit, "check: memory to use, in MB [1000]")
      ->type_name("MB")
      ->check(number_at_least_zero());
  app->add_option("-t,--time-limit", flags->time_limit, "check: give up after SEC [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_option("--examples", flags->examples, "violations of each kind to keep and tell [1]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("--history", flags->history, "merge: the whole, to show whole transactions")
      ->type_name("HISTORY");
  app->add_option("--certificate", flags->certificate, "merge: write a proof for 'ouro certify'")
      ->type_name("FILE");
  app->add_flag("--json", flags->json, "merge: print the verdict as 'ouro check --json' does");
  app->add_flag("-q,--quiet", flags->quiet, "print nothing, only set the exit status");
  app->footer("Exit status: 0 holds, or split, 1 violated, 2 undecided, 254 bad input or usage.");
  commands.push_back({app, [flags] { return run_shard(*flags); }, kShardDetails});
}

}  // namespace ouro::cli
