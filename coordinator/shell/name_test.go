package shell

import (
	"maps"
	"strings"
	"testing"
)

func TestAgentName(t *testing.T) {
	marks := map[string]string{ // by the variable and its value
		"AMP_CURRENT_THREAD_ID=T-1": "Amp", "AGENT=amp": "Amp", "CURSOR_AGENT=1": "Cursor", "GEMINI_CLI=1": "Gemini CLI",
		"CODEX_THREAD_ID=1": "Codex", "CODEX_SANDBOX=seatbelt": "Codex", "CODEX_CI=1": "Codex",
		"COPILOT_CLI=1": "Copilot CLI", "AUGMENT_AGENT=1": "Augment", "OPENCODE=1": "opencode",
		"OPENCODE_CLIENT=cli": "opencode", "CLAUDECODE=1": "Claude Code",
	}
	if len(marks) != len(agents) {
		t.Errorf("%d variables are tested, of %d", len(marks), len(agents))
	}
	more := maps.Clone(marks)
	maps.Copy(more, map[string]string{"": "Shell", "AGENT=other": "Shell", "CLAUDECODE=": "Shell",
		"CLAUDECODE=1 AGENT=amp": "Amp", "CLAUDECODE=1 AGENT=other": "Claude Code"})
	for environment, want := range more {
		variables := map[string]string{}
		for _, one := range strings.Fields(environment) {
			name, value, _ := strings.Cut(one, "=")
			variables[name] = value
		}
		if got := AgentName(func(name string) string { return variables[name] }); got != want {
			t.Errorf("%q: %s, want %s", environment, got, want)
		}
	}
}
