package answer

import "strings"

// A structured answer is for programs. Some hosts pass only it to their model, some only
// the text, some both. So it holds everything in the text, once. What is not data is in
// its notes.

// Set sets a member of the structured answer.
func (a *Answer) Set(name string, value any) {
	if a.data == nil {
		a.data = map[string]any{}
	}
	a.data[name] = value
}

// SetList sets a member to a list. Without items that is an empty one, and the text is
// none.
func SetList[T any](a *Answer, name string, list []T, none string) {
	a.Set(name, append([]T{}, list...))
	if len(list) == 0 {
		a.Addf("%s", none)
	}
}

// Show adds lines that a member of the structured answer holds too.
func (a *Answer) Show(text string, fromPage bool) {
	a.add(block{Passage: Passage{text, fromPage}, inData: true})
}

// textOnly removes the structured answer.
func (a *Answer) textOnly() {
	a.data = nil
	for i := range a.blocks {
		a.blocks[i].inData = false
	}
}

// structure is the structured answer of a tool that has a schema for it.
func (a *Answer) structure() map[string]any {
	var notes []string
	for _, b := range a.blocks {
		if text := strings.TrimSpace(b.Text); !b.inData && text != "" {
			notes = append(notes, text)
		}
	}
	if len(notes) > 0 {
		a.Set("notes", strings.Join(notes, "\n"))
	}
	if a.data == nil {
		return map[string]any{}
	}
	return a.data
}
