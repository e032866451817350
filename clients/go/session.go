package ouro

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
)

const (
	committed = "committed"
	aborted   = "aborted"
	unknown   = "unknown"
)

// operation is one of a transaction, or the part that a rollback to a savepoint undid.
type operation struct {
	text   string
	known  bool // Else it is left out: what it read was not read to the end.
	undone []*operation
}

func render(ops []*operation) string {
	texts := make([]string, 0, len(ops))
	for _, op := range ops {
		if op.undone != nil {
			if part := render(op.undone); part != "" {
				texts = append(texts, `["rolled-back",[`+part+`]]`)
			}
		} else if op.known {
			texts = append(texts, op.text)
		}
	}
	return strings.Join(texts, ",")
}

type mark struct {
	name  string
	first int // How many operations there were at the savepoint.
}

// transaction is one under way.
type transaction struct {
	invoked, committing int64
	begun               bool // By BeginTx, BEGIN or Together; else it is a statement of its own.
	together            bool // By Together: its statements are transactions to the database.
	unclear             bool // Nobody knows how a statement of its own ended.
	failed              bool // PostgreSQL can only roll it back.
	openRows            int
	ops                 []*operation
	marks               []mark
}

// session is what is recorded of one connection. One goroutine at a time uses a connection; Close of
// the recorder may come in between.
type session struct {
	recorder *Recorder
	base     string
	mutex    sync.Mutex
	name     string
	txn      *transaction
	unknowns int
}

// The calls below that take a `call` hold the mutex before and after it, not while it waits for the
// database.

func (s *session) begin(call func() error) error {
	s.mutex.Lock()
	if s.txn != nil && s.txn.begun {
		s.mutex.Unlock()
		return errors.New("ouro: a transaction is under way on this connection; whether the database " +
			"commits it when another begins is not recorded; end it first")
	}
	txn := s.open()
	s.mutex.Unlock()
	err := call()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err == nil {
		txn.begun = true
	} else if s.txn == txn && txn.openRows == 0 {
		s.txn = nil
	}
	return err
}

func (s *session) open() *transaction {
	if s.txn == nil {
		s.txn = &transaction{invoked: s.recorder.clock()}
	}
	return s.txn
}

// commit records `call`. `stays` says that the transaction stays open if SQLite refuses, as it does
// after a COMMIT that was executed like any statement.
func (s *session) commit(stays bool, call func() error) error {
	s.mutex.Lock()
	txn := s.txn
	if txn == nil || !txn.begun {
		s.mutex.Unlock()
		return call()
	}
	txn.committing = s.recorder.clock()
	s.mutex.Unlock()
	err := call()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.txn != txn: // The recorder was closed.
	case err == nil && !txn.failed:
		s.end(committed)
	case err == nil: // PostgreSQL answers like this and rolls back.
		s.end(unknown)
	case stays && sqliteHarmless(err):
		txn.committing = 0
	case s.recorder.refused(err):
		s.end(aborted)
	default:
		s.end(unknown)
	}
	return err
}

// rollback records `call`. Whatever comes of it, nobody asked for a commit.
func (s *session) rollback(call func() error) error {
	err := call()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.txn != nil && s.txn.begun {
		s.end(aborted)
	}
	return err
}

// attempt is a statement under way.
type attempt struct {
	session *session
	txn     *transaction
	ops     []*operation
	changes []*operation // Those of `ops` that count only if a row was changed.
	fills   []*fill
}

func (s *session) start(notes []Note) *attempt {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a := &attempt{session: s, txn: s.open()}
	for _, note := range notes {
		op := &operation{text: note.text, known: !note.reads()}
		a.ops = append(a.ops, op)
		if note.kind == changed {
			a.changes = append(a.changes, op)
		}
		if note.reads() {
			a.fills = append(a.fills, &fill{Note: note, op: op})
		}
	}
	a.txn.ops = append(a.txn.ops, a.ops...)
	return a
}

// lift takes operations out of the transaction again.
func (a *attempt) lift(ops []*operation) {
	for _, op := range ops {
		op.known = false
	}
}

// skipped: the driver has not done it, and asks to do it in another way.
func (a *attempt) skipped() {
	a.session.mutex.Lock()
	defer a.session.mutex.Unlock()
	a.lift(a.ops)
	if a.session.txn == a.txn && !a.txn.begun && a.txn.openRows == 0 {
		a.session.txn = nil
	}
}

func (a *attempt) failed(err error) {
	s := a.session
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a.failedLocked(err)
}

