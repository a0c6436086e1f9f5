package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// standsBy is what a command says on standard error whose endpoint another
// coordinator serves.
const standsBy = "Another coordinator serves it now; this one takes over when that ends."

// useless says which options of a command that stands by do nothing yet; empty
// where there are none. A token that one wants all want.
func useless(cmd *cobra.Command) string {
	var given []string
	for _, name := range []string{"launch", "hold", "allow-origin", "allow-close"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if given == nil {
		return ""
	}
	return " Until then what that one was told holds, and not this one's " + strings.Join(given, ", ") + "."
}

// standsByFor says the same where to stand by is usual, so that only what does not
// count is news: a program is run on the browser of a window that is open.
func standsByFor(cmd *cobra.Command, launch bool) string {
	unheard := useless(cmd)
	switch {
	case unheard == "":
		return ""
	case launch:
		return "Another coordinator serves the window's address now, and this one uses that one's browser, which may end with it." + unheard
	}
	return "Another coordinator serves the window's address now; this one takes over when that ends." + unheard
}

// tell says something to the person who runs the command; nothing where it is empty.
func (p *program) tell(text string) {
	if text != "" {
		p.say("%s\n", text)
	}
}
