// Follows the protocol of one connection, in both directions, and asks for what only the server
// knows: the snapshot and the id of a transaction, just before its COMMIT.
//
// The bytes of the client and of the server pass through unchanged, except that in front of a
// COMMIT goes a statement of our own, whose answer is taken out again. That is done only if nothing
// else is under way in the connection and the transaction has not failed; so it changes nothing
// unless it fails, in which case the client is told the error instead of a success. What is not
// understood passes through, too, and is not judged.
//
// Thread safety: none.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tap/ledger.h"
#include "tap/result_rows.h"
#include "tap/statement.h"
#include "tap/wire.h"

namespace ouro::tapping {

class Observer {
 public:
  // `session` is what the history calls the connection. `ledger` and `texts` must outlive this.
  // `observes`: false for connections that are only passed through.
  Observer(Ledger& ledger, Texts& texts, std::string application, std::uint64_t number,
           bool observes);
  // The connection is closed.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Appends to `out` what goes to the server, for a piece that the client sent.
  void from_client(const Piece& piece, std::string& out);
  // Appends to `out` what goes to the client, for a piece that the server sent.
  void from_server(const Piece& piece, std::string& out);

  // Whether an answer to a statement of our own is due, so that a cancel request would hit that.
  [[nodiscard]] bool probing() const { return probes_due_ > 0; }

 private:
  // A message of the extended protocol that the server will answer.
  struct Step {
    char type = 0;                     // P, B, D, E or C.
    std::string name;                  // Of the prepared statement or portal; D, C: with its kind.
    std::string statement;             // B: the prepared statement.
    std::shared_ptr<const Text> text;  // P.
    std::vector<Oid> types;            // P: of its first parameters; zero: the server infers it.
    Binding binding;                   // B.
    bool limited = false;              // E: for a number of rows only.
  };
  // What the server answers up to a ReadyForQuery.
  struct Cycle {
    bool own = false;
    bool simple = false;
    bool closed = false;  // The client sent what ends it.
    bool failed = false;
    std::shared_ptr<const Text> text;  // Simple: all statements.
    std::size_t statement = 0;         // Simple: which of them is answered next.
    std::deque<Step> steps;            // Extended: what is not answered yet.
    Nanos sent = 0;
    std::vector<Execution> executions;  // Outside of BEGIN and COMMIT.
  };
  struct Prepared {
    std::shared_ptr<const Text> text;
    std::shared_ptr<const std::vector<ResultColumn>> columns;
    std::vector<Oid> types;
  };
  struct Portal {
    Prepared prepared;
    Binding binding;
    bool begun = false;  // Rows of it were returned already.
    Nanos sent = 0;      // When what binds it, which takes the snapshot, was sent.
  };
  // The statement whose rows are coming.
  struct Current {
    bool begun = false;
    std::shared_ptr<const std::vector<ResultColumn>> columns;
    std::shared_ptr<const Catalog> catalog;  // What `rows` goes by.
    std::unique_ptr<ResultRows> rows;
    std::size_t count = 0;
    std::size_t bytes = 0;
    std::vector<Read> reads;
    std::string not_judged;
  };
  // What the server answered to our own statement.
  struct Probe {
    bool fresh = false;  // Nothing ran since the answer.
    std::string snapshot, id, isolation;
  };

  void client_message(const Piece& piece, std::string& out);
  Cycle& open_cycle();
  void client_step(const Piece& piece, std::string& out);
  void probe_before(const std::shared_ptr<const Text>& text, std::string& out);
  void bind(Body& body, Step& step) const;

  void own_answer(const Piece& piece, std::string& out);
  [[nodiscard]] bool replaced(const Piece& piece, std::string& out);
  void answer(const Piece& piece);
  void step_answered(const Piece& piece);
  void described(std::string_view body);
  void row(const Piece& piece);
  void completed(std::string_view tag, bool whole);
  void executed(const Statement* statement, std::string_view tag, Execution execution);
  void note_assigned(const Statement& statement, std::string_view tag, const Binding& binding,
                     Execution& execution);
  void ready(char status);
  [[nodiscard]] const Statement* statement_now() const;
  [[nodiscard]] std::shared_ptr<const Text> text_now() const;
  [[nodiscard]] Portal* portal_now();

  void begin_txn(Nanos since);
  void end_txn(ClientTxn::End end);
  void finish_cycle(Cycle& cycle, char status);
  void give_up();

  Ledger& ledger_;
  Texts& texts_;
  ClientTxn blank_;  // Session and application of every transaction.
  bool observes_;
  bool utf8_ = true;
  char status_ = 0;  // Of the last ReadyForQuery; zero: the connection is not ready.
  bool copying_ = false;
  int probes_due_ = 0;
  std::deque<Cycle> cycles_;
  std::unordered_map<std::string, Prepared> prepared_;
  std::unordered_map<std::string, Portal> portals_;
  Current current_;
  Probe probe_;
  std::string failure_;             // The error of our own statement, until the client was told.
  bool told_failure_ = false;       // The client was told, and its COMMIT is still being answered.
  std::unique_ptr<ClientTxn> txn_;  // Between BEGIN and COMMIT.
  std::uint64_t ticket_ = 0;        // Of the transaction, or of a statement outside of one.
};

}  // namespace ouro::tapping
