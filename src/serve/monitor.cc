#include "serve/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/memory.h"
#include "report/json_writer.h"
#include "serve/sources.h"

namespace ouro::serving {
namespace {

class MetricsText {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP ouro_{} {}\n# TYPE ouro_{} {}\n", name, help, name, type);
    name_ = name;
  }
  template <class Number>
  void sample(std::string_view labels, Number number) {
    out_ += fmt::format("ouro_{}{} {}\n", name_, labels, number);
  }
  template <class Number>
  void single(std::string_view name, std::string_view type, std::string_view help, Number number) {
    family(name, type, help);
    sample("", number);
  }
  void histogram(std::string_view name, std::string_view help, const Durations& durations) {
    family(name, "histogram", help);
    for (std::size_t i = 0; i < Durations::kBounds.size(); ++i) {
      out_ += fmt::format("ouro_{}_bucket{{le=\"{}\"}} {}\n", name, Durations::kBounds[i],
                          durations.below(i));
    }
    out_ += fmt::format("ouro_{}_bucket{{le=\"+Inf\"}} {}\n", name, durations.count());
    out_ += fmt::format("ouro_{0}_sum {1}\nouro_{0}_count {2}\n", name, durations.sum(),
                        durations.count());
  }
  [[nodiscard]] std::string finish() && { return std::move(out_); }

 private:
  std::string out_;
  std::string_view name_;
};

std::string_view verdict_name(Outcome outcome) {
  return outcome == Outcome::Violated    ? "violated"
         : outcome == Outcome::Undecided ? "undecided"
                                         : "holds";
}

int exit_of(Outcome outcome) {
  return outcome == Outcome::Violated ? 1 : outcome == Outcome::Undecided ? 2 : 0;
}

void write_counts(MetricsText& text, const Vitals& vitals) {
  const StreamSummary& stream = vitals.stream;
  text.family("transactions_total", "counter", "Transactions taken, by what their client heard.");
  constexpr std::string_view kStatus[] = {"committed", "aborted", "unknown"};
  for (std::size_t i = 0; i < vitals.txns.size(); ++i) {
    text.sample(fmt::format("{{status=\"{}\"}}", kStatus[i]), vitals.txns[i]);
  }
  text.single("verdict_flips_total", "counter",
              "Times a provisional verdict on a transaction changed.", stream.flips);
  text.single("flipped_transactions_total", "counter",
              "Transactions whose provisional verdict changed.", stream.flipped_txns);
  text.single("stragglers_total", "counter",
              "Transactions that came after the time-out of one they could affect.",
              stream.stragglers);
  text.single("verdict", "gauge", "0 holds, 1 violated, 2 undecided.", exit_of(vitals.outcome()));
  text.single("lost_stragglers_total", "counter", "The same as ouro_unknown_total.",
              stream.lost_stragglers);
  text.single("undecided_total", "counter", "Violations that could not be judged after all.",
              stream.undecided);
  text.single("input_faults_total", "counter", "Transactions without timestamps.", stream.faults);
  text.single("unknown_total", "counter",
              "Transactions that came too late for their effects to be judged.",
              stream.lost_stragglers);
  text.single("gc_transactions_total", "counter", "Transactions whose verdict became final.",
              stream.txns - std::min(stream.txns, stream.window_txns));
  text.single("window_transactions", "gauge", "Transactions whose verdict is not final yet.",
              stream.window_txns);
  text.single("provisional_violations", "gauge", "Violations that are not final yet.",
              stream.provisional);
  text.single("keys", "gauge", "Keys in memory.", stream.keys);
  text.single("stream_bytes", "gauge", "Memory of the check, as accounted.", stream.memory);
  text.single("disk_bytes", "gauge", "Bytes that the check keeps on disk.", stream.disk);
  text.single("spilled_total", "counter", "Versions and reads that went to disk.", stream.spilled);
  text.single("recalled_total", "counter", "Times something came back from disk.", stream.recalled);
  text.single("keys_left_total", "counter", "Times a key left memory.", stream.keys_left);
  text.single("keys_back_total", "counter", "Times a key came back to memory.", stream.keys_back);
}

}  // namespace

