// ouro serve: checks a live database while it runs.

#include "ouro/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/serve_kafka.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct ServeFlags {
  ServeOptions options;
  KafkaFlags kafka;
  std::vector<std::string> inputs;
  std::string level = "session-si";
  std::string events;
  std::string memory, body_limit, queue, events_retention;
  std::string initial = "null";
  double timeout = 5;  // This and the next two are in seconds.
  double checkpoint = 30;
  double retention = 600;
  bool quiet = false;
};

constexpr char kServeDetails[] =
    "Takes transactions while a database runs them, in any order, and decides by their timestamps "
    "whether LEVEL allows them. What single transactions show, and two writers that overlap, is "
    "reported at once; whether a read returned what its snapshot holds is final after the "
    "time-out, "
    "since whoever wrote that may still be on the way.\n\n"
    "Input comes over HTTP (POST /check: JSON arrays as Aion takes them, NDJSON, or the native "
    "binary format), over TCP (frames, see {}), from standard input if '-' is given, "
    "and "
    "from files that grow (--follow). It listens at 127.0.0.1:7117 unless --listen says otherwise; "
    "with '-' only if --listen is given. Port 0 is any that is free; the address is printed. "
    "'ouro run --serve URL' feeds a service from a workload.\n\n"
    "GET / is a page to watch, /metrics is for Prometheus, /events?after=N streams what is found "
    "as "
    "NDJSON, /event/N is one event, /summary the state, /healthz answers while the service "
    "lives.\n\n"
    "With --state nothing that was acknowledged is lost or counted twice, even if the process is "
    "killed: input is logged and synced before it is answered, and every so often the check is "
    "saved "
    "as a whole. A batch that bears a name (X-Ouro-Batch: CLIENT/NUMBER) can be sent again without "
    "harm. Found events are in DIR/events.ndjson. With --memory, what does not fit is in DIR, "
    "too.\n\n"
    "Clients must show the token of --token, or of the environment variable OURO_TOKEN, which "
    "others "
    "cannot see, as 'Authorization: Bearer TOKEN'. A service that listens beyond this machine "
    "must have one, or --insecure.\n\n"
    "A batch can name its source (X-Ouro-Source): keys, sessions and timestamps of different "
    "sources have nothing to do with each other. DELETE /source/NAME forgets one.\n\n"
    "{}\n\n"
    "SIZE is a number of bytes or of KB, MB, GB. The exit status is that of 'ouro check', when a "
    "signal or the end of all inputs ends the service.";

// A size such as "256MB" in bytes; nothing if `text` is no size.
std::optional<std::size_t> parse_size(const std::string& text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::vector<std::pair<std::string_view, int>> units = {
      {"", 0}, {"B", 0}, {"KB", 10}, {"MB", 20}, {"GB", 30}};
  const auto found = std::find_if(units.begin(), units.end(),
                                  [&](const auto& entry) { return entry.first == unit; });
  if (found == units.end() || number > 1e15) return std::nullopt;
  return static_cast<std::size_t>(number * static_cast<double>(std::size_t{1} << found->second));
}

CLI::Validator size() {
  return CLI::Validator(
      [](std::string& text) {
        return parse_size(text) ? std::string()
                                : fmt::format("'{}' is no size; write 256MB or 1GB", text);
      },
      "", "size");
}

CLI::Validator null_or_integer() {
  return CLI::Validator(
      [](std::string& text) {
        std::int64_t number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool whole = problem == std::errc() && end == text.data() + text.size();
        return text == "null" || (whole && Value::fits(number))
                   ? std::string()
                   : fmt::format("'{}' is neither an integer nor null", text);
      },
      "", "initial");
}

// The number of the last event in a file of events; zero if there is none.
std::uint64_t last_event_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t last = 0;
  constexpr std::string_view kStart = "{\"event\":";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kStart)) continue;
    std::from_chars(line.data() + kStart.size(), line.data() + line.size(), last);
  }
  return last;
}

