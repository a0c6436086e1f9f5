package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/tools"
)

// Line is a command of `coordinator do`.
type Line struct {
	tools.Call
	// Text is the command as it was written.
	Text string
	// All and File are as of a [Printer].
	All  bool
	File string
}

// ParseLines parses commands. Blank ones, and those that begin with #, are none.
func ParseLines(texts []string, read func(file string) (string, error)) (lines []Line, err error) {
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		line, err := parseLine(text, read)
		if err != nil {
			return nil, fmt.Errorf("command %d, %s: %w", i+1, text, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func parseLine(text string, read func(file string) (string, error)) (Line, error) {
	line := Line{Text: text}
	words, err := Words(text)
	if err != nil {
		return line, err
	}
	if len(words) == 0 {
		return line, errors.New("there is no command")
	}
	command, rest := named(words)
	if command == nil && words[0] != "call" {
		return line, fmt.Errorf("there is no command %q in the browser", words[0])
	}
	flags := pflag.NewFlagSet(words[0], pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&line.All, "all", false, "")
	flags.StringVar(&line.File, "file", "", "")
	if command == nil {
		if err := flags.Parse(words[1:]); err != nil {
			return line, err
		}
		line.Call, err = CallOf(flags.Args())
		return line, err
	}
	values := AddFlags(flags, command)
	if err := flags.Parse(rest); err != nil {
		return line, err
	}
	line.Call, err = command.Call(flags.Args(), values(), read)
	return line, err
}

// named is the command that a line begins with, and the words after its name.
func named(words []string) (*tools.Command, []string) {
	if len(words) > 1 {
		if c := tools.CommandNamed(words[0] + " " + words[1]); c != nil {
			return c, words[2:]
		}
	}
	return tools.CommandNamed(words[0]), words[1:]
}

// CallOf is the call of a tool by its name, with its arguments as JSON.
func CallOf(words []string) (tools.Call, error) {
	if len(words) == 0 || len(words) > 2 {
		return tools.Call{}, errors.New("want the name of a tool and its arguments as JSON")
	}
	call := tools.Call{Tool: tools.Named(words[0]), Arguments: json.RawMessage("{}")}
	if call.Tool == nil {
		return call, fmt.Errorf("there is no tool %q: docs/tools.md has all", words[0])
	}
	if len(words) > 1 {
		call.Arguments = json.RawMessage(words[1])
	}
	if !json.Valid(call.Arguments) {
		return call, fmt.Errorf("the arguments are no JSON: %s", call.Arguments)
	}
	return call, nil
}

// Next is the call of the next lines: of one, or of several that are steps. n is how many.
func Next(lines []Line) (call tools.Call, n int, err error) {
	var steps []map[string]any
	for _, line := range lines {
		if line.Step == nil || line.File != "" || line.SaveAs != "" {
			break
		}
		steps = append(steps, line.Step)
	}
	if len(steps) < 2 {
		return lines[0].Call, 1, nil
	}
	arguments, err := json.Marshal(map[string]any{"steps": steps})
	return tools.Call{Tool: tools.Named("browser_steps"), Arguments: arguments}, len(steps), err
}

// Texts are lines as they were written, for a sentence.
func Texts(lines []Line) string {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = line.Text
	}
	return strings.Join(texts, "; ")
}
