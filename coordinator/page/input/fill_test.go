package input_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// Fields that accept less than the typed text, or reformat it, report their value.
func TestFieldsThatHoldSomethingElse(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input id=ml maxlength=5>
<input id=mask oninput="this.value = this.value.replace(/\D/g, '').replace(/(\d{3})(?=\d)/g, '$1-')">
<input id=pw type=password maxlength=4><textarea id=a></textarea><input id=plain>
<form action="/sent"><input id=q name=q maxlength=3></form>`)
	ctx := t.Context()
	for _, test := range []struct {
		target, text string
		opts         input.TypeOptions
		want         []input.FieldValue
	}{
		{"#ml", "abcdefgh", input.TypeOptions{}, []input.FieldValue{{Target: "#ml", Value: "abcde"}}},
		{"#mask", "123456", input.TypeOptions{}, []input.FieldValue{{Target: "#mask", Value: "123-456"}}},
		{"#mask", "9", input.TypeOptions{Slowly: true}, nil},
		{"#pw", "secret", input.TypeOptions{}, []input.FieldValue{{Target: "#pw", Value: "••••"}}},
		{"#ml", "sésame", input.TypeOptions{Secret: true},
			[]input.FieldValue{{Target: "#ml", Value: "•••••", Plain: "sésam"}}},
		{"#a", "two\r\nlines", input.TypeOptions{}, nil},
		{"#plain", "plain", input.TypeOptions{}, nil},
		{"#plain", "er", input.TypeOptions{Slowly: true}, nil},
		{"#q", "quest", input.TypeOptions{Submit: true}, []input.FieldValue{{Target: "#q", Value: "que"}}},
	} {
		c, err := p.Act(ctx, p.Input().Type(test.target, test.text, test.opts))
		if err != nil || len(c.Values)+len(test.want) > 0 && !reflect.DeepEqual(c.Values, test.want) {
			t.Errorf("%s: %+v %v", test.target, c.Values, err)
		}
	}
	pagetest.Contains(t, p.URL(), "/sent?q=que")
}

// A form reports which of its fields have another value, and at which one it failed.
func TestFormsThatFail(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input id=ml maxlength=5><input id=plain>
<input id=d type=date value=2026-01-02 onchange="changed = true"><input id=k type=checkbox><select id=s></select>
<script>changed = false</script>`)
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().FillForm([]input.Field{
		{Target: "#ml", Type: "textbox", Value: "abcdefgh"},
		{Target: "#plain", Type: "textbox", Value: "x"},
	}))
	if err != nil || !reflect.DeepEqual(c.Values, []input.FieldValue{{Target: "#ml", Value: "abcde"}}) {
		t.Errorf("a form: %+v %v", c, err)
	}
	// An invalid date leaves the value unchanged.
	var target *frame.TargetError
	_, err = p.Act(ctx, p.Input().Type("#d", "31.12.2026", input.TypeOptions{}))
	if !errors.As(err, &target) || !strings.Contains(err.Error(), `holds "2026-01-02" as before: give YYYY-MM-DD`) {
		t.Errorf("no date: %v", err)
	}
	pagetest.Expect(t, p, "[d.value, changed].join()", `"2026-01-02,false"`)
	// A form that fails midway reports the field, and what is done.
	_, err = p.Act(ctx, p.Input().FillForm([]input.Field{
		{Target: "#plain", Type: "textbox", Value: "first"},
		{Target: "#s", Value: "never"},
		{Target: "#k", Type: "checkbox", Value: "true"},
	}))
	if !errors.As(err, &target) {
		t.Errorf("a form that fails: %v", err)
	} else {
		pagetest.Contains(t, err.Error(), "field 2 of 3 (#s)", "filled before it: textbox [id=plain]", `no option "never"`)
	}
}

