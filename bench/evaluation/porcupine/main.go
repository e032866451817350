// Checks a history of single reads and writes of one register with Porcupine, a checker of
// linearizability: porcupine HISTORY.jsonl SECONDS. Prints what 'ouro check' would: holds, violated or
// undecided. The history is Ouro's native text, with clients' clocks.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

type txn struct {
	Session   any     `json:"session"`
	Status    string  `json:"status"`
	Invoked   int64   `json:"invoked"`
	Completed int64   `json:"completed"`
	Ops       [][]any `json:"ops"`
}

// An operation of the register: a write of the value, or a read, which returns one. No value is -1.
type input struct {
	write bool
	value float64
}

func number(value any) float64 {
	if found, ok := value.(float64); ok {
		return found
	}
	return -1
}

var register = porcupine.Model{
	Init: func() any { return float64(-1) },
	Step: func(state, in, out any) (bool, any) {
		if op := in.(input); op.write {
			return true, op.value
		}
		return out.(float64) == state.(float64), state
	},
}

func read(path string) ([]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var operations []porcupine.Operation
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one txn
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		if len(one.Ops) != 1 || (one.Status != "" && one.Status != "committed") {
			continue
		}
		op := one.Ops[0]
		value := number(op[2])
		operations = append(operations, porcupine.Operation{
			ClientId: 0,
			Input:    input{op[0] == "w", value},
			Call:     one.Invoked,
			Output:   value,
			Return:   one.Completed,
		})
	}
	return operations, lines.Err()
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: porcupine HISTORY.jsonl SECONDS")
		os.Exit(254)
	}
	limit, err := strconv.Atoi(os.Args[2])
	operations, problem := read(os.Args[1])
	if err != nil || problem != nil {
		fmt.Fprintln(os.Stderr, "porcupine:", err, problem)
		os.Exit(254)
	}
	answers := map[porcupine.CheckResult]string{
		porcupine.Ok: "holds", porcupine.Illegal: "violated", porcupine.Unknown: "undecided"}
	fmt.Println(answers[porcupine.CheckOperationsTimeout(register, operations, time.Duration(limit)*time.Second)])
}