namespace {

// Text as the value of a label.
std::string metric_label(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

void write_events(MetricsText& text, const EventCounters& counters, std::string_view level) {
  text.family("violations_total", "counter", "Violations reported.");
  for (const auto& [which, count] : counters.violations) {
    std::string labels = fmt::format("level=\"{}\",anomaly={}", level, metric_label(which.second));
    if (which.first != 0) labels += ",source=" + metric_label(name_of(counters, which.first));
    text.sample('{' + labels + '}', count);
  }
  text.single("withdrawals_total", "counter", "Violations that turned out to be none.",
              counters.kinds[static_cast<std::size_t>(StreamEvent::What::Withdrawal)]);
}

void write_sources(MetricsText& text, const std::vector<Vitals::Source>& sources) {
  const auto family = [&](std::string_view name, std::string_view type, std::string_view help,
                          const auto& value) {
    text.family(name, type, help);
    for (const Vitals::Source& source : sources) {
      text.sample("{source=" + metric_label(source.name) + '}', value(source));
    }
  };
  family("source_transactions_total", "counter", "Transactions that take part, by source.",
         [](const Vitals::Source& source) { return source.stream.txns; });
  family("source_violations", "gauge", "Violations that stand, by source.",
         [](const Vitals::Source& source) { return violation_count(source.stream); });
  family("source_verdict", "gauge", "0 holds, 1 violated, 2 undecided; by source.",
         [](const Vitals::Source& source) { return exit_of(source.outcome()); });
  const auto counted = [](const Vitals::Source& source) { return source.behind.has_value(); };
  if (std::none_of(sources.begin(), sources.end(), counted)) return;
  text.family("source_behind_messages", "gauge", "Messages that wait for the check, by source.");
  for (const Vitals::Source& source : sources) {
    if (!source.behind) continue;
    text.sample("{source=" + metric_label(source.name) + '}', *source.behind);
  }
}

// Final ones only; provisional ones may still turn out to be none, and are counted apart.
void write_violations(JsonWriter& json, const StreamSummary& stream) {
  json.key("violations").begin_object();
  for (std::size_t i = 0; i < stream.counts.size(); ++i) {
    const std::uint64_t count =
        stream.counts[i] - std::min(stream.counts[i], stream.provisional_counts[i]);
    if (count > 0) json.member(info(static_cast<AnomalyKind>(i)).name, count);
  }
  json.end_object();
}

// What the source cannot be judged by; docs/serve.md explains "voids".
void write_doubt(JsonWriter& json, const Doubt& doubt) {
  json.key("doubt").begin_object().member("count", doubt.number);
  if (doubt.scope != Doubt::Scope::None) json.member("voids", name(doubt.scope));
  json.member("reason", std::string_view(doubt.reason)).end_object();
}

}  // namespace

void Durations::add(double seconds) {
  ++count_;
  sum_ += seconds;
  for (std::size_t i = 0; i < kBounds.size(); ++i) counts_[i] += seconds <= kBounds[i] ? 1 : 0;
}

std::uint64_t violation_count(const StreamSummary& summary) {
  const std::uint64_t all =
      std::accumulate(summary.counts.begin(), summary.counts.end(), std::uint64_t{0});
  return all - std::min(all, summary.provisional);
}

Outcome Vitals::outcome() const {
  Doubt::Scope doubt = Doubt::Scope::None;
  for (const Source& source : sources) doubt = std::max(doubt, source.doubt.scope);
  return outcome_of(stream, doubt);
}

Outcome Monitor::outcome() const {
  const std::lock_guard lock(mutex_);
  return vitals_.outcome();
}

std::vector<std::string> Monitor::doubts() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const Vitals::Source& source : vitals_.sources) {
    if (source.doubt.scope == Doubt::Scope::None) continue;
    all.push_back(source.name.empty() ? source.doubt.reason
                                      : source.name + ": " + source.doubt.reason);
  }
  return all;
}

void Monitor::update(const Vitals& vitals) {
  const std::lock_guard lock(mutex_);
  vitals_ = vitals;
  const auto now = std::chrono::steady_clock::now();
  while (now - sampled_ >= std::chrono::seconds(1)) {
    const std::uint64_t all = vitals.txns[0] + vitals.txns[1] + vitals.txns[2];
    // If several seconds went by since the last call, the transactions are spread evenly over them.
    const auto pause = static_cast<std::uint64_t>((now - sampled_) / std::chrono::seconds(1));
    const std::uint64_t share = (all - sampled_txns_) / pause;
    samples_.push_back({.txns = share,
                        .lag_seconds = vitals.lag_seconds,
                        .memory = resident_bytes(),
                        .window_txns = vitals.stream.window_txns,
                        .flips = vitals.stream.flips,
                        .violations = violation_count(vitals.stream)});
    sampled_txns_ += share;
    sampled_ += std::chrono::seconds(1);
    if (samples_.size() > kSamples) samples_.pop_front();
  }
}

