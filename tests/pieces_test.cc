// Histories read piece by piece, and what a stream says of them in the end.

#include "ouro/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ouro/ouro.h"
#include "ouro/stream.h"
#include "tests/files.h"
#include "tests/random_predicates.h"
#include "tests/random_timeline.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PiecesTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }

  std::string write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_.string();
  }
  // Transactions of all pieces; of the last one that could be read if there is an error.
  struct Read {
    std::vector<std::shared_ptr<const History>> pieces;
    std::optional<Error> error;
  };
  static Read read(const std::string& path, std::size_t bytes) {
    Read out;
    auto pieces = HistoryPieces::open(path, bytes);
    if (!pieces.ok()) {
      out.error = pieces.error();
      return out;
    }
    for (;;) {
      auto piece = pieces->next();
      if (!piece.ok()) {
        out.error = piece.error();
        return out;
      }
      if (*piece == nullptr) return out;
      out.pieces.push_back(*std::move(piece));
    }
  }

  const fs::path file_ =
      fs::temp_directory_path() / ("ouro_pieces_" + std::to_string(::getpid()) + ".jsonl");
};

TEST_F(PiecesTest, EveryTransactionComesOnceAtItsLine) {
  std::string text = "{\"ouro\":1,\"initial\":0}\n\n";
  for (int i = 0; i < 50; ++i) {
    text += "{\"session\":1,\"ops\":[[\"r\",\"x\"," + std::to_string(i) + "]]}\n";
  }
  text.pop_back();  // The last line has no end.
  for (const std::size_t bytes : {1u, 30u, 64u, 1000u, 1000000u}) {
    SCOPED_TRACE(bytes);
    const Read got = read(write(text), bytes);
    ASSERT_FALSE(got.error.has_value()) << got.error->to_string();
    std::uint64_t line = 3;
    for (const auto& piece : got.pieces) {
      EXPECT_EQ(piece->text(piece->initial(KeyId{0})), "0");  // What the header says.
      for (std::size_t t = 0; t < piece->txn_count(); ++t) {
        EXPECT_EQ(piece->place(TxnId{t}).position, line++);
      }
    }
    EXPECT_EQ(line, 53u);
    EXPECT_EQ(got.pieces.size() > 1, bytes < text.size());
  }
}

TEST_F(PiecesTest, AnErrorNamesTheLine) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n";
  text += "{\"session\":1,\"ops\":[[\"w\",\"x\"\n";
  const Read got = read(write(text), 100);
  ASSERT_TRUE(got.error.has_value());
  EXPECT_EQ(got.error->line, 21u);
  EXPECT_GT(got.pieces.size(), 2u);
}

// The lines can be read, but not as one history: a transaction completed before it was invoked.
TEST_F(PiecesTest, ThereIsNoPieceAfterAnErrorOfTheWholePiece) {
  std::string text = "{\"session\":1,\"invoked\":9,\"completed\":3,\"ops\":[[\"w\",\"x\",0]]}\n";
  for (int i = 1; i < 20; ++i) text += "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n";
  auto pieces = HistoryPieces::open(write(text), 100);
  ASSERT_TRUE(pieces.ok());
  const auto first = pieces->next();
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().line, 1u);
  const auto second = pieces->next();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, nullptr);
}

TEST_F(PiecesTest, OtherFormatsAreRefused) {
  const Read got = read(write("r(1,2,3,4)\n"), 100);
  ASSERT_TRUE(got.error.has_value());
  EXPECT_THAT(got.error->what, HasSubstr("only native text and the JSON of Chronos"));
  EXPECT_TRUE(read(write(""), 100).pieces.size() <= 1);
}

