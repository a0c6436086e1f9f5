package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/tools"
)

// Line is a command of `coordinator do`. It only reads, or acts in the browser, and saves files
// in the folder for files alone: the installed skill allows an agent to run all of them without
// a question.
type Line struct {
	tools.Call
	// Text is the command as it was written.
	Text string
	// All and JSON are as of a [Printer].
	All, JSON bool
}

// ParseArguments parses the arguments of `coordinator do`. Each is a command. If not all can be,
// they are the words of one.
func ParseArguments(words []string) ([]Line, error) {
	lines, err := ParseLines(words)
	hasBlank := func(word string) bool { return strings.ContainsAny(word, " \t\n") }
	if err == nil || hasBlank(words[0]) || !isCommand(words) {
		return lines, err
	}
	line, oneErr := parseWords(words)
	if oneErr == nil {
		return []Line{line}, nil
	}
	likeACommand := func(word string) bool { return hasBlank(word) || isCommand([]string{word}) }
	if _, alone := parseWords(words[:1]); alone == nil && slices.ContainsFunc(words[1:], likeACommand) {
		return nil, err // they are several commands: the first one needs no more words
	}
	return nil, fmt.Errorf("%s: %w", line.Text, oneErr)
}

// ParseLines parses commands. Blank ones, and those that begin with #, are none.
func ParseLines(texts []string) (lines []Line, err error) {
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		words, err := Words(text)
		if err == nil && len(words) == 0 {
			err = errors.New("there is no command")
		}
		var line Line
		if err == nil {
			line, err = parseWords(words)
		}
		if err != nil {
			return nil, fmt.Errorf("command %d, %s: %w", i+1, text, err)
		}
		line.Text = text
		lines = append(lines, line)
	}
	return lines, nil
}

// byName is the command that calls any tool.
const byName = "call"

func isCommand(words []string) bool {
	command, _ := named(words)
	return command != nil || words[0] == byName
}

// parseWords parses the words of one command.
func parseWords(words []string) (line Line, err error) {
	line.Text = strings.Join(words, " ")
	if !isCommand(words) {
		return line, fmt.Errorf("there is no command %q in the browser", words[0])
	}
	flags := pflag.NewFlagSet(words[0], pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&line.All, "all", false, "")
	flags.BoolVar(&line.JSON, "json", false, "")
	command, rest := named(words)
	values := func() tools.Values { return nil }
	if command == nil {
		rest = words[1:]
	} else {
		values = AddFlags(flags, command)
	}
	if err := flags.Parse(rest); err != nil {
		return line, beyond(words, err)
	}
	if command == nil {
		line.Call, err = CallOf(flags.Args())
	} else {
		line.Call, err = command.Call(flags.Args(), values(), readNone)
	}
	switch {
	case err != nil:
		return line, err
	case !line.Tool.InBrowser():
		return line, fmt.Errorf("it does more than to read or to act in the browser: run it without `do`, as `coordinator %s`",
			line.Text)
	case strings.ContainsAny(line.Filename, `/\`):
		return line, fmt.Errorf("`do` saves files in the folder for files alone: give the name without a folder, or run "+
			"`coordinator %s`", line.Text)
	}
	line.SaveAs = ""
	return line, nil
}

// beyond is the error for flags that are wrong. Those that `do` does not have are of the command
// without it.
func beyond(words []string, err error) error {
	for _, name := range []string{"file", "session", "workspace", "name"} {
		if strings.Contains(err.Error(), "--"+name) {
			return fmt.Errorf("`do` has no --%s: run `coordinator %s`", name, strings.Join(words, " "))
		}
	}
	return err
}

// readNone refuses to read a file: no tool in the browser takes the text of one.
func readNone(file string) (string, error) { return "", fmt.Errorf("`do` does not read %s", file) }

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
		if line.Step == nil {
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