// The file of --events, to which events are appended.
class EventFile {
 public:
  ~EventFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  bool open(const std::string& path) {
    file_ = std::fopen(path.c_str(), "ab");
    return file_ != nullptr;
  }
  void write(const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_ = nullptr;
};

// Sets the options by the flags, and opens the file of events. Returns an exit status if something
// is wrong with them.
std::optional<int> settle(ServeFlags& flags, EventFile& file) {
  ServeOptions& options = flags.options;
  const auto level = parse_level(flags.level);
  if (!level) return kBadInput;
  options.stream.level = *level;
  for (const std::string& input : flags.inputs) {
    if (input != "-") {
      return fail(fmt::format("'{}': only '-' can be read; use --follow for files", input));
    }
    options.input = STDIN_FILENO;
  }
  if (options.http.empty() && options.input < 0) options.http = "127.0.0.1:7117";
  if (options.http == "none") options.http.clear();
  if (options.token.empty()) {
    if (const char* token = std::getenv("OURO_TOKEN"); token != nullptr) options.token = token;
  }
  if (const char* secret = std::getenv("OURO_WEBHOOK_SECRET"); secret != nullptr) {
    options.webhook_secret = secret;
  }
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e9) * 1000));
  };
  options.stream.timeout = milliseconds(flags.timeout);
  options.checkpoint =
      std::chrono::seconds(static_cast<std::int64_t>(std::min(flags.checkpoint, 1e9)));
  options.stream.retention =
      std::chrono::seconds(static_cast<std::int64_t>(std::min(flags.retention, 1e9)));
  if (!flags.memory.empty()) options.stream.memory = *parse_size(flags.memory);
  if (!flags.body_limit.empty()) options.body_limit = *parse_size(flags.body_limit);
  if (!flags.queue.empty()) options.queue_limit = *parse_size(flags.queue);
  if (!flags.events_retention.empty()) options.events_limit = *parse_size(flags.events_retention);
  if (flags.initial != "null") options.initial = std::stoll(flags.initial);
  if (flags.events == "-") {
    options.event = [](const std::string& line) { print(line); };
  } else if (!flags.events.empty()) {
    if (!options.state.empty()) options.event_after = last_event_in(flags.events);
    flags.kafka.options.event_after = last_event_in(flags.events);
    if (!file.open(flags.events)) return fail(flags.events + ": cannot write events there");
    options.event = [&file](const std::string& line) { file.write(line); };
  }
  return std::nullopt;
}

