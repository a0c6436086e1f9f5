package answer

import (
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/tools/secrets"
)

// The user's window gets no value of a secret with what the list of actions has of requests.
func TestSecretsInEffects(t *testing.T) {
	t.Parallel()
	a := New(secrets.New(map[string]string{"COUPON": "quartz-lamp"}), nil, nil, nil)
	a.failures([]history.Request{{Method: "GET", URL: "http://shop.test/a?c=quartz-lamp", Failed: "for quartz-lamp",
		Place: "http://shop.test/quartz-lamp.js:1"}}, "http://shop.test/")
	if e := a.Effects(); len(e) != 1 || strings.Contains(e[0].Text+e[0].Place, "quartz") ||
		!strings.Contains(e[0].Text, "COUPON") || !strings.HasSuffix(e[0].Place, ".js:1") {
		t.Errorf("%+v", e)
	}
}

// More than two lines in a row that have gone are counted, by what they were: what has moved, or
// goes on with the same ref, has not been removed.
func TestLinesThatHaveGoneAreCounted(t *testing.T) {
	t.Parallel()
	for diff, want := range map[string]string{
		"  - main:\n-   - dialog \"Sure\":\n-     - button \"No\" " +
			"[ref=e1]\n": "",
		"  - main:\n-   - dialog \"Sure\" [modal]:\n-     - Text\n-     - button \"No\" " +
			"[ref=e1]\n": "  - main:\n-   3 lines removed: dialog " +
			"\"Sure\" [modal]\n",
		"  - list:\n-   - Tea | 1\n-   - Cup | 2\n-   - Pot | button \"Buy\" [ref=e3]\n    … 2 as " +
			"before\n": "  - list:\n-   3 lines removed: Tea | 1; Cup | 2; Pot | " +
			"button \"Buy\"\n    … 2 as before\n",
		"- - region \"Found 3\":\n-   - heading \"All\"\n-   - grid:\n-     - rowgroup:\n" +
			"-       - Tea | 1\n-       - Cup | 2\n+ - region \"Found 0\"\n": "- 6 lines removed: Tea | 1; Cup | 2\n+ - region \"Found 0\"\n",
		"- - grid:\n-   - A | 1\n-   - B | 2\n-   - C | 3\n-   - D | 4\n-   - E | 5\n": "- 6 lines removed: A | 1; " +
			"B | 2 … E | 5\n",
		"  - list:\n-   - Tea\n-   - Cup\n-   - Pot\n    - Jug\n+   - Pot\n+   - Cup\n+   - " +
			"Tea\n": "  - list:\n-   3 lines moved\n    - Jug\n+   " +
			"- Pot\n+   - Cup\n+   - Tea\n",
		"- - textbox \"A\" [ref=e1]\n- - textbox \"B\" [ref=e2]\n- - Hint\n+ - textbox \"A\" [ref=e1]: x\n+ - " +
			"textbox \"B\" [ref=e2]: y\n": "- 1 line removed: Hint\n+ - textbox \"A\" [ref=e1]: x\n+ - " +
			"textbox \"B\" [ref=e2]: y\n",
		"- - A | button [ref=e1]\n- - B | button [ref=e2]\n- - C | button [ref=e3]\n+ - A 1 | button [ref=e1]\n+ - B " +
			"| button [ref=e5] | [ref=e2]\n": "- 1 line removed: C | button\n+ - A 1 | button [ref=e1]\n+ - B | " +
			"button [ref=e5] | [ref=e2]\n",
	} {
		if want == "" {
			want = diff
		}
		if got := cutChanges(diff, maxChanges, "browser_snapshot"); got != want {
			t.Errorf("%s\nbecame\n%s\nwant\n%s", diff, got, want)
		}
		if got := cutChanges(diff, MaxPart, "browser_snapshot"); got != diff {
			t.Errorf("all changes: %s", got)
		}
	}
	if long := strings.Repeat("é", 100); len(removedName("- - "+long)) > maxRemovedName+len("…") {
		t.Error("a long name is not cut")
	}
}
