// A driver for 'ouro run exec:COMMAND': connects ouro to key-value stores written in Go.
//
//	ouro run 'exec:./ouro_driver bbolt'
//	ouro run 'exec:./ouro_driver badger'
//
// Copy this file and change it: a Store and its Txn say what differs between databases, Session is one
// connection, and Server speaks the protocol, which docs/drivers.md of ouro describes.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"go.etcd.io/bbolt"
)

// Store is a database that all connections of this process share.
type Store interface {
	Begin(readOnly bool) (Txn, error)
	Close() error
}

// Txn is a transaction of a Store. After an error of Commit it is over, too.
type Txn interface {
	Get(key []byte) ([]byte, error) // nil if the key is absent
	Put(key, value []byte) error
	Delete(key []byte) error
	Scan(lower, upper []byte, visit func(key, value []byte)) error // both bounds included
	Commit() error
	Rollback() error
	Times() (start, commit int64) // used only if the isolation has timestamps
}

// Isolation is a level of the database, as the answer to hello tells it.
type Isolation struct {
	Name       string `json:"name"`
	Promises   string `json:"promises"`
	Timestamps bool   `json:"timestamps"`
}

// Database says what this driver knows about one kind of Store.
type Database struct {
	name      string
	module    string
	isolation []Isolation
	open      func(folder string) (Store, error)
	aborted   func(error) bool // whether the error says for certain that there is no effect
}

var databases = map[string]Database{
	"bbolt": {"bbolt", "go.etcd.io/bbolt", []Isolation{{"serializable", "strict-serializable", true}},
		openBolt, func(error) bool { return false }},
	"badger": {"BadgerDB", "github.com/dgraph-io/badger/v4", []Isolation{{"serializable", "serializable", false}},
		openBadger, func(err error) bool { return errors.Is(err, badger.ErrConflict) }},
}

// ---- bbolt: one writer at a time; readers have snapshots.

var bucket = []byte("ouro")

type boltStore struct{ db *bbolt.DB }

func openBolt(folder string) (Store, error) {
	// A file that outgrows its mapping makes the writer wait for all readers: map enough.
	options := &bbolt.Options{NoSync: true, NoFreelistSync: true, InitialMmapSize: 1 << 30}
	db, err := bbolt.Open(filepath.Join(folder, "data.db"), 0o600, options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	})
	return boltStore{db}, err
}

func (store boltStore) Begin(readOnly bool) (Txn, error) {
	tx, err := store.db.Begin(!readOnly) // A writer waits here until it is the only one.
	if err != nil {
		return nil, err
	}
	return boltTxn{tx, tx.Bucket(bucket)}, nil
}

func (store boltStore) Close() error { return store.db.Close() }

type boltTxn struct {
	tx   *bbolt.Tx
	data *bbolt.Bucket
}

func (txn boltTxn) Get(key []byte) ([]byte, error) { return txn.data.Get(key), nil }
func (txn boltTxn) Put(key, value []byte) error    { return txn.data.Put(key, value) }
func (txn boltTxn) Delete(key []byte) error        { return txn.data.Delete(key) }
func (txn boltTxn) Rollback() error                { return txn.tx.Rollback() }

func (txn boltTxn) Scan(lower, upper []byte, visit func(key, value []byte)) error {
	cursor := txn.data.Cursor()
	for key, value := cursor.Seek(lower); key != nil && bytes.Compare(key, upper) <= 0; key, value = cursor.Next() {
		visit(key, value)
	}
	return nil
}

func (txn boltTxn) Commit() error {
	if !txn.tx.Writable() {
		return txn.tx.Rollback() // This is how readers end.
	}
	return txn.tx.Commit()
}

// The number of a writer is that of the version it makes, the number of a reader that of the version it sees.
func (txn boltTxn) Times() (start, commit int64) {
	number := int64(txn.tx.ID())
	if txn.tx.Writable() {
		return 2*number - 1, 2 * number
	}
	return 2*number + 1, 0
}

// ---- BadgerDB: snapshots; a commit fails if what the transaction read was overwritten.

type badgerStore struct{ db *badger.DB }

func openBadger(folder string) (Store, error) {
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(folder, "badger")).WithLogger(nil))
	return badgerStore{db}, err
}

func (store badgerStore) Begin(readOnly bool) (Txn, error) {
	return badgerTxn{store.db.NewTransaction(!readOnly)}, nil
}

