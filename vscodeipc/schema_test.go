package vscodeipc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"browser-coordinator/internal/must"
)

func readSchema(t testing.TB) (s jsonschema.Schema) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(specDir, "schema.json")))(t)
	must.Do(t, json.Unmarshal(text, &s))
	return s
}

var schemas = map[string]*jsonschema.Resolved{}

// schemaOf returns one definition of the schema, ready to validate.
func schemaOf(t testing.TB, def string) *jsonschema.Resolved {
	t.Helper()
	if known := schemas[def]; known != nil {
		return known
	}
	s := readSchema(t)
	if _, ok := s.Defs[def]; !ok {
		t.Fatalf("the schema has no %s", def)
	}
	s.ID, s.OneOf, s.Ref = "", nil, "#/$defs/"+def
	resolved := must.Get(s.Resolve(nil))(t)
	schemas[def] = resolved
	return resolved
}

func decodeAny(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	must.Do(t, json.Unmarshal(text, &v))
	return v
}

type messageVector struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Kind        string          `json:"kind"`
	Def         string          `json:"def"`
	Line        json.RawMessage `json:"line"`
}

type commandVector struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Command     string          `json:"command"`
	Arg         json.RawMessage `json:"arg"`
	Result      json.RawMessage `json:"result"`
}

// goType maps a definition of the schema to its Go type.
var goType = map[string]reflect.Type{
	"HelloRequest":  reflect.TypeFor[helloRequest](),
	"Hello":         reflect.TypeFor[Hello](),
	"StateAnswer":   reflect.TypeFor[stateAnswer](),
	"ListenRequest": reflect.TypeFor[listenRequest](),
	"CallRequest":   reflect.TypeFor[callRequest](),
	"CallAnswer":    reflect.TypeFor[callAnswer](),
	"CancelAnswer":  reflect.TypeFor[cancelAnswer](),
	"Bye":           reflect.TypeFor[bye](),
	"State":         reflect.TypeFor[State](),
	"Error":         reflect.TypeFor[Error](),
	"Peer":          reflect.TypeFor[Peer](),
	"Server":        reflect.TypeFor[ServerInfo](),
	"DebugSession":  reflect.TypeFor[DebugSession](),
	"Browser":       reflect.TypeFor[Browser](),
	"PageEndpoint":  reflect.TypeFor[PageEndpoint](),
	"Access":        reflect.TypeFor[Access](),
	"Editor":        reflect.TypeFor[Editor](),

	"Client":                 reflect.TypeFor[ClientInfo](),
	"ConnectedClient":        reflect.TypeFor[ConnectedClient](),
	"RunningCall":            reflect.TypeFor[RunningCall](),
	"ClientAnnounceArg":      reflect.TypeFor[AnnounceArg](),
	"ClientAnnounceResult":   reflect.TypeFor[AnnounceResult](),
	"Activity":               reflect.TypeFor[Activity](),
	"ActivityDetails":        reflect.TypeFor[ActivityDetails](),
	"ActivityEffect":         reflect.TypeFor[ActivityEffect](),
	"ClientReportArg":        reflect.TypeFor[ReportArg](),
	"ClientListResult":       reflect.TypeFor[ListResult](),
	"PageName":               reflect.TypeFor[PageName](),
	"PermissionAskArg":       reflect.TypeFor[AskArg](),
	"PermissionAskResult":    reflect.TypeFor[AskResult](),
	"PermissionListResult":   reflect.TypeFor[QuestionsResult](),
	"PendingQuestion":        reflect.TypeFor[PendingQuestion](),
	"PendingAction":          reflect.TypeFor[PendingAction](),
	"PermissionAnswerArg":    reflect.TypeFor[AnswerArg](),
	"AccessChangeArg":        reflect.TypeFor[AccessChangeArg](),
	"TestGiveArg":            reflect.TypeFor[TestGiveArg](),
	"NoteGiveArg":            reflect.TypeFor[NoteGiveArg](),
	"NoteTakeArg":            reflect.TypeFor[NoteTakeArg](),
	"NoteTakeResult":         reflect.TypeFor[NoteTakeResult](),
	"Note":                   reflect.TypeFor[Note](),
	"Annotation":             reflect.TypeFor[Annotation](),
	"AnnotatedNode":          reflect.TypeFor[AnnotatedNode](),
	"PickStartArg":           reflect.TypeFor[PickArg](),
	"PickStartResult":        reflect.TypeFor[PickResult](),
	"RecordShowArg":          reflect.TypeFor[RecordShowArg](),
	"RecordShowResult":       reflect.TypeFor[RecordShowResult](),
	"TabRequestArg":          reflect.TypeFor[TabRequestArg](),
	"TabRequestResult":       reflect.TypeFor[TabRequestResult](),
	"ReviewPresentArg":       reflect.TypeFor[ReviewArg](),
	"ReviewPresentResult":    reflect.TypeFor[ReviewResult](),
	"ReviewWaitArg":          reflect.TypeFor[ReviewWaitArg](),
	"ReviewWaitResult":       reflect.TypeFor[ReviewAnswer](),
	"ReviewComment":          reflect.TypeFor[ReviewComment](),
	"EditorRevealArg":        reflect.TypeFor[RevealArg](),
	"DebugStartArg":          reflect.TypeFor[DebugStartArg](),
	"DebugStartResult":       reflect.TypeFor[DebugStartResult](),
	"DebugStateArg":          reflect.TypeFor[DebugStateArg](),
	"DebugStateResult":       reflect.TypeFor[DebugStateResult](),
	"DebugSessionState":      reflect.TypeFor[DebugSessionState](),
	"StackFrame":             reflect.TypeFor[StackFrame](),
	"Scope":                  reflect.TypeFor[Scope](),
	"Variable":               reflect.TypeFor[Variable](),
	"DebugBreakpointsArg":    reflect.TypeFor[BreakpointsArg](),
	"DebugBreakpointsResult": reflect.TypeFor[BreakpointsResult](),
	"Breakpoint":             reflect.TypeFor[Breakpoint](),
	"DebugStepArg":           reflect.TypeFor[StepArg](),
	"DebugStepResult":        reflect.TypeFor[StepResult](),
	"DebugEvaluateArg":       reflect.TypeFor[DebugEvaluateArg](),
	"DebugEvaluateResult":    reflect.TypeFor[DebugEvaluateResult](),
	"DebugStopArg":           reflect.TypeFor[DebugStopArg](),
}