// A date and time may have a blank between them.
func TestDateAndTime(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input type=datetime-local id=d>`)
	pagetest.Act(t, p, p.Input().Type("#d", "2026-03-05 14:30", input.TypeOptions{}))
	pagetest.Expect(t, p, "d.value", `"2026-03-05T14:30"`)
}

// A form that the browser does not submit reports the reason that the user sees.
func TestFormThatIsNotSent(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><form action=/sent><label>Name <input required id=n></label>
<input type=email name=mail id=m><button>Send</button><button type=button id=plain>Other</button></form>`)
	c, err := p.Act(t.Context(), p.Input().Click("button:not([type])", input.ClickOptions{}))
	if err != nil || len(c.Invalid) != 1 || !strings.HasPrefix(c.Invalid[0], "Name: ") || len(c.Invalid[0]) < 12 {
		t.Errorf("an empty field: %q %v", c.Invalid, err)
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), `textbox "Name" [required] [invalid] [active]`)
	if c, err = p.Act(t.Context(), p.Input().Click("#plain", input.ClickOptions{})); err != nil || len(c.Invalid) > 0 {
		t.Errorf("a button that sends nothing: %q %v", c.Invalid, err)
	}
	pagetest.Act(t, p, p.Input().Type("#n", "Ada", input.TypeOptions{}))
	c, err = p.Act(t.Context(), p.Input().Type("#m", "nobody", input.TypeOptions{Submit: true}))
	if err != nil || len(c.Invalid) != 1 || !strings.HasPrefix(c.Invalid[0], "mail: ") {
		t.Errorf("no address: %q %v", c.Invalid, err)
	}
	c, err = p.Act(t.Context(), p.Input().Type("#m", "a@b.c", input.TypeOptions{Submit: true}))
	if err != nil || len(c.Invalid) > 0 || c.URL != url+"/sent?mail=a%40b.c" {
		t.Errorf("sent: %+v %v", c, err)
	}
}

// What is typed never goes into another field.
func TestFieldThatTakesNoFocus(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><label>Amount <input id=q value=5></label><details><summary>Advanced</summary>
<input id=px><div id=ce contenteditable>n</div><select id=s><option>a<option>b</select></details>
<div contenteditable id=host>one<p id=part>two</p><input id=inner></div><style>#part{display:block}</style>`)
	pagetest.Act(t, p, p.Input().Click("#q", input.ClickOptions{}))
	for _, target := range []string{"#px", "#ce"} {
		for _, slowly := range []bool{false, true} {
			opts := input.TypeOptions{Slowly: slowly, Timeout: 100 * time.Millisecond}
			pagetest.Fails[*input.NotReadyError](t, p, p.Input().Type(target, "8080", opts), `summary "Advanced" may show it`)
		}
	}
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().SelectOption("#s", "b"), "may show it")
	pagetest.Expect(t, p, "[q.value, px.value, s.value].join()", `"5,,a"`)
	pagetest.Act(t, p, p.Input().Type("#part", "three", input.TypeOptions{})) // the editor around it has the focus
	pagetest.Act(t, p, p.Input().Type("#part", "!", input.TypeOptions{Slowly: true}))
	pagetest.Act(t, p, p.Input().Type("#inner", "in", input.TypeOptions{Slowly: true})) // a field of its own
	pagetest.Expect(t, p, "inner.value", `"in"`)
	pagetest.Expect(t, p, "[q.value, host.innerText.split(/\\s+/).join(' ')].join()", `"5,one three!"`)
}

// A whole document may be an editor: nothing in it has the focus then.
func TestEditorThatIsADocument(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><body><p>old</p></body><script>document.designMode = "on"</script>`)
	pagetest.Act(t, p, p.Input().Type("body", "new", input.TypeOptions{}))
	pagetest.Expect(t, p, "document.body.innerText.trim()", `"new"`)
}

// The browser has no message for a page's own kind of field.
func TestFormWithAFieldOfThePage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<form onsubmit="return false"><x-mail name=mail></x-mail><button>Send</button></form><script>
customElements.define("x-mail", class extends HTMLElement {
  static formAssociated = true
  constructor() {
    super(); this.tabIndex = 0;
    this.attachInternals().setValidity({ typeMismatch: true }, "Enter an address", this) }
})</script>`)
	c, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{}))
	if err != nil || len(c.Invalid) != 1 || !strings.HasPrefix(c.Invalid[0], "mail: ") {
		t.Errorf("%q %v", c.Invalid, err)
	}
}

