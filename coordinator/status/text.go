package status

import (
	"fmt"
	"io"
	"strings"
	"time"

	"browser-coordinator/coordinator/terminal"
)

// Nothing is the text for an empty report.
const Nothing = "No window is open, no endpoint is served, and no agent works without a window. Open a folder in VS " +
	"Code with the Browser Coordinator extension, or run `coordinator window`."

// Empty reports whether there is nothing to show.
func (r Report) Empty() bool {
	return len(r.Windows)+len(r.Endpoints)+len(r.Agents)+len(r.Unreachable)+len(r.OwnBrowsers) == 0
}

// Write writes the report for people, as it is at a moment.
func (r Report) Write(w io.Writer, now time.Time) error {
	var blocks []string
	for _, window := range r.Windows {
		title := fmt.Sprintf("%s (%s, process %d)", window.label, window.Kind, window.PID)
		text := block(title, window.browser(), window.Access, window.Endpoint, window.Clients, window.ClientsUnknown, now)
		blocks = append(blocks, text+forUser(window.Waiting))
	}
	for _, each := range r.Endpoints {
		title := "An unknown folder (no window)"
		if each.Workspace != nil {
			title = *each.Workspace + " (no window)"
		}
		blocks = append(blocks, block(title, name(each.Browser), each.Access, each.Endpoint, each.Clients, "", now))
	}
	if len(r.Agents) > 0 {
		var rows [][]string
		var asks []string
		for _, agent := range r.Agents {
			rows = append(rows, agent.row(now))
			asks = append(asks, agent.Asks...)
		}
		blocks = append(blocks, "Agents without a window\n"+indented("  ", "  ", rows)+forUser(asks))
	}
	for _, own := range r.OwnBrowsers {
		state := "is connected"
		if own.Asking {
			state = "asks you to allow remote debugging"
		}
		blocks = append(blocks, terminal.PrintableLine(fmt.Sprintf("%s %s (process %d, profile folder %s)",
			"Y"+strings.TrimPrefix(own.Browser, "y"), state, own.PID, own.Profile))+"\n")
	}
	for _, u := range r.Unreachable {
		blocks = append(blocks, terminal.PrintableLine(u.Address+": "+u.Reason)+"\n")
	}
	text := strings.Join(blocks, "\n")
	if terminal.Is(w) {
		text = terminal.Fold(text, terminal.Width(w), len(clientsMargin))
	}
	_, err := io.WriteString(w, text)
	return err
}

// forUser lists what waits for the user.
func forUser(waiting []string) string {
	var rows [][]string
	for _, text := range waiting {
		rows = append(rows, []string{terminal.Cut(text, longest)})
	}
	return indented("  for you   ", clientsMargin, rows)
}

// browser is the window's browser for people.
func (w Window) browser() string {
	if w.Browser == nil && w.Pages > 0 {
		return "the pages of a shared debug session"
	}
	return name(w.Browser)
}

// name is that of a browser for people; empty: there is none.
func name(b *Browser) string {
	switch {
	case b == nil:
		return ""
	case b.Product == "":
		return b.Via
	}
	return fmt.Sprintf("%s (%s)", b.Product, b.Via)
}

// clientsMargin is before the lines that follow the first of a window's clients.
var clientsMargin = strings.Repeat(" ", len("  clients   "))

// block is the text of a window, or of an endpoint without one.
func block(title, browser, access string, e Endpoint, clients []Client, unknown string, now time.Time) string {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "  %-9s %s\n", name, terminal.PrintableLine(text)) }
	fmt.Fprintln(&b, terminal.PrintableLine(title))
	switch {
	case browser != "":
		line("browser", browser)
	case e.Waiting > 0:
		line("browser", fmt.Sprintf("none, and %s for one: start the debug session (F5 in VS Code)",
			terminal.Count(e.Waiting, "request waits", "requests wait")))
	default:
		line("browser", "none")
	}
	if access != "" {
		line("access", access)
	}
	line("endpoint", e.text())
	if len(clients) == 0 && unknown == "" {
		line("clients", "none")
	}
	var rows [][]string
	for _, c := range clients {
		rows = append(rows, row(c, now))
	}
	b.WriteString(indented("  clients   ", clientsMargin, rows))
	if unknown != "" {
		name := "clients"
		if len(clients) > 0 {
			name = ""
		}
		line(name, unknown)
	}
	return b.String()
}

// indented is a table, with a text before its first line and one before the rest.
func indented(first, rest string, rows [][]string) string {
	var table, b strings.Builder
	_ = terminal.Table(&table, rows) // writing to memory does not fail
	for text := range strings.Lines(table.String()) {
		b.WriteString(first + strings.TrimRight(text, " \n") + "\n")
		first = rest
	}
	return b.String()
}

func (e Endpoint) text() string {
	switch {
	case !e.Served:
		return e.URL + ", not served"
	case e.Unknown != "":
		return e.URL + ", served: " + e.Unknown
	}
	return fmt.Sprintf("%s, served by %s (process %d)", e.URL, e.Program, e.PID)
}

func row(c Client, now time.Time) []string {
	name := strings.TrimSpace(c.Name + " " + c.Version)
	if c.Stopped {
		name += " (stopped)"
	}
	last := "nothing yet"
	if c.Last != nil {
		last = fmt.Sprintf("%s ago: %s", age(now.Sub(c.Last.Time)), terminal.Cut(c.Last.Text, longest))
		if c.Last.URL != "" && !strings.Contains(c.Last.Text, c.Last.URL) {
			last += ", in " + terminal.Cut(c.Last.URL, longest)
		}
	}
	if c.Holds != "" {
		last += "; it " + c.Holds
	}
	return []string{name, c.Kind, "for " + age(now.Sub(c.Since)), last}
}

// longest bounds a text that a client or a page has chosen, in columns.
const longest = 80

// age is a duration for people: its largest unit.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
