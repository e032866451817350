package ouro

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

// Options of a Recorder. The zero value is right for a database that is empty at the start.
type Options struct {
	Initial  any               // What every key holds at the start.
	Initials map[any]any       // What single keys hold at the start instead.
	Info     map[string]string // About the run; written into the history and not used.

	// Append lets several processes record into one file, which they do not empty. The first line of
	// the file is written by the one that finds it empty: start one of them first.
	Append bool

	// Clock is the client's clock, in any unit. The default is in nanoseconds: the time of day when
	// the first recorder of the process was made, and from then on a clock that is never set.
	Clock func() int64

	// Aborted may say that this error of a commit means for certain that it had no effect, where that
	// is not known of the driver. Otherwise the outcome of the transaction is unknown.
	Aborted func(error) bool
}

// Recorder writes a history while a program uses a database: a line for each transaction, as it ends.
// A file that a killed program left is complete but for transactions under way. Any number of
// goroutines may use one.
type Recorder struct {
	clock   func() int64
	aborted func(error) bool
	append  bool
	prefix  string

	mutex    sync.Mutex
	file     *os.File // nil: closed.
	size     int64
	fault    error
	sessions map[*session]bool // Of open connections, and of Together.
	idle     []*session        // Of Together, that can be used again.
	count    int
}

var processStart = sync.OnceValue(time.Now)

func processClock() int64 {
	start := processStart()
	return start.UnixNano() + int64(time.Since(start))
}

// NewRecorder begins the history `path`.
func NewRecorder(path string, options Options) (*Recorder, error) {
	head, err := headOf(options)
	if err != nil {
		return nil, err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if options.Append {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	recorder := &Recorder{clock: options.Clock, aborted: options.Aborted, append: options.Append,
		file: file, sessions: map[*session]bool{}}
	if recorder.clock == nil {
		processStart()
		recorder.clock = processClock
	}
	if options.Append {
		host, _ := os.Hostname()
		recorder.prefix = fmt.Sprintf("%s:%d ", host, os.Getpid())
		if about, err := file.Stat(); err == nil && about.Size() > 0 {
			_, head, _ = strings.Cut(head, "\n")
		}
	}
	recorder.put(head)
	if recorder.fault != nil {
		file.Close()
		return nil, recorder.fault
	}
	return recorder, nil
}

// The first line of a history and what its keys hold at the start.
func headOf(options Options) (string, error) {
	initial, err := valueOf(options.Initial)
	if err != nil {
		return "", err
	}
	about := map[string]any{}
	for name, text := range options.Info {
		about[name] = text
	}
	info, err := rowOf(about)
	if err != nil {
		return "", err
	}
	var lines []string
	for key, value := range options.Initials {
		name, err := nameOf(key)
		if err != nil {
			return "", err
		}
		text, err := valueOf(value)
		if err != nil {
			return "", err
		}
		lines = append(lines, `{"key":`+name+`,"initial":`+text+"}\n")
	}
	sort.Strings(lines)
	return `{"ouro":1,"initial":` + initial + `,"info":` + info + "}\n" + strings.Join(lines, ""), nil
}

// Open is sql.Open, and records what is done with the database.
func (r *Recorder) Open(driverName, dataSourceName string) (*sql.DB, error) {
	db, err := sql.Open(driverName, dataSourceName)
	if err != nil {
		return nil, err
	}
	inner := db.Driver()
	if err := db.Close(); err != nil {
		return nil, err
	}
	if opener, opens := inner.(driver.DriverContext); opens {
		connector, err := opener.OpenConnector(dataSourceName)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(r.Connector(connector)), nil
	}
	return sql.OpenDB(r.Connector(plainConnector{inner, dataSourceName})), nil
}

type plainConnector struct {
	driver driver.Driver
	name   string
}

func (c plainConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c plainConnector) Driver() driver.Driver                        { return c.driver }

// Connector records what is done by the connections of `inner`, for sql.OpenDB.
func (r *Recorder) Connector(inner driver.Connector) driver.Connector {
	return &connector{recorder: r, inner: inner}
}

func (r *Recorder) session(kind string) *session {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.count++
	name := fmt.Sprintf("%s%s %d", r.prefix, kind, r.count)
	made := &session{recorder: r, base: name, name: name}
	r.sessions[made] = true
	return made
}

func (r *Recorder) forget(s *session) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.sessions, s)
}

func (r *Recorder) refused(err error) bool {
	return wasRefused(err) || (r.aborted != nil && r.aborted(err))
}

// put writes whole lines. A fault is told by Close: the program that is recorded goes on.
func (r *Recorder) put(lines string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.fault != nil || lines == "" {
		return
	}
	if r.file == nil {
		r.fault = errors.New("ouro: a transaction ended after its recorder was closed")
		return
	}
	if _, err := r.file.WriteString(lines); err != nil {
		r.fault = err
		if !r.append { // Nobody else writes: what is there stays a history.
			r.file.Truncate(r.size)
		}
		return
	}
	r.size += int64(len(lines))
}

func (r *Recorder) fail(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.fault == nil {
		r.fault = err
	}
}

// Close writes transactions that are still under way, with an unknown outcome, and closes the file.
// The error is the first fault while recording; the history then lacks what came after it.
func (r *Recorder) Close() error {
	r.mutex.Lock()
	var open []*session
	for s := range r.sessions {
		open = append(open, s)
	}
	r.mutex.Unlock()
	for _, s := range open {
		s.finish(unknown)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.file == nil {
		return r.fault
	}
	err := r.file.Close()
	r.file = nil
	if r.fault == nil {
		r.fault = err
	}
	return r.fault
}

type togetherKey struct{}

// Together calls work and records all statements that are executed with its context outside of
// transactions as one transaction, whichever connections they take: as what the program relies on to
// happen together, though the database was not told. Transactions within remain transactions of their
// own.
func (r *Recorder) Together(ctx context.Context, work func(context.Context) error) error {
	r.mutex.Lock()
	var s *session
	if last := len(r.idle) - 1; last >= 0 {
		s, r.idle = r.idle[last], r.idle[:last]
	}
	r.mutex.Unlock()
	if s == nil {
		s = r.session("work")
	}
	defer func() {
		r.mutex.Lock()
		r.idle = append(r.idle, s)
		r.mutex.Unlock()
	}()
	return s.together(func() error { return work(context.WithValue(ctx, togetherKey{}, s)) })
}

// ErrUnclear: it is not known whether the transaction was committed, so it must not be tried again
// blindly.
var ErrUnclear = errors.New("ouro: whether the transaction was committed is not known")

const mostRetries = 10

// Run calls work(tx) in a transaction and commits. If the database asks to try again, it does so, up to
// ten times; each attempt is a transaction of its own in the history. The error is ErrUnclear if it is
// not known whether the commit had an effect.
func (r *Recorder) Run(ctx context.Context, db *sql.DB, options *sql.TxOptions,
	work func(*sql.Tx) error) error {
	for attempt := 0; ; attempt++ {
		err := r.once(ctx, db, options, work)
		if err == nil || attempt == mostRetries || errors.Is(err, ErrUnclear) || !mayBeRetried(err) {
			return err
		}
		pause := min(200*time.Millisecond, time.Millisecond<<attempt)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + time.Duration(rand.Int63n(int64(pause)))):
		}
	}
}

func (r *Recorder) once(ctx context.Context, db *sql.DB, options *sql.TxOptions,
	work func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer tx.Rollback() // After a commit this does nothing.
	if err := work(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if r.refused(err) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return nil
}
