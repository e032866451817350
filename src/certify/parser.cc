// Reads certificates. Every line is an object with known members and numbers in range; whether they
// prove anything is for certify() to say.

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "certify/choice_words.h"
#include "certify/rules.h"
#include "format/input.h"
#include "format/json_tree.h"
#include "ouro/certificate.h"

namespace ouro {
namespace {

using Json = JsonTree::Node;

class Parser {
 public:
  explicit Parser(std::string_view name) : name_(name) {}

  Result<Certificate> run(std::string_view bytes) {
    while (!bytes.empty() && what_.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view text = bytes.substr(0, end);
      bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
      ++line_;
      if (ended_) {
        fail("text after the end");
      } else {
        line(text);
      }
    }
    if (what_.empty() && line_ == 0) return error_in(name_, "no certificate: the file is empty");
    if (what_.empty() && !ended_) return error_in(name_, "the certificate is cut off");
    if (!what_.empty()) return error_at_line(name_, line_, what_);
    return std::move(certificate_);
  }

 private:
  void fail(std::string what) {
    if (what_.empty()) what_ = std::move(what);
  }

  void line(std::string_view text) {
    if (!json_.parse(text) || !json_.root().is_map()) return fail("expected a JSON object");
    const Json fields = json_.root();
    if (line_ == 1) return header(fields);
    const auto has = [&](std::string_view key) { return fields.member(key).exists(); };
    if (has("order")) return order(fields);
    if (has("schedule")) return schedule(fields);
    if (has("untold")) return untold(fields);
    if (has("sources")) return sources(fields, "sources", certificate_.verdict.sources);
    if (has("case")) {
      SourceCase& added = certificate_.verdict.cases.emplace_back();
      if (has("sights")) sights(fields, added.sights);
      return sources(fields, "case", added.sources);
    }
    if (has("anomaly")) return anomaly(fields);
    for (std::size_t kind = 0; kind < recheck::kChoiceWords.size(); ++kind) {
      if (has(recheck::kChoiceWords[kind])) return choice(fields, static_cast<ChoiceKind>(kind));
    }
    if (has("exclude")) return step(fields);
    if (!has("end"))
      return fail(
          "expected order, schedule, untold, sources, case, anomaly, choice, sees, source, later, "
          "exclude or end");
    if (static_cast<std::uint64_t>(whole(fields, "end", kMany)) != line_) fail("lines are missing");
    ended_ = true;
  }

  // The greatest number of anything.
  static constexpr std::int64_t kMany = 0xffffffff;

  // Members of an object. They must be there unless `optional`, and a number must be at most
  // `most`.
  std::int64_t whole(const Json& fields, std::string_view key, std::int64_t most,
                     bool optional = false) {
    const Json found = fields.member(key);
    if (optional && !found.exists()) return 0;
    const auto number = found.integer();
    if (!number || *number < 0 || *number > most) {
      fail(fmt::format("\"{}\" must be a whole number", key));
      return 0;
    }
    return *number;
  }
  std::string_view text(const Json& fields, std::string_view key) {
    const auto found = fields.member(key).text();
    if (!found) fail(fmt::format("\"{}\" must be text", key));
    return found.value_or(std::string_view());
  }
  // Calls f with each element of a list.
  template <class F>
  void elements(const Json& fields, std::string_view key, const F& f) {
    const Json list = fields.member(key);
    if (!list.is_list()) return fail(fmt::format("\"{}\" must be a list", key));
    list.for_each(f);
  }
  // Calls f with each number of a list; they may be negative, not zero.
  template <class F>
  void numbers(const Json& fields, std::string_view key, const F& f) {
    elements(fields, key, [&](const Json& item) {
      const std::int64_t number = item.integer().value_or(0);
      if (number == 0 || number > kMany || number < -kMany) {
        return fail(fmt::format("\"{}\" must have whole numbers other than 0", key));
      }
      f(number);
    });
  }
  template <class IdType>
  // The id of a number that counts from 1; invalid for 0.
  IdType id(std::int64_t number) {
    if (number < 0 || number > kMany) fail("a number is out of range");
    return number <= 0 ? IdType{} : IdType{static_cast<std::size_t>(number - 1)};
  }

