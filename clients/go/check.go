package ouro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Outcomes of a Verdict.
const (
	Holds     = "holds"
	Violated  = "violated"
	Undecided = "undecided"
)

// Verdict is what ouro says of a history. docs/json.md of ouro describes the fields.
type Verdict struct {
	Outcome         string            `json:"verdict"` // Holds, Violated or Undecided.
	Level           string            `json:"level"`   // "all", if several were asked for.
	Levels          map[string]string `json:"levels"`  // Of several levels: the outcome of each.
	Evidence        string            `json:"evidence"`
	Reason          string            `json:"reason"` // Undecided: which limit was reached.
	Transactions    int               `json:"transactions"`
	Operations      int               `json:"operations"`
	Strongest       []string          `json:"strongest"` // The strongest levels that hold.
	WeakestViolated []string          `json:"weakest_violated"`
	Anomalies       []Anomaly         `json:"anomalies"`
	LeftOut         []LeftOut         `json:"left_out"`
	JSON            json.RawMessage   `json:"-"` // All that ouro said.
}

// Anomaly is one violation as a small story.
type Anomaly struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"` // Adya's or Elle's name.
	Level   string   `json:"level"`
	Summary string   `json:"summary"`
	Story   []string `json:"story"`
}

// LeftOut is what a level that holds says nothing about.
type LeftOut struct {
	What   string   `json:"what"`
	Levels []string `json:"levels"`
}

// String is the verdict in a few lines, for the message of a test that fails.
func (v *Verdict) String() string {
	text := v.Outcome + " " + v.Level
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	for _, anomaly := range v.Anomalies {
		text += "\n" + anomaly.Name + ": " + anomaly.Summary
		for _, line := range anomaly.Story {
			text += "\n  " + line
		}
	}
	return text
}

// Check has the program ouro judge a history: the one that the environment variable OURO names, else
// the one on the PATH. `level` is any that 'ouro check --level' takes; flags are others of 'ouro
// check', such as "--time-limit", "60". A violation is no error.
func Check(path, level string, flags ...string) (*Verdict, error) {
	program := os.Getenv("OURO")
	if program == "" {
		program = "ouro"
	}
	arguments := append([]string{"check", "--json", "--level", level}, flags...)
	command := exec.Command(program, append(arguments, "--", path)...)
	var said, complained bytes.Buffer
	command.Stdout, command.Stderr = &said, &complained
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0 || exit.ExitCode() > 2) {
		if text := strings.TrimSpace(complained.String()); text != "" {
			return nil, errors.New(text)
		}
		return nil, fmt.Errorf("ouro: %s: %w", program, err)
	}
	verdict := &Verdict{JSON: said.Bytes()}
	if err := json.Unmarshal(said.Bytes(), verdict); err != nil {
		return nil, fmt.Errorf("ouro: %s did not answer as expected: %w", program, err)
	}
	return verdict, nil
}