// TestTypesHaveTheSchemasMembers compares the Go types with the schema: the same
// members, and required members are always encoded.
func TestTypesHaveTheSchemasMembers(t *testing.T) {
	s := readSchema(t)
	for def, typ := range goType {
		var required, all []string
		for i := range typ.NumField() {
			name, rest, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			all = append(all, name)
			if rest != "omitempty" {
				required = append(required, name)
			}
		}
		slices.Sort(all)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(s.Defs[def].Properties)), all); diff != "" {
			t.Errorf("%s and %s differ in their members: %s", def, typ, diff)
		}
		slices.Sort(required)
		if diff := cmp.Diff(slices.Sorted(slices.Values(s.Defs[def].Required)), required); diff != "" {
			t.Errorf("%s and %s differ in what is required: %s", def, typ, diff)
		}
	}
}

// TestMessageVectors decodes and encodes every valid message. The result is equal in all
// members that the schema defines.
func TestMessageVectors(t *testing.T) {
	kinds := map[string]*jsonschema.Resolved{"request": schemaOf(t, "Request"), "response": schemaOf(t, "Response"),
		"event": schemaOf(t, "Event")}
	for _, v := range readVectors[messageVector](t, "messages") {
		t.Run(v.Name, func(t *testing.T) {
			if err := kinds[v.Kind].Validate(decodeAny(t, v.Line)); err != nil {
				t.Fatalf("the vector does not fit the schema: %v", err)
			}
			second := reencode(t, v)
			if err := kinds[v.Kind].Validate(decodeAny(t, second)); err != nil {
				t.Errorf("%s does not fit the schema: %v", second, err)
			}
			want := decodeAny(t, v.Line)
			keepOnly(want, decodeAny(t, second))
			if diff := cmp.Diff(want, decodeAny(t, second)); diff != "" {
				t.Errorf("it came back changed: %s", diff)
			}
			if strings.Contains(v.Name, "unknown") || strings.Contains(v.Name, "newer") {
				return
			}
			if diff := cmp.Diff(decodeAny(t, v.Line), decodeAny(t, second)); diff != "" {
				t.Errorf("something was lost: %s", diff)
			}
		})
	}
}