// What keys hold at first follows from the whole history, also where a piece alone would say
// something else.
TEST_F(PiecesTest, ChronosHistoriesComeInPiecesToo) {
  const std::string rest = R"(,
{"tid":2,"sid":1,"sts":{"p":3,"l":0},"cts":{"p":4,"l":0},"ops":[{"t":"w","k":7,"v":5}]},
{"tid":3,"sid":2,"sts":{"p":5,"l":0},"cts":{"p":6,"l":0},"ops":[{"t":"r","k":8,"v":0}]}
]
)";
  const std::string zero =
      R"([{"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"r","k":7,"v":0}]})";
  const std::string null =
      R"([{"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"r","k":7,"v":null}]})";
  for (const auto& [first, initial] : {std::pair(zero, "0"), std::pair(null, "null")}) {
    const std::string path = write(first + rest);
    for (const std::size_t bytes : {1u, 100u, 100'000u}) {
      const Read got = read(path, bytes);
      ASSERT_FALSE(got.error.has_value()) << got.error->to_string();
      EXPECT_EQ(got.pieces.size() > 1, bytes < 200);
      std::uint64_t line = 1;
      for (const auto& piece : got.pieces) {
        for (std::size_t t = 0; t < piece->txn_count(); ++t) {
          EXPECT_EQ(piece->place(TxnId{t}).position, line++);
        }
        if (piece->txn_count() == 0) continue;
        EXPECT_EQ(piece->text(piece->default_initial()), initial);
      }
      EXPECT_EQ(line, 4u);
    }
  }
  EXPECT_EQ(read(write(zero + rest + "x"), 1).error->line, 5u);
  EXPECT_TRUE(read(write(zero + ","), 1).error.has_value()) << "it ends too early";
}

TEST_F(PiecesTest, AStreamOfAChronosHistorySaysWhatACheckSays) {
  const std::string path = temporary("chronos.json");
  using Arguments = std::vector<std::string>;
  for (const Arguments& what :
       {Arguments{"-l", "causal"}, Arguments{"-w", "list-append", "--sessions", "1"}}) {
    Arguments generate{kOuroBinary, "generate", "-n",   "300",     "--timestamps", "--seed",
                       "5",         "--to",     "chronos", "-o", path};
    generate.insert(generate.end(), what.begin(), what.end());
    const Ran made = run_program(generate);
    ASSERT_EQ(made.status, 0) << made.err;
    Arguments check{kOuroBinary, "check", "-l",      "si", "--evidence",
                    "timestamps", "-q",    path};
    const int whole = run_program(check).status;
    EXPECT_EQ(whole, what[1] == "causal" ? 1 : 0);
    check.emplace_back("--stream");
    EXPECT_EQ(run_program(check).status, whole) << what[1];
    const std::string certificate = temporary("chronos.certificate");
    check.insert(check.end(), {"--certificate", certificate});
    EXPECT_EQ(run_program(check).status, whole) << what[1];
    EXPECT_EQ(run_program({kOuroBinary, "certify", path, certificate}).status, 0) << what[1];
    fs::remove(certificate);
  }
  fs::remove(path);
}

