#include "ouro/tap.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/url.h"
#include "net/address.h"
#include "tap/ledger.h"
#include "tap/outputs.h"
#include "tap/proxy.h"
#include "tap/recorder.h"

namespace ouro {
namespace {

// Why there is no tap for databases of which one could be expected.
std::string_view not_tapped(std::string_view scheme) {
  if (scheme == "tidb") {
    return "a tap needs snapshots that can be compared with a log of commits, which TiDB does not "
           "give; `ouro run tidb://…` judges TiDB by its timestamps";
  }
  if (scheme == "mariadb" || scheme == "mysql" || scheme == "galera") {
    return "MariaDB does not tell which transactions a snapshot sees, so a tap would have no exact "
           "order; `ouro run mariadb://…` records the order of its commits";
  }
  return {};
}

Result<db::Url> parse_tap_url(const std::string& text) {
  auto url = db::parse_url(text);
  if (!url.ok()) return url;
  if (const std::string_view why = not_tapped(url->scheme); !why.empty()) {
    return Error{.what = fmt::format("{}: {}", url->text, why)};
  }
  if (url->scheme != "postgres" && url->scheme != "postgresql") {
    return Error{.what =
                     fmt::format("{}: a tap needs a URL postgres://USER@HOST/DATABASE", url->text)};
  }
  if (Status left = url->nothing_left("none"); !left.ok()) return left.error();
  if (url->hosts.size() > 1) {
    return Error{.what = fmt::format("{}: a tap has one server; name the primary", url->text)};
  }
  if (url->hosts.empty()) url->hosts.push_back({});
  return url;
}

void add_totals(const tapping::Assembler& assembler, TapReport& report) {
  const tapping::Assembler::Totals& totals = assembler.totals();
  report.txns = totals.txns;
  report.automatic = totals.automatic;
  report.read_committed = totals.read_committed;
  report.repeatable_read = totals.repeatable_read;
  report.serializable = totals.serializable;
  report.others = totals.others;
  report.without_start = totals.without_start;
  const tapping::Coverage& coverage = assembler.coverage();
  report.judged = coverage.judged;
  report.not_judged = coverage.not_judged;
  for (const auto& [what, count] : coverage.why) {
    report.reasons.push_back({what.first, what.second, count});
  }
  std::stable_sort(report.reasons.begin(), report.reasons.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  if (coverage.dropped_reads > 0) {
    report.notes.push_back(fmt::format(
        "{} values that were read are not judged, because it is not known what was there",
        coverage.dropped_reads));
  }
  if (totals.selections > 0) {
    report.notes.push_back(fmt::format(
        "of {} statements it is also judged whether they returned all rows that they asked for",
        totals.selections));
  }
  if (totals.revived > 0) {
    report.notes.push_back(fmt::format(
        "{} transactions inserted a row that another one had deleted behind their snapshot, which "
        "PostgreSQL allows: what they read and what they wrote are judged apart",
        totals.revived));
  }
  report.spoiled = assembler.problems();
}

void add_counts(const tapping::Ledger& ledger, TapReport& report) {
  const tapping::Ledger::Counts counts = ledger.counts();
  report.connections = counts.connections;
  report.rolled_back = counts.rolled_back;
  if (counts.failed_probes > 0) {
    report.notes.push_back(fmt::format(
        "{} statements of the tap failed, and with each the transaction of a client that it was in",
        counts.failed_probes));
  }
  if (counts.not_understood > 0) {
    report.notes.push_back(
        fmt::format("{} connections were passed through from a message on that was not understood",
                    counts.not_understood));
  }
}

Result<TapReport> copy_bytes(const TapOptions& options, const db::Url& url,
                             const net::Address& listen) {
  tapping::Ledger ledger;
  auto proxy = tapping::Proxy::open(listen, url.hosts[0], ledger, false);
  if (!proxy.ok()) return proxy.error();
  if (options.ready) options.ready(net::to_string({listen.host, (*proxy)->port()}));
  if (Status served = (*proxy)->serve(*options.stop); !served.ok()) return served.error();
  return TapReport{};
}

}  // namespace

Result<TapReport> tap(const TapOptions& options) {
  auto url = parse_tap_url(options.url);
  if (!url.ok()) return url.error();
  const auto listen = net::parse_address(options.listen);
  if (!listen.ok()) return listen.error();
  if (options.copy_only) return copy_bytes(options, *url, *listen);

  tapping::Ledger ledger;
  auto outputs = tapping::Outputs::open({.history = options.history,
                                         .statements = options.statements,
                                         .server = url->text,
                                         .serve = options.serve,
                                         .token = options.serve_token,
                                         .notice = options.notice});
  if (!outputs.ok()) return outputs.error();
  auto recorder =
      tapping::Recorder::open(*url,
                              {.split = !options.serve.empty(),
                               .patience = std::chrono::nanoseconds(options.patience).count()},
                              options.load, ledger, **outputs, *options.stop);
  if (!recorder.ok()) return recorder.error();
  {
    auto proxy = tapping::Proxy::open(*listen, url->hosts[0], ledger, true);
    if (!proxy.ok()) return proxy.error();
    (*recorder)->start();
    if (options.ready) options.ready(net::to_string({listen->host, (*proxy)->port()}));
    if (Status served = (*proxy)->serve(*options.stop); !served.ok()) return served.error();
  }
  (*recorder)->finish();
  TapReport report;
  report.server = (*recorder)->server();
  add_totals((*recorder)->assembler(), report);
  add_counts(ledger, report);
  if (!options.load.empty()) {
    report.notes.push_back(fmt::format("{} rows loaded", (*recorder)->rows_loaded()));
  }
  if (!(*recorder)->problem().empty()) {
    report.spoiled.push_back("recording ended early: " + (*recorder)->problem());
  }
  if (Status finished = (*outputs)->finish(); !finished.ok()) return finished.error();
  report.unsent = (*outputs)->unsent();
  return report;
}

}  // namespace ouro
