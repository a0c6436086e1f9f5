package cdpproxy

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// serverFrame is a frame as a browser sends it.
func serverFrame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// FuzzFrameScanner: frames of any size, cut into chunks of any size: the
// scanner is between two frames exactly where one ends.
func FuzzFrameScanner(f *testing.F) {
	f.Add([]byte("hello"), uint16(0), uint16(1))
	f.Add([]byte{}, uint16(125), uint16(3))
	f.Add([]byte("x"), uint16(126), uint16(2))
	f.Add([]byte("x"), uint16(65535), uint16(1000))
	f.Fuzz(func(t *testing.T, text []byte, size, chunk uint16) {
		var stream []byte
		ends := map[int]bool{0: true}
		for _, frame := range [][]byte{
			serverFrame(0x81, text), serverFrame(0x01, make([]byte, size)), serverFrame(0x80, nil),
			serverFrame(0x82, make([]byte, int(size)*2)), serverFrame(0x88, []byte{3, 0xe8}),
		} {
			stream = append(stream, frame...)
			ends[len(stream)] = true
		}
		var whole, steps frameScanner
		for at := 0; at < len(stream); {
			end := min(at+int(chunk)+1, len(stream))
			whole.scan(stream[at:end])
			if whole.between() != ends[end] {
				t.Fatalf("at %d of %d: between is %v", end, len(stream), whole.between())
			}
			at = end
		}
		for at := 0; at < len(stream); {
			n := steps.frame(stream[at:])
			if at += n; n == 0 || !ends[at] {
				t.Fatalf("a frame ends at %d, says frame", at)
			}
		}
		if !whole.closing || !steps.closing {
			t.Error("the close frame was overlooked")
		}
	})
}

// FuzzScannerNoise: no input makes the scanner stand still or crash.
func FuzzScannerNoise(f *testing.F) {
	f.Add([]byte{0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255, 0})
	f.Add([]byte{0x88, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s frameScanner
		s.scan(b)
		if s.have >= maxFrameHeader {
			t.Errorf("%d bytes of header", s.have)
		}
	})
}

// FuzzRewrite: whatever a page calls itself, only the URLs for clients change.
func FuzzRewrite(f *testing.F) {
	f.Add("title", "http://127.0.0.1:9222/", "127.0.0.1:9222", "ABC")
	f.Add(`"webSocketDebuggerUrl": "ws://evil"`, "x?ws=127.0.0.1:9222/devtools/page/1", "localhost", "a/b?c&ws=d#e")
	f.Add("\xff\x00<&>", "", "[::1]:1", "")
	f.Fuzz(func(t *testing.T, title, url, host, id string) {
		const own = "127.0.0.1:21000/token"
		in, err := json.Marshal([]map[string]any{{
			"title": title, "url": url, "id": id, "n": json.Number("12345678901234567890"),
			"webSocketDebuggerUrl": "ws://" + host + "/devtools/page/" + id,
			"devtoolsFrontendUrl":  "https://front.example/inspector.html?ws=" + host + "/devtools/page/" + id,
		}})
		if err != nil {
			t.Skip()
		}
		out, err := rewriteTargets(in, "", own)
		if err != nil {
			t.Fatal(err)
		}
		var before, after []map[string]any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(out, &after) != nil || len(after) != 1 {
			t.Fatalf("not JSON: %s", out)
		}
		if ws, ok := after[0]["webSocketDebuggerUrl"].(string); ok && !strings.HasPrefix(ws, "ws://"+own) {
			t.Errorf("names %s", ws)
		}
		for _, key := range []string{"title", "url", "id", "n"} {
			if !reflect.DeepEqual(before[0][key], after[0][key]) {
				t.Errorf("%s: %q became %q", key, before[0][key], after[0][key])
			}
		}
	})
}

// FuzzHost: no Host that is let in has a registered domain.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost", "127.0.0.1:1", "[::1]:80", "a.localhost", "localhost.evil", "127.0.0.1:", "evil:80.localhost", "[::1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !loopbackHost(host) {
			return
		}
		name := strings.ToLower(strings.TrimRight(host, "0123456789:"))
		if !strings.HasSuffix(name, "localhost") && name != "127.0.0." && name != "[::1]" && !strings.HasPrefix(host, "127.0.0.1:") {
			t.Errorf("%q let in", host)
		}
	})
}

func TestCloseFrame(t *testing.T) {
	b := closeFrame(closeGoingAway, strings.Repeat("ä", 100))
	if len(b) != 2+maxControlFrame-1 || b[0] != 0x88 || int(b[1]) != len(b)-2 {
		t.Errorf("%d bytes, %x", len(b), b[:4])
	}
}

// clientFrame is a frame as a client sends it.
func clientFrame(first byte, payload []byte, mask [4]byte) []byte {
	b := serverFrame(first, payload)
	header := len(b) - len(payload)
	b[1] |= 0x80
	out := append(append(append([]byte(nil), b[:header]...), mask[:]...), payload...)
	unmask(out[header+4:], mask, 0)
	return out
}

