// Certificates as JSON Lines; docs/certificates.md has the format.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "certify/choice_words.h"
#include "certify/rules.h"
#include "format/output.h"
#include "ouro/certificate.h"

namespace ouro {
namespace {

constexpr std::size_t kPerLine = 1000;  // Numbers of an order or a schedule in a line.

class Writer {
 public:
  Writer(const Certificate& certificate, Output& output)
      : c_(certificate), v_(certificate.verdict), out_(output) {}

  Status run() {
    line(R"({{"ouro-certificate":1,"level":"{}","evidence":"{}","verdict":"{}",)"
         R"("transactions":{},"operations":{},"clock_drift":{},"history":"{:016x}"}})",
         info(v_.level).name, name(v_.evidence), name(v_.outcome), c_.txns, c_.ops, c_.clock_drift,
         c_.fingerprint);
    untold();
    if (v_.outcome == Outcome::Holds) {
      orders();
      if (!v_.sources.empty()) sources("sources", v_.sources);
    } else {
      if (v_.cases.empty()) anomalies(v_.anomalies);
      refutation(v_.refutation);
      for (const SourceCase& each : v_.cases) {
        sources("case", each.sources, each.sights);
        anomalies(each.anomalies);
        refutation(each.refutation);
      }
    }
    line(R"({{"end":{}}})", lines_ + 1);
    if (!status_) return status_;
    return out_.finish();
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_.buffer()), format, std::forward<Args>(args)...);
    end_line();
  }
  void end_line() {
    out_.buffer() += '\n';
    ++lines_;
    if (status_) status_ = out_.drain();
  }

  // Transactions, operations, keys, choices and steps count from 1; zero is the initial transaction
  // or nothing.
  template <class T>
  static std::uint32_t number(Id<T> id) {
    return id.valid() ? id.value + 1 : 0;
  }

  // `word`, then a list of numbers, `kPerLine` to a line.
  template <class List, class Number>
  void numbers(std::string_view word, const List& list, const Number& number_of) {
    for (std::size_t i = 0; i < list.size(); i += kPerLine) {
      fmt::format_to(std::back_inserter(out_.buffer()), R"({{"{}":[)", word);
      const std::size_t end = std::min(list.size(), i + kPerLine);
      for (std::size_t j = i; j < end; ++j) {
        fmt::format_to(std::back_inserter(out_.buffer()), "{}{}", j == i ? "" : ",",
                       number_of(list[j]));
      }
      out_.buffer() += "]}";
      end_line();
    }
  }

  void untold() {
    if (v_.untold.empty()) return;
    std::string text = R"({"untold":[)";
    for (std::size_t i = 0; i < v_.untold.size(); ++i) {
      fmt::format_to(std::back_inserter(text), R"({}{{"read":{},"key":{}}})", i == 0 ? "" : ",",
                     number(v_.untold[i].read), number(v_.untold[i].key));
    }
    out_.buffer() += text + "]}";
    end_line();
  }

  void orders() {
    if (v_.schedule.empty()) {
      numbers("order", v_.order, [](TxnId txn) { return number(txn); });
      return;
    }
    numbers("schedule", v_.schedule, [](const Event& event) {
      const auto txn = static_cast<std::int64_t>(number(event.txn));
      return event.commit ? -txn : txn;
    });
  }