// A slider that is no field reports what sets its value, and that works.
func TestSliderOfThePage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div id=s role=slider tabindex=0 aria-label=Volume aria-valuenow=30
  aria-valuemin=0 aria-valuemax=100 onkeydown="if (event.key === 'ArrowRight') ariaValueNow++">o</div>`)
	const advice = "at 30 of 0 to 100, and no field: press ArrowRight"
	pagetest.Fails[*frame.TargetError](t, p, p.Input().Type("#s", "50", input.TypeOptions{}), advice)
	pagetest.Fails[*frame.TargetError](t, p, p.Input().SelectOption("#s", "50"), advice)
	pagetest.Fails[*frame.TargetError](
		t, p, p.Input().FillForm([]input.Field{{Target: "#s", Type: "slider", Value: "50"}}), advice)
	pagetest.Act(t, p, p.Input().PressKeyIn("#s", "ArrowRight"))
	pagetest.Expect(t, p, "s.ariaValueNow", `"31"`)
}

// A checkbox that cannot be seen is acted on at its label, whatever target names it.
func TestStyledSwitch(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>
.switch{position:relative;display:inline-block;width:40px;height:20px}
.slider{position:absolute;inset:0;background:gray}
.sr{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0,0,0,0)}</style>
<p>Wi-Fi <label class=switch aria-label=Wi-Fi><input id=cb
  type=checkbox role=switch aria-label=Wi-Fi style="opacity:0;width:0;height:0"><span class=slider></span></label>
<p><label class=switch><input id=sr type=checkbox class=sr aria-label=Night><span class=slider></span></label>
<p><label>Gone <input id=gone type=checkbox style="display:none"></label>
<p><label>Off <input id=off type=checkbox style="display:none" disabled></label>`)
	want := false
	for _, target := range []string{"#cb", "input[role=switch]", "role=switch", `switch "Wi-Fi"`, "label[aria-label]",
		pagetest.Ref(t, pagetest.Snapshot(t, p), `switch "Wi-Fi"`)} {
		want = !want
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
		pagetest.Expect(t, p, "cb.checked", fmt.Sprint(want))
	}
	for _, target := range []string{"#cb", "#sr", "#gone", `checkbox "Gone"`} {
		for _, kind := range []string{"", "checkbox"} {
			for _, value := range []string{"true", "false"} {
				pagetest.Act(t, p, p.Input().FillForm([]input.Field{{Target: target, Type: kind, Value: value}}))
			}
		}
	}
	pagetest.Act(t, p, p.Input().Hover("#sr", input.HoverOptions{}))
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#off",
		input.ClickOptions{Timeout: 200 * time.Millisecond}), "it is disabled")
}

// A real React form: React reverts changes without events.
func TestReactControlledFields(t *testing.T) {
	t.Parallel()
	bundle, err := os.ReadFile("../testdata/react/bundle.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bundle.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bundle)
		default:
			fmt.Fprint(w, `<!doctype html>
<meta charset=utf-8><div id=root></div><div id=form></div><script src=/bundle.js></script>`)
		}
	}))
	for _, step := range []struct {
		field, want string
		action      input.Action
	}{
		{"text", `"new ü"`, p.Input().Type("[name=text]", "new ü", input.TypeOptions{})},
		{"text", `"new ü!"`, p.Input().Type("[name=text]", "!", input.TypeOptions{Slowly: true})},
		{"text", `""`, p.Input().Type("[name=text]", "", input.TypeOptions{})},
		{"area", `"two\nlines"`, p.Input().Type("[name=area]", "two\nlines", input.TypeOptions{})},
		{"number", `"42"`, p.Input().Type("[name=number]", "42", input.TypeOptions{})},
		{"date", `"2026-11-21"`, p.Input().Type("[name=date]", "2026-11-21", input.TypeOptions{})},
		{"range", `"7"`, p.Input().FillForm([]input.Field{{Target: "[name=range]", Type: "slider", Value: "7"}})},
		{"colour", `"b"`, p.Input().SelectOption("[name=colour]", "Blue")},
		{"agreed", `true`, p.Input().FillForm([]input.Field{{Target: "[name=agreed]", Type: "checkbox", Value: "true"}})},
		{"size", `"l"`, p.Input().FillForm([]input.Field{{Target: "[value=l]", Type: "radio", Value: "true"}})},
	} {
		pagetest.Act(t, p, step.action)
		pagetest.Expect(t, p, "JSON.parse(document.querySelector('output').textContent)."+step.field, step.want)
		got := pagetest.Evaluate(t, p, "((e) => e.type === 'checkbox' || e.type === 'radio' ? '' : e.value)"+
			"(document.querySelector('[name="+step.field+"]'))")
		if got != `""` && got != step.want {
			t.Errorf("%s: the field shows %s", step.field, got)
		}
	}
	// A snapshot of the rendered list, and its difference after changes. React replaces
	// elements; the field keeps its ref.
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `heading "1 things to do"`,
		`button "Add" [disabled]`, `Water the plants | button "Done: Water the plants"`)
	field := pagetest.Ref(t, text, "New thing")
	for _, thing := range []string{"Read", "Write"} {
		pagetest.Act(t, p, p.Input().Type(field, thing, input.TypeOptions{Submit: true}))
	}
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true})
	if err != nil || !s.Diff {
		t.Fatalf("%+v %v", s, err)
	}
	pagetest.Contains(t, s.Text, `- heading "1 things to do"`,
		`- heading "3 things to do"`, `- Read | "Done: Read"`, `- Write | "Done: Write"`)
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, pagetest.Snapshot(t, p), "Done: Read"), input.ClickOptions{}))
	pagetest.Contains(t, pagetest.Snapshot(t, p), `heading "2 things to do"`)
}

