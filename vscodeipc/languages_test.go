//go:build unix

package vscodeipc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/identity"
)

// mutator derives new inputs from the vectors. They are the same in each run.
type mutator struct {
	*rand.Rand
	seeds, words []string
}

func newMutator(seeds []string, words ...string) mutator {
	return mutator{rand.New(rand.NewPCG(1, 2)), seeds, words}
}

// token is a string, a number or an identifier.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.\w]+`)

func vectorPaths(t testing.TB, goos string) (paths []string) {
	for _, v := range identityVectors(t, goos) {
		paths = append(paths, v.path(t))
	}
	return paths
}

// seedLines returns the vectors that are lines. Those of requests occur more often.
func seedLines(t testing.TB) (lines []string) {
	for _, line := range vectorLines(t) {
		times := 1
		if _, fault := decodeRequest(line); fault == nil {
			times = 8
		}
		lines = append(lines, slices.Repeat([]string{string(line)}, times)...)
	}
	return lines
}

// next usually replaces a token by another, so that JSON often stays JSON. Otherwise it
// inserts one anywhere, or removes or repeats a few bytes.
func (m mutator) next() string {
	text := m.seeds[m.IntN(len(m.seeds))]
	for range 1 + m.IntN(2) {
		word := m.words[m.IntN(len(m.words))]
		if tokens := token.FindAllStringIndex(text, -1); m.IntN(4) > 0 && len(tokens) > 0 {
			indexes := tokens[m.IntN(len(tokens))]
			text = text[:indexes[0]] + word + text[indexes[1]:]
			continue
		}
		from := m.IntN(len(text) + 1)
		to := min(len(text), from+m.IntN(4))
		text = text[:from] + []string{"", text[from:to] + text[from:to], word}[m.IntN(3)] + text[to:]
	}
	return text
}

// agreementCases is how many inputs the two languages are compared on.
func agreementCases(t *testing.T) int { return 100 * roundsOr(t, 30) }

// TestLanguagesAgreeOnPaths compares the canonical paths of both languages.
// VSCODEIPC_ROUNDS sets the number of paths.
func TestLanguagesAgreeOnPaths(t *testing.T) {
	words := []string{
		`/`, `\`, `.`, `..`, `?`, `:`, `a`, `C`, `c:\`, `\\`, `\\?\`, `\\.\`, `UNC\`, `//`, "\x00", "\xff",
		"\xed\xa0\x80", "\u00e9", "e\u0301", "\U0001f600", "\ufeff", " ",
	}
	var input bytes.Buffer
	var paths, want []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		m := newMutator(append(vectorPaths(t, system), "", `\`, "/"), words...)
		for range agreementCases(t) {
			path := m.next()
			verdict := ""
			if canonical, err := identity.Spell(system, path); err != nil {
				verdict = err.Error()
			} else {
				verdict = canonical + " " + Hash(canonical)
			}
			paths, want = append(paths, fmt.Sprintf("%s %q", system, path)), append(want, verdict)
			fmt.Fprintf(&input, "{\"system\":%q,\"hex\":\"%s\"}\n", system, hex.EncodeToString([]byte(path)))
		}
	}
	node := nodeProgram(t, "spell.ts")
	node.Stdin = &input
	output := must.Get(node.Output())(t)
	d := json.NewDecoder(bytes.NewReader(output))
	for i, path := range paths {
		var got string
		must.Do(t, d.Decode(&got))
		if got != want[i] {
			t.Errorf("%s: %q in TypeScript, %q in Go", path, got, want[i])
		}
	}
}

// TestLanguagesAgreeOnRequests sends the same lines to a window of each language, on a
// connection each: the responses are equal. VSCODEIPC_ROUNDS sets the number of lines.
func TestLanguagesAgreeOnRequests(t *testing.T) {
	folder := home(t)
	here := serve(t, ServerOptions{Commands: map[string]Handler{"echo": echo}})
	_, there := startNode(t, nodeProgram(t, "window.ts", folder, "serve"))
	m := newMutator(seedLines(t),
		`0`, `1`, `2`, `-1`, `-0`, `1.0`, `1e0`, `1.5`, `1e400`, `9007199254740991`, `9007199254740992`,
		`9007199254740991.4`,
		`null`, `true`, `[]`, `{}`, `[1]`, `["state"]`, `{"id":1}`, `""`, `"x"`, `"\u0000"`, `"\ud800"`,
		`"\ud83d\ude00"`, `"\ufffd"`,
		`"id"`, `"type"`, `"version"`, `"payload"`, `"\u0069d"`, `"__proto__"`, `"ID"`,
		`"ping"`, `"state"`, `"hello"`, `"listen"`, `"call"`, `"cancel"`, `"echo"`, `"events"`, `"client"`, `"seq"`,
		`1,"id":2`, `2,"version":2`, `"ping","payload":{}`,
		`"`, `\`, `}`, `]`, `,`, ` `, "\r", "\x00", "\xff", "\xed\xa0\x80", "\ufeff", "\U0001f600", `\ud800`, `\udc00`)
	outcomes := map[string]int{}
	for range agreementCases(t) {
		line := strings.ReplaceAll(m.next(), "\n", " ")
		answers := answersTo(t, here.Address(), line)
		if diff := cmp.Diff(answers, answersTo(t, there, line)); diff != "" {
			t.Errorf("%q: Go (-) and TypeScript (+) answer\n%s", line, diff)
		}
		for _, a := range answers {
			outcomes[a.Error.Code]++
		}
	}
	if len(outcomes) < 6 || outcomes[""] < 20 { // "" is success
		t.Errorf("the lines differ too little: they were answered by %v", outcomes)
	}
}

// answersTo returns everything that a window sends in response to a line.
func answersTo(t *testing.T, address Address, line string) []response {
	t.Helper()
	conn := must.Get(net.Dial("unix", string(address)))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		t.Fatal(err)
	}
	must.Do(t, conn.(*net.UnixConn).CloseWrite())
	text := must.Get(io.ReadAll(conn))(t)
	var answers []response
	for each := range bytes.Lines(text) {
		var a response
		if err := json.Unmarshal(each, &a); err != nil {
			t.Fatalf("%q is answered by %q: %v", line, each, err)
		}
		for _, member := range []string{"server", "session", "pid", "workspace", "folders", "result"} {
			delete(a.Payload, member)
		}
		answers = append(answers, a)
	}
	return answers
}

// response is the part of a response that is the same in all windows.
type response struct {
	ID      any            `json:"id"`
	Success any            `json:"success"`
	Payload map[string]any `json:"payload"`
	Error   struct {
		Code string         `json:"code"`
		Data map[string]any `json:"data"`
	} `json:"error"`
}
