package ouro

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// rows fills the notes of a query as its rows are read. A query of its own ends when they are closed.
type rows struct {
	inner   driver.Rows
	attempt *attempt
	columns []string
	seen    bool // A row.
	all     bool // All rows.
	next    bool // In another result set: notes are about the first.
	err     error
	closed  bool
}

func newRows(a *attempt, inner driver.Rows) *rows {
	a.session.mutex.Lock()
	defer a.session.mutex.Unlock()
	a.txn.openRows++
	return &rows{inner: inner, attempt: a, columns: inner.Columns()}
}

func (r *rows) Columns() []string { return r.inner.Columns() }

func (r *rows) Next(row []driver.Value) error {
	err := r.inner.Next(row)
	switch {
	case r.next:
	case err == nil:
		r.seen = true
		for _, f := range r.attempt.fills {
			values := make([]any, len(row))
			for i, value := range row {
				values[i] = value
			}
			f.row(r.columns, values)
		}
	case err == io.EOF:
		r.all = true
	}
	if err != nil && err != io.EOF {
		r.err = err
	}
	return err
}

func (r *rows) Close() error {
	err := r.inner.Close()
	if r.closed {
		return err
	}
	r.closed = true
	if err != nil && r.err == nil {
		r.err = err
	}
	r.end()
	return err
}

func (r *rows) end() {
	a := r.attempt
	s := a.session
	var fault error
	s.mutex.Lock()
	a.txn.openRows--
	for _, f := range a.fills {
		if fault == nil {
			fault = f.fault
		}
	}
	if r.err != nil {
		a.failedLocked(r.err)
	} else {
		for _, f := range a.fills {
			f.end(r.all)
		}
		// With RETURNING and the like, each change has a row.
		if r.all && !r.seen && len(r.columns) > 0 {
			a.lift(a.changes)
		}
	}
	s.endAlone(a.txn)
	s.mutex.Unlock()
	if fault != nil {
		s.recorder.fail(fault)
	}
}

// What a driver's rows may be able to do besides. The answers of those that cannot are what
// database/sql assumes of them.

func (r *rows) HasNextResultSet() bool {
	more, can := r.inner.(driver.RowsNextResultSet)
	return can && more.HasNextResultSet()
}

func (r *rows) NextResultSet() error {
	if more, can := r.inner.(driver.RowsNextResultSet); can {
		r.next = true
		return more.NextResultSet()
	}
	return io.EOF
}

func (r *rows) ColumnTypeScanType(column int) reflect.Type {
	if typed, can := r.inner.(driver.RowsColumnTypeScanType); can {
		return typed.ColumnTypeScanType(column)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(column int) string {
	if typed, can := r.inner.(driver.RowsColumnTypeDatabaseTypeName); can {
		return typed.ColumnTypeDatabaseTypeName(column)
	}
	return ""
}

func (r *rows) ColumnTypeLength(column int) (int64, bool) {
	if typed, can := r.inner.(driver.RowsColumnTypeLength); can {
		return typed.ColumnTypeLength(column)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(column int) (nullable, known bool) {
	if typed, can := r.inner.(driver.RowsColumnTypeNullable); can {
		return typed.ColumnTypeNullable(column)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(column int) (precision, scale int64, known bool) {
	if typed, can := r.inner.(driver.RowsColumnTypePrecisionScale); can {
		return typed.ColumnTypePrecisionScale(column)
	}
	return 0, 0, false
}
