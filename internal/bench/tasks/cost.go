package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"browser-coordinator/internal/bench/peer"
)

// title is the command that reads a page's title, by contender.
var title = map[string]string{
	shell: "coordinator eval document.title", playwrightCLI: "playwright-cli --raw eval document.title",
	agentBrowser: "agent-browser eval document.title",
	devtoolsCLI:  "chrome-devtools evaluate_script '() => document.title' --pageId 1",
}

// commandCost measures what one command costs, the start of its process included, with those kinds
// in turns. The coordinator's tool over MCP is what its command is compared with.
func commandCost(
	ctx context.Context, kinds []string, programs peer.Programs,
) (costs map[string]time.Duration, err error) {
	const rounds = 15
	took := map[string][]time.Duration{}
	servers := map[string]server{}
	for _, kind := range append([]string{ours}, kinds...) {
		s, err := openBrowser(ctx, kind, programs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		servers[kind] = s
	}
	for range rounds {
		for kind, s := range servers {
			tool, a := "browser_evaluate", args{"function": "document.title"}
			if kind != ours {
				tool, a = aLine, args{"line": title[kind]}
			}
			began := time.Now()
			answer, err := s.Call(ctx, tool, a)
			if err != nil || answer.Refused {
				return nil, errors.Join(err, fmt.Errorf("%s: %s", kind, answer.Text))
			}
			took[kind] = append(took[kind], time.Since(began))
		}
	}
	costs = map[string]time.Duration{}
	for kind, all := range took {
		slices.Sort(all)
		costs[kind] = all[len(all)/2]
	}
	return costs, nil
}
