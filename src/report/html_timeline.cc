// Timelines of the HTML report: transactions as bars over time, a row for each session.
//
// A page cannot hold a million bars. So it has the transactions of the stories, those that were
// under way closest to them in time, and an even sample of the rest; and the sessions that have
// such transactions.

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "report/html_data.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kMostBars = 1500;
constexpr std::size_t kNearBars = 700;  // How many of these are for those close to the stories.
constexpr std::size_t kMostSessions = 40;
constexpr std::size_t kMostEvents = 400;
constexpr std::size_t kLongBar = 90;  // About how many bytes of a bar's operations are shown.

// A transaction and when it was under way, by the clock of its timeline.
struct Bar {
  TxnId txn;
  std::int64_t start = 0;
  std::optional<std::int64_t> end = {};  // Nothing: not known.
  double away = 0;                       // How far from the nearest transaction of a story.

  [[nodiscard]] std::int64_t last() const { return end.value_or(start); }
};

// Finds when a transaction was under way; nothing if that is not known at all.
using When = std::function<std::optional<Bar>(const History&, TxnId)>;

std::optional<Bar> by_clock(const History& history, TxnId txn) {
  const auto invoked = history.invoked(txn);
  const auto completed = history.completed(txn);
  if (!invoked && !completed) return std::nullopt;
  return Bar{txn, invoked ? *invoked : *completed, completed};
}

std::optional<Bar> by_timestamp(const History& history, TxnId txn) {
  const auto start = history.start_ts(txn);
  const auto commit = history.commit_ts(txn);
  if (!start && !commit) return std::nullopt;
  std::optional<std::int64_t> end;
  if (commit) end = commit->physical;
  return Bar{txn, start ? start->physical : commit->physical, end};
}

// to - from, without overflow.
double distance(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to) - static_cast<double>(from);
}

// A time in which a transaction of a story was under way, or several such that overlap.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

class Timeline {
 public:
  Timeline(const History& history, std::span<const SharedStory> stories, const When& when)
      : history_(history) {
    find_spans(stories, when);
    choose_sessions(stories, when);
    collect(when);
    if (bars_.size() > kMostBars) sample();
  }

  [[nodiscard]] bool empty() const { return bars_.empty(); }
  [[nodiscard]] std::int64_t origin() const { return first_; }

  void write_rows(JsonWriter& json) const {
    json.key("sessions").begin_array();
    for (const SessionId session : sessions_) {
      const Value name = history_.session_name(session);
      json.value(name.is_null() ? "unknown" : history_.label(name));
    }
    json.end_array().member("hiddenSessions", history_.session_count() - sessions_.size());
  }

  // Writes each bar as an array: row, start, end (null: not known), status, number of the
  // transaction, operations.
  void write_bars(JsonWriter& json) const {
    json.member("total", total_).member("span", distance(first_, last_));
    json.member("origin", std::to_string(first_)).key("bars").begin_array();
    for (const Bar& bar : bars_) {
      const auto row =
          std::lower_bound(sessions_.begin(), sessions_.end(), history_.session(bar.txn));
      json.begin_array().value(row - sessions_.begin()).value(distance(first_, bar.start));
      if (bar.end) {
        json.value(distance(first_, *bar.end));
      } else {
        json.null();
      }
      json.value(static_cast<unsigned>(history_.status(bar.txn))).value(bar.txn.value);
      json.value(ops_text(bar.txn)).end_array();
    }
    json.end_array();
  }

 private:
  // Chooses the sessions of the stories, and then those with a transaction that was under way
  // closest to one, up to kMostSessions.
  void choose_sessions(std::span<const SharedStory> stories, const When& when) {
    constexpr double kInvolved = -1;  // Closer than any other.
    std::vector<double> away(history_.session_count(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      double& nearest = away[history_.session(TxnId{i}).index()];
      if (nearest <= 0) continue;
      if (const auto bar = when(history_, TxnId{i})) nearest = std::min(nearest, this->away(*bar));
    }
    for (const SharedStory& shared : stories) {
      for (const TxnId txn : shared.story->txns) {
        involved_.insert(txn);
        away[history_.session(txn).index()] = kInvolved;
      }
    }
    for (std::size_t i = 0; i < history_.session_count(); ++i) sessions_.push_back(SessionId{i});
    const std::size_t shown = std::min(sessions_.size(), kMostSessions);
    const auto end = sessions_.begin() + static_cast<std::ptrdiff_t>(shown);
    std::partial_sort(sessions_.begin(), end, sessions_.end(), [&](SessionId a, SessionId b) {
      return std::pair(away[a.index()], a) < std::pair(away[b.index()], b);
    });
    sessions_.resize(shown);
    std::sort(sessions_.begin(), sessions_.end());
  }

  void collect(const When& when) {
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const auto bar = when(history_, TxnId{i});
      if (!bar) continue;
      first_ = total_ == 0 ? bar->start : std::min(first_, bar->start);
      last_ = total_ == 0 ? bar->last() : std::max(last_, bar->last());
      ++total_;
      if (std::binary_search(sessions_.begin(), sessions_.end(), history_.session(TxnId{i}))) {
        bars_.push_back(*bar);
      }
    }
  }