func (store badgerStore) Close() error { return store.db.Close() }

type badgerTxn struct{ txn *badger.Txn }

func (txn badgerTxn) Get(key []byte) ([]byte, error) {
	item, err := txn.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

func (txn badgerTxn) Put(key, value []byte) error { return txn.txn.Set(key, value) }
func (txn badgerTxn) Delete(key []byte) error     { return txn.txn.Delete(key) }
func (txn badgerTxn) Commit() error               { return txn.txn.Commit() }

func (txn badgerTxn) Scan(lower, upper []byte, visit func(key, value []byte)) error {
	iterator := txn.txn.NewIterator(badger.DefaultIteratorOptions)
	defer iterator.Close()
	for iterator.Seek(lower); iterator.Valid(); iterator.Next() {
		item := iterator.Item()
		if bytes.Compare(item.Key(), upper) > 0 {
			return nil
		}
		if err := item.Value(func(value []byte) error { visit(item.Key(), value); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (txn badgerTxn) Rollback() error {
	txn.txn.Discard()
	return nil
}

func (txn badgerTxn) Times() (start, commit int64) { return 0, 0 }

// ---- Keys and values as bytes. A register is one number, a list is all of its numbers.

func encodeNumber(number int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(number))
}

func decodeNumbers(value []byte) []int64 {
	numbers := []int64{}
	for ; len(value) >= 8; value = value[8:] {
		numbers = append(numbers, int64(binary.BigEndian.Uint64(value)))
	}
	return numbers
}

// Keys are stored so that the order of bytes is that of numbers, negative ones first.
const signBit = -1 << 63

func encodeKey(key int64) []byte     { return encodeNumber(key ^ signBit) }
func decodeKey(encoded []byte) int64 { return decodeNumbers(encoded)[0] ^ signBit }

// ---- The protocol.

// Request has the members of all kinds of requests that this driver needs.
type Request struct {
	ID         int64       `json:"id"`
	Do         string      `json:"do"`
	Connection int64       `json:"connection"`
	Model      string      `json:"model"`
	Timestamps bool        `json:"timestamps"`
	Folder     string      `json:"folder"`
	ReadOnly   bool        `json:"read_only"`
	Op         Operation   `json:"op"`
	Ops        []Operation `json:"ops"`
}

// Operation is a kind and numbers: ["r",7], ["w",7,12], ["scan",0,9].
type Operation struct {
	kind    string
	numbers [2]int64
}

func (op *Operation) UnmarshalJSON(text []byte) error {
	parts := []any{&op.kind, &op.numbers[0], &op.numbers[1]}
	return json.Unmarshal(text, &parts)
}

// Answer has the members of an answer besides its id.
type Answer map[string]any

// Session is one connection, which runs one transaction at a time.
type Session struct {
	server     *Server
	model      string
	timestamps bool
	requests   chan Request
	txn        Txn // nil between transactions
	wrote      bool
}

func (session *Session) begin(readOnly bool) (err error) {
	session.wrote = false
	session.txn, err = session.server.store.Begin(readOnly)
	return err
}

func (session *Session) run(op Operation) (any, error) {
	key := encodeKey(op.numbers[0])
	session.wrote = session.wrote || (op.kind != "r" && op.kind != "scan")
	switch op.kind {
	case "r":
		value, err := session.txn.Get(key)
		if session.model == "lists" {
			return decodeNumbers(value), err
		}
		if value == nil {
			return nil, err
		}
		return decodeNumbers(value)[0], err
	case "w":
		return nil, session.txn.Put(key, encodeNumber(op.numbers[1]))
	case "append":
		value, err := session.txn.Get(key)
		if err != nil {
			return nil, err
		}
		return nil, session.txn.Put(key, bytes.Join([][]byte{value, encodeNumber(op.numbers[1])}, nil))
	case "d":
		return nil, session.txn.Delete(key)
	case "scan":
		rows := [][2]int64{}
		err := session.txn.Scan(key, encodeKey(op.numbers[1]), func(key, value []byte) {
			rows = append(rows, [2]int64{decodeKey(key), decodeNumbers(value)[0]})
		})
		return rows, err
	}
	return nil, fmt.Errorf("no such operation: %s", op.kind)
}

func (session *Session) commit() Answer {
	txn := session.txn
	session.txn = nil
	start, commit := txn.Times()
	if err := txn.Commit(); err != nil {
		answer := session.server.refusal(err)
		if answer["outcome"] != "aborted" { // We cannot know whether it took effect.
			answer["outcome"] = "unknown"
		}
		return answer
	}
	answer := Answer{"outcome": "committed"}
	if session.timestamps {
		answer["start_ts"] = start
		if session.wrote {
			answer["commit_ts"] = commit
		}
	}
	return answer
}

func (session *Session) rollback() error {
	if session.txn == nil {
		return nil
	}
	txn := session.txn
	session.txn = nil
	return txn.Rollback()
}

// whole runs a transaction: begin, operations, commit.
func (session *Session) whole(request Request) Answer {
	if err := session.begin(request.ReadOnly); err != nil {
		return session.server.refusal(err)
	}
	results := []any{}
	for _, op := range request.Ops {
		result, err := session.run(op)
		if err != nil {
			answer := session.server.refusal(err)
			session.rollback()
			answer["results"] = results
			return answer
		}
		results = append(results, result)
	}
	answer := session.commit()
	answer["results"] = results
	return answer
}

func (session *Session) answer(request Request) Answer {
	var err error
	switch request.Do {
	case "open":
	case "begin":
		err = session.begin(request.ReadOnly)
	case "op":
		var result any
		if result, err = session.run(request.Op); err == nil {
			return Answer{"result": result}
		}
	case "commit":
		return session.commit()
	case "rollback", "close":
		err = session.rollback()
	case "txn":
		return session.whole(request)
	default:
		err = fmt.Errorf("no such request: %s", request.Do)
	}
	if err != nil {
		return session.server.refusal(err)
	}
	return Answer{}
}

// serve answers the requests of this connection, one after the other.
func (session *Session) serve() {
	for request := range session.requests {
		session.server.send(request.ID, session.answer(request))
	}
}

// Server reads requests, one JSON object per line, and gives them to their sessions.
type Server struct {
	database Database
	can      []string
	store    Store
	sessions map[int64]*Session
	output   sync.Mutex
}

func (server *Server) refusal(err error) Answer {
	outcome := "failed"
	if server.database.aborted(err) {
		outcome = "aborted"
	}
	return Answer{"outcome": outcome, "reason": err.Error()}
}

func (server *Server) send(id int64, answer Answer) {
	answer["id"] = id
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	server.output.Lock()
	defer server.output.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

func (server *Server) hello() Answer {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == server.database.module {
				version = " " + module.Version
			}
		}
	}
	return Answer{"protocol": 1, "name": server.database.name + version, "version": "1",
		"can": server.can, "isolation": server.database.isolation}
}

// setup makes an empty database in a folder of its own within that of the run.
func (server *Server) setup(folder string) Answer {
	server.end()
	fresh, err := os.MkdirTemp(folder, "store-")
	if err == nil {
		server.store, err = server.database.open(fresh)
	}
	if err != nil {
		return server.refusal(err)
	}
	return Answer{}
}

func (server *Server) end() {
	if server.store != nil {
		server.store.Close()
		server.store = nil
	}
}

func (server *Server) open(request Request) {
	session := &Session{server: server, model: request.Model, timestamps: request.Timestamps,
		requests: make(chan Request, 16)}
	server.sessions[request.Connection] = session
	go session.serve()
}

func (server *Server) serve() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var request Request
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return err
		}
		switch request.Do {
		case "hello":
			server.send(request.ID, server.hello())
			continue
		case "setup":
			server.send(request.ID, server.setup(request.Folder))
			continue
		case "end":
			server.end()
			server.send(request.ID, Answer{})
			return nil
		case "open":
			server.open(request)
		}
		session := server.sessions[request.Connection]
		if session == nil {
			return fmt.Errorf("%s: connection %d is not open", request.Do, request.Connection)
		}
		session.requests <- request
		if request.Do == "close" {
			close(session.requests)
			delete(server.sessions, request.Connection)
		}
	}
	return lines.Err()
}

func main() {
	steps := flag.Bool("steps", false, "one message per operation, so that transactions overlap more")
	flag.Parse()
	database, known := databases[flag.Arg(0)]
	if !known || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: ouro_driver [-steps] bbolt|badger")
		os.Exit(2)
	}
	can := []string{"registers", "lists", "scans", "deletes", "threads"}
	if !*steps {
		can = append(can, "whole")
	}
	server := &Server{database: database, can: can, sessions: map[int64]*Session{}}
	if err := server.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
