package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// HideData hides values in data that is sent as JSON: in its texts and names. A number
// that holds a value becomes a text.
func (s *Set) HideData(data any) any {
	if data == nil {
		return nil
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return data // it cannot be sent either
	}
	var hidden bytes.Buffer // in which two names may be one
	decoder := jsontext.NewDecoder(bytes.NewReader(encoded), jsontext.AllowDuplicateNames(true))
	encoder := jsontext.NewEncoder(&hidden, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return json.RawMessage(hidden.Bytes())
		}
		if kind := token.Kind(); err == nil && (kind == '"' || kind == '0') {
			if text := s.Hide(token.String()); text != token.String() {
				token = jsontext.String(text)
			}
		}
		if err != nil || encoder.WriteToken(token) != nil {
			return nil // nested too deeply: what cannot be searched is not sent
		}
	}
}
