package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"browser-coordinator/coordinator/output"
)

// Paged is embedded by the arguments of the tools whose text may be too long for one
// answer.
type Paged struct {
	Filename string `json:"filename,omitempty"`
	Page     int    `json:"page,omitempty"`
}

const (
	// MaxPart bounds the bytes of a page's text in one answer: about 10,000 tokens,
	// which hosts still accept.
	MaxPart = 40_000
	// maxText bounds an answer without parts. An answer with parts stays below it,
	// together with what surrounds the part.
	maxText = 50_000
	// maxValue is how many characters of a value Brief shows.
	maxValue = 200
)

// cutText cuts a text that has no parts, and reports how much is missing.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	beginning := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s… (%d more characters)", beginning, len(text)-len(beginning))
}

// truncate cuts the answer of a tool without parts.
func (a *Answer) truncate() {
	if a.long == nil {
		return
	}
	cut := false
	for i, b := range a.blocks {
		if text := b.Text; len(text) > maxText && !b.uncut {
			a.blocks[i].Text = cutText(a.secrets.Hide(text), maxText)
			cut = true
		}
	}
	if encoded, err := json.Marshal(a.data); cut || err != nil || len(encoded) > maxText {
		a.textOnly()
	}
}

// Long keeps the last text that did not fit into one answer: its other parts are of the
// same moment.
type Long struct {
	mu           sync.Mutex
	source, text string
}

// Further adds a further part of the stored text, if the call requests one.
func (a *Answer) Further(in Paged, description string) bool {
	if a.long == nil {
		return false
	}
	a.long.mu.Lock()
	text, same := a.long.text, a.long.source == description
	a.long.mu.Unlock()
	if !same || in.Page < 2 || in.Filename != "" {
		return false
	}
	a.part(in, text)
	return true
}

// Text adds the requested part of a long text, and describes how to get the others. If the
// call names a file, it saves the whole text instead.
func (a *Answer) Text(in Paged, file *output.File, description, text string) error {
	text = a.secrets.Hide(text) // before the cut, which may fall into a secret
	if file != nil || a.fits(text) {
		name, _, _ := strings.Cut(description, " ")
		return a.TextOrFile(file, name, strings.TrimSuffix(text, "\n"))
	}
	a.long.mu.Lock()
	a.long.source, a.long.text = description, text
	a.long.mu.Unlock()
	a.part(in, text)
	return nil
}

// fits reports whether one answer holds a text.
func (a *Answer) fits(text string) bool { return a.long == nil || len(text) <= MaxPart }

func (a *Answer) part(in Paged, text string) {
	parts := cutLines(text, MaxPart)
	n := min(max(in.Page, 1), len(parts))
	a.Quote(strings.TrimSuffix(parts[n-1], "\n"))
	if n < len(parts) {
		a.Addf("Part %d of %d (%d characters in all): ask for page %d, narrow it down, or give a filename.", n,
			len(parts), len(text), n+1)
	} else {
		a.Addf("Part %d of %d, the last.", n, len(parts))
	}
}

// TextOrFile adds text of the page, or saves it if the call names a file.
func (a *Answer) TextOrFile(file *output.File, description, text string) error {
	if file == nil {
		a.Quote(text)
		return nil
	}
	path, err := file.Save([]byte(a.secrets.Hide(text) + "\n"))
	if err != nil {
		return err
	}
	a.Addf("Saved the %s to %s (%d characters).", description, path, len([]rune(text)))
	return nil
}

// Data is Text for a text that a member of the structured answer holds too, if one answer
// holds the whole.
func (a *Answer) Data(in Paged, file *output.File, description, text, name string, value any) error {
	if file != nil || !a.fits(a.secrets.Hide(text)) {
		return a.Text(in, file, description, text)
	}
	a.Show(text, true)
	a.Set(name, value)
	return nil
}

// cutLines cuts a text into parts of at most so many bytes, between lines where
// that is possible.
func cutLines(text string, limit int) []string {
	var parts []string
	for len(text) > limit {
		end := strings.LastIndexByte(text[:limit], '\n') + 1
		if end < limit/2 {
			end = limit
			for end > 0 && text[end]&0xC0 == 0x80 { // inside a character
				end--
			}
		}
		parts = append(parts, text[:end])
		text = text[end:]
	}
	return append(parts, text)
}

// Latest is the end of a text of lines, as much as fits into one answer. The tool has all
// of it.
func (a *Answer) Latest(text, empty, tool string) string {
	text = a.secrets.Hide(text) // before the cut, which may fall into a secret
	if len(text) <= MaxPart {
		return cmp.Or(text, empty)
	}
	end := text[len(text)-MaxPart:]
	if _, lines, several := strings.Cut(end, "\n"); several {
		end = lines
	}
	return fmt.Sprintf("… %d characters before this: %s has all.\n%s", len(text)-len(end), tool,
		strings.ToValidUTF8(end, ""))
}

// Brief is the beginning of a value.
func (a *Answer) Brief(value string) string {
	value = a.secrets.Hide(value) // before the cut, which may fall into a secret
	runes := []rune(value)
	if len(runes) <= maxValue {
		return value
	}
	return fmt.Sprintf("%s… (%d characters)", string(runes[:maxValue]), len(runes))
}