func (a *attempt) failedLocked(err error) {
	s := a.session
	if s.txn != a.txn {
		return
	}
	if a.txn.begun && !a.txn.together {
		a.lift(a.ops)
		a.txn.failed = a.txn.failed || sqlstate(err) != ""
		if mysqlCode(err) == mysqlDeadlock { // What follows are statements of their own.
			s.end(aborted)
		}
		return
	}
	refused := s.recorder.refused(err) || sqliteHarmless(err)
	if a.txn.openRows > 0 || a.txn.together {
		if refused {
			a.lift(a.ops)
		}
		a.txn.unclear = a.txn.unclear || !refused
	} else if refused {
		s.end(aborted)
	} else {
		s.end(unknown)
	}
}

// executed: the statement was successful and has no rows.
func (a *attempt) executed(what statement, result driver.Result) {
	s := a.session
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if count, err := result.RowsAffected(); err == nil && count == 0 {
		a.lift(a.changes)
	}
	if s.txn != a.txn {
		return
	}
	switch what.kind {
	case prepares:
		s.end(unknown) // Whoever commits it is not recorded.
		return
	case savepoint:
		a.txn.marks = append(a.txn.marks, mark{what.name, len(a.txn.ops)})
	case backTo:
		a.txn.backTo(what.name)
	case releases:
		if at := a.txn.find(what.name); at >= 0 {
			a.txn.marks = a.txn.marks[:at]
		}
	}
	s.endAlone(a.txn)
}

// endAlone ends a transaction of one statement, once all its rows were read.
func (s *session) endAlone(txn *transaction) {
	if s.txn != txn || txn.begun || txn.openRows > 0 {
		return
	}
	if txn.unclear {
		s.end(unknown)
	} else {
		s.end(committed)
	}
}

func (txn *transaction) find(name string) int {
	at := len(txn.marks) - 1
	for at >= 0 && !strings.EqualFold(txn.marks[at].name, name) {
		at--
	}
	return at
}

func (txn *transaction) backTo(name string) {
	at := txn.find(name)
	if at < 0 {
		return
	}
	found := txn.marks[at]
	part := append([]*operation(nil), txn.ops[found.first:]...)
	txn.ops = txn.ops[:found.first]
	if len(part) > 0 {
		txn.ops = append(txn.ops, &operation{undone: part})
	}
	// The savepoint itself is still there, and begins behind what was undone.
	txn.marks = append(txn.marks[:at], mark{found.name, len(txn.ops)})
	txn.failed = false
}

// together begins a transaction that the database does not know of, and ends it behind `work`.
func (s *session) together(work func() error) error {
	s.mutex.Lock()
	txn := s.open()
	txn.begun, txn.together = true, true
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		switch {
		case s.txn != txn: // The recorder was closed.
		case txn.unclear:
			s.end(unknown)
		default: // What its statements did stays, also if `work` failed.
			s.end(committed)
		}
	}()
	return work()
}

// tell adds notes to the transaction under way.
func (s *session) tell(notes []Note) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.txn == nil || !s.txn.begun {
		return errors.New("ouro: no transaction is under way on this connection; give the notes of a " +
			"statement of its own to that statement")
	}
	for _, note := range notes {
		s.txn.ops = append(s.txn.ops, &operation{text: note.text, known: true})
	}
	return nil
}

// end writes the transaction. REQUIRES: the mutex is held and there is a transaction.
func (s *session) end(status string) {
	txn := s.txn
	s.txn = nil
	ops := render(txn.ops)
	if ops == "" {
		return
	}
	var line strings.Builder
	fmt.Fprintf(&line, `{"session":%s`, textOf(s.name))
	if status != committed {
		fmt.Fprintf(&line, `,"status":"%s"`, status)
	}
	fmt.Fprintf(&line, `,"invoked":%d`, txn.invoked)
	if txn.committing != 0 {
		fmt.Fprintf(&line, `,"committing":%d`, txn.committing)
	}
	if status != unknown {
		fmt.Fprintf(&line, `,"completed":%d`, s.recorder.clock())
	}
	line.WriteString(`,"ops":[` + ops + "]}\n")
	s.recorder.put(line.String())
	if status == unknown {
		// It may still take effect after what the connection does next, which is why that belongs to
		// another session.
		s.unknowns++
		s.name = fmt.Sprintf("%s #%d", s.base, s.unknowns+1)
	}
}

// finish ends whatever is under way, with this status; of a statement of its own nobody knows the
// outcome.
func (s *session) finish(status string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.txn == nil {
		return
	}
	if !s.txn.begun {
		status = unknown
	}
	s.end(status)
}