  // Finds when the transactions of the stories were under way.
  void find_spans(std::span<const SharedStory> stories, const When& when) {
    for (const SharedStory& shared : stories) {
      for (const TxnId txn : shared.story->txns) {
        if (const auto bar = when(history_, txn)) spans_.push_back({bar->start, bar->last()});
      }
    }
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& a, const Span& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const Span& span : spans_) {
      if (kept > 0 && span.first <= spans_[kept - 1].last) {
        spans_[kept - 1].last = std::max(spans_[kept - 1].last, span.last);
      } else {
        spans_[kept++] = span;
      }
    }
    spans_.resize(kept);
  }

  // How far a transaction is from the nearest one of a story; 0 if they overlap.
  [[nodiscard]] double away(const Bar& bar) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), bar.start,
                         [](std::int64_t time, const Span& span) { return time < span.first; });
    double nearest = spans_.empty() ? 0 : std::numeric_limits<double>::infinity();
    if (after != spans_.end()) nearest = distance(bar.last(), after->first);
    if (after != spans_.begin()) {
      nearest = std::min(nearest, distance(std::prev(after)->last, bar.start));
    }
    return std::max(0.0, nearest);
  }

  // Reduces bars_ to kMostBars; see the top of the file.
  void sample() {
    const auto is_involved = [&](const Bar& bar) { return involved_.contains(bar.txn); };
    const auto by_txn = [](const Bar& a, const Bar& b) { return a.txn < b.txn; };
    auto others = std::stable_partition(bars_.begin(), bars_.end(), is_involved);
    if (others - bars_.begin() > static_cast<std::ptrdiff_t>(kMostBars)) {
      others = bars_.begin() + static_cast<std::ptrdiff_t>(kMostBars);
    }
    std::for_each(others, bars_.end(), [&](Bar& bar) { bar.away = away(bar); });
    const auto room = static_cast<std::size_t>(kMostBars - (others - bars_.begin()));
    const std::size_t near = spans_.empty() ? 0 : std::min(kNearBars, room);
    const auto rest = others + static_cast<std::ptrdiff_t>(near);
    std::nth_element(others, rest, bars_.end(), [](const Bar& a, const Bar& b) {
      return std::pair(a.away, a.txn) < std::pair(b.away, b.txn);
    });
    std::sort(rest, bars_.end(), by_txn);
    std::vector<Bar> kept(bars_.begin(), rest);
    const auto left = static_cast<std::size_t>(bars_.end() - rest);
    for (std::size_t i = 0; i < room - near; ++i) {
      kept.push_back(rest[static_cast<std::ptrdiff_t>(i * left / (room - near))]);
    }
    std::sort(kept.begin(), kept.end(), by_txn);
    bars_ = std::move(kept);
  }

  [[nodiscard]] std::string ops_text(TxnId txn) const {
    std::string out;
    for (OpId op = history_.first_op(txn); op != history_.end_op(txn); ++op.value) {
      if (info(history_.op(op).kind).second) continue;  // notation() of the first half has it.
      const std::string next = notation(history_, history_.op(op));
      if (!out.empty() && out.size() + next.size() > kLongBar) return out + "   …";
      out += (out.empty() ? "" : "   ") + next;
    }
    return out;
  }

  const History& history_;
  absl::flat_hash_set<TxnId> involved_;  // The transactions of the stories.
  std::vector<SessionId> sessions_;      // The rows, sorted.
  std::vector<Bar> bars_;                // Of these sessions.
  std::vector<Span> spans_;              // Of the stories, sorted and apart.
  std::size_t total_ = 0;                // Bars of all sessions.
  std::int64_t first_ = 0;               // The first and last time of all bars.
  std::int64_t last_ = 0;
};

// Writes what was done to the database: `text` is like "1200 pause node 1; 2100 resume node 1",
// with times of client clocks. Events that do not look like that are left out.
void write_events(JsonWriter& json, std::string_view text, std::int64_t origin) {
  json.key("events").begin_array();
  for (std::size_t count = 0; !text.empty() && count < kMostEvents; ++count) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view event = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (event.starts_with(' ')) event.remove_prefix(1);
    std::int64_t time = 0;
    const auto [stop, error] = std::from_chars(event.data(), event.data() + event.size(), time);
    if (error != std::errc{} || stop == event.data() + event.size() || *stop != ' ') continue;
    json.begin_array().value(distance(origin, time));
    json.value(event.substr(static_cast<std::size_t>(stop - event.data()) + 1)).end_array();
  }
  json.end_array();
}

// "ns" for "nanoseconds"; "" for none.
std::string_view unit_of(std::string_view name) {
  return name == "nanoseconds"    ? "ns"
         : name == "microseconds" ? "µs"
         : name == "milliseconds" ? "ms"
         : name == "seconds"      ? "s"
                                  : "";
}

}  // namespace

void write_html_timelines(JsonWriter& json, const History& history,
                          std::span<const SharedStory> stories) {
  json.begin_array();
  const Timeline clocks(history, stories, by_clock);
  if (!clocks.empty()) {
    json.begin_object().member("title", "client clocks");
    json.member("unit", unit_of(clock_unit(history)));
    clocks.write_rows(json);
    clocks.write_bars(json);
    write_events(json, remark_of(history, "nemesis"), clocks.origin());
    json.end_object();
  }
  const Timeline timestamps(history, stories, by_timestamp);
  if (!timestamps.empty()) {
    json.begin_object().member("title", "database timestamps").member("unit", "");
    timestamps.write_rows(json);
    timestamps.write_bars(json);
    json.key("events").begin_array().end_array().end_object();
  }
  json.end_array();
}

}  // namespace ouro