// A stream of pieces of a few lines each gives the counts of check() of the whole, and as many
// examples.
TEST_F(PiecesTest, AStreamOfPiecesSaysWhatACheckOfTheWholeSays) {
  std::size_t violated = 0;
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const History made = seed % 3 == 0
                             ? oracle::random_predicates(seed, oracle::mixed_predicates(seed))
                             : oracle::random_timeline(seed, oracle::mixed_timeline(seed));
    std::string text;
    ASSERT_TRUE(print_history(made, Format::Native, text).ok());
    const auto whole = parse_history(text);
    ASSERT_TRUE(whole.ok());
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    options.examples = 2;
    const Level level = seed % 2 == 0 ? Level::SessionSi : Level::SessionSerializable;
    const auto expected = check(*whole, level, options);
    ASSERT_TRUE(expected.ok());

    StreamOptions how;
    how.level = level;
    how.timeout = std::chrono::milliseconds(0);
    auto stream = Stream::open(how);
    ASSERT_TRUE(stream.ok());
    StreamDigest digest(level, 2);
    StreamTime now{0};
    for (const auto& piece : read(write(text), 150).pieces) {
      ASSERT_TRUE(stream->append(piece, ++now).ok());
      stream->advance(++now);
      digest.add(stream->poll());
    }
    const StreamSummary summary = stream->finish();
    digest.add(stream->poll());
    const auto [history, verdict] = digest.close(summary);
    EXPECT_EQ(verdict.outcome, expected->outcome);
    EXPECT_EQ(verdict.counts, expected->counts);
    EXPECT_EQ(verdict.anomalies.size(), expected->anomalies.size());
    for (const Anomaly& anomaly : verdict.anomalies) {
      for (const TxnId txn : anomaly.txns) ASSERT_LT(txn.index(), history.txn_count());
      for (const OpId op : anomaly.ops) ASSERT_LT(op.index(), history.op_count());
    }
    if (verdict.outcome == Outcome::Violated) {
      ++violated;
      EXPECT_THAT(describe(history, verdict), HasSubstr(": VIOLATED"));
    }
  }
  EXPECT_GT(violated, 300 / kSlowdown);
}

// However the history is cut into pieces, in whatever order names come, and whatever ids they get.
TEST_F(PiecesTest, TheIdentityOfPiecesIsThatOfTheWhole) {
  const auto check_text = [&](const std::string& text) {
    const auto whole = parse_history(text);
    ASSERT_TRUE(whole.ok()) << text;
    for (const std::size_t bytes : {1u, 150u, 1000000u}) {
      HistoryIdentity identity;
      for (const auto& piece : read(write(text), bytes).pieces) identity.add(*piece);
      ASSERT_EQ(identity.txns(), whole->txn_count());
      ASSERT_EQ(identity.ops(), whole->op_count());
      ASSERT_EQ(identity.fingerprint(), fingerprint(*whole)) << text;
    }
  };
  for (std::uint64_t seed = 1; seed <= 300 / kSlowdown; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const History made = seed % 2 == 0
                             ? oracle::random_predicates(seed, oracle::mixed_predicates(seed))
                             : oracle::random_timeline(seed, oracle::mixed_timeline(seed));
    std::string text;
    ASSERT_TRUE(print_history(made, Format::Native, text).ok());
    check_text(text);
  }
  const std::string lines = R"({"key":"x","initial":{"b":"two","a":1}}
{"session":"s","start_ts":1,"commit_ts":2,"ops":[["w","x",{"a":1,"b":2}],["w","y","z"]]}
{"key":"y","versions":["z","w"],"complete":true}
{"session":"t","start_ts":1,"commit_ts":2,"ops":[["w","y","w"],["r","l",[1,2]]]}
{"key":"x","initial":"x"}
{"key":"x","versions":[{"b":2,"a":1}]}
{"session":"s","start_ts":3,"commit_ts":4,"ops":[["w","x",{"b":2,"a":1}],["r","l",[1,2,3]]]}
)";
  check_text(lines);
  check_text("{\"ouro\":1,\"initial\":{\"a\":\"text\"}}\n" + lines);
  // The last initial value of a key counts, and one that equals the value for all keys changes
  // nothing.
  const auto print_of = [](const std::string& text) { return fingerprint(*parse_history(text)); };
  const std::string txn = R"({"session":"s","ops":[["r","x",1]]})";
  const std::string own = "{\"key\":\"x\",\"initial\":5}\n";
  EXPECT_NE(print_of(own + txn), print_of(txn));
  EXPECT_EQ(print_of(own + txn + "\n{\"key\":\"x\",\"initial\":null}"), print_of(txn));
  EXPECT_NE(print_of("{\"ouro\":1,\"initial\":5}\n" + txn), print_of(txn));
}