// A checkbox is clicked at its own place, also if the caller has not said what it is.
func TestFillACheckboxByWhatItIs(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div style="height:60px"></div><input type=checkbox id=news>`)
	pagetest.Act(t, p, p.Input().FillForm([]input.Field{{Target: "#news", Value: "true"}}))
	pagetest.Expect(t, p, "news.checked", "true")
}

// A later field, or the page a while later, changes fields that were filled. The outcome
// has what they are when the page has settled.
func TestFieldsThatThePageChangesAgain(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><label>Region <input id=region></label><label>Town <input id=town></label>
<label>Country <select id=country><option>-<option>Peru<option>Chile</select></label>
<label>News <input type=checkbox id=news></label>
<select id=tags multiple><option>red<option>green<option>blue</select><div id=box><input id=code></div>
<input id=mask oninput="this.value = this.value.toUpperCase()"><input id=late><input id=last>
<script>
country.onchange = async () => { region.value = ""; news.checked = false; await fetch("/regions"); town.value = "Lima" }
last.oninput = () => {
  country.selectedIndex = 0; box.innerHTML = "<b>none</b>"; mask.value = ""
  late.oninput = null; setTimeout(() => late.value = late.value.trim()) }
</script>`)
	c, err := p.Act(t.Context(), p.Input().FillForm([]input.Field{
		{Target: "#region", Value: "Cusco"}, {Target: "#town", Value: "Pisac"},
		{Target: "#news", Value: "true"}, {Target: "#country", Value: "Peru"},
		{Target: "#tags", Values: []string{"red", "blue"}}, {Target: "#code", Value: "12"},
		{Target: "#mask", Value: "abcdef", Secret: true}, {Target: "#late", Value: " x "},
		{Target: "#late", Value: "x "}, {Target: "#last", Value: "end"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []input.FieldValue{
		{Target: "#region", Now: "is empty again"},
		{Target: "#town", Value: "Lima", Now: `now holds "Lima"`}, {Target: "#news", Now: "is unchecked again"},
		{Target: "#country", Value: "-", Now: `now holds "-"`}, {Target: "#code", Now: "is no longer in the page"},
		{Target: "#mask", Now: "is empty again"}, {Target: "#late", Value: "x", Now: `now holds "x"`},
	}
	if !reflect.DeepEqual(c.Values, want) {
		t.Errorf("%+v", c.Values)
	}
	if !slices.ContainsFunc(c.PastValues, func(h input.FieldValue) bool { return h.Plain == "ABCDEF" }) {
		t.Errorf("what the secret has become for a while: %+v", c.PastValues)
	}
	pagetest.Expect(t, p, "[...tags.selectedOptions].map(o => o.value).join()", `"red,blue"`)

	// What fits is not reported. Of a document that is replaced, everything else is.
	pagetest.Evaluate(t, p, "country.onchange = last.oninput = null")
	c, err = p.Act(t.Context(), p.Input().FillForm([]input.Field{
		{Target: "#region", Value: "Cusco"},
		{Target: "#tags", Values: []string{}},
		{Target: "#country", Value: "Chile"},
		{Target: "#news", Type: "checkbox", Value: "true"},
	}))
	if err != nil || len(c.Values) > 0 {
		t.Errorf("%+v %v", c.Values, err)
	}
	pagetest.Expect(t, p, "tags.selectedOptions.length", "0")
	pagetest.Evaluate(t, p, "country.onchange = () => location = '/next'")
	c, err = p.Act(t.Context(), p.Input().FillForm([]input.Field{
		{Target: "#region", Value: "Cusco"},
		{Target: "#country", Value: "Peru"},
	}))
	lost := []input.FieldValue{{Target: "#region", Now: "is empty again"},
		{Target: "#country", Value: "-", Now: `now holds "-"`}}
	if err != nil || !reflect.DeepEqual(c.Values, lost) || !c.Navigated || !c.Replaced {
		t.Errorf("%+v %v", c, err)
	}
}

// A field that the page redraws holds what the new one holds.
func TestFieldsThatAreDrawnAnew(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<p id=a><input aria-label=Key></p><p id=b><input aria-label=Code></p><input id=last>
<script>
const redraw = (box) => {
  const old = box.firstChild, e = old.cloneNode(); e.value = old.value.toUpperCase(); old.replaceWith(e) }
a.onchange = () => redraw(a)
b.onchange = () => setTimeout(() => redraw(b))
</script>`)
	code := pagetest.Ref(t, pagetest.Snapshot(t, p), `textbox "Code"`)
	c, err := p.Act(t.Context(), p.Input().FillForm([]input.Field{
		{Target: "#a input", Value: "ab", Secret: true},
		{Target: code, Value: "cd"},
		{Target: "#last", Value: "end"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []input.FieldValue{
		{Target: "#a input", Value: "••", Plain: "AB", Now: `now holds "••"`},
		{Target: code, Value: "CD", Now: `now holds "CD"`},
	}
	if !reflect.DeepEqual(c.Values, want) {
		t.Errorf("%+v", c.Values)
	}
}

// A selection that the page takes back is reported.
func TestSelectionThatIsTakenBack(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<select id=go onchange="this.selectedIndex = 0"><option>Go to …<option>News</select>`)
	c, err := p.Act(t.Context(), p.Input().SelectOption("#go", "News"))
	if err != nil || len(c.Values) != 1 || c.Values[0].Now != `now holds "Go to …"` {
		t.Errorf("%+v %v", c.Values, err)
	}
}

// A field is filled as what it is, also if its role is that of another widget: one can type
// in a combobox that suggests.
func TestFieldsByAnotherType(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input id=city role=combobox aria-autocomplete=list>
<select id=size><option>S<option>M</select><input type=checkbox id=news>
<div id=list role=combobox tabindex=0>One</div>
<input id=picked role=combobox readonly value=One><input type=color id=ink><input id=short maxlength=2>`)
	pagetest.Act(t, p, p.Input().FillForm([]input.Field{
		{Target: "#city", Type: "combobox", Value: "Lima"},
		{Target: "#size", Type: "textbox", Value: "M"},
		{Target: "#news", Type: "textbox", Value: "true"},
	}))
	pagetest.Expect(t, p, "[city.value, size.value, news.checked].join()", `"Lima,M,true"`)
	for _, target := range []string{"#list", "#picked"} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().FillForm(
			[]input.Field{{Target: target, Type: "combobox", Value: "Two"}}), `has no option "Two": it shows none`)
	}
	pagetest.Fails[error](t, p, p.Input().FillForm([]input.Field{{Target: "#news", Value: ""}}), "takes true or false")
	c, err := p.Act(t.Context(), p.Input().FillForm([]input.Field{
		{Target: "#ink", Value: "#FF0000"},
		{Target: "#short", Value: "abc"},
		{Target: "#short", Value: "xyz"},
	}))
	if err != nil || !reflect.DeepEqual(c.Values, []input.FieldValue{{Target: "#short", Value: "xy"}}) {
		t.Errorf("%+v %v", c.Values, err)
	}
	pagetest.Fails[*frame.TargetError](
		t, p, p.Input().FillForm([]input.Field{{Target: "#city", Values: []string{"a", "b"}}}), "takes one value, not a list")
	pagetest.Fails[*frame.TargetError](
		t, p, p.Input().FillForm([]input.Field{{Target: "#size", Values: []string{"S", "M"}}}), "takes one option")
}

// A page may ask its server before it shows what was chosen, and load options when a list
// before it has been set.
func TestControlsThatAnswerLate(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><button id=beta role=switch aria-checked=false
  onclick="setTimeout(() => ariaChecked = ariaChecked === 'true' ? 'false' : 'true', 250)">Beta</button>
<select id=state><option>Loading</select>
<select id=country onchange="setTimeout(() => state.innerHTML = '<option>Ohio<option>Oregon', 400)">
<option>-<option>USA</select>`)
	pagetest.Act(t, p, p.Input().FillForm([]input.Field{
		{Target: "#beta", Value: "true"},
		{Target: "#country", Value: "USA"},
		{Target: "#state", Value: "Oregon"},
	}))
	pagetest.Expect(t, p, "beta.ariaChecked + state.value", `"trueOregon"`)
	pagetest.Fails[*frame.TargetError](t, p, p.Input().SelectOption("#state", "Utah"),
		`has no option "Utah"; it has "Ohio", "Oregon"`)
}

// A form is filled only if each of its fields takes its value. What the others may bring is awaited.
func TestFieldsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input id=name><input id=fixed type=date readonly><div id=box>box</div>
<button id=button>Button</button><input id=n type=number><input id=k type=checkbox><input id=r type=range>
<select id=s><option>a</select><input id=off disabled><textarea id=area readonly></textarea>
<script>document.getElementById("name").oninput = () => {
  off.disabled = false; document.body.insertAdjacentHTML("beforeend", "<input id=new>") }</script>`)
	for target, refused := range map[string]struct{ value, why string }{
		"#fixed": {"2026-01-02", "is readonly"}, "#area": {"x", "is readonly"}, "#box": {"x", "takes no text"},
		"#button": {"x", "takes no text"}, "#n": {"x", "takes numbers only"}, "#r": {"x", `would make "50" of it`},
		"#k": {"x", "takes true or false"},
	} {
		pagetest.Fails[*input.FormError](t, p, p.Input().FillForm([]input.Field{
			{Target: "#name", Value: "Ada"}, {Target: "#s", Value: "a"}, {Target: target, Value: refused.value},
		}), fmt.Sprintf("no field is filled: field 3 of 3: target %q: ", target))
		pagetest.Fails[*input.FormError](t, p, p.Input().FillForm([]input.Field{
			{Target: "#name", Value: "Ada"}, {Target: target, Value: refused.value}, {Target: "#s", Values: []string{"a", "b"}},
		}), refused.why)
	}
	pagetest.Expect(t, p, `document.getElementById("name").value`, `""`)
	pagetest.Act(t, p, p.Input().FillForm([]input.Field{
		{Target: "#name", Value: "Ada"}, {Target: "#off", Value: "on"}, {Target: "#new", Value: "new"},
	}))
	pagetest.Expect(t, p, `off.value + document.getElementById("new").value`, `"onnew"`)
}

const listsPage = `<!doctype html><style>[role=option] { height: 20px } [role=listbox] { width: 200px }
.popup { position: absolute; background: #eee; z-index: 1 }</style>
<label id=sizes>Size</label>
<button id=size role=combobox aria-labelledby=sizes aria-expanded=false aria-controls=size-list>Choose</button>
<div id=size-list role=listbox hidden class=popup><div role=option>Small</div><div role=option>Large</div>
<div role=option aria-disabled=true>Huge</div></div>
<button id=plan aria-haspopup=listbox aria-expanded=false>Plan</button>
<div id=country role=combobox tabindex=0 aria-expanded=false>-</div>
<input id=fixed role=combobox readonly aria-expanded=false value="-">
<input id=city role=combobox aria-autocomplete=list aria-expanded=false aria-controls=cities>
<div id=cities role=listbox hidden class=popup></div>
<ul id=tags role=listbox aria-multiselectable=true><li role=option aria-selected=true>red<li role=option>green
<li role=option>blue</ul>
<ul role=listbox aria-label=Other><li role=option>Large<li role=option>Peru</ul>
<div id=topics role=combobox tabindex=0 aria-expanded=false aria-controls=topic-list>none</div>
<div id=topic-list role=listbox aria-multiselectable=true hidden class=popup><div role=option>News</div>
<div role=option>Sport</div><div role=option>Arts</div></div>
<script>
const toggle = (button, list, open) => { list.hidden = !open; button.setAttribute("aria-expanded", open) };
const size = document.getElementById("size"), sizes2 = document.getElementById("size-list");
size.onclick = () => toggle(size, sizes2, sizes2.hidden);
for (const o of sizes2.children) o.onclick = () => { size.textContent = o.textContent; toggle(size, sizes2, false) };
// A list that is made when it opens, below the body and later.
const portal = (button, options, late) => {
  button.onclick = async () => {
    await new Promise((done) => setTimeout(done, late));
    const list = document.createElement("div");
    list.className = "popup"; list.setAttribute("role", "listbox");
    for (const text of options) {
      const o = document.createElement("div");
      o.setAttribute("role", "option"); o.textContent = text;
      o.onpointerdown = () => {
        "value" in button && button.nodeName === "INPUT" ? button.value = text : button.textContent = text;
        list.remove(); button.setAttribute("aria-expanded", false);
      };
      list.append(o);
    }
    document.body.append(list);
    button.setAttribute("aria-expanded", true);
  };
};
portal(plan, ["Free", "Team"], 0);
portal(country, ["Chile", "Peru"], 300);
portal(fixed, ["One", "Two"], 100);
const city = document.getElementById("city");
city.oninput = () => setTimeout(() => {
  cities.replaceChildren(...["Lima", "Linz", "London"].filter((c) => c.startsWith(city.value)).map((c) => {
    const o = document.createElement("div");
    o.setAttribute("role", "option"); o.textContent = c;
    o.onclick = () => { city.value = c; city.chosen = c; toggle(city, cities, false) };
    return o;
  }));
  toggle(city, cities, cities.children.length > 0);
}, 200);
city.onblur = () => { if (city.chosen !== city.value) city.value = "" };
for (const o of tags.children) o.onclick = () => o.ariaSelected = String(o.ariaSelected !== "true");
const topicList = document.getElementById("topic-list");
topics.onclick = () => toggle(topics, topicList, topicList.hidden);
document.addEventListener("keydown", (e) => { if (e.key === "Escape") toggle(topics, topicList, false) });
for (const o of topicList.children) o.onclick = () => {
  o.ariaSelected = String(o.ariaSelected !== "true");
  const chosen = [...topicList.children].filter((o) => o.ariaSelected === "true");
  topics.textContent = chosen.map((o) => o.textContent).join();
};
</script>`

// A list of the page's own is opened, and its options are clicked.
func TestListsOfThePage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, listsPage)
	const values = "[size, plan, country, fixed, city].map((e) => e.nodeName === 'INPUT' ? e.value : e.textContent)" +
		".concat([...tags.children].filter((o) => o.ariaSelected === 'true').map((o) => o.textContent.trim()), " +
		"topics.textContent).join()"
	c := pagetest.Act(t, p, p.Input().FillForm([]input.Field{
		{Target: "#size", Value: "large"}, {Target: "#plan", Value: "Team"},
		{Target: "#country", Type: "combobox", Value: "Peru"}, {Target: "#fixed", Value: "Two"},
		{Target: "#city", Value: "Lima"}, {Target: "#tags", Values: []string{"green", "blue"}},
		{Target: "#topics", Values: []string{"News", "Arts"}},
	}))
	if len(c.Values) > 0 {
		t.Errorf("%+v", c.Values)
	}
	pagetest.Expect(t, p, values, `"Large,Team,Peru,Two,Lima,green,blue,News,Arts"`)
	pagetest.Expect(t, p, "topics.ariaExpanded", `"false"`)
	for target, value := range map[string]string{
		"#size": "Small", "#plan": "Free", "#country": "Chile", "#fixed": "One", "#city": "Linz", "#tags": "red",
		"#topics": "Sport",
	} {
		if c := pagetest.Act(t, p, p.Input().SelectOption(target, value)); len(c.Values) > 0 {
			t.Errorf("%s: %+v", target, c.Values)
		}
	}
	pagetest.Expect(t, p, values, `"Small,Free,Chile,One,Linz,red,Sport"`)
	for target, why := range map[string]string{
		"#size": `has no option "Medium"; it has "Small", "Large", "Huge"`, "#plan": `it has "Free", "Team"`,
		"#city": "it shows none. The text is typed into it", "body": "is neither a <select> nor a combobox",
	} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().SelectOption(target, "Medium"), why)
	}
	pagetest.Fails[*frame.TargetError](t, p, p.Input().SelectOption("#size", "Huge"), `option "Huge" is disabled`)
}