std::string Monitor::metrics() const {
  const EventHub::Overview events = hub_.overview();
  const std::lock_guard lock(mutex_);
  MetricsText text;
  write_counts(text, vitals_);
  write_events(text, events.counters, info(options_.level).name);
  write_sources(text, vitals_.sources);
  text.family("batches_total", "counter", "Batches, by what became of them.");
  text.sample("{result=\"applied\"}", vitals_.batches);
  text.sample("{result=\"repeated\"}", vitals_.repeated);
  text.sample("{result=\"rejected\"}", rejected_.load());
  text.single("input_gaps_total", "counter", "Files of which a part is missing.", gaps_.load());
  text.single("resident_bytes", "gauge", "Memory of the process.", resident_bytes());
  text.single("queue_bytes", "gauge", "Input that waits for the check.", queue_.bytes());
  text.single("lag_seconds", "gauge", "From arrival to verdict, of the last batch.",
              vitals_.lag_seconds);
  text.histogram("check_duration_seconds", "How long it took to check a batch.", vitals_.checks);
  return std::move(text).finish();
}

std::string Monitor::summary() const {
  const EventHub::Overview events = hub_.overview();
  const std::lock_guard lock(mutex_);
  const StreamSummary& stream = vitals_.stream;
  JsonWriter json;
  json.begin_object();
  json.member("level", info(options_.level).name);
  json.member("verdict", verdict_name(vitals_.outcome()));
  json.member("gaps", gaps_.load());
  json.member("uptime_seconds",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count());
  json.member("timeout_seconds", std::chrono::duration<double>(options_.timeout).count());
  json.member("transactions", stream.txns).member("left_out", stream.left_out);
  json.member("operations", stream.operations);
  json.member("stragglers", stream.stragglers).member("lost_stragglers", stream.lost_stragglers);
  json.member("flips", stream.flips).member("flipped_transactions", stream.flipped_txns);
  json.member("provisional", stream.provisional).member("window", stream.window_txns);
  json.member("keys_left", stream.keys_left).member("keys_back", stream.keys_back);
  json.member("keys", stream.keys).member("stream_bytes", stream.memory);
  json.member("memory_limit", options_.memory).member("disk_bytes", stream.disk);
  json.member("resident_bytes", resident_bytes()).member("queue_bytes", queue_.bytes());
  json.member("lag_seconds", vitals_.lag_seconds).member("batches", vitals_.batches);
  json.member("rejected", rejected_.load()).member("repeated", vitals_.repeated);
  json.member("events", hub_.last());
  json.member("undecided", stream.undecided).member("input_faults", stream.faults);
  write_violations(json, stream);
  json.key("sources").begin_array();
  for (const Vitals::Source& source : vitals_.sources) {
    json.begin_object().member("source", std::string_view(source.name));
    json.member("verdict", verdict_name(source.outcome()));
    if (source.doubt.number > 0) write_doubt(json, source.doubt);
    if (source.behind) json.member("behind", *source.behind);
    json.member("transactions", source.stream.txns);
    json.member("provisional", source.stream.provisional);
    json.member("undecided", source.stream.undecided);
    json.member("lost_stragglers", source.stream.lost_stragglers);
    json.member("input_faults", source.stream.faults);
    write_violations(json, source.stream);
    json.end_object();
  }
  json.end_array().key("recent").begin_array();
  for (const EventText& event : events.recent) {
    json.begin_object().member("event", event.number);
    json.member("kind", kind_name(event.what));
    if (event.withdraws != 0) json.member("withdraws", event.withdraws);
    if (event.source_number != 0) json.member("source", std::string_view(event.source));
    if (event.in_source != event.number) json.member("number", event.in_source);
    json.member("anomaly", std::string_view(event.anomaly));
    json.member("headline", std::string_view(event.headline)).member("reported", event.reported);
    json.end_object();
  }
  json.end_array().key("samples").begin_array();
  for (const Sample& sample : samples_) {
    json.begin_array().value(sample.txns).value(sample.lag_seconds).value(sample.memory);
    json.value(sample.window_txns).value(sample.flips).value(sample.violations).end_array();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

}  // namespace ouro::serving
