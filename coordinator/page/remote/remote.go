// Package remote reads the values that a browser returns from script: as text for a
// reader, or decoded from the JSON text of one of our functions.
package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/runtime"
)

// maxPreview bounds what one object contributes to a console message.
const maxPreview = 400

// maxCalls bounds the calls of a stack.
const maxCalls = 10

// Arguments joins the arguments of a console call as the console does, without its %c
// styles.
func Arguments(args []*runtime.RemoteObject) string {
	if len(args) > 1 && args[0].Type == runtime.RemoteObjectTypeString {
		if format := Text(args[0]); strings.Contains(format, "%") {
			return formatted(format, args[1:])
		}
	}
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = Text(a)
	}
	return strings.Join(parts, " ")
}

// formatted applies the console's format specifiers (console spec, section 2.2).
func formatted(format string, args []*runtime.RemoteObject) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; {
		case c == '%':
			b.WriteByte('%')
		case strings.IndexByte("sdifoOc", c) >= 0 && len(args) > 0:
			if c != 'c' {
				b.WriteString(Text(args[0]))
			}
			args = args[1:]
		default:
			b.WriteByte('%')
			b.WriteByte(c)
		}
	}
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(Text(a))
	}
	return b.String()
}

// Text prints a value for a reader of a log.
func Text(o *runtime.RemoteObject) string {
	if o == nil {
		return "undefined"
	}
	if o.UnserializableValue != "" {
		return string(o.UnserializableValue)
	}
	if len(o.Value) > 0 {
		var s string
		if o.Type == runtime.RemoteObjectTypeString && json.Unmarshal(o.Value, &s) == nil {
			return s
		}
		return string(o.Value)
	}
	if o.Type == runtime.RemoteObjectTypeUndefined {
		return "undefined"
	}
	if o.Preview != nil && o.Subtype != runtime.RemoteObjectSubtypeError {
		return previewText(o.Preview)
	}
	return o.Description
}

func previewText(p *runtime.ObjectPreview) string {
	var b strings.Builder
	array := p.Subtype == runtime.ObjectPreviewSubtypeArray
	open, shut := "{", "}"
	if array {
		open, shut = "[", "]"
	} else if p.Description != "" && p.Description != "Object" {
		open = p.Description + " {"
	}
	b.WriteString(open)
	first := true
	next := func() (more bool) {
		if !first {
			b.WriteString(", ")
		}
		first = false
		if b.Len() > maxPreview {
			b.WriteString("…")
			return false
		}
		return true
	}
	for _, entry := range p.Entries { // the entries of a map or a set; its size is part of the description
		if !next() {
			break
		}
		if entry.Key != nil {
			b.WriteString(entryText(entry.Key) + " => ")
		}
		b.WriteString(entryText(entry.Value))
	}
	for _, property := range p.Properties {
		if len(p.Entries) > 0 && property.Name == "size" {
			continue
		}
		if !next() {
			break
		}
		if !array {
			b.WriteString(property.Name)
			b.WriteString(": ")
		}
		if property.ValuePreview != nil { // of console.table
			b.WriteString(previewText(property.ValuePreview))
			continue
		}
		b.WriteString(property.Value)
	}
	if p.Overflow && b.Len() <= maxPreview {
		b.WriteString(", …")
	}
	b.WriteString(shut)
	return b.String()
}

func entryText(p *runtime.ObjectPreview) string {
	if p.Type == runtime.ObjectPreviewTypeObject {
		return previewText(p)
	}
	return p.Description
}

// Uncaught is an exception as the console shows it: "Uncaught TypeError: …", or "Uncaught (in
// promise) …".
func Uncaught(d *runtime.ExceptionDetails) string {
	text := Exception(d)
	if d.Text == "" || strings.HasPrefix(text, d.Text) {
		return text
	}
	return d.Text + " " + text
}

// Position is a place in a script or a document, counted from 1; 0: unknown.
type Position struct {
	URL          string // empty: unknown
	Line, Column int
	// Place is that in the workspace, as file:line:column; empty: unknown, or not looked up.
	Place string
}

// NewPosition is a position that the browser reports, which counts from 0.
func NewPosition[N int64 | float64](url string, line, column N) Position {
	return Position{URL: url, Line: int(line) + 1, Column: int(column) + 1}
}

func (p Position) String() string {
	if p.Place != "" {
		return p.Place
	}
	return fmt.Sprintf("%s:%d:%d", p.URL, p.Line, p.Column)
}

// Calls are the positions of the calls in a stack that are in a script with an address, the
// innermost first; nil: none.
func Calls(s *runtime.StackTrace) (calls []Position) {
	for ; s != nil; s = s.Parent {
		for _, f := range s.CallFrames {
			if f.URL != "" {
				calls = append(calls, NewPosition(f.URL, f.LineNumber, f.ColumnNumber))
			}
		}
	}
	return calls
}

// Stack is where a console.trace was called, one line for each of the innermost calls, as the
// stack of an Error has them.
func Stack(s *runtime.StackTrace) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, f := range s.CallFrames[:min(len(s.CallFrames), maxCalls)] {
		name := f.FunctionName
		if name == "" {
			name = "(anonymous)"
		}
		fmt.Fprintf(&b, "\n    at %s (%s)", name, NewPosition(f.URL, f.LineNumber, f.ColumnNumber))
	}
	return b.String()
}

// Exception prefers the exception's own description ("TypeError: …" and the
// stack) to the browser's "Uncaught".
func Exception(d *runtime.ExceptionDetails) string {
	if d.Exception == nil {
		return d.Text
	}
	text := Text(d.Exception)
	if d.Exception.Subtype != runtime.RemoteObjectSubtypeError && d.Text != "" {
		return d.Text + " " + text
	}
	return text
}

// Thrown is the text of what a script has thrown.
func Thrown(d *runtime.ExceptionDetails) string {
	return strings.TrimPrefix(strings.TrimPrefix(Exception(d), "Uncaught "), "(in promise) ")
}

// Decode decodes the JSON text that a function returned; result may be nil.
func Decode(r runtime.CallFunctionOnResult, result any) error {
	if r.ExceptionDetails != nil {
		return errors.New(Thrown(r.ExceptionDetails))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(Text(r.Result)), result); err != nil {
		return fmt.Errorf("read the script's result: %w", err)
	}
	return nil
}
