package tools_test

import (
	"testing"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// An agent that may only look can show the user an element.
func TestHighlight(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent("devtools")
	agent.Open(toolstest.ServeHTML(t, `<!doctype html><body style="margin:0">
<button style="position:absolute;left:50px;top:50px;width:100px;height:60px;border:0;background:#f00">Order</button>`))
	w.Allow(vscodeipc.AccessView)
	agent.Await("[access: view]")
	isLit := func() bool {
		_, all := pictures(t, agent, nil)
		return !is(all[0], 60, 60, 255, 0, 0)
	}
	if isLit() {
		t.Error("highlighted before")
	}
	agent.Expect("browser_highlight", args{"target": agent.Ref("button", "Order"), "style": "outline: red"},
		`Highlighted button "Order".`)
	if !isLit() {
		t.Error("not highlighted")
	}
	agent.Expect("browser_hide_highlight", args{"target": "button"}, "Removed the highlight.")
	if isLit() {
		t.Error("highlighted after")
	}
	agent.Expect("browser_hide_highlight", nil, "Nothing is highlighted in this tab.")
}
