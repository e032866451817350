package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"ouro"
)

func TestTheExampleOfTheReadme(t *testing.T) {
	program, err := os.ReadFile("shop/main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(program)+"```\n") {
		t.Error("README.md does not show tests/shop/main.go as it is")
	}
	for arguments, expected := range map[string]string{"": "holds serializable\n",
		"careless": "violated serializable\nlost update: "} {
		command := exec.Command("go", append([]string{"run", "-tags", "libsqlite3", "./shop", t.TempDir()},
			strings.Fields(arguments)...)...)
		said, err := command.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(said), expected) {
			t.Errorf("'%s': %v, %s", arguments, err, said)
		}
	}
}

// bank is a recorded database of four accounts, and a log that lists what was done.
type bank struct {
	*testing.T
	recorder *ouro.Recorder
	db       *sql.DB
	path     string
}

func open(t *testing.T, options string) *bank {
	t.Helper()
	folder := t.TempDir()
	b := &bank{T: t, path: filepath.Join(folder, "history.jsonl")}
	initials := map[any]any{}
	for account := range 4 {
		initials[account] = 100
	}
	var err error
	if b.recorder, err = ouro.NewRecorder(b.path, ouro.Options{Initials: initials}); err != nil {
		t.Fatal(err)
	}
	b.db, err = b.recorder.Open("sqlite3", "file:"+folder+"/bank.db?_journal_mode=WAL&_sync=0&"+options)
	if err != nil {
		t.Fatal(err)
	}
	b.must(b.db.Exec("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER)"))
	b.must(b.db.Exec("INSERT INTO accounts VALUES (0, 100), (1, 100), (2, 100), (3, 100)"))
	b.must(b.db.Exec("CREATE TABLE log (id INTEGER PRIMARY KEY, done TEXT)"))
	return b
}

func (b *bank) must(_ any, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// verdict closes the bank.
func (b *bank) verdict(level string) *ouro.Verdict {
	b.Helper()
	b.must(nil, b.db.Close())
	b.must(nil, b.recorder.Close())
	verdict, err := ouro.Check(b.path, level)
	b.must(nil, err)
	return verdict
}

func transfer(tx *sql.Tx, name string, from, to int) error {
	for account, amount := range map[int]int{from: -1, to: 1} {
		var balance int
		if err := tx.QueryRow("SELECT balance FROM accounts WHERE id = ?", account,
			ouro.Reads(account)).Scan(&balance); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE accounts SET balance = ? WHERE id = ?", balance+amount, account,
			ouro.Writes(account, balance+amount)); err != nil {
			return err
		}
	}
	_, err := tx.Exec("INSERT INTO log (done) VALUES (?)", name, ouro.Appends("log", name))
	return err
}

func audit(tx *sql.Tx) error {
	for _, query := range []struct {
		text string
		note ouro.Note
	}{{"SELECT id, balance FROM accounts ORDER BY id", ouro.Scans(0, 3)},
		{"SELECT done FROM log ORDER BY id", ouro.ReadsList("log")}} {
		rows, err := tx.Query(query.text, query.note)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// work has six clients transfer and audit, some of them rolling back.
func (b *bank) work(options *sql.TxOptions) {
	errGiveUp := errors.New("on purpose")
	var clients sync.WaitGroup
	for client := range 6 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			random := rand.New(rand.NewSource(int64(client)))
			for i := range 40 {
				err := b.recorder.Run(context.Background(), b.db, options, func(tx *sql.Tx) error {
					if i%4 == 3 {
						return audit(tx)
					}
					from := random.Intn(4)
					if err := transfer(tx, fmt.Sprint(client, "/", i), from, (from+1)%4); err != nil {
						return err
					}
					if random.Intn(8) == 0 {
						return errGiveUp
					}
					return nil
				})
				if err != nil && !errors.Is(err, errGiveUp) && !strings.Contains(err.Error(), "locked") {
					b.Error(err)
				}
			}
		}()
	}
	clients.Wait()
}

func TestSQLiteKeepsStrictSerializability(t *testing.T) {
	for _, options := range []string{"_txlock=immediate&_busy_timeout=10000", "_txlock=deferred"} {
		b := open(t, options)
		b.work(nil)
		verdict := b.verdict("strict-serializable")
		if verdict.Outcome != ouro.Holds || verdict.Transactions < 100 {
			t.Errorf("%s: %v of %d transactions", options, verdict, verdict.Transactions)
		}
	}
}

func TestAWriteWithoutItsTransactionIsLost(t *testing.T) {
	b := open(t, "_busy_timeout=10000")
	b.db.SetMaxOpenConns(2)
	var add func(amount int, meanwhile func())
	add = func(amount int, meanwhile func()) {
		b.must(nil, b.recorder.Together(context.Background(), func(ctx context.Context) error {
			var balance int
			b.must(nil, b.db.QueryRowContext(ctx, "SELECT balance FROM accounts WHERE id = 0",
				ouro.Reads(0)).Scan(&balance))
			meanwhile()
			_, err := b.db.ExecContext(ctx, "UPDATE accounts SET balance = ? WHERE id = 0",
				balance+amount, ouro.Writes(0, balance+amount))
			return err
		}))
	}
	add(1, func() {})
	add(2, func() { add(3, func() {}) })
	verdict := b.verdict("serializable")
	if verdict.Outcome != ouro.Violated || verdict.Anomalies[0].Name != "lost update" ||
		!strings.Contains(verdict.String(), "one update is lost") {
		t.Error(verdict)
	}
}

// Two connections that share a cache see what the other has not committed, if they ask for it.
func TestADirtyReadIsSeen(t *testing.T) {
	b := open(t, "cache=shared")
	reader, err := b.db.Conn(context.Background())
	b.must(nil, err)
	b.must(reader.ExecContext(context.Background(), "PRAGMA read_uncommitted = true"))
	tx, err := b.db.Begin()
	b.must(nil, err)
	b.must(tx.Exec("UPDATE accounts SET balance = 13 WHERE id = 2", ouro.Writes(2, 13)))
	var balance int
	b.must(nil, reader.QueryRowContext(context.Background(),
		"SELECT balance FROM accounts WHERE id = ?", 2, ouro.Reads(2)).Scan(&balance))
	b.must(nil, tx.Rollback())
	b.must(nil, reader.Close())
	verdict := b.verdict("read-committed")
	if balance != 13 || verdict.Outcome != ouro.Violated || verdict.Anomalies[0].Name != "aborted read" {
		t.Error(balance, verdict)
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nothing.jsonl")
	if verdict, err := ouro.Check(path, "serializable"); err == nil ||
		!strings.Contains(err.Error(), "nothing.jsonl") {
		t.Error(verdict, err)
	}
	if verdict, err := ouro.Check(path, "serialisable"); err == nil ||
		!strings.Contains(err.Error(), "did you mean 'serializable'") {
		t.Error(verdict, err)
	}
}
