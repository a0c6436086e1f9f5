package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/coordinator/tools/catalog"
)

// command is a command of the shell that calls the tool. What is empty is derived from the
// tool.
type command struct {
	// Name may have a blank: the command is in a group. Empty: the tool's, without browser_.
	Name string
	// Summary is what the command does; empty: what the tool does.
	Summary string
	// Args are the arguments without a flag, as a usage line has them: "[target] text" or
	// "[paths...]". That of "@markdown" is a file, whose text is the argument. Empty: the
	// parameters that are required.
	Args string
	// Arguments are further arguments of the call, as JSON.
	Arguments string
	// Omits are the parameters that the command does not have.
	Omits string
	// Step is the action of browser_steps that the command is; empty: the one of that name, if
	// there is one.
	Step string
}

// Command is a command of the shell: a call of a tool.
type Command struct {
	Name, Summary string
	Tool          *Tool
	// Args are the arguments without a flag, in their order.
	Args []Arg
	// Flags are the other parameters.
	Flags []catalog.Parameter

	arguments map[string]any
	action    action // of browser_steps; zero: none
}

// Arg is an argument without a flag.
type Arg struct {
	catalog.Parameter
	// Rest: it takes all further words.
	Rest bool
	// OfFile: the word names a file, whose text is the argument.
	OfFile bool
}

// stepsTool is the tool that the command do calls.
const stepsTool = "browser_steps"

