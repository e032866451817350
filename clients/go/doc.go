// Package ouro records what a program does with a database through database/sql, as a history, and has
// the program ouro judge whether the database kept its isolation level.
//
//	recorder, err := ouro.NewRecorder("history.jsonl", ouro.Options{
//		Initials: map[any]any{"stock": 10},
//	})
//	db, err := recorder.Open("postgres", dsn) // instead of sql.Open
//
//	tx, err := db.Begin()
//	var stock int
//	err = tx.QueryRow("SELECT n FROM items WHERE name = $1", "stock", ouro.Reads("stock")).Scan(&stock)
//	_, err = tx.Exec("UPDATE items SET n = $1 WHERE name = $2", stock-1, "stock",
//		ouro.Writes("stock", stock-1))
//	err = tx.Commit()
//
//	err = recorder.Close()
//	verdict, err := ouro.Check("history.jsonl", "serializable")
//
// The recorder knows when transactions begin and end and how that went. What a statement reads and
// writes is told by notes, behind its arguments; they are not passed to the database. A note that
// reads takes what it notes from the rows, as they are read. What no note describes is told by Tell.
package ouro
