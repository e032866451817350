package ouro

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a driver that does what its statements say: 'fail' fails with the error `failure`, 'none'
// changes no row, and queries return `answer`. Commits end as `ends` says.
type fake struct {
	answer  [][]driver.Value
	columns []string
	ends    []error
	failure error
	sent    []string
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return &fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ *fake }

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) { return &fakeStmt{c.fake, query}, nil }
func (c *fakeConn) Close() error                              { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)                 { return c, nil }
func (c *fakeConn) Rollback() error                           { return nil }

func (c *fakeConn) Commit() error {
	if len(c.ends) == 0 {
		return nil
	}
	end := c.ends[0]
	c.ends = c.ends[1:]
	return end
}

type fakeStmt struct {
	*fake
	query string
}

func (s *fakeStmt) Close() error  { return nil }
func (s *fakeStmt) NumInput() int { return strings.Count(s.query, "?") }

func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	s.sent = append(s.sent, s.query)
	switch {
	case strings.Contains(s.query, "fail"):
		return nil, s.failure
	case strings.Contains(s.query, "none"):
		return driver.RowsAffected(0), nil
	}
	return driver.RowsAffected(1), nil
}

func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	if strings.Contains(s.query, "fail") {
		return nil, s.failure
	}
	return &fakeRows{columns: s.columns, left: s.answer}, nil
}

type fakeRows struct {
	columns []string
	left    [][]driver.Value
}

func (r *fakeRows) Columns() []string { return r.columns }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(row []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(row, r.left[0])
	r.left = r.left[1:]
	return nil
}

type refusal struct{}

func (refusal) Error() string    { return "could not serialize access" }
func (refusal) SQLState() string { return "40001" }

type MySQLError struct{ Number uint16 }

func (MySQLError) Error() string { return "Deadlock found" }

var errLost = errors.New("the connection is gone")

type recording struct {
	t        *testing.T
	path     string
	recorder *Recorder
	db       *sql.DB
	driver   *fake
}

// record begins a history whose clock counts 1, 2, 3 …; all is done on one connection.
func record(t *testing.T, ends ...error) *recording {
	t.Helper()
	r := &recording{t: t, path: filepath.Join(t.TempDir(), "history.jsonl"),
		driver: &fake{columns: []string{"v"}, ends: ends, failure: errLost}}
	tick := int64(0)
	var err error
	r.recorder, err = NewRecorder(r.path, Options{Clock: func() int64 { tick++; return tick }})
	if err != nil {
		t.Fatal(err)
	}
	r.db = sql.OpenDB(r.recorder.Connector(r.driver))
	r.db.SetMaxOpenConns(1)
	return r
}