  // What open reads returned; without a writer it is the initial version. And what predicate reads
  // saw.
  void sources(std::string_view word, const std::vector<ReadSource>& sources,
               const std::vector<ReadSight>& sights = {}) {
    std::string text = fmt::format(R"({{"{}":[)", word);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      fmt::format_to(std::back_inserter(text), R"({}{{"read":{},"key":{})", i == 0 ? "" : ",",
                     number(sources[i].read), number(sources[i].key));
      if (sources[i].writer.valid()) {
        fmt::format_to(std::back_inserter(text), R"(,"writer":{})", number(sources[i].writer));
      }
      if (sources[i].element != 0) {
        fmt::format_to(std::back_inserter(text), R"(,"element":{})", sources[i].element);
      }
      text += '}';
    }
    for (std::size_t i = 0; i < sights.size(); ++i) {
      fmt::format_to(std::back_inserter(text), R"({}{{"read":{},"key":{},"writer":{},"seen":{}}})",
                     i == 0 ? R"(],"sights":[)" : ",", number(sights[i].read),
                     number(sights[i].key), number(sights[i].writer), sights[i].seen ? 1 : 0);
    }
    out_.buffer() += text + "]}";
    end_line();
  }

  void anomalies(const std::vector<Anomaly>& all) {
    for (const Anomaly& anomaly : all) {
      const AnomalySign sign = info(anomaly.kind).sign;
      if (sign == AnomalySign::Contradiction) continue;
      std::string text = fmt::format(R"({{"anomaly":"{}",)", info(anomaly.kind).name);
      if (anomaly.edges.empty()) {
        if (recheck::names_transactions(sign)) {
          add_numbers(text, "transactions", anomaly.txns);
          text += ',';
        }
        add_numbers(text, "operations", anomaly.ops);
      } else {
        add_cycle(text, anomaly.edges);
      }
      out_.buffer() += text + "}";
      end_line();
    }
  }

  template <class T>
  static void add_numbers(std::string& text, std::string_view word, const std::vector<Id<T>>& ids) {
    fmt::format_to(std::back_inserter(text), R"("{}":[)", word);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", number(ids[i]));
    }
    text += ']';
  }

  static void add_cycle(std::string& text, const std::vector<Edge>& edges) {
    text += R"("cycle":[)";
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      const auto add = [&](std::string_view word, std::uint32_t value) {
        if (value != 0) fmt::format_to(std::back_inserter(text), R"(,"{}":{})", word, value);
      };
      fmt::format_to(std::back_inserter(text), R"({}{{"kind":"{}","from":{},"to":{})",
                     i == 0 ? "" : ",", name(edge.kind), number(edge.from), number(edge.to));
      add("key", number(edge.key));
      add("from_op", number(edge.from_op));
      if (edge.kind != EdgeKind::Forced) add("to_op", number(edge.to_op));
      if (edge.kind == EdgeKind::Forced) {
        add("read", number(edge.read));
        add("saw", number(edge.saw));
      }
      add("choice", edge.choice == Edge::kNoChoice ? 0 : edge.choice + 1);
      text += '}';
    }
    text += ']';
  }

  void refutation(const Refutation& refutation) {
    for (const Choice& choice : refutation.choices) {
      const auto word = recheck::kChoiceWords[static_cast<std::size_t>(choice.kind)];
      const std::uint32_t third =
          recheck::is_about_read(choice.kind) ? number(choice.read) : number(choice.second);
      if (choice.kind == ChoiceKind::Later) {
        line(R"({{"{}":[{},{},{},{}]}})", word, number(choice.key), number(choice.first), third,
             choice.previous == Choice::kNone ? 0 : choice.previous + 1);
      } else {
        line(R"({{"{}":[{},{},{}]}})", word, number(choice.key), number(choice.first), third);
      }
    }
    for (const RefutationStep& step : refutation.steps) {
      std::string text = R"({"exclude":[)";
      for (std::size_t i = 0; i < step.excluded.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{}{}{}", i == 0 ? "" : ",",
                       step.excluded[i].reversed ? "-" : "", step.excluded[i].choice + 1);
      }
      text += "],";
      if (!step.cycle.empty()) {
        add_cycle(text, step.cycle);
      } else {
        text += R"("premises":[)";
        for (std::size_t i = 0; i < step.premises.size(); ++i) {
          fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", step.premises[i] + 1);
        }
        text += ']';
      }
      out_.buffer() += text + "}";
      end_line();
    }
  }

  const Certificate& c_;
  const Verdict& v_;
  Output& out_;
  std::size_t lines_ = 0;
  Status status_;
};

}  // namespace

Certificate make_certificate(const History& history, Verdict verdict, std::int64_t clock_drift) {
  HistoryIdentity identity;
  identity.add(history);
  // Without moments, scans are judged by all keys that they may have missed, which need no list. A
  // schedule has moments.
  const recheck::Family family = recheck::rules_of(verdict.level).family;
  const bool moments = family != recheck::Family::Weak && family != recheck::Family::Parallel;
  if (!moments && verdict.schedule.empty()) {
    std::erase_if(verdict.untold, [&](const ReadKey& each) {
      return history.op(each.read).kind == OpKind::Scan;
    });
  }
  return make_certificate(identity, std::move(verdict), clock_drift);
}

Certificate make_certificate(const HistoryIdentity& history, Verdict verdict,
                             std::int64_t clock_drift) {
  Certificate certificate;
  certificate.verdict = std::move(verdict);
  certificate.clock_drift = clock_drift;
  certificate.txns = history.txns();
  certificate.ops = history.ops();
  certificate.fingerprint = history.fingerprint();
  return certificate;
}

Status write_certificate(const Certificate& certificate, const std::string& path) {
  auto output = open_output(path);
  if (!output.ok()) return std::move(output).error();
  return Writer(certificate, **output).run();
}

std::string print_certificate(const Certificate& certificate) {
  MemoryOutput output;
  (void)Writer(certificate, output).run();  // Memory does not fail.
  return std::move(output.buffer());
}

}  // namespace ouro
