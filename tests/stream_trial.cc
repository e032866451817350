#include "tests/stream_trial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "history/columns.h"
#include "ouro/certificate.h"
#include "stream/copier.h"

namespace ouro::oracle {
namespace {

using Random = std::mt19937_64;

// The transactions mixed, but each session without numbers in its order: again and again takes the
// next one of some session, at most `reach` after the oldest that is left.
std::vector<TxnId> mixed(const History& history, Random& random, std::size_t reach) {
  std::vector<TxnId> left;
  for (std::size_t t = 0; t < history.txn_count(); ++t) left.push_back(TxnId{t});
  std::vector<TxnId> order;
  while (!left.empty()) {
    const std::size_t picked = random() % std::min(left.size(), reach);
    const SessionId session = history.session(left[picked]);
    const auto first = std::find_if(left.begin(), left.end(), [&](TxnId txn) {
      return history.sno(txn) ? txn == left[picked] : history.session(txn) == session;
    });
    order.push_back(*first);
    left.erase(first);
  }
  return order;
}

std::shared_ptr<const History> part(const std::shared_ptr<const History>& history,
                                    const std::vector<TxnId>& txns, std::size_t from,
                                    std::size_t to, std::span<const KeyVersion> initials) {
  stream::Copier copier;
  copier.say_initial(*history, history->default_initial());
  for (std::size_t i = from; i < to; ++i) {
    copier.add({history, txns[i]});
    copier.builder().name(Value::small(static_cast<std::int64_t>(i)));
  }
  for (const KeyVersion& own : initials) copier.say_initial(*history, own.key, own.value);
  return std::make_shared<const History>(*copier.freeze());
}

std::string name_of(const History& history, TxnId txn) {
  return "T" + history.text(history.txn_name(txn));
}

// `text` with the columns of every row sorted by name. (A history has them in the order in which it
// first met them.)
// REQUIRES: no text in rows.
std::string with_sorted_columns(std::string text) {
  // A floating-point number is an object, too, but no row.
  constexpr std::string_view kFloat = "{\"@float\":";
  for (std::size_t at = 0; (at = text.find(kFloat, at)) != std::string::npos;) {
    text.erase(text.find('}', at), 1);
    text.replace(at, kFloat.size(), "float ");
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('}', at);
    if (text[at] != '{' || end == std::string::npos) {
      out += text[at++];
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream row(text.substr(at + 1, end - at - 1));
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    std::sort(cells.begin(), cells.end());
    out += '{';
    for (const std::string& cell : cells) out += cell + ',';
    out += '}';
    at = end + 1;
  }
  return out;
}

std::string raw_text_of(const History& history, const Anomaly& anomaly, bool sources) {
  std::string out(info(anomaly.kind).name);
  const bool mismatch = anomaly.kind == AnomalyKind::SnapshotMismatch;
  if (!mismatch || sources) {
    for (const TxnId txn : anomaly.txns) out += ' ' + name_of(history, txn);
  }
  bool list = false;
  std::string read;
  for (std::size_t i = 0; i < anomaly.ops.size(); ++i) {
    const Op op = history.op(anomaly.ops[i]);
    if (is_predicate_read(op.kind)) {
      const TxnId txn = history.txn_of(op.id);
      out += ", " + name_of(history, txn) + '.' +
             std::to_string(op.id.value - history.first_op(txn).value);
      continue;
    }
    const std::string value = history.text(op.value);
    if (i == 0) read = value;
    // Leave out the write that the read returned.
    if (mismatch && !sources && i > 0 && value == read) continue;
    list |= op.value.is_list() || op.kind == OpKind::Append;
    const TxnId txn = history.txn_of(op.id);
    out += ", " + name_of(history, txn) + '.' +
           std::to_string(op.id.value - history.first_op(txn).value);
    out += ' ' + history.key_label(op.key) + '=' + value;
  }
  // What a list should hold depends on who has arrived when an internal anomaly is reported.
  if (anomaly.kind == AnomalyKind::Internal && list) return out;
  return out + "; expected " + anomaly.expected;
}

std::string text_of(const History& history, const Anomaly& anomaly, bool sources) {
  return with_sorted_columns(raw_text_of(history, anomaly, sources));
}

}  // namespace

std::uint64_t first_seed() {
  const char* const given = std::getenv("OURO_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

History with_initials(const History& history, std::uint64_t seed) {
  struct Owner {
    History history;
    std::vector<KeyVersion> own;
  };
  Random random(seed);
  const auto owner = std::make_shared<Owner>(Owner{history, {}});
  HistoryColumns c = columns_of(history);
  std::vector<std::vector<Value>> seen(history.key_count());
  std::vector<Value> all{Value::null(), Value::small(-7)};
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Value value = c.op_value[i];
    if (is_predicate_read(c.op_kind[i]) || value.is_list() || value.is_unobserved()) continue;
    all.push_back(value);
    if (c.op_kind[i] == OpKind::Read) seen[c.op_key[i].index()].push_back(value);
  }
  for (const KeyVersion& row : c.row_reads) seen[row.key.index()].push_back(row.value);
  if (random() % 2 == 0) c.default_initial = all[random() % all.size()];
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (random() % 2 == 0) continue;
    const std::vector<Value>& from = seen[k].empty() || random() % 4 == 0 ? all : seen[k];
    owner->own.push_back({KeyId{k}, from[random() % from.size()]});
  }
  c.key_initial = owner->own;
  return history_of(c, owner);
}

History with_numbers(const History& history, std::uint64_t seed) {
  struct Owner {
    History history;
    std::vector<std::int64_t> snos;
  };
  Random random(seed);
  const auto owner = std::make_shared<Owner>(
      Owner{history, std::vector<std::int64_t>(history.txn_count(), kNoSno)});
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    if (random() % 5 == 0) continue;
    std::int64_t sno = random() % 3 == 0 ? static_cast<std::int64_t>(random() % 100) - 50 : 0;
    for (const TxnId txn : history.session_txns(SessionId{s})) {
      sno += random() % 6 == 0 ? 2 : 1;
      owner->snos[txn.index()] = sno;
    }
  }
  HistoryColumns c = columns_of(history);
  c.txn_sno = owner->snos;
  return history_of(c, owner);
}

namespace {

// The initial values that a batch sets: some of those that are left, now and then with another
// value.
std::vector<KeyVersion> say_some(std::vector<KeyVersion>& left, Random& random) {
  std::vector<KeyVersion> said;
  for (std::size_t i = 0; i < left.size();) {
    const std::uint64_t chance = random() % 6;
    if (chance == 0) {
      said.push_back(left[i]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (chance == 1) said.push_back({left[i].key, left[random() % left.size()].value});
    ++i;
  }
  return said;
}

}  // namespace

Trial random_trial(const History& history, std::uint64_t seed, const Arrivals& arrivals) {
  Random random(seed);
  const auto shared = std::make_shared<const History>(history);
  const std::vector<TxnId> order = mixed(history, random, arrivals.reach);
  const auto own = columns_of(history).key_initial;
  std::vector<KeyVersion> left(own.begin(), own.end());
  Trial trial;
  trial.whole = *part(shared, order, 0, order.size(), own);
  StreamTime now{1'000'000};
  for (std::size_t from = 0; from < order.size();) {
    now += std::chrono::microseconds(random() %
                                     static_cast<std::uint64_t>(arrivals.max_wait_ms * 1000 + 1));
    if (random() % 3 == 0) trial.steps.push_back({now, nullptr});
    const std::size_t to = std::min(order.size(), from + 1 + random() % arrivals.max_batch);
    trial.steps.push_back({now, part(shared, order, from, to, say_some(left, random))});
    from = to;
    if (left.empty() || random() % 4 != 0) continue;
    trial.steps.push_back({now, part(shared, order, 0, 0, say_some(left, random))});
  }
  if (!left.empty()) trial.steps.push_back({now, part(shared, order, 0, 0, left)});
  return trial;
}

std::string scratch_folder_of(const std::string& test) {
  const std::string memory = "/dev/shm/";
  const bool usable = ::access(memory.c_str(), W_OK) == 0;
  return (usable ? memory : testing::TempDir()) + "ouro_" + test + '_' + std::to_string(::getpid());
}

Trial stretched(Trial trial, int factor) {
  for (Step& step : trial.steps) step.now *= factor;
  return trial;
}

Findings findings_of(const History& whole, const Verdict& verdict, bool sources) {
  Findings findings;
  for (const Anomaly& anomaly : verdict.anomalies) ++findings[text_of(whole, anomaly, sources)];
  return findings;
}

std::string Tally::add(const std::vector<StreamEvent>& events) {
  for (const StreamEvent& event : events) {
    if (event.number != ++count_) return "event " + std::to_string(event.number) + " out of order";
    if (event.withdraws != 0 && reported_.erase(event.withdraws) == 0) {
      return "withdraws what was not reported";
    }
    if (event.what != StreamEvent::What::Violation) continue;
    if (event.verdict.anomalies.size() != 1) return "not one anomaly";
    reported_[event.number] = text_of(*event.history, event.verdict.anomalies[0], sources_);
  }
  return "";
}

Findings Tally::left() const {
  Findings findings;
  for (const auto& [number, text] : reported_) ++findings[text];
  return findings;
}

namespace {

// What a finding is about: its kind, and its operations as "T1.0". Of a wrong read only the read.
struct Gist {
  std::string kind;
  std::set<std::string> ops;
};

// The operations that are named in `text`, as "T1.0".
std::vector<std::string> ops_in(const std::string& text) {
  const auto digits = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end;
  };
  std::vector<std::string> ops;
  for (std::size_t at = 0; (at = text.find('T', at)) != std::string::npos; ++at) {
    const std::size_t dot = digits(at + 1);
    if (dot == at + 1 || dot >= text.size() || text[dot] != '.') continue;
    const std::size_t end = digits(dot + 1);
    if (end > dot + 1) ops.push_back(text.substr(at, end - at));
  }
  return ops;
}

Gist gist_of(const std::string& text) {
  Gist gist;
  gist.kind = text.substr(0, text.find_first_of(",T;"));
  while (gist.kind.ends_with(' ')) gist.kind.pop_back();
  const bool read = gist.kind.ends_with("mismatch");
  for (const std::string& op : ops_in(text)) {
    gist.ops.insert(op);
    if (read) break;
  }
  return gist;
}

// The findings of `told` that are none of `true_ones`, as far as they can be compared.
std::string inventions(const Findings& told, const Findings& true_ones) {
  // Two that commit at one timestamp are named in pairs, and who is whose neighbour may differ; so
  // each operation is looked up by itself.
  std::set<std::pair<std::string, std::string>> known;  // Kinds and operations.
  for (const auto& [text, count] : true_ones) {
    const Gist gist = gist_of(text);
    for (const std::string& op : gist.ops) known.emplace(gist.kind, op);
  }
  std::string out;
  for (const auto& [text, count] : told) {
    const Gist gist = gist_of(text);
    const bool found = std::all_of(gist.ops.begin(), gist.ops.end(), [&](const std::string& op) {
      return known.contains({gist.kind, op});
    });
    if (!found) out += "invents " + text + "\n";
  }
  return out;
}

}  // namespace

std::string difference(const Trial& trial, Level level, std::int64_t clock_drift,
                       const StreamSummary& summary, const Tally& tally, bool sources, bool brief) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  options.clock_drift = clock_drift;
  options.examples = 1'000'000;
  const auto verdict = check(trial.whole, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  Findings wanted = findings_of(trial.whole, *verdict, sources);
  if (brief) {
    if (std::string out = inventions(tally.left(), wanted); !out.empty()) return out;
  }
  for (const auto& [text, count] : tally.left()) wanted[text] -= count;
  std::string out;
  for (const auto& [text, count] : wanted) {
    if (count > 0 && summary.lost_stragglers == 0 && !brief) out += "misses " + text + "\n";
    if (count < 0 && !brief) out += "invents " + text + "\n";
  }
  if (!out.empty()) return out;
  for (std::size_t kind = 0; kind < kAnomalyKindCount; ++kind) {
    if (summary.counts[kind] == verdict->counts[kind]) continue;
    if (summary.lost_stragglers > 0 && summary.counts[kind] < verdict->counts[kind]) continue;
    return "counts " + std::to_string(summary.counts[kind]) + " of " +
           std::string(info(static_cast<AnomalyKind>(kind)).name) + ", should be " +
           std::to_string(verdict->counts[kind]);
  }
  return "";
}

namespace {

// What is wrong with the certificate of what the stream found, or "". One that holds is that of
// check().
std::string complaint_about_proof(const Trial& trial, const StreamOptions& options,
                                  StreamProof proof, const HistoryIdentity& identity,
                                  const StreamSummary& summary) {
  const bool holds = std::all_of(summary.counts.begin(), summary.counts.end(),
                                 [](std::uint64_t count) { return count == 0; });
  const Outcome outcome = holds ? Outcome::Holds : Outcome::Violated;
  const std::string text = print_certificate(
      make_certificate(identity, std::move(proof).close(outcome), options.clock_drift));
  const auto checked = certify(trial.whole, *parse_certificate(text));
  if (!checked.ok()) return checked.error().to_string();
  if (!checked->accepted) return "certificate rejected: " + checked->reason + "\n" + text;
  if (!holds) return "";
  CheckOptions how;
  how.evidence = Evidence::Timestamps;
  how.clock_drift = options.clock_drift;
  const auto whole = check(trial.whole, options.level, how);
  const std::string wanted =
      print_certificate(make_certificate(trial.whole, *whole, options.clock_drift));
  return text == wanted ? "" : "certificate\n" + text + "should be\n" + wanted;
}

}  // namespace

std::string complaint(const Trial& trial, const StreamOptions& options, StreamSummary* summary) {
  auto stream = Stream::open(options);
  if (!stream.ok()) return stream.error().to_string();
  const bool sources = options.timeout > std::chrono::hours(1) && options.memory == 0;
  Tally tally(sources);
  HistoryIdentity identity;
  StreamProof proof(options.level, 3);
  std::string wrong;
  const auto poll = [&] {
    const std::vector<StreamEvent> events = stream->poll();
    proof.add(events);
    if (wrong.empty()) wrong = tally.add(events);
  };
  for (const Step& step : trial.steps) {
    if (step.batch == nullptr) {
      stream->advance(step.now);
    } else if (const Status status = stream->append(step.batch, step.now); !status.ok()) {
      return status.error().to_string();
    } else {
      identity.add(*step.batch);
      if (!proof.add(*step.batch).ok()) return "too many operations";
    }
    poll();
  }
  const StreamSummary end = stream->finish();
  poll();
  if (!wrong.empty()) return wrong;
  const bool brief = options.retention < StreamOptions().retention;
  if (!brief) {
    wrong = complaint_about_proof(trial, options, std::move(proof), identity, end);
    if (!wrong.empty()) return wrong;
  }
  if (summary != nullptr) *summary = end;
  if (end.provisional != 0 || end.window_txns != 0) return "something is not final";
  return difference(trial, options.level, options.clock_drift, end, tally, sources, brief);
}

namespace {

std::string text_of(const StreamEvent& event, bool sources) {
  std::string out = std::to_string(event.number) + ' ' + std::to_string(event.withdraws) + ' ' +
                    std::to_string(event.arrived.count()) + ' ' +
                    std::to_string(event.reported.count()) + ' ' +
                    std::string(info(event.kind).name);
  for (const Anomaly& anomaly : event.verdict.anomalies) {
    out += ' ' + text_of(*event.history, anomaly, sources);
  }
  return out;
}

}  // namespace

std::string complaint_with_crashes(const Trial& trial, const StreamOptions& options,
                                   std::uint64_t seed, const std::string& file) {
  Random random(seed);
  auto stream = Stream::open(options);
  if (!stream.ok()) return stream.error().to_string();
  const bool sources = options.memory == 0;
  std::map<std::uint64_t, std::string> seen;
  std::vector<StreamEvent> events;
  const auto poll = [&]() -> std::string {
    for (StreamEvent& event : stream->poll()) {
      const auto [at, added] = seen.try_emplace(event.number, text_of(event, sources));
      if (!added && at->second != text_of(event, sources)) {
        return "event was " + at->second + ", then " + text_of(event, sources);
      }
      if (added) events.push_back(std::move(event));
    }
    return "";
  };
  std::size_t saved_at = trial.steps.size();  // Nowhere.
  std::size_t saving_at = trial.steps.size();
  for (std::size_t i = 0; i < trial.steps.size(); ++i) {
    const Step& step = trial.steps[i];
    if (step.batch == nullptr) {
      stream->advance(step.now);
    } else if (const Status status = stream->append(step.batch, step.now); !status.ok()) {
      return status.error().to_string();
    }
    if (random() % 3 == 0) {
      if (std::string wrong = poll(); !wrong.empty()) return wrong;
    }
    if (random() % 4 == 0) {
      if (const Status status = stream->save(file); !status.ok()) return status.error().to_string();
      saved_at = i;
      saving_at = trial.steps.size();
    } else if (random() % 16 == 0) {
      const Status status = stream->begin_save(file);
      if (!status.ok()) return status.error().to_string();
      saving_at = i;
    }
    const bool waits = saving_at < trial.steps.size() && random() % 4 == 0;
    auto saved = stream->saved();
    while (waits && !saved) saved = stream->saved();
    if (saved) {
      if (!saved->ok()) return saved->error().to_string();
      saved_at = std::exchange(saving_at, trial.steps.size());
    }
    if (saved_at <= i && random() % 4 == 0) {
      StreamOptions now = options;
      if (i % 3 == 0) now.memory = 0;
      stream = Stream::restore(now, file);
      if (!stream.ok()) return stream.error().to_string();
      i = saved_at;
      saving_at = trial.steps.size();
      saved_at = random() % 2 == 0 ? saved_at : trial.steps.size();
    }
  }
  const StreamSummary end = stream->finish();
  if (std::string wrong = poll(); !wrong.empty()) return wrong;
  Tally tally(false);
  if (std::string wrong = tally.add(events); !wrong.empty()) return wrong;
  return difference(trial, options.level, options.clock_drift, end, tally, false,
                    options.retention < StreamOptions().retention);
}

}  // namespace ouro::oracle