TEST_F(PiecesTest, TheCommandTellsTheSameStory) {
  const std::string path = file_.string();
  ASSERT_EQ(run_program({kOuroBinary, "generate", "--level", "si", "--txns", "3000", "--keys", "50",
                         "--timestamps", "--fault", "lost-update=0.002", "-o", path})
                .status,
            0);
  const std::vector<std::string> check = {kOuroBinary, "check", "--evidence", "timestamps",
                                          "-l",        "si",    path};
  std::vector<std::string> stream = check;
  stream.insert(stream.end(), {"--stream", "--memory-limit", "1"});
  const auto story = [](const Ran& ran) { return ran.out.substr(0, ran.out.find("\n\n  …")); };
  const Ran whole = run_program(check);
  const Ran pieces = run_program(stream);
  EXPECT_EQ(whole.status, 1);
  EXPECT_EQ(pieces.status, 1);
  EXPECT_EQ(story(pieces), story(whole));
  EXPECT_THAT(pieces.out, HasSubstr("VIOLATED si by timestamps (lost update)"));
  stream.push_back("--json");
  EXPECT_THAT(run_program(stream).out, HasSubstr("\"transactions\":3000"));

  // Refused as by the check of the whole, since there are no timestamps.
  const std::string bare = write("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n");
  std::vector<std::string> unstamped = {kOuroBinary, "check", "--evidence", "timestamps", bare};
  const Ran offline = run_program(unstamped);
  unstamped.push_back("--stream");
  const Ran online = run_program(unstamped);
  EXPECT_EQ(online.status, 254);
  EXPECT_EQ(online.err, offline.err);

  // At the time limit, violations found so far do not count: later transactions may explain them.
  ASSERT_EQ(run_program({kOuroBinary, "generate", "--level", "rc", "--txns", "100000", "--keys",
                         "50", "--timestamps", "-o", path})
                .status,
            0);
  stream.insert(stream.end(), {"--time-limit", "0.001"});
  const Ran stopped = run_program(stream);
  EXPECT_EQ(stopped.status, 2);
  EXPECT_THAT(stopped.out, HasSubstr("the time limit was reached"));

  const Ran refused =
      run_program({kOuroBinary, "check", "--stream", "--evidence", "versions", path});
  EXPECT_EQ(refused.status, 254);
  EXPECT_THAT(refused.err, HasSubstr("by what was observed or by timestamps"));
}

TEST_F(PiecesTest, TheCommandWritesCertificates) {
  const std::string path = file_.string();
  const std::string proof = path + ".proof";
  const std::string whole = path + ".whole";
  const auto run = [&](const std::string& level, const std::string& to, bool pieces) {
    std::vector<std::string> args = {kOuroBinary,
                                     "check",
                                     "-q",
                                     "--evidence",
                                     "timestamps",
                                     "-l",
                                     level,
                                     path,
                                     "--clock-drift",
                                     "7",
                                     "--certificate",
                                     to};
    if (pieces) args.insert(args.end(), {"--stream", "--memory-limit", "1"});
    return run_program(args);
  };
  for (const std::string fault : {"", "lost-update=0.01"}) {
    std::vector<std::string> args = {kOuroBinary, "generate",     "--level",  "strong-si", "--txns",
                                     "2000",      "--timestamps", "--clocks", "-o",        path};
    if (!fault.empty()) args.insert(args.end(), {"--fault", fault});
    ASSERT_EQ(run_program(args).status, 0);
    for (const LevelInfo& each : levels()) {
      if (!decidable(each.level, Evidence::Timestamps)) continue;
      const std::string level(each.name);
      SCOPED_TRACE(level + " " + fault);
      const Ran offline = run(level, whole, false);
      const Ran online = run(level, proof, true);
      ASSERT_LE(online.status, 1) << online.err;
      EXPECT_EQ(online.status, offline.status);
      const Ran certified = run_program({kOuroBinary, "certify", path, proof});
      EXPECT_EQ(certified.status, 0) << certified.out;
      if (online.status != 0) continue;
      EXPECT_EQ(slurp(proof), slurp(whole));
    }
  }
  // The certificate is rejected for other histories.
  const std::string text = slurp(path);
  write(text + "{\"session\":1,\"start_ts\":1,\"commit_ts\":2,\"ops\":[]}\n");
  EXPECT_EQ(run_program({kOuroBinary, "certify", path, proof}).status, 1);
  EXPECT_EQ(run_program({kOuroBinary, "check", "--stream", "--evidence", "timestamps", path,
                         "--certificate", path})
                .status,
            254);
  fs::remove(proof);
  fs::remove(whole);
}

