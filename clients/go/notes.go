package ouro

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// What a note is filled from.
type noteKind int

const (
	told    noteKind = iota // It says all.
	changed                 // It says all, if the statement changed a row.
	single                  // The first row.
	listed                  // All rows: an element each.
	scanned                 // All rows: a key and its value each.
)

// Note tells what a statement does. It is given as the last of the statement's arguments; a statement
// may have several.
type Note struct {
	kind    noteKind
	text    string // The operation as native text; of those that read, up to what was read.
	convert func(any) any
	err     error
}

// As has the note record convert(v) of each value v that is read, for drivers that return another kind
// of value than is written: a []byte for a number, an int64 for a bool.
func (note Note) As(convert func(any) any) Note {
	note.convert = convert
	return note
}

// Reads notes that a query reads key: the first column of the first row; nil, if there is no row. Of a
// row with several columns: a row with their names.
func Reads(key any) Note { return noteOf(single, `["r",`, key, `,`) }

// ReadsList notes that a query reads a list: each row has an element, in order.
func ReadsList(key any) Note { return noteOf(listed, `["r",`, key, `,[`) }

// Scans notes that a query reads all keys from lower to upper, both included (nil: no bound). Its rows
// have the key and the value.
func Scans(lower, upper any) Note {
	bounds := [2]string{"null", "null"}
	for i, bound := range []any{lower, upper} {
		if bound == nil {
			continue
		}
		name, err := nameOf(bound)
		if err != nil {
			return Note{err: err}
		}
		bounds[i] = name
	}
	return Note{kind: scanned, text: `["scan",` + bounds[0] + `,` + bounds[1] + `,[`}
}

// Writes notes that a statement writes value; nil deletes. A statement that changed no row wrote
// nothing, and then nothing is noted; the same goes for Appends, Deletes and Adds.
func Writes(key, value any) Note { return valued(changed, `["w",`, key, value) }

// Appends notes that a statement appends element to a list.
func Appends(key, element any) Note { return valued(changed, `["append",`, key, element) }

// Deletes notes that a statement deletes key.
func Deletes(key any) Note { return noteOf(changed, `["d",`, key, `]`) }

// Adds notes that a statement adds delta to a counter.
func Adds(key any, delta int64) Note { return valued(changed, `["inc",`, key, delta) }

// Found notes that value was read of key: nil if nothing was there, a []any for a list.
func Found(key, value any) Note { return valued(told, `["r",`, key, value) }

// Operation notes any operation of the native format, as JSON.
func Operation(json string) Note { return Note{kind: told, text: json} }

func noteOf(kind noteKind, before string, key any, after string) Note {
	name, err := nameOf(key)
	return Note{kind: kind, text: before + name + after, err: err}
}

func valued(kind noteKind, before string, key, value any) Note {
	text, err := valueOf(value)
	if err != nil {
		return Note{err: err}
	}
	return noteOf(kind, before, key, `,`+text+`]`)
}

// Executor is a *sql.Tx or *sql.Conn that a Recorder opened, or what wraps one.
type Executor interface {
	ExecContext(ctx context.Context, query string, arguments ...any) (sql.Result, error)
}

// Tell records notes of the transaction that is under way, for what was found out otherwise than by
// the rows of one statement.
func Tell(ctx context.Context, tx Executor, notes ...Note) error {
	arguments := make([]any, 0, len(notes))
	for _, note := range notes {
		if note.reads() {
			return errors.New("ouro: only a query can be noted by Reads, ReadsList and Scans; give " +
				"what was read to Found")
		}
		arguments = append(arguments, note)
	}
	_, err := tx.ExecContext(ctx, tellQuery, arguments...)
	return err
}

// What Tell executes. The recording connection keeps it to itself.
const tellQuery = "-- ouro: notes"

func (note Note) reads() bool { return note.kind >= single }

// fill completes the text of a note that reads.
type fill struct {
	Note
	op    *operation
	rows  int
	text  string
	fault error
}

// row takes the next row.
func (f *fill) row(columns []string, row []any) {
	if f.fault != nil || (f.kind == single && f.rows > 0) {
		return
	}
	f.rows++
	if f.convert != nil {
		for i, value := range row {
			row[i] = f.convert(value)
		}
	}
	var text string
	switch {
	case f.kind == scanned:
		text, f.fault = keyAndValue(columns, row)
	case f.kind == listed || len(row) == 1:
		text, f.fault = valueOf(row[0])
	default:
		found := make(map[string]any, len(row))
		for i, value := range row {
			found[columns[i]] = value
		}
		text, f.fault = rowOf(found)
	}
	if f.rows > 1 {
		f.text += ","
	}
	f.text += text
}

func keyAndValue(columns []string, row []any) (string, error) {
	if len(row) != 2 {
		return "", fmt.Errorf("ouro: a query with Scans returns a key and a value, this one %d columns",
			len(columns))
	}
	key := row[0]
	if bytes, ok := key.([]byte); ok {
		key = string(bytes)
	}
	name, err := nameOf(key)
	if err != nil {
		return "", err
	}
	value, err := valueOf(row[1])
	return "[" + name + "," + value + "]", err
}

// end completes the operation; `all` says whether all rows were seen. What was not read completely
// stays out of the history.
func (f *fill) end(all bool) {
	switch {
	case f.fault != nil || (!all && (f.kind != single || f.rows == 0)):
		return
	case f.kind == single && f.rows == 0:
		f.op.text = f.Note.text + "null]"
	case f.kind == single:
		f.op.text = f.Note.text + f.text + "]"
	default:
		f.op.text = f.Note.text + f.text + "]]"
	}
	f.op.known = true
}