// shows fails the test unless the history has these lines behind its head.
func (r *recording) shows(want ...string) {
	r.t.Helper()
	r.db.Close()
	if err := r.recorder.Close(); err != nil {
		r.t.Error(err)
	}
	bytes, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	found := strings.Split(strings.TrimSpace(string(bytes)), "\n")[1:]
	if strings.Join(found, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("found\n%s\nbut expected\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

func (r *recording) must(_ any, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) begin() *sql.Tx {
	r.t.Helper()
	tx, err := r.db.Begin()
	if err != nil {
		r.t.Fatal(err)
	}
	return tx
}

func TestReadsAndWritesOfTransactions(t *testing.T) {
	r := record(t)
	r.driver.answer = [][]driver.Value{{int64(7)}}
	tx := r.begin()
	var v int
	r.must(nil, tx.QueryRow("SELECT v WHERE k = ?", "x", Reads("x")).Scan(&v))
	r.must(tx.Exec("UPDATE", Writes("x", 8), Writes("y", nil)))
	r.must(tx.Exec("UPDATE none", Writes("x", 9)))
	r.must(nil, tx.Commit())
	tx = r.begin()
	r.must(tx.Exec("DELETE", Deletes(3)))
	r.must(nil, tx.Rollback())
	r.shows(
		`{"session":"connection 1","invoked":1,"committing":2,"completed":3,"ops":[["r","x",7],["w","x",8],["w","y",null]]}`,
		`{"session":"connection 1","status":"aborted","invoked":4,"completed":5,"ops":[["d",3]]}`)
}

func TestACommitThatIsNotAnsweredIsUnknownAndEndsTheSession(t *testing.T) {
	r := record(t, errLost, refusal{}, nil)
	for value := range 3 {
		tx := r.begin()
		r.must(tx.Exec("UPDATE", Writes("x", value)))
		tx.Commit()
	}
	r.shows(
		`{"session":"connection 1","status":"unknown","invoked":1,"committing":2,"ops":[["w","x",0]]}`,
		`{"session":"connection 1 #2","status":"aborted","invoked":3,"committing":4,"completed":5,"ops":[["w","x",1]]}`,
		`{"session":"connection 1 #2","invoked":6,"committing":7,"completed":8,"ops":[["w","x",2]]}`)
}

func TestOnlyWhatWasRefusedIsTriedAgain(t *testing.T) {
	r := record(t, refusal{}, refusal{}, nil, errLost)
	attempts := 0
	work := func(tx *sql.Tx) error {
		attempts++
		_, err := tx.Exec("UPDATE", Writes("x", attempts))
		return err
	}
	r.must(nil, r.recorder.Run(context.Background(), r.db, nil, work))
	if attempts != 3 {
		t.Errorf("%d attempts", attempts)
	}
	err := r.recorder.Run(context.Background(), r.db, nil, work)
	if !errors.Is(err, ErrUnclear) || !errors.Is(err, errLost) || attempts != 4 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
	r.shows(
		`{"session":"connection 1","status":"aborted","invoked":1,"committing":2,"completed":3,"ops":[["w","x",1]]}`,
		`{"session":"connection 1","status":"aborted","invoked":4,"committing":5,"completed":6,"ops":[["w","x",2]]}`,
		`{"session":"connection 1","invoked":7,"committing":8,"completed":9,"ops":[["w","x",3]]}`,
		`{"session":"connection 1","status":"unknown","invoked":10,"committing":11,"ops":[["w","x",4]]}`)
}

func TestStatementsOfTheirOwn(t *testing.T) {
	r := record(t)
	r.must(r.db.Exec("UPDATE", Writes("x", 1)))
	r.db.Exec("UPDATE fail", Writes("x", 2))
	r.driver.failure = refusal{}
	r.db.Exec("UPDATE fail", Writes("x", 3))
	var v int
	if err := r.db.QueryRow("SELECT", Reads("x")).Scan(&v); err != sql.ErrNoRows {
		t.Error(err)
	}
	r.must(r.db.Exec("UPDATE")) // Nothing is said of it.
	r.shows(
		`{"session":"connection 1","invoked":1,"completed":2,"ops":[["w","x",1]]}`,
		`{"session":"connection 1","status":"unknown","invoked":3,"ops":[["w","x",2]]}`,
		`{"session":"connection 1 #2","status":"aborted","invoked":4,"completed":5,"ops":[["w","x",3]]}`,
		`{"session":"connection 1 #2","invoked":6,"completed":7,"ops":[["r","x",null]]}`)
}

func TestWhatRowsSay(t *testing.T) {
	r := record(t)
	r.driver.columns = []string{"k", "v"}
	r.driver.answer = [][]driver.Value{{"a", int64(1)}, {[]byte("b"), 0.5}}
	tx := r.begin()
	all := func(query string, note Note) {
		rows, err := tx.Query(query, note)
		r.must(nil, err)
		for rows.Next() {
		}
		r.must(nil, rows.Close())
	}
	all("SELECT", Scans("a", nil))
	all("SELECT", ReadsList("l").As(func(v any) any {
		if bytes, is := v.([]byte); is {
			return string(bytes) + "!"
		}
		return v
	}))
	all("SELECT", Reads("row"))
	// Not read to the end: nobody knows what it would have found.
	rows, err := tx.Query("SELECT", Scans("a", "z"))
	r.must(nil, err)
	rows.Next()
	r.must(nil, rows.Close())
	r.must(nil, Tell(context.Background(), tx, Found("m", 3), Found("list", []any{1, "two"}),
		Operation(`["aggregate","count",null,true,2]`)))
	if err := Tell(context.Background(), tx, Reads("m")); err == nil {
		t.Error("a read of nothing was told")
	}
	if _, err := tx.Exec("UPDATE", Reads("m")); err == nil {
		t.Error("a read was noted of what has no rows")
	}
	if _, err := tx.Exec("UPDATE", Writes(1.5, 1)); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Error(err)
	}
	r.must(nil, tx.Commit())
	r.shows(`{"session":"connection 1","invoked":1,"committing":2,"completed":3,"ops":[` +
		`["scan","a",null,[["a",1],["b",{"@float":0.5}]]],["r","l",["a","b!"]],` +
		`["r","row",{"k":"a","v":1}],["r","m",3],["r","list",[1,"two"]],` +
		`["aggregate","count",null,true,2]]}`)
}

func TestPreparedStatements(t *testing.T) {
	r := record(t)
	tx := r.begin()
	prepared, err := tx.Prepare("UPDATE ? WHERE ?")
	r.must(nil, err)
	r.must(prepared.Exec(1, "x", Writes("x", 1)))
	if _, err := prepared.Exec(1, Writes("x", 2)); err == nil {
		t.Error("an argument was missing")
	}
	r.must(nil, tx.Commit())
	r.shows(`{"session":"connection 1","invoked":1,"committing":2,"completed":3,"ops":[["w","x",1]]}`)
}

func TestSavepoints(t *testing.T) {
	r := record(t)
	tx := r.begin()
	for _, query := range []string{"UPDATE 1", "SAVEPOINT one", "UPDATE 2", "ROLLBACK TO one",
		"UPDATE 3", "SAVEPOINT two", "UPDATE 4", "RELEASE two", "ROLLBACK TO SAVEPOINT one"} {
		if strings.HasPrefix(query, "UPDATE") {
			r.must(tx.Exec(query, Writes("x", query)))
		} else {
			r.must(tx.Exec(query))
		}
	}
	r.must(nil, tx.Commit())
	if _, err := r.db.Exec("SAVEPOINT alone"); err == nil {
		t.Error("nobody knows what that does")
	}
	r.shows(`{"session":"connection 1","invoked":1,"committing":2,"completed":3,"ops":[` +
		`["w","x","UPDATE 1"],["rolled-back",[["w","x","UPDATE 2"]]],` +
		`["rolled-back",[["w","x","UPDATE 3"],["w","x","UPDATE 4"]]]]}`)
}

func TestTransactionsByStatements(t *testing.T) {
	r := record(t)
	conn, err := r.db.Conn(context.Background())
	r.must(nil, err)
	exec := func(query string, notes ...any) error {
		_, err := conn.ExecContext(context.Background(), query, notes...)
		return err
	}
	r.must(nil, exec("/* now */ BEGIN IMMEDIATE"))
	r.must(nil, exec("UPDATE", Writes("x", 1)))
	if exec("START TRANSACTION") == nil || exec("UPDATE; COMMIT") == nil ||
		exec("SET autocommit = 0") == nil {
		t.Error("what this does cannot be recorded")
	}
	r.must(nil, exec("COMMIT"))
	r.must(nil, exec("begin"))
	r.must(nil, exec("UPDATE", Writes("x", 2)))
	r.must(nil, exec("ROLLBACK"))
	r.must(nil, conn.Close())
	r.shows(
		`{"session":"connection 1","invoked":1,"committing":2,"completed":3,"ops":[["w","x",1]]}`,
		`{"session":"connection 1","status":"aborted","invoked":4,"completed":5,"ops":[["w","x",2]]}`)
}

func TestTransactionsThatTheServerEnded(t *testing.T) {
	r := record(t)
	r.driver.failure = &MySQLError{mysqlDeadlock}
	tx := r.begin()
	r.must(tx.Exec("UPDATE", Writes("x", 1)))
	tx.Exec("UPDATE fail", Writes("x", 2))
	r.must(tx.Exec("UPDATE", Writes("x", 3))) // MySQL commits this at once.
	r.must(nil, tx.Commit())
	// PostgreSQL may answer the commit of a failed transaction like any other.
	r.driver.failure = refusal{}
	tx = r.begin()
	r.must(tx.Exec("UPDATE", Writes("x", 4)))
	tx.Exec("UPDATE fail", Writes("x", 5))
	r.must(nil, tx.Commit())
	r.shows(
		`{"session":"connection 1","status":"aborted","invoked":1,"completed":2,"ops":[["w","x",1]]}`,
		`{"session":"connection 1","invoked":3,"completed":4,"ops":[["w","x",3]]}`,
		`{"session":"connection 1","status":"unknown","invoked":5,"committing":6,"ops":[["w","x",4]]}`)
}

func TestWhatAProgramDoesTogether(t *testing.T) {
	r := record(t)
	r.driver.answer = [][]driver.Value{{int64(1)}}
	r.must(nil, r.recorder.Together(context.Background(), func(ctx context.Context) error {
		var v int
		r.must(nil, r.db.QueryRowContext(ctx, "SELECT", Reads("x")).Scan(&v))
		r.must(r.db.Exec("UPDATE", Writes("y", 5))) // Not with its context.
		_, err := r.db.ExecContext(ctx, "UPDATE", Writes("x", 2))
		return err
	}))
	r.recorder.Together(context.Background(), func(ctx context.Context) error {
		_, err := r.db.ExecContext(ctx, "UPDATE fail", Writes("x", 3))
		return err
	})
	r.shows(
		`{"session":"connection 2","invoked":2,"completed":3,"ops":[["w","y",5]]}`,
		`{"session":"work 1","invoked":1,"completed":4,"ops":[["r","x",1],["w","x",2]]}`,
		`{"session":"work 1","status":"unknown","invoked":5,"ops":[["w","x",3]]}`)
}

func TestWhatIsUnderWayAtTheEndIsUnknown(t *testing.T) {
	r := record(t)
	tx := r.begin()
	r.must(tx.Exec("UPDATE", Writes("x", 1)))
	r.must(nil, r.recorder.Close())
	r.must(nil, tx.Rollback())
	r.shows(`{"session":"connection 1","status":"unknown","invoked":1,"ops":[["w","x",1]]}`)
}

func TestTheHeadOfAHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	options := Options{Initial: 0, Initials: map[any]any{"b": 2, 1: "one"},
		Info: map[string]string{"database": "shop"}, Append: true}
	for range 2 {
		recorder, err := NewRecorder(path, options)
		if err != nil || recorder.Close() != nil {
			t.Fatal(err)
		}
	}
	bytes, _ := os.ReadFile(path)
	keys := "{\"key\":\"b\",\"initial\":2}\n{\"key\":1,\"initial\":\"one\"}\n"
	want := "{\"ouro\":1,\"initial\":0,\"info\":{\"database\":\"shop\"}}\n" + keys + keys
	if string(bytes) != want {
		t.Errorf("found %s", bytes)
	}
}
