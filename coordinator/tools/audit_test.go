package tools_test

import "testing"

func TestAudit(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>
<button id=empty></button><p id=pale style="color:#aaa">Pale</p><p>Dark</p></main>`, "devtools")
	agent.Expect("browser_audit", nil,
		"button-name (critical): ", "[ref=", "#empty\n", "color-contrast (serious): ", "#pale\n", "contrast of 2.32")
	agent.Expect("browser_audit", args{"target": "h1"}, "No rule is broken.")
}
