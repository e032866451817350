package ouro

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

type connector struct {
	recorder *Recorder
	inner    driver.Connector
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{inner: inner, session: c.recorder.session("connection")}, nil
}

func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

func (c *connector) Close() error {
	if closer, closes := c.inner.(io.Closer); closes {
		return closer.Close()
	}
	return nil
}

// Conn is a recorded connection of a driver, as (*sql.Conn).Raw gives it.
type Conn struct {
	inner   driver.Conn
	session *session
}

// sessionOf is where statements with this context are recorded.
func (c *Conn) sessionOf(ctx context.Context) *session {
	s, is := ctx.Value(togetherKey{}).(*session)
	if !is || s.recorder != c.session.recorder || c.session.inTransaction() {
		return c.session
	}
	return s
}

// Inner is the driver's connection. What is done with it is not recorded.
func (c *Conn) Inner() driver.Conn { return c.inner }

func (c *Conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *Conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	var inner driver.Tx
	err := c.session.begin(func() (err error) {
		if beginner, can := c.inner.(driver.ConnBeginTx); can {
			inner, err = beginner.BeginTx(ctx, options)
		} else if options.Isolation != 0 || options.ReadOnly {
			err = errors.New("ouro: this driver has neither isolation levels nor read-only transactions")
		} else {
			inner, err = c.inner.Begin() //lint:ignore SA1019 All that such a driver has.
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &tx{inner: inner, session: c.session}, nil
}

type tx struct {
	inner   driver.Tx
	session *session
}

func (t *tx) Commit() error   { return t.session.commit(false, t.inner.Commit) }
func (t *tx) Rollback() error { return t.session.rollback(t.inner.Rollback) }

func (c *Conn) Close() error {
	err := c.inner.Close()
	c.session.finish(aborted) // What was not committed never will be.
	c.session.recorder.forget(c.session)
	return err
}

func (c *Conn) Ping(ctx context.Context) error {
	if pinger, can := c.inner.(driver.Pinger); can {
		return pinger.Ping(ctx)
	}
	return nil
}

func (c *Conn) ResetSession(ctx context.Context) error {
	if resetter, can := c.inner.(driver.SessionResetter); can {
		return resetter.ResetSession(ctx)
	}
	return nil
}

func (c *Conn) IsValid() bool {
	validator, can := c.inner.(driver.Validator)
	return !can || validator.IsValid()
}

// CheckNamedValue lets notes through to ExecContext and QueryContext.
func (c *Conn) CheckNamedValue(argument *driver.NamedValue) error {
	if note, is := argument.Value.(Note); is {
		return note.err
	}
	if checker, can := c.inner.(driver.NamedValueChecker); can {
		return checker.CheckNamedValue(argument)
	}
	return driver.ErrSkip
}

// apart separates notes from what the driver gets.
func apart(arguments []driver.NamedValue) (plain []driver.NamedValue, notes []Note) {
	plain = make([]driver.NamedValue, 0, len(arguments))
	for _, argument := range arguments {
		if note, is := argument.Value.(Note); is {
			notes = append(notes, note)
			continue
		}
		argument.Ordinal = len(plain) + 1
		plain = append(plain, argument)
	}
	return plain, notes
}

// positions are the arguments for drivers that know no names.
func positions(arguments []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(arguments))
	for i, argument := range arguments {
		if argument.Name != "" {
			return nil, errors.New("ouro: this driver has no named arguments")
		}
		values[i] = argument.Value
	}
	return values, nil
}

func (c *Conn) ExecContext(ctx context.Context, query string,
	arguments []driver.NamedValue) (driver.Result, error) {
	plain, notes := apart(arguments)
	if query == tellQuery {
		return driver.RowsAffected(0), c.sessionOf(ctx).tell(notes)
	}
	var do func() (driver.Result, error)
	if executor, can := c.inner.(driver.ExecerContext); can {
		do = func() (driver.Result, error) { return executor.ExecContext(ctx, query, plain) }
	} else if executor, can := c.inner.(driver.Execer); can { //lint:ignore SA1019 Old drivers.
		values, err := positions(plain)
		if err != nil {
			return nil, err
		}
		do = func() (driver.Result, error) { return executor.Exec(query, values) }
	} else {
		return nil, driver.ErrSkip
	}
	what, err := classify(query)
	if err != nil {
		return nil, err
	}
	return c.execute(ctx, what, notes, do)
}

func (c *Conn) QueryContext(ctx context.Context, query string,
	arguments []driver.NamedValue) (driver.Rows, error) {
	plain, notes := apart(arguments)
	var do func() (driver.Rows, error)
	if queryer, can := c.inner.(driver.QueryerContext); can {
		do = func() (driver.Rows, error) { return queryer.QueryContext(ctx, query, plain) }
	} else if queryer, can := c.inner.(driver.Queryer); can { //lint:ignore SA1019 Old drivers.
		values, err := positions(plain)
		if err != nil {
			return nil, err
		}
		do = func() (driver.Rows, error) { return queryer.Query(query, values) }
	} else {
		return nil, driver.ErrSkip
	}
	what, err := classify(query)
	if err != nil {
		return nil, err
	}
	return c.sessionOf(ctx).query(what, notes, do)
}

func (c *Conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	what, err := classify(query)
	if err != nil {
		return nil, err
	}
	var inner driver.Stmt
	if preparer, can := c.inner.(driver.ConnPrepareContext); can {
		inner, err = preparer.PrepareContext(ctx, query)
	} else {
		inner, err = c.inner.Prepare(query)
	}
	if err != nil {
		return nil, err
	}
	return &stmt{inner: inner, conn: c, what: what}, nil
}

type stmt struct {
	inner driver.Stmt
	conn  *Conn
	what  statement
}

func (s *stmt) Close() error { return s.inner.Close() }

// NumInput is unknown here, since notes are among the arguments; see check().
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) check(plain []driver.NamedValue) error {
	if want := s.inner.NumInput(); want >= 0 && len(plain) != want {
		return fmt.Errorf("ouro: expected %d arguments without notes, got %d", want, len(plain))
	}
	return nil
}

func (s *stmt) CheckNamedValue(argument *driver.NamedValue) error {
	if note, is := argument.Value.(Note); is {
		return note.err
	}
	if checker, can := s.inner.(driver.NamedValueChecker); can {
		return checker.CheckNamedValue(argument)
	}
	if converter, can := s.inner.(driver.ColumnConverter); can { //lint:ignore SA1019 Old drivers.
		value := argument.Value
		if valuer, is := value.(driver.Valuer); is {
			var err error
			if value, err = valuer.Value(); err != nil {
				return err
			}
		}
		var err error
		argument.Value, err = converter.ColumnConverter(argument.Ordinal - 1).ConvertValue(value)
		return err
	}
	return s.conn.CheckNamedValue(argument)
}

func (s *stmt) Exec(values []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(values))
}