  void header(const Json& fields) {
    Verdict& verdict = certificate_.verdict;
    if (whole(fields, "ouro-certificate", kMany) != 1) return fail("no certificate of version 1");
    const std::string_view level_name = text(fields, "level");
    const auto level = find_level(level_name);
    if (!level) return fail("unknown level");
    verdict.level = *level;
    const std::string_view evidence = text(fields, "evidence");
    bool known = false;
    for (const Evidence kind : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
      if (evidence != ouro::name(kind)) continue;
      verdict.evidence = kind;
      known = true;
    }
    if (!known) return fail("unknown evidence");
    const std::string_view outcome = text(fields, "verdict");
    if (outcome != "holds" && outcome != "violated") return fail("unknown verdict");
    verdict.outcome = outcome == "holds" ? Outcome::Holds : Outcome::Violated;
    certificate_.txns = static_cast<std::uint64_t>(whole(fields, "transactions", kMany));
    certificate_.ops = static_cast<std::uint64_t>(whole(fields, "operations", kMany));
    certificate_.clock_drift =
        whole(fields, "clock_drift", std::numeric_limits<std::int64_t>::max(), true);
    const std::string_view history = text(fields, "history");
    const char* const end = history.data() + history.size();
    const auto [stopped, error] =
        std::from_chars(history.data(), end, certificate_.fingerprint, 16);
    if (error != std::errc{} || stopped != end) fail("\"history\" must be a hexadecimal number");
  }

  void order(const Json& fields) {
    numbers(fields, "order",
            [&](std::int64_t number) { certificate_.verdict.order.push_back(id<TxnId>(number)); });
  }

  void schedule(const Json& fields) {
    numbers(fields, "schedule", [&](std::int64_t number) {
      const TxnId txn = id<TxnId>(number < 0 ? -number : number);
      certificate_.verdict.schedule.push_back({txn, number < 0});
      if (number < 0) certificate_.verdict.order.push_back(txn);
    });
  }

  void untold(const Json& fields) {
    elements(fields, "untold", [&](const Json& item) {
      if (!item.is_map()) return fail("what is untold must be an object");
      const auto read = id<OpId>(whole(item, "read", kMany));
      const auto key = id<KeyId>(whole(item, "key", kMany));
      if (!read.valid() || !key.valid()) return fail("what is untold must have a read and a key");
      certificate_.verdict.untold.push_back({read, key});
    });
  }

  // Anomalies and refutations belong to the last case, if there are cases.
  SourceCase* in_case() {
    auto& cases = certificate_.verdict.cases;
    return cases.empty() ? nullptr : &cases.back();
  }
  Refutation& refutation() {
    return in_case() ? in_case()->refutation : certificate_.verdict.refutation;
  }

  void sources(const Json& fields, std::string_view key, std::vector<ReadSource>& out) {
    elements(fields, key, [&](const Json& item) {
      if (!item.is_map()) return fail("a source must be an object");
      out.push_back({id<OpId>(whole(item, "read", kMany)), id<KeyId>(whole(item, "key", kMany)),
                     id<TxnId>(whole(item, "writer", kMany, true)),
                     static_cast<std::uint32_t>(whole(item, "element", kMany, true))});
    });
  }

  void sights(const Json& fields, std::vector<ReadSight>& out) {
    elements(fields, "sights", [&](const Json& item) {
      if (!item.is_map()) return fail("a sight must be an object");
      out.push_back({id<OpId>(whole(item, "read", kMany)), id<KeyId>(whole(item, "key", kMany)),
                     id<TxnId>(whole(item, "writer", kMany)), whole(item, "seen", 1) == 1});
    });
  }

  void anomaly(const Json& fields) {
    Anomaly out;
    const std::string_view word = text(fields, "anomaly");
    std::size_t kind = 0;
    while (kind < kAnomalyKindCount && info(static_cast<AnomalyKind>(kind)).name != word) ++kind;
    if (kind == kAnomalyKindCount) return fail("unknown anomaly");
    out.kind = static_cast<AnomalyKind>(kind);
    const AnomalySign sign = info(out.kind).sign;
    if (sign == AnomalySign::Contradiction) return fail("a refutation is no anomaly");
    if (recheck::names_transactions(sign)) {
      numbers(fields, "transactions",
              [&](std::int64_t number) { out.txns.push_back(id<TxnId>(number)); });
    }
    if (sign != AnomalySign::Cycle) {
      numbers(fields, "operations",
              [&](std::int64_t number) { out.ops.push_back(id<OpId>(number)); });
    } else {
      out.edges = cycle(fields);
    }
    (in_case() ? in_case()->anomalies : certificate_.verdict.anomalies).push_back(std::move(out));
  }