// Every transaction comes before what it read, so there is a false alarm for each, all of which are
// withdrawn; but one is true.
TEST_F(PiecesTest, ACertificateNamesAViolationThatIsLeft) {
  std::string text;
  for (int i = 500; i > 0; --i) {
    const std::string read = std::to_string(i == 250 ? 3 : i - 1);
    text += "{\"session\":" + std::to_string(i) + ",\"start_ts\":" + std::to_string(2 * i) +
            ",\"commit_ts\":" + std::to_string(2 * i + 1) + ",\"ops\":[[\"r\",\"x\"," +
            (i == 1 ? "null" : read) + "],[\"w\",\"x\"," + std::to_string(i) + "]]}\n";
  }
  const auto whole = parse_history(text);
  ASSERT_TRUE(whole.ok());
  StreamOptions how;
  how.level = Level::Si;
  how.timeout = std::chrono::milliseconds(0);
  auto stream = Stream::open(how);
  StreamProof proof(how.level, 3);
  HistoryIdentity identity;
  StreamTime now{0};
  for (const auto& piece : read(write(text), 300).pieces) {
    identity.add(*piece);
    ASSERT_TRUE(proof.add(*piece).ok());
    ASSERT_TRUE(stream->append(piece, ++now).ok());
    stream->advance(++now);
    proof.add(stream->poll());
  }
  stream->finish();
  proof.add(stream->poll());
  const Certificate certificate =
      make_certificate(identity, std::move(proof).close(Outcome::Violated));
  ASSERT_EQ(certificate.verdict.anomalies.size(), 1u);
  EXPECT_EQ(certificate.verdict.anomalies[0].ops[0], OpId{500});
  EXPECT_TRUE(certify(*whole, certificate)->accepted);
  Certificate other = certificate;
  other.verdict.anomalies[0].ops[0] = OpId{502};
  EXPECT_FALSE(certify(*whole, other)->accepted);
}

// Initial values of any kind, before and after the transactions they concern, and version orders
// that disagree with the timestamps.
TEST_F(PiecesTest, TheCommandReadsWhatIsSaidOfKeys) {
  const std::string proof = file_.string() + ".proof";
  const std::string padding(5'000'000, ' ');  // More than a piece.
  const auto txn = [](int at, const std::string& ops) {
    return "{\"session\":1,\"start_ts\":" + std::to_string(at) +
           ",\"commit_ts\":" + std::to_string(at + 1) + ",\"ops\":[" + ops + "]}\n";
  };
  const std::string head = R"({"ouro":1,"initial":"none"}
{"key":"a","initial":7}
{"key":"row","initial":{"b":1,"c":"x"}}
)";
  const std::string txns =
      txn(1, R"(["r","a",7],["r","late",[]],["r","z","none"])") +
      txn(3, R"(["r","row",{"c":"x","b":1}],["w","a",8],["append","late",1])") +
      txn(5, R"(["r","late",[1]],["r","gone",null],["w","a",9])") +
      txn(7, R"(["scan","a","z",[["a",9],["row",{"b":1,"c":"x"}],)"
             R"(["text","t"],["z","none"]]],["r","text","t"])");
  const std::string tail = R"({"key":"a","versions":[9,8],"complete":true}
{"key":"gone","initial":null}
{"key":"text","initial":"t"}
)";
  const auto check = [&](const std::string& text, bool stream) {
    const std::string path = write(text);
    std::vector<std::string> args = {kOuroBinary, "check",  "--evidence",    "timestamps", "-l",
                                     "si",        "--json", "--certificate", proof,        path};
    if (stream) args.emplace_back("--stream");
    return run_program(args);
  };
  for (const bool holds : {true, false}) {
    const std::string text =
        head + padding + "\n" + txns + padding + "\n" +
        (holds ? "" : txn(9, R"(["r","text","none"],["r","gone","none"],["r","a",8])")) + tail;
    const Ran whole = check(text, false);
    const Ran pieces = check(text, true);
    EXPECT_EQ(whole.status, holds ? 0 : 1) << whole.out << whole.err;
    EXPECT_EQ(pieces.status, whole.status) << pieces.out << pieces.err;
    EXPECT_EQ(pieces.out.find("\"snapshot mismatch\":3") == std::string::npos, holds) << pieces.out;
    const Ran certified = run_program({kOuroBinary, "certify", file_.string(), proof});
    EXPECT_EQ(certified.status, 0) << certified.out << certified.err;
  }
  fs::remove(proof);
}

