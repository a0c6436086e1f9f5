// Package shell is what stands between the commands of a shell and a session: flags that are
// the parameters of tools, command lines of several commands, and results as text on the
// standard output.
//
// It connects to nothing, and knows no tool by name.
package shell

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/catalog"
)

// general is what the help has for parameters that tools do not explain: an agent knows them by
// their names.
var general = map[string]string{
	"body":          "the body of the request",
	"clickCount":    "how many clicks",
	"column":        "the column in the line",
	"condition":     "stop only if this expression is true",
	"contentType":   "the type of the body, such as application/json",
	"deltaX":        "pixels to the right",
	"deltaY":        "pixels down",
	"depth":         "levels of the tree that are shown",
	"doubleClick":   "click twice",
	"endPosition":   "where in the second element, from its top left corner",
	"fullPage":      "the full page instead of the viewport",
	"headers":       "headers of the request",
	"httpOnly":      "hide it from scripts",
	"locale":        "the language, such as de-DE",
	"method":        "the method of the request, such as POST",
	"networkIdle":   "wait until no request was made for 500 ms",
	"quality":       "of jpeg and webp, up to 100 (default 80)",
	"regex":         "search a regular expression instead of a text",
	"secure":        "send it over https only",
	"session":       "the debug session (default: the one that is paused)",
	"startPosition": "where in the first element, from its top left corner",
	"style":         "accepted, without effect",
	"target":        "the element",
	"textGone":      "wait until the page does not show this text",
	"thread":        "the thread (default: the one that is paused)",
	"timezone":      "the time zone, such as Europe/Berlin",
	"title":         "the title of the review",
	"userAgent":     "the browser's name of itself",
	"tab":           "work in another tab than yours, by its index in the list of tabs",
	"window":        "work in another window than yours, by its folder",
}

// AddFlags adds the parameters of a command to a set of flags. The arguments without a flag
// have a hidden one. A flag that the set has already, such as --all, is the parameter's too.
// values are those after the flags were parsed.
func AddFlags(set *pflag.FlagSet, c *tools.Command) (values func() tools.Values) {
	parameters := map[string]catalog.Parameter{} // by the names of flags
	add := func(p catalog.Parameter, hidden bool) {
		name := tools.Words(p.Name, "-")
		if set.Lookup(name) == nil {
			usage := strings.ReplaceAll(cmp.Or(tools.InShell(p.Description), general[p.Name]), "`", "") // which marks a value
			flag := set.VarPF(&value{parameter: p}, name, "", usage)
			flag.Hidden = hidden
			if p.Type == "boolean" {
				flag.NoOptDefVal = "true"
			}
		} else if hidden {
			return
		}
		parameters[name] = p
	}
	for _, p := range c.Flags {
		add(p, false)
	}
	for _, a := range c.Args {
		add(a.Parameter, true)
	}
	return func() tools.Values {
		values := tools.Values{}
		set.Visit(func(f *pflag.Flag) {
			p, of := parameters[f.Name]
			if !of {
				return
			}
			values[p.Name] = f.Value.String()
			if own, is := f.Value.(*value); is {
				values[p.Name] = own.get()
			}
		})
		return values
	}
}

// value is the value of a parameter.
type value struct {
	parameter catalog.Parameter
	texts     []string
}

func (v *value) String() string { return strings.Join(v.texts, " ") }

// Type is what the help shows for the value.
func (v *value) Type() string {
	switch v.parameter.Type {
	case "boolean":
		return "bool" // which the help does not show
	case "integer", "number":
		return "NUMBER"
	case "object":
		if len(v.parameter.Members) == 2 {
			return "X,Y"
		}
		return "JSON"
	}
	return "TEXT"
}

func (v *value) Set(text string) error {
	if v.parameter.Type == "boolean" && text != "true" && text != "false" {
		return errors.New("want true or false")
	}
	if v.parameter.Type != "array" {
		v.texts = nil
	}
	v.texts = append(v.texts, text)
	return nil
}

// get is the value as a call takes it.
func (v *value) get() any {
	switch v.parameter.Type {
	case "boolean":
		return v.texts[0] == "true"
	case "array":
		return v.texts
	}
	return v.texts[0]
}
