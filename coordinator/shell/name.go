package shell

// agents are the coding agents that mark the environment of their commands, by a variable that
// a person's shell does not have. One that also sets the mark of another is before it.
var agents = []struct{ variable, value, name string }{
	{"AMP_CURRENT_THREAD_ID", "", "Amp"},
	{"AGENT", "amp", "Amp"},
	{"CURSOR_AGENT", "", "Cursor"},
	{"GEMINI_CLI", "", "Gemini CLI"},
	{"CODEX_THREAD_ID", "", "Codex"},
	{"CODEX_SANDBOX", "", "Codex"},
	{"CODEX_CI", "", "Codex"},
	{"COPILOT_CLI", "", "Copilot CLI"},
	{"AUGMENT_AGENT", "", "Augment"},
	{"OPENCODE", "", "opencode"},
	{"OPENCODE_CLIENT", "", "opencode"},
	{"CLAUDECODE", "", "Claude Code"},
}

// AgentName names the agent whose command this is, by its environment.
func AgentName(variable func(string) string) string {
	for _, a := range agents {
		if value := variable(a.variable); value != "" && (a.value == "" || a.value == value) {
			return a.name
		}
	}
	return "Shell"
}
