package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/output"
)

// partIn is embedded by the tools whose text may be too long for one answer.
type partIn struct {
	Filename string `json:"filename,omitempty"`
	Page     int    `json:"page,omitempty"`
}

// maxAnswer bounds the bytes of a page's text in one answer: about 10,000 tokens, which
// hosts still accept.
const maxAnswer = 40_000

// maxText bounds an answer without parts. An answer with parts stays below it, together
// with what surrounds the part.
const maxText = 50_000

// cutText cuts a text that has no parts, and reports how much is missing.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	kept := strings.ToValidUTF8(text[:most], "")
	return fmt.Sprintf("%s… (%d more characters)", kept, len(text)-len(kept))
}

// bound cuts the answer of a tool without parts.
func (s *Server) bound(out *answer) {
	cut := false
	for i, b := range out.blocks {
		if len(b.text) > maxText {
			out.blocks[i].text = cutText(s.options.Secrets.Hide(b.text), maxText)
			cut = true
		}
	}
	if encoded, err := json.Marshal(out.structured); cut || err != nil || len(encoded) > maxText {
		out.untell()
	}
}

// boundError does the same for an error, which may hold what a page has thrown.
func (s *Server) boundError(err error) error {
	if err == nil || len(err.Error()) <= maxText {
		return err
	}
	return errors.New(cutText(s.options.Secrets.Hide(err.Error()), maxText))
}

// longText is the last text that did not fit into one answer: its other parts are of the
// same moment.
type longText struct{ what, text string }

// restOf returns the text of which the call requests a further part.
func (a *agent) restOf(what string, in partIn) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in.Page < 2 || in.Filename != "" || a.long.what != what {
		return "", false
	}
	return a.long.text, true
}

// part adds the requested part of the text, and describes how to get the others. If the
// call names a file, it saves the whole text instead.
func (a *agent) part(out *answer, in partIn, file *output.File, what, text string) error {
	text = a.server.options.Secrets.Hide(text) // before the cut, which may fall into a secret
	if file != nil || len(text) <= maxAnswer {
		name, _, _ := strings.Cut(what, " ")
		return a.textOrFile(out, file, name, strings.TrimSuffix(text, "\n"))
	}
	a.mu.Lock()
	a.long = longText{what, text}
	a.mu.Unlock()
	parts := cutLines(text, maxAnswer)
	n := min(max(in.Page, 1), len(parts))
	out.quote(strings.TrimSuffix(parts[n-1], "\n"))
	if n < len(parts) {
		out.addf("Part %d of %d (%d characters in all): ask for page %d, narrow it down, or give a filename.", n, len(parts), len(text), n+1)
	} else {
		out.addf("Part %d of %d, the last.", n, len(parts))
	}
	return nil
}

// data is part for a text that a member of the structured answer holds too, if one answer
// holds the whole.
func (a *agent) data(out *answer, in partIn, file *output.File, what, text, name string, value any) error {
	if file != nil || len(a.server.options.Secrets.Hide(text)) > maxAnswer {
		return a.part(out, in, file, what, text)
	}
	out.told(text, true)
	out.tell(name, value)
	return nil
}

// cutLines cuts a text into parts of at most so many bytes, between lines where
// that is possible.
func cutLines(text string, most int) []string {
	var parts []string
	for len(text) > most {
		end := strings.LastIndexByte(text[:most], '\n') + 1
		if end < most/2 {
			end = most
			for end > 0 && text[end]&0xC0 == 0x80 { // inside a character
				end--
			}
		}
		parts = append(parts, text[:end])
		text = text[end:]
	}
	return append(parts, text)
}
