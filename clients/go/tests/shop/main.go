// Four tills sell from one stock, each by reading it and writing what is left.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"ouro"
)

const stock = 1000

func sell(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}) error {
	var left int
	if err := db.QueryRowContext(ctx, "SELECT n FROM items WHERE name = ?", "stock",
		ouro.Reads("stock")).Scan(&left); err != nil {
		return err
	}
	time.Sleep(time.Millisecond) // The customer pays.
	_, err := db.ExecContext(ctx, "UPDATE items SET n = ? WHERE name = ?", left-1, "stock",
		ouro.Writes("stock", left-1))
	return err
}

func main() {
	folder, careless := os.Args[1], len(os.Args) > 2
	recorder, err := ouro.NewRecorder(folder+"/history.jsonl",
		ouro.Options{Initials: map[any]any{"stock": stock}})
	if err != nil {
		log.Fatal(err)
	}
	db, err := recorder.Open("sqlite3",
		"file:"+folder+"/shop.db?_txlock=immediate&_busy_timeout=10000&_journal_mode=WAL&_sync=0")
	if err != nil {
		log.Fatal(err)
	}
	for _, query := range []string{"CREATE TABLE items (name TEXT PRIMARY KEY, n INTEGER)",
		fmt.Sprintf("INSERT INTO items VALUES ('stock', %d)", stock)} {
		if _, err := db.Exec(query); err != nil {
			log.Fatal(err)
		}
	}
	var tills sync.WaitGroup
	for range 4 {
		tills.Add(1)
		go func() {
			defer tills.Done()
			for range 50 {
				ctx, err := context.Background(), error(nil)
				if careless { // Between the two statements others may sell, too.
					err = recorder.Together(ctx, func(ctx context.Context) error { return sell(ctx, db) })
				} else {
					err = recorder.Run(ctx, db, nil, func(tx *sql.Tx) error { return sell(ctx, tx) })
				}
				if err != nil {
					log.Fatal(err)
				}
			}
		}()
	}
	tills.Wait()
	db.Close()
	if err := recorder.Close(); err != nil {
		log.Fatal(err)
	}
	verdict, err := ouro.Check(folder+"/history.jsonl", "serializable")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict)
}
