package vscodeipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/internal/must"
)

// vectorLines returns the single lines in the vectors, valid and invalid.
func vectorLines(t testing.TB) [][]byte {
	var lines [][]byte
	for _, v := range readVectors[messageVector](t, "messages") {
		lines = append(lines, v.Line)
	}
	for _, v := range readVectors[invalidVector](t, "invalid") {
		for _, raw := range v.Lines[:min(3, len(v.Lines))] { // the hundreds after them are alike
			var text string
			if json.Unmarshal(raw, &text) == nil {
				lines = append(lines, []byte(text))
			}
		}
	}
	return lines
}

// FuzzLines splits a stream in one piece and byte by byte: both give the lines that spec
// 3 defines.
func FuzzLines(f *testing.F) {
	lines := vectorLines(f)
	for _, line := range lines {
		f.Add(line)
	}
	f.Add(bytes.Join(lines, []byte("\r\n\n")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var want [][]byte
		parts := bytes.Split(stream, []byte("\n"))
		for _, part := range parts[:len(parts)-1] {
			if part = bytes.TrimSuffix(part, []byte("\r")); len(part) > 0 {
				want = append(want, part)
			}
		}
		for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)),
			iotest.DataErrReader(bytes.NewReader(stream))} {
			var got [][]byte
			reader := newLineReader(r)
			line, err := reader.next()
			for ; err == nil; line, err = reader.next() {
				got = append(got, bytes.Clone(line))
			}
			if err != io.EOF {
				t.Errorf("it ended with %v", err)
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// FuzzRequest compares the decoder with the schema: each accepts what the other accepts.
// An accepted request is equal after it is encoded again.
func FuzzRequest(f *testing.F) {
	for _, line := range vectorLines(f) {
		f.Add(line)
	}
	schema := schemaOf(f, "Request")
	f.Fuzz(func(t *testing.T, line []byte) {
		r, fault := decodeRequest(line)
		if fault == nil && !slices.Contains(requestTypes, r.kind) {
			return // its payload is not decoded
		}
		if fault == nil {
			_, fault = decodePayload(r)
		}
		if fault != nil && fault.Code == codeUnsupportedVersion {
			return // the schema does not define the version
		}
		var members map[string]any
		if json.Unmarshal(line, &members) != nil || members == nil {
			if fault == nil && !json.Valid(line) {
				t.Errorf("%q was accepted", line)
			}
			return // with a number that is too large for the schema's validator
		}
		if _, ok := members["success"]; ok || !bytes.Equal(line, bytes.ToValidUTF8(line, nil)) ||
			!jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true)) {
			return // a response to the schema; not JSON to the decoder; other characters to the schema
		}
		if err := schema.Validate(members); (err == nil) != (fault == nil) {
			t.Errorf("%s: the decoder gives %v, the schema %v", line, fault, err)
		}
		if fault != nil {
			return
		}
		second := must.Get(reencodeRequest(r, r.payload))(t)
		back, fault := decodeRequest(second)
		if fault != nil || back.id != r.id || back.kind != r.kind {
			t.Errorf("%s came back as %s: %v", line, second, fault)
		}
	})
}

// FuzzEnvelope sends a client arbitrary lines: it accepts each, or ends the connection
// with a reason.
func FuzzEnvelope(f *testing.F) {
	for _, line := range vectorLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		c := &client{log: discard, events: make(chan event, 1), waiting: map[int64]chan answer{1: make(chan answer, 1)}}
		err := c.receive(line)
		var last *byeError
		if err != nil && !errors.Is(err, errIncompatible) && !errors.As(err, &last) {
			t.Errorf("%q: %v", line, err)
		}
	})
}