// Each client takes a descriptor, so the process asks for as many as it can use.
void allow_many_descriptors() {
  constexpr rlim_t kEnough = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

// Prints what was found. If events go to standard output, for a program to read, nothing else must
// go there.
int conclude(const ServeFlags& flags, const ServeReport& report) {
  if (!flags.quiet) {
    const std::string text = describe(report);
    if (flags.events == "-") {
      print_error(text);
    } else {
      print(text);
    }
  }
  return report.outcome == Outcome::Holds      ? kHolds
         : report.outcome == Outcome::Violated ? kViolated
                                               : kUndecided;
}

// A process that shows no verdict came to none.
int run_kafka(ServeFlags& flags, const bool& ready) {
  if (const auto wrong = apply(flags.kafka, flags.options)) return fail(*wrong);
  const auto report = serve_kafka(flags.kafka.options);
  if (report.ok()) return report->merged ? conclude(flags, *report->merged) : kHolds;
  fail(report.error());
  return ready ? kInternalError : kBadInput;
}

int run_serve(ServeFlags& flags) {
  ServeOptions& options = flags.options;
  EventFile file;
  if (const auto status = settle(flags, file)) return *status;
  bool ready = false;
  options.ready = [&](const ServeAddresses& at) {
    ready = true;
    if (flags.quiet) return;
    if (!at.http.empty()) print_error(fmt::format("ouro: {}\n", at.http));
    if (!at.tcp.empty()) print_error(fmt::format("ouro: tcp {}\n", at.tcp));
  };
  if (!flags.quiet) {
    options.note = [](const std::string& text) {
      print_error(fmt::format("ouro: note: {}\n", text));
    };
  }
  allow_many_descriptors();
  catch_interrupt();
  catch_termination();
  options.stop = &interrupted();
  if (flags.kafka.given()) return run_kafka(flags, ready);
  const auto report = serve(options);
  if (report.ok()) return conclude(flags, *report);
  fail(report.error());
  return ready ? kInternalError : kBadInput;
}

void add_minor_flags(CLI::App& app, ServeFlags& flags) {
  ServeOptions& options = flags.options;
  add_clock_drift(app, options.stream.clock_drift)->group(kMinor);
  app.add_option("--initial", flags.initial, "what keys hold at first [null: nothing]")
      ->type_name("VALUE")
      ->check(null_or_integer())
      ->group(kMinor);
  app.add_option("--body-limit", flags.body_limit, "largest batch [32MB]")
      ->type_name("SIZE")
      ->check(size())
      ->group(kMinor);
  app.add_option("--queue", flags.queue,
                 "input that may wait for the check [64MB, or a 16th of --memory]")
      ->type_name("SIZE")
      ->check(size())
      ->group(kMinor);
  app.add_option("--checkpoint", flags.checkpoint, "save the check every SEC [30]")
      ->type_name("SEC")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app.add_flag("--repair", options.repair, "keep what can be kept of a damaged DIR")->group(kMinor);
  app.add_option("--retention", flags.retention, "how long what is on disk can come back [600]")
      ->type_name("SEC")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app.add_option("--events-retention", flags.events_retention,
                 "how much of the events to keep in DIR [1GB]")
      ->type_name("SIZE")
      ->check(size())
      ->group(kMinor);
}

}  // namespace

void add_serve(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<ServeFlags>();
  ServeOptions& options = flags->options;
  CLI::App* app = root.add_subcommand("serve", "check a live database, for ever");
  app->add_option("INPUT", flags->inputs, "'-' for standard input")->type_name("INPUT");
  app->add_option("-l,--level", flags->level, "isolation level, by timestamps [session-si]")
      ->type_name("LEVEL");
  app->add_option("--listen", options.http, "HTTP [127.0.0.1:7117], or none")
      ->type_name("HOST:PORT");
  app->add_option("--tcp", options.tcp, "take frames over TCP, too")->type_name("HOST:PORT");
  app->add_option("--follow", options.follow, "read a native history as it grows")
      ->type_name("FILE");
  app->add_option("--state", options.state, "survive restarts and crashes in DIR")
      ->type_name("DIR");
  app->add_option("--events", flags->events, "append what is found; '-': standard output")
      ->type_name("FILE");
  app->add_option("--webhook", options.webhook, "POST what is found")->type_name("URL");
  app->add_option("--token", options.token, "what clients must show [$OURO_TOKEN]")
      ->type_name("TOKEN");
  app->add_flag("--insecure", options.insecure, "let other machines connect without a token");
  app->add_option("--timeout", flags->timeout, "how long a read waits for its writer [5]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_option("--memory", flags->memory, "about how much memory to use [no limit]")
      ->type_name("SIZE")
      ->check(size());
  add_kafka_flags(*app, flags->kafka);
  add_minor_flags(*app, *flags);
  app->add_flag("-q,--quiet", flags->quiet, "print nothing but events");
  app->footer(
      "Exit status: 0 holds, 1 violated, 2 undecided, 254 bad input or usage,\n"
      "255 internal error. 'ouro man' tells about protocols and restarts.");
  commands.push_back(
      {app, [flags] { return run_serve(*flags); },
       fmt::format(kServeDetails, document_address("serve.md"),
                   fmt::format(fmt::runtime(kKafkaDetails), document_address("scale.md")))});
}

}  // namespace ouro::cli