  std::vector<Edge> cycle(const Json& fields) {
    std::vector<Edge> edges;
    elements(fields, "cycle", [&](const Json& item) {
      if (!item.is_map()) return fail("an edge must be an object");
      edges.push_back(edge(item));
    });
    return edges;
  }

  Edge edge(const Json& fields) {
    Edge out;
    const std::string_view word = text(fields, "kind");
    std::size_t kind = 0;
    while (kind < kEdgeKinds && ouro::name(static_cast<EdgeKind>(kind)) != word) ++kind;
    if (kind == kEdgeKinds) {
      fail("unknown kind of edge");
      return out;
    }
    out.kind = static_cast<EdgeKind>(kind);
    out.from = id<TxnId>(whole(fields, "from", kMany));
    out.to = id<TxnId>(whole(fields, "to", kMany));
    out.key = id<KeyId>(whole(fields, "key", kMany, true));
    out.from_op = id<OpId>(whole(fields, "from_op", kMany, true));
    out.to_op = id<OpId>(whole(fields, "to_op", kMany, true));
    out.read = id<OpId>(whole(fields, "read", kMany, true));
    out.saw = id<OpId>(whole(fields, "saw", kMany, true));
    const std::int64_t choice = whole(fields, "choice", kMany, true);
    if (choice != 0) out.choice = static_cast<std::uint32_t>(choice - 1);
    return out;
  }

  void choice(const Json& fields, ChoiceKind kind) {
    const std::string_view word = recheck::kChoiceWords[static_cast<std::size_t>(kind)];
    std::vector<std::int64_t> parts;
    elements(fields, word, [&](const Json& item) {
      const std::int64_t number = item.integer().value_or(-1);
      if (number < 0 || number > kMany) return fail(fmt::format("\"{}\" must have counts", word));
      parts.push_back(number);
    });
    const bool later = kind == ChoiceKind::Later;
    const bool of_read = recheck::is_about_read(kind);
    if (parts.size() != (later ? 4 : 3)) {
      return fail(fmt::format("\"{}\" must be a key, a transaction and {}{}", word,
                              of_read ? "a read" : "another transaction",
                              later ? ", and a choice" : ""));
    }
    Choice out{.key = id<KeyId>(parts[0]), .first = id<TxnId>(parts[1]), .second = {}};
    out.kind = kind;
    if (of_read) {
      out.read = id<OpId>(parts[2]);
    } else {
      out.second = id<TxnId>(parts[2]);
    }
    if (later && parts[3] > 0) out.previous = static_cast<std::uint32_t>(parts[3] - 1);
    refutation().choices.push_back(out);
  }

  void step(const Json& fields) {
    RefutationStep out;
    numbers(fields, "exclude", [&](std::int64_t number) {
      const std::int64_t choice = (number < 0 ? -number : number) - 1;
      out.excluded.push_back({static_cast<std::uint32_t>(choice), number < 0});
    });
    if (fields.member("cycle").exists()) {
      out.cycle = cycle(fields);
    } else {
      numbers(fields, "premises", [&](std::int64_t number) {
        if (number < 0) return fail("a premise must be the number of a step");
        out.premises.push_back(static_cast<std::uint32_t>(number - 1));
      });
    }
    refutation().steps.push_back(std::move(out));
  }

  static constexpr std::size_t kEdgeKinds = 8;
  std::string name_;
  JsonTree json_;
  Certificate certificate_;
  // The first error, or "".
  std::string what_;
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<Certificate> parse_certificate(std::string_view bytes, std::string_view name) {
  return Parser(name).run(bytes);
}

Result<Certificate> read_certificate(const std::string& path) {
  auto input = Input::open(path);
  if (!input.ok()) return std::move(input).error();
  auto bytes = input->read_all();
  if (!bytes.ok()) return std::move(bytes).error();
  return Parser(input->name()).run(*bytes);
}

}  // namespace ouro