// Rows that are written again and again, and asked for now and then; two selects miss something.
TEST_F(PiecesTest, TheCommandTellsTheSameStoryOfPredicateReads) {
  std::string text;
  const auto add = [&](int at, const std::string& ops) {
    text += "{\"session\":1,\"start_ts\":" + std::to_string(at) +
            ",\"commit_ts\":" + std::to_string(at + 1) + ",\"ops\":[" + ops + "]}\n";
  };
  constexpr int kRows = 40;
  const auto row = [](int i) { return "{\"price\":" + std::to_string(i) + ",\"tag\":\"t\"}"; };
  for (int i = 0; i < 40'000; ++i) {
    add(2 * i, "[\"w\",\"k" + std::to_string(i % kRows) + "\"," + row(i) + "]");
    if (i % 1'000 != 999) continue;
    std::string rows;
    for (const int found : {i - 2, i - 1, i}) {
      if (i == 29'999 && found == i) continue;
      rows += (rows.empty() ? "" : ",") + std::string("[\"k") + std::to_string(found % kRows) +
              "\"," + row(found) + "]";
    }
    add(2 * i + 1, "[\"select\",{\"ge\":[\"price\"," + std::to_string(i - 2) + "]},[" + rows +
                       "]],[\"aggregate\",\"count\",null,true," +
                       (i == 35'999 ? "39"
                        : i < 3'000 ? "40"
                                    : "40") +
                       "]");
  }
  const std::string path = write(text);
  const std::vector<std::string> check = {kOuroBinary, "check", "--evidence", "timestamps",
                                          "-l",        "ser",   "-v",         path};
  const Ran whole = run_program(check);
  EXPECT_EQ(whole.status, 1) << whole.out << whole.err;
  // The pieces know who wrote what was missed, so their story says more.
  const auto sentences = [](const std::string& out) {
    std::vector<std::string> found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      if (const std::size_t at = line.find(" missed "); at != std::string::npos) {
        found.push_back(line.find("k39", at) == line.npos ? line : "missed k39");
      }
    }
    return found;
  };
  EXPECT_THAT(sentences(whole.out), testing::SizeIs(1));
  for (const std::string limit : {"1", "1000"}) {
    std::vector<std::string> stream = check;
    stream.insert(stream.end(), {"--stream", "--memory-limit", limit});
    const Ran pieces = run_program(stream);
    EXPECT_EQ(pieces.status, 1) << pieces.out << pieces.err;
    EXPECT_EQ(sentences(pieces.out), sentences(whole.out));
    EXPECT_THAT(pieces.out, HasSubstr("w k39={\"price\":29999,\"tag\":\"t\"}"));
  }
}

}  // namespace
}  // namespace ouro