// Commands are the commands of all tools, by name.
var Commands = sync.OnceValue(func() (all []*Command) {
	for _, t := range All() {
		if t.Name == stepsTool {
			continue
		}
		commands := t.Shell
		if commands == nil {
			commands = []command{{}}
		}
		for _, c := range commands {
			all = append(all, c.derive(t))
		}
	}
	slices.SortFunc(all, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// InBrowser reports whether all that the tool does is to read, or to act in a browser: it starts
// no program, and does nothing in the user's editor.
func (t *Tool) InBrowser() bool { return t.Effect == Reads || !t.Local }

// CommandNamed is the command of that name; nil: there is none.
func CommandNamed(name string) *Command {
	all := Commands()
	i, found := slices.BinarySearchFunc(all, name, func(c *Command, name string) int {
		return strings.Compare(c.Name, name)
	})
	if !found {
		return nil
	}
	return all[i]
}

// derive derives what the command does not say from the tool.
func (c command) derive(t *Tool) *Command {
	d := &Command{Name: c.name(t), Summary: InShell(cmp.Or(c.Summary, t.Description)), Tool: t,
		arguments: map[string]any{}}
	if c.Arguments != "" {
		if err := json.Unmarshal([]byte(c.Arguments), &d.arguments); err != nil {
			panic(fmt.Sprintf("%s: %v", d.Name, err))
		}
	}
	step := c.Step
	if step == "" {
		step = d.Name
	}
	if i := slices.IndexFunc(t.Steps, func(a action) bool { return a.Name == step }); i >= 0 {
		d.action = t.Steps[i]
	}
	positional := c.Args
	if positional == "" {
		positional = t.required(d.arguments)
	}
	taken := append(strings.Fields(c.Omits), "page", "filename") // a shell has files of its own
	for _, word := range strings.Fields(positional) {
		arg := argOf(t, word)
		d.Args, taken = append(d.Args, arg), append(taken, arg.Name)
	}
	for _, p := range t.Parameters.Members {
		_, present := d.arguments[p.Name]
		adapted := p.Required && d.adapts()
		if !present && !adapted && !slices.Contains(taken, p.Name) {
			d.Flags = append(d.Flags, p)
		}
	}
	return d
}

// adapts reports whether the command's arguments are those of a step, not of the tool.
func (c *Command) adapts() bool { return c.action.Adapt != nil && c.action.Name == c.Name }

// required are the parameters that a call must have, as a usage line has them.
func (t *Tool) required(arguments map[string]any) string {
	var words []string
	for _, p := range t.Parameters.Members {
		if _, known := arguments[p.Name]; p.Required && !known {
			words = append(words, p.Name)
		}
	}
	return strings.Join(words, " ")
}

// argOf is the argument of a word of a usage line.
func argOf(t *Tool, word string) Arg {
	bare := strings.Trim(word, "[]")
	bare, rest := strings.CutSuffix(bare, "...")
	bare, ofFile := strings.CutPrefix(bare, "@")
	arg := Arg{Parameter: catalog.Parameter{Name: bare, Type: "string"}, Rest: rest, OfFile: ofFile}
	if p := t.Parameters.Member(bare); p != nil {
		arg.Parameter = *p
	}
	arg.Required = !strings.HasPrefix(word, "[")
	arg.Rest = rest || arg.Type == "array"
	return arg
}

// Usage is the argument as a usage line has it.
func (a Arg) Usage() string {
	text := Words(a.Name, "-")
	switch {
	case a.OfFile, a.Name == "filename":
		text = "file"
	case a.isPair():
		text = "target=value"
	}
	text = strings.ToUpper(text)
	if a.Rest {
		text += "..."
	}
	if !a.Required {
		text = "[" + text + "]"
	}
	return text
}

// isPair reports whether a word of a list has the two texts that each object in it needs.
func (a Arg) isPair() bool { return a.Items != nil && len(pairOf(a.Items)) == 2 }

// pairOf are the names of the members that an object must have.
func pairOf(p *catalog.Parameter) (names []string) {
	for _, m := range p.Members {
		if m.Required {
			names = append(names, m.Name)
		}
	}
	return names
}

// Words is a parameter's name as words of lower case with a separator between them: fullPage is
// full-page.
func Words(name, separator string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && !(name[i-1] >= 'A' && name[i-1] <= 'Z') {
			b.WriteString(separator)
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// Values are the values of parameters, by name: a bool, a string, or a list of strings.
type Values map[string]any

// Call is a call of a tool that a command line asks for.
type Call struct {
	Tool      *Tool
	Arguments json.RawMessage
	// Step is the call as a step of browser_steps; nil: it is none.
	Step map[string]any
	// SaveAs is where the file that the tool saves is to be; empty: where the tool saves it.
	// Filename is its name as the command line has it.
	SaveAs, Filename string
}

// Call makes a call of the arguments of a command line. Those of flags are by name. read returns
// the text of a file that the command line names.
func (c *Command) Call(words []string, flags Values, read func(file string) (string, error)) (Call, error) {
	arguments := maps.Clone(c.arguments)
	for name, value := range flags {
		p := c.Tool.Parameters.Member(name)
		if p == nil {
			p = &catalog.Parameter{Name: name, Type: "string"}
		}
		spelled, err := spell(p, value)
		if err != nil {
			return Call{}, err
		}
		arguments[name] = spelled
	}
	if err := c.assign(words, arguments); err != nil {
		return Call{}, err
	}
	for _, a := range c.Args {
		file, present := arguments[a.Name].(string)
		if !a.OfFile || !present {
			continue
		}
		text, err := read(file)
		if err != nil {
			return Call{}, err
		}
		arguments[a.Name] = text
	}
	call := Call{Tool: c.Tool}
	file, present := arguments["filename"].(string)
	if present && !c.Tool.Parameters.Member("filename").Is(catalog.File) {
		var err error
		if call.SaveAs, err = place(file); err != nil {
			return Call{}, err
		}
		call.Filename = file
		arguments["filename"] = filepath.Base(call.SaveAs) // which the tool checks
	}
	if c.action.Name != "" {
		call.Step = maps.Clone(arguments)
		call.Step["action"] = c.action.Name
	}
	if c.adapts() {
		arguments = c.action.Adapt(arguments)
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return Call{}, err
	}
	if call.Arguments, _, err = c.Tool.Fit(encoded); err != nil {
		return Call{}, err
	}
	return call, nil
}

// assign gives the words to the arguments without a flag. An optional one gets a word only if
// those after it that are required have theirs.
func (c *Command) assign(words []string, arguments map[string]any) error {
	var args []Arg
	required := 0
	for _, a := range c.Args {
		if _, present := arguments[a.Name]; present {
			continue
		}
		args = append(args, a)
		if a.Required {
			required++
		}
	}
	for _, a := range args {
		spare := len(words) - required
		switch {
		case a.Required && len(words) == 0:
			return fmt.Errorf("%s is missing: %s %s", a.Usage(), c.Name, c.Usage())
		case a.Required:
			required--
		case spare <= 0:
			continue
		}
		taken := words[:1]
		if a.Rest {
			taken = words[:len(words)-required]
		}
		var value any = taken
		if a.Type != "array" {
			value = strings.Join(taken, " ")
		}
		spelled, err := spell(&a.Parameter, value)
		if err != nil {
			return err
		}
		arguments[a.Name], words = spelled, words[len(taken):]
	}
	if len(words) > 0 {
		return fmt.Errorf("unexpected argument %q: %s", words[0], strings.TrimSpace(c.Name+" "+c.Usage()))
	}
	return nil
}

// Usage are the arguments without a flag, as a usage line has them.
func (c *Command) Usage() string {
	var words []string
	for _, a := range c.Args {
		words = append(words, a.Usage())
	}
	return strings.Join(words, " ")
}

// spell makes a tool's value of what a command line has for it.
func spell(p *catalog.Parameter, value any) (any, error) {
	switch value := value.(type) {
	case []string:
		if p.Is(catalog.File) {
			return filesHere(value), nil
		}
		if p.Items == nil || p.Items.Type != "object" {
			return value, nil
		}
		var objects []any
		for _, word := range value {
			object, err := pair(p.Items, word)
			if err != nil {
				return nil, err
			}
			objects = append(objects, object)
		}
		return objects, nil
	case string:
		if p.Is(catalog.File) {
			return filesHere([]string{value})[0], nil
		}
		if p.Type == "object" && len(p.Members) > 0 && !strings.HasPrefix(value, "{") {
			return numbers(p, value)
		}
	}
	return value, nil
}

// place is the path of a file to be written, from the folder of the command line.
func place(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() || file == "" {
		return "", fmt.Errorf("cannot save the file as %q, which is a folder: add a name", file)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("cannot save %s: there is no folder %s: make it first", file, filepath.Dir(path))
	}
	return path, nil
}

// filesHere are the paths of files, from the folder of the command line where they are there.
func filesHere(names []string) []string {
	paths := slices.Clone(names)
	for i, name := range names {
		if path, err := filepath.Abs(name); err == nil {
			if _, err := os.Lstat(path); err == nil {
				paths[i] = path
			}
		}
	}
	return paths
}

// numbers are the members of an object that are written in their order, with commas: "10,20".
func numbers(p *catalog.Parameter, text string) (map[string]any, error) {
	object := map[string]any{}
	values := strings.Split(text, ",")
	if len(values) != len(p.Members) {
		return nil, fmt.Errorf("%s %q: want %d numbers with commas", Words(p.Name, "-"), text, len(p.Members))
	}
	for i, m := range p.Members {
		object[m.Name] = strings.TrimSpace(values[i])
	}
	return object, nil
}

// pair is an object of two texts that is written as one word: target=value. An object with
// others is written in JSON.
func pair(p *catalog.Parameter, word string) (any, error) {
	if strings.HasPrefix(word, "{") {
		return json.RawMessage(word), nil
	}
	names := pairOf(p)
	index := equalsOf(word)
	if len(names) != 2 || index < 0 {
		return nil, fmt.Errorf("%q: want TARGET=VALUE", word)
	}
	return map[string]any{names[0]: word[:index], names[1]: word[index+1:]}, nil
}

// equalsOf is the place of the equals sign between a target and a value; -1: there is none. One
// in quotes or brackets, or of an engine as in text=Order, is part of the target.
func equalsOf(word string) int {
	var quote rune
	depth, begin := 0, 0
	for _, engine := range []string{"css=", "ref=", "text=", "xpath=", "id=", "role=", "data-testid="} {
		if strings.HasPrefix(word, engine) {
			begin = len(engine)
		}
	}
	for i, r := range word {
		switch {
		case quote != 0:
			if r == quote && word[i-1] != '\\' {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case r == '=' && depth == 0 && i >= begin:
			return i
		}
	}
	return -1
}