// reencode decodes a line as its receiver does and encodes it as its sender does.
func reencode(t *testing.T, v messageVector) []byte {
	t.Helper()
	var out []byte
	var err error
	switch v.Kind {
	case "request":
		r, fault := decodeRequest(v.Line)
		if fault != nil {
			t.Fatal(fault)
		}
		payload, fault := decodePayload(r)
		if fault != nil {
			t.Fatal(fault)
		}
		if !bytes.Contains(v.Line, []byte(`"payload"`)) {
			payload = nil
		}
		out, err = reencodeRequest(r, payload)
	case "response":
		e, ok := scanEnvelope(v.Line)
		if !ok {
			t.Fatal("it is not read")
		}
		to, _ := decodeID(e.id)
		if string(e.success) == "true" {
			out = encodeAnswer(to, through(t, v.Def, e.payload), nil)
		} else {
			out = encodeAnswer(to, nil, through(t, v.Def, e.fault).(*Error))
		}
	case "event":
		e, ok := scanEnvelope(v.Line)
		if !ok {
			t.Fatal("it is not read")
		}
		decoded, fault := decodeEvent(e)
		if fault != nil {
			t.Fatal(fault)
		}
		out, err = encodeEvent(decoded.kind, decoded.seq, through(t, v.Def, decoded.payload))
	default:
		t.Fatalf("the kind %q is not known", v.Kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reencodeRequest encodes a request under its original id.
func reencodeRequest(r request, payload any) ([]byte, error) {
	line, err := encodeRequest(0, r.kind, payload)
	return bytes.Replace(line, []byte(`{"id":0,`), fmt.Appendf(nil, `{"id":%s,`, r.id), 1), err
}

// payloads maps a request to the type of its payload.
var payloads = map[string]reflect.Type{
	"hello":  reflect.TypeFor[helloRequest](),
	"ping":   reflect.TypeFor[struct{}](),
	"state":  reflect.TypeFor[struct{}](),
	"listen": reflect.TypeFor[listenRequest](),
	"call":   reflect.TypeFor[callRequest](),
	"cancel": reflect.TypeFor[cancelRequest](),
}

// decodePayload decodes a payload as the server does.
func decodePayload(r request) (any, *Error) {
	payload := reflect.New(payloads[r.kind]).Elem()
	fault := decodeValue(r.payload, payload, "/payload", anyLength)
	return payload.Interface(), fault
}

// through decodes a payload into the Go type of its definition.
func through(t *testing.T, def string, raw json.RawMessage) any {
	t.Helper()
	if def == "" {
		return raw
	}
	typ, ok := goType[def]
	if !ok {
		t.Fatalf("no Go type is bound to %s", def)
	}
	result := reflect.New(typ).Interface()
	must.Do(t, json.Unmarshal(raw, result))
	return result
}

// keepOnly removes the members of a that b lacks: unknown members.
func keepOnly(a, b any) {
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		for name := range a {
			if _, ok := b[name]; !ok {
				delete(a, name)
			} else {
				keepOnly(a[name], b[name])
			}
		}
	case []any:
		b, _ := b.([]any)
		for i := range min(len(a), len(b)) {
			keepOnly(a[i], b[i])
		}
	}
}

// TestCommandVectors decodes every argument and result of a command as its receiver
// does. The value is equal after it is encoded again.
func TestCommandVectors(t *testing.T) {
	for _, v := range readVectors[commandVector](t, "commands") {
		t.Run(v.Name, func(t *testing.T) {
			var def strings.Builder
			for word := range strings.SplitSeq(v.Command, ".") {
				def.WriteString(strings.ToUpper(word[:1]) + word[1:])
			}
			for name, raw := range map[string]json.RawMessage{def.String() + "Arg": v.Arg,
				def.String() + "Result": v.Result} {
				if err := schemaOf(t, name).Validate(decodeAny(t, raw)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if _, bound := goType[name]; !bound && string(raw) == "{}" {
					continue // a result that only confirms
				}
				second := must.Get(json.Marshal(through(t, name, raw)))(t)
				if diff := cmp.Diff(decodeAny(t, raw), decodeAny(t, second)); diff != "" {
					t.Errorf("%s came back changed: %s", name, diff)
				}
			}
		})
	}
}