func (s *stmt) Query(values []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(values))
}

func named(values []driver.Value) []driver.NamedValue {
	arguments := make([]driver.NamedValue, len(values))
	for i, value := range values {
		arguments[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return arguments
}

func (s *stmt) ExecContext(ctx context.Context,
	arguments []driver.NamedValue) (driver.Result, error) {
	plain, notes := apart(arguments)
	if err := s.check(plain); err != nil {
		return nil, err
	}
	if executor, can := s.inner.(driver.StmtExecContext); can {
		return s.conn.execute(ctx, s.what, notes, func() (driver.Result, error) {
			return executor.ExecContext(ctx, plain)
		})
	}
	values, err := positions(plain)
	if err != nil {
		return nil, err
	}
	return s.conn.execute(ctx, s.what, notes, func() (driver.Result, error) {
		return s.inner.Exec(values) //lint:ignore SA1019 Old drivers.
	})
}

func (s *stmt) QueryContext(ctx context.Context,
	arguments []driver.NamedValue) (driver.Rows, error) {
	plain, notes := apart(arguments)
	if err := s.check(plain); err != nil {
		return nil, err
	}
	if queryer, can := s.inner.(driver.StmtQueryContext); can {
		return s.conn.sessionOf(ctx).query(s.what, notes, func() (driver.Rows, error) {
			return queryer.QueryContext(ctx, plain)
		})
	}
	values, err := positions(plain)
	if err != nil {
		return nil, err
	}
	return s.conn.sessionOf(ctx).query(s.what, notes, func() (driver.Rows, error) {
		return s.inner.Query(values) //lint:ignore SA1019 Old drivers.
	})
}

// execute records a statement without rows.
func (c *Conn) execute(ctx context.Context, what statement, notes []Note,
	do func() (driver.Result, error)) (result driver.Result, err error) {
	call := func() error {
		result, err = do()
		return err
	}
	for _, note := range notes {
		if note.reads() {
			return nil, errors.New("ouro: a note that reads belongs to Query or QueryRow, not to Exec")
		}
	}
	switch what.kind {
	case begins:
		err = c.session.begin(call)
		return result, err
	case commits:
		err = c.session.commit(true, call)
		return result, err
	case rollsBack:
		err = c.session.rollback(call)
		return result, err
	case savepoint:
		if !c.session.inTransaction() {
			return nil, errors.New("ouro: what a savepoint outside of a transaction does cannot be " +
				"recorded; begin a transaction first")
		}
	}
	a := c.sessionOf(ctx).start(notes)
	switch err = call(); err {
	case nil:
		a.executed(what, result)
	case driver.ErrSkip:
		a.skipped()
	default:
		a.failed(err)
	}
	return result, err
}

func (s *session) inTransaction() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.txn != nil && s.txn.begun
}

// query records a statement with rows.
func (s *session) query(what statement, notes []Note,
	do func() (driver.Rows, error)) (driver.Rows, error) {
	if what.kind != other {
		return nil, errors.New("ouro: a statement that begins or ends a transaction belongs to Exec, " +
			"not to Query")
	}
	a := s.start(notes)
	inner, err := do()
	switch err {
	case nil:
		return newRows(a, inner), nil
	case driver.ErrSkip:
		a.skipped()
	default:
		a.failed(err)
	}
	return nil, err
}