// FuzzMessageReader: a message cut into fragments, with a ping between them,
// masked by any mask, in chunks of any size, is put together as it was.
func FuzzMessageReader(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"Page.enable"}`), uint16(3), uint16(1), uint32(0))
	f.Add([]byte("x"), uint16(1), uint16(7), uint32(0x01020304))
	f.Add(make([]byte, 70_000), uint16(65_530), uint16(500), ^uint32(0))
	f.Add([]byte{}, uint16(0), uint16(0), uint32(1))
	f.Add(make([]byte, 70_000), uint16(65_535), uint16(473), ^uint32(0))
	f.Fuzz(func(t *testing.T, text []byte, part, chunk uint16, key uint32) {
		size := int(part) + 1 // not in 16 bits, where it may be 0
		if len(text)/size > 1000 {
			t.Skip() // slow, and no more telling
		}
		var mask [4]byte
		binary.BigEndian.PutUint32(mask[:], key)
		ping := clientFrame(0x89, []byte("are you there"), mask)
		var stream, frames []byte
		first, rest := byte(0x01), text
		for len(rest) > size {
			frame := clientFrame(first, rest[:size], mask)
			frames, stream = append(frames, frame...), append(append(stream, frame...), ping...)
			first, rest = 0x00, rest[size:]
		}
		last := clientFrame(first|0x80, rest, mask)
		frames, stream = append(frames, last...), append(stream, last...)
		stream = append(stream, clientFrame(0x81, []byte("next"), mask)...)

		var texts []string
		var raws []byte
		pings := 0
		r := messageReader{
			onMessage: func(m *message) error {
				texts, raws = append(texts, string(m.text)), append(raws, m.raw...)
				m.free()
				return nil
			},
			onControl: func(b []byte) error {
				if !bytes.Equal(b, ping) {
					t.Errorf("a ping became %x", b)
				}
				pings++
				return nil
			},
		}
		for len(stream) > 0 {
			n := min(int(chunk)+1, len(stream))
			if err := r.feed(stream[:n]); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
		}
		if len(texts) != 2 || texts[0] != string(text) || texts[1] != "next" {
			t.Errorf("%d messages, the first of %d bytes, want %d", len(texts), len(texts[0]), len(text))
		}
		if !bytes.HasPrefix(raws, frames) {
			t.Error("the original bytes are not the client's")
		}
	})
}

// FuzzMembers: what is an object of JSON here is one for encoding/json, and the
// other way round, but for keys that stand twice and limits.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+7,0,true,false,null,{"b":{}}],"c":"\u00e4\"\n0123456789abcdef"}`, ` { } `, `{"a":01}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`,
		`{"a":"0123456789` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":tru}`, `{"a":1,}`, `{"a" 1}`, `{,}`, `{"a":[1,]}`, `{"a":[`, `{"a":"`, `{"a":1}{}`,
		"{\"a\":\"\xff\x80\x1f\"}", "{\"a\":\"\x7f\u2028\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !utf8.Valid(b) {
			return // encoding/json mends keys, which no known key needs
		}
		got := map[string]json.RawMessage{}
		err := Members(b, func(key string, value []byte) error { got[key] = value; return nil })
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(b, &want)
		if wantErr == nil && want == nil {
			wantErr = errors.New("null")
		}
		limit := err != nil && (strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "members") || bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > maxDepth)
		if (err == nil) != (wantErr == nil) && !limit {
			t.Fatalf("%q: %v, encoding/json: %v", b, err, wantErr)
		}
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, want %d", b, len(got), len(want))
		}
		for key, value := range want {
			if string(got[key]) != string(value) {
				t.Errorf("%q: %q is %q, want %q", b, key, got[key], value)
			}
		}
	})
}

// FuzzDecode: what decode accepts, a strict reader of JSON reads the same way.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"id":1,"method":"A.b","params":{},"sessionId":"s"}`, `{"method":"\u0041"}`, `{"Method":"x","method":"y"}`, `{"a":1}x`, `[]`, `{"id":1`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		if decode(b, &m) != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q accepted: %v", b, err)
		}
		var method string
		if json.Unmarshal(want["method"], &method) != nil || strings.ToValidUTF8(method, "?") != strings.ToValidUTF8(m.Method, "?") && utf8.ValidString(m.Method) || string(want["params"]) != string(m.Params) {
			t.Errorf("%q: %q %s", b, m.Method, m.Params)
		}
	})
}

// BenchmarkDecode is what a rule costs for each message, besides its own work.
func BenchmarkDecode(b *testing.B) {
	text := []byte(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"},"sessionId":"0123456789ABCDEF0123456789ABCDEF"}`)
	for b.Loop() {
		var m Message
		if err := decode(text, &m); err != nil {
			b.Fatal(err)
		}
	}
}
