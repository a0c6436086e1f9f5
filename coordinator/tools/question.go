package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
)

// What the user is asked about a tool that acts on elements. These methods implement
// agent.Aiming.

// pointed is an element that the mouse acts on.
func pointed(target string) input.Aim { return input.Aim{Target: target, Pointer: true} }

// Aims is for the tools that use the mouse.
func (in targetIn) Aims() []input.Aim { return []input.Aim{pointed(in.Target)} }

// field is the aim of a tool that sets a field without the mouse.
func (in targetIn) field() []input.Aim { return []input.Aim{{Target: in.Target}} }

func (in hoverIn) Aims() []input.Aim {
	if in.Target == "" {
		return nil
	}
	return []input.Aim{{Target: in.Target, Pointer: true, At: in.Position}}
}

func (in hoverIn) Question(names []string) string {
	over := "over " + strings.Join(names, "")
	if in.Target == "" && in.Position != nil {
		over = fmt.Sprintf("to %g, %g", in.Position.X, in.Position.Y)
	}
	if in.turns() {
		over += fmt.Sprintf(", and turn the wheel by %g, %g", in.DeltaX, in.DeltaY)
	}
	return "Move the mouse " + over
}

func (in clickIn) Aims() []input.Aim {
	return []input.Aim{{Target: in.Target, Pointer: true, At: in.Position}}
}

func (in clickIn) Question(names []string) string {
	question := in.verb("Click", "Double-click", "-click") + " " + names[0]
	if in.Position != nil {
		question += fmt.Sprintf(" at %g, %g", in.Position.X, in.Position.Y)
	}
	if len(in.Modifiers) > 0 {
		question += " with " + agent.Quoted(strings.Join(in.Modifiers, "+"))
	}
	return question
}

// verb is the verb of a click: the first for a plain one, the last, after the name of the
// button, for another button.
func (in clickIn) verb(once, twice, other string) string {
	verb := once
	if in.DoubleClick {
		verb = twice
	}
	switch in.Button {
	case "right":
		verb = "Right" + other
	case "middle":
		verb = "Middle" + other
	}
	return verb
}

func (in typeIn) Aims() []input.Aim { return []input.Aim{{Target: in.Target}} }

func (in typeIn) Question(names []string) string {
	question := "Type " + agent.Quoted(in.Text)
	if names[0] != "" {
		question += " into " + names[0]
	}
	if in.Text == "" && in.Target != "" {
		question = "Clear " + names[0]
	}
	if in.Submit {
		question += " and press Enter"
	}
	return question
}

func (in pressKeyIn) Aims() []input.Aim { return []input.Aim{{Target: in.Target}} }

func (in pressKeyIn) Question(names []string) string {
	if names[0] == "" {
		return "Press " + agent.Quoted(in.Key)
	}
	return "Press " + agent.Quoted(in.Key) + " in " + names[0]
}

func (in selectIn) Aims() []input.Aim { return in.field() }

func (in selectIn) Question(names []string) string {
	return "Select " + list(in.Values) + " in " + names[0]
}

func (in fillFormIn) Aims() []input.Aim {
	aims := make([]input.Aim, len(in.Fields))
	for i, f := range in.Fields {
		pointer := f.Type == "checkbox" || f.Type == "radio"
		aims[i] = input.Aim{Target: f.Target, Pointer: pointer}
	}
	return aims
}

func (in fillFormIn) Question(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		value := agent.Quoted(in.Fields[i].Value)
		if in.Fields[i].Values != nil {
			value = list(in.Fields[i].Values)
		}
		parts[i] = name + " to " + value
	}
	question := "Set "
	if len(parts) > 1 {
		question += fmt.Sprintf("%d fields: ", len(parts))
	}
	return question + strings.Join(parts, ", ")
}

func (in dragIn) Aims() []input.Aim {
	aims := []input.Aim{{Target: in.StartTarget, Pointer: true, At: in.StartPosition}}
	if in.EndTarget != "" {
		aims = append(aims, input.Aim{Target: in.EndTarget, Pointer: true, At: in.EndPosition})
	}
	return aims
}

func (in dragIn) Question(names []string) string {
	if in.Offset != nil {
		return fmt.Sprintf("Drag %s by %g, %g", names[0], in.Offset.X, in.Offset.Y)
	}
	return "Drag " + strings.Join(names, " onto ")
}

func (in uploadIn) Aims() []input.Aim {
	return []input.Aim{{Target: in.Target, Chooser: in.Target == "", Pointer: true}}
}

func (in uploadIn) Question(names []string) string {
	if len(in.Paths) == 0 && in.Target == "" {
		return "Give no file to " + names[0]
	}
	return "Put " + files(in.Paths) + " into " + names[0]
}

func (in dropIn) Question(names []string) string {
	var what []string
	if len(in.Paths) > 0 {
		what = append(what, files(in.Paths))
	}
	for _, kind := range slices.Sorted(maps.Keys(in.Data)) {
		what = append(what, agent.Quoted(in.Data[kind]))
	}
	return "Drop " + strings.Join(what, ", ") + " onto " + names[0]
}

func (in screenshotIn) Aims() []input.Aim { return optional(in.Target) }

func (in screenshotIn) Question(names []string) string { return "Take a picture of " + names[0] }

func (in evaluateIn) Aims() []input.Aim { return optional(in.Target) }

func (in evaluateIn) Question(names []string) string {
	return "Run a script on " + names[0] + ": " + in.Function
}

// optional is the aim of a tool that also works without a target.
func optional(target string) []input.Aim {
	if target == "" {
		return nil
	}
	return []input.Aim{{Target: target}}
}

// files names files that are given to a page.
func files(paths []string) string {
	if len(paths) == 1 {
		return "the file " + list(paths)
	}
	return count(paths) + ": " + list(paths)
}

func count(paths []string) string {
	if len(paths) == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", len(paths))
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = agent.Quoted(text)
	}
	return strings.Join(quoted, ", ")
}
