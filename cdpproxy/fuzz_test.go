package cdpproxy

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/capture"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/internal/queue"
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

// FuzzFrameScanner: with frames of any size, in chunks of any size, the scanner is
// between two frames exactly at the end of one.
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
		for index := 0; index < len(stream); {
			end := min(index+int(chunk)+1, len(stream))
			whole.scan(stream[index:end])
			if whole.atBoundary() != ends[end] {
				t.Fatalf("at %d of %d: between is %v", end, len(stream), whole.atBoundary())
			}
			index = end
		}
		for index := 0; index < len(stream); {
			steps.scan(stream[index : index+1]) // begin the frame
			index++
			n := steps.rest(stream[index:])
			steps.scan(stream[index : index+n])
			if index += n; !ends[index] {
				t.Fatalf("a frame ends at %d, says rest", index)
			}
		}
		if !whole.closing || !steps.closing {
			t.Error("the close frame was overlooked")
		}
	})
}

// FuzzRewrite: any response of a browser is refused, or stays the same except for the
// URLs for clients, which are all ours. What they become is tested with real browsers.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{
		`[{"webSocketDebuggerUrl":"ws://h/b/devtools/page/1","devtoolsFrontendUrl":"/x?ws=h/b/devtools/page/1"},7,null,[]]`,
		`{"webSocketDebuggerUrl":"ws://[","devtoolsFrontendUrl":7}`, `{"webSocketDebuggerUrl":{}}`, `"ws://h/"`, `[`,
		``, `1 2`, "\xff",
	} {
		f.Add([]byte(s), "/b")
	}
	f.Fuzz(func(t *testing.T, body []byte, base string) {
		const own = "127.0.0.1:21000"
		out, err := discovery.Rewrite(body, base, own)
		decode := func(b []byte) (v any, err error) {
			decoder := json.NewDecoder(bytes.NewReader(b))
			decoder.UseNumber()
			return v, decoder.Decode(&v)
		}
		before, was := decode(body)
		if (err == nil) != (was == nil) {
			t.Fatalf("%q: %v, as JSON: %v", body, err, was)
		}
		if err != nil {
			return
		}
		after, err := decode(out)
		if err != nil {
			t.Fatalf("%q became %q: %v", body, out, err)
		}
		list := func(v any) []any {
			if all, ok := v.([]any); ok {
				return all
			}
			return []any{v}
		}
		targets := list(after)
		for i, v := range list(before) {
			target, ok := v.(map[string]any)
			if !ok {
				if !reflect.DeepEqual(v, targets[i]) {
					t.Errorf("%v became %v", v, targets[i])
				}
				continue
			}
			now := targets[i].(map[string]any)
			if ws, ok := now["webSocketDebuggerUrl"].(string); ok && !strings.HasPrefix(ws, "ws://"+own) {
				t.Errorf("%q names %q", body, ws)
			}
			if front, ok := now["devtoolsFrontendUrl"].(string); ok {
				_, query, _ := strings.Cut(front, "?")
				for param := range strings.SplitSeq(query, "&") {
					if ws, ok := strings.CutPrefix(param, "ws="); ok && strings.Contains(ws, "/") &&
						!strings.HasPrefix(ws, own) {
						t.Errorf("%q names %q", body, front)
					}
				}
			}
			for _, m := range []map[string]any{target, now} {
				if _, ok := m["webSocketDebuggerUrl"].(string); ok {
					delete(m, "webSocketDebuggerUrl")
				}
				if _, ok := m["devtoolsFrontendUrl"].(string); ok {
					delete(m, "devtoolsFrontendUrl")
				}
			}
			if !reflect.DeepEqual(target, now) {
				t.Errorf("%v became %v", target, now)
			}
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
	unmask(out[header+4:], mask)
	return out
}

// FuzzMessageReader: a message in fragments, with a ping between them, with any
// mask, in chunks of any size, is joined to the original.
func FuzzMessageReader(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"Page.enable"}`), uint16(3), uint16(1), uint32(0))
	f.Add([]byte("x"), uint16(1), uint16(7), uint32(0x01020304))
	f.Add(make([]byte, 70_000), uint16(65_530), uint16(500), ^uint32(0))
	f.Add([]byte{}, uint16(0), uint16(0), uint32(1))
	f.Add(make([]byte, 70_000), uint16(65_535), uint16(473), ^uint32(0))
	f.Fuzz(func(t *testing.T, text []byte, part, chunk uint16, key uint32) {
		size := int(part) + 1 // not in 16 bits, where it may be 0
		if len(text)/size > 1000 {
			t.Skip() // slow, and adds nothing
		}
		var mask [4]byte
		binary.BigEndian.PutUint32(mask[:], key)
		ping := clientFrame(0x89, []byte("are you there"), mask)
		var stream []byte
		first, rest := byte(0x01), text
		for len(rest) > size {
			stream = append(append(stream, clientFrame(first, rest[:size], mask)...), ping...)
			first, rest = 0x00, rest[size:]
		}
		stream = append(stream, clientFrame(first|0x80, rest, mask)...)
		stream = append(stream, clientFrame(0x81, []byte("next"), mask)...)

		var texts []string
		pings := 0
		r := messageReader{
			memory:    queue.NewBudget(memoryLimit),
			onMessage: func(text []byte) error { texts = append(texts, string(text)); return nil },
			onControl: func(op byte, payload []byte) error {
				if op != opPing || string(payload) != "are you there" {
					t.Errorf("a ping became %d %q", op, payload)
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
		if want := max(0, len(text)-1) / size; pings != want {
			t.Errorf("%d pings, want %d", pings, want)
		}
		if used := r.memory.Used(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	})
}

// FuzzMessageNoise: no stream of either side makes the readers crash, exceed their
// bounds, or depend on where the stream is split.
func FuzzMessageNoise(f *testing.F) {
	f.Add([]byte{0x81, 0x80, 1, 2, 3, 4}, uint8(3), false)
	f.Add([]byte{0x01, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 0x89, 0x80, 0, 0, 0, 0}, uint8(1), false)
	f.Add([]byte{0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0}, uint8(2), false)
	event := `{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"T"}}}`
	f.Add(append(serverFrame(0x81, []byte(event)), serverFrame(0x81, []byte(event))[:50]...), uint8(6), true)
	f.Add(append(serverFrame(0x01, []byte(event[:20])), serverFrame(0x80, []byte(event[20:]))...), uint8(0), true)
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint8, unmasked bool) {
		read := func(size int) (sent []string, err error) {
			r := messageReader{unmasked: unmasked, memory: queue.NewBudget(memoryLimit)}
			r.onMessage = func(text []byte) error { sent = append(sent, string(text)); return nil }
			r.onControl = func(op byte, payload []byte) error {
				sent = append(sent, fmt.Sprintf("%d %q", op, payload))
				return nil
			}
			for b := range slices.Chunk(stream, size) {
				if err == nil {
					err = r.feed(b)
				}
				if len(r.control) > maxControlFrame {
					t.Fatalf("%d bytes of a control frame", len(r.control))
				}
			}
			return sent, err
		}
		pieces, err := read(int(chunk) + 1)
		whole, wholeErr := read(max(len(stream), 1))
		if !slices.Equal(pieces, whole) || !reflect.DeepEqual(err, wholeErr) {
			t.Errorf("in pieces of %d: %q %v, whole: %q %v", int(chunk)+1, pieces, err, whole, wholeErr)
		}
	})
}

// FuzzMessageEnds: of a stream in chunks of any size each message is reported once, with its
// beginning and its end.
func FuzzMessageEnds(f *testing.F) {
	f.Add([]byte{0, 1, 200, 255}, uint16(1), true)
	f.Add([]byte{255, 0, 130}, uint16(7), false)
	f.Fuzz(func(t *testing.T, sizes []byte, chunk uint16, split bool) {
		if len(sizes) > 50 {
			return
		}
		var stream []byte
		var want, got []string
		for n, size := range sizes {
			text := bytes.Repeat([]byte{'a' + byte(n%26)}, int(size)*3)
			copy(text, fmt.Sprint(n))
			if half := len(text) / 2; split {
				stream = append(stream, serverFrame(opText, text[:half])...)
				stream = append(stream, serverFrame(0x80|opPing, []byte("ping"))...)
				stream = append(stream, serverFrame(0x80|opContinuation, text[half:])...)
			} else {
				stream = append(stream, serverFrame(0x80|opText, text)...)
			}
			want = append(want, ends(text, text))
		}
		m := messageEnds{each: func(beginning, end []byte) { got = append(got, ends(beginning, end)) }}
		for piece := range slices.Chunk(stream, int(chunk)+1) {
			m.feed(piece)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %.300q, want %.300q", got, want)
		}
	})
}

func ends(beginning, end []byte) string {
	return string(beginning[:min(len(beginning), capture.Beginning)]) + "…" + string(end[max(0, len(end)-capture.End):])
}
