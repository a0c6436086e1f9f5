package serving

import (
	"context"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// agentsTimeout bounds how long a status waits for the window.
const agentsTimeout = 2 * time.Second

// about adds to the endpoint's status what the proxy does not know.
func (e *Endpoint) about() cdpproxy.About {
	access, _ := e.user.Access()
	return cdpproxy.About{Program: e.program, Access: string(access.Mode), Agents: e.agents}
}

// agents asks the window for the MCP sessions that use its browser.
func (e *Endpoint) agents(ctx context.Context) (agents []cdpproxy.Agent, err error) {
	if !e.source.Open() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, agentsTimeout)
	defer cancel()
	clients, err := e.source.Clients(ctx)
	for _, c := range clients {
		if c.Kind != "mcp" {
			continue
		}
		agent := cdpproxy.Agent{Name: c.Name, Version: c.Version, Since: time.UnixMilli(c.Since)}
		if c.Last != nil {
			agent.Last = lastAction(*c.Last)
		}
		agents = append(agents, agent)
	}
	return agents, err
}

func lastAction(a vscodeipc.Activity) *cdpproxy.LastAction {
	return &cdpproxy.LastAction{Time: time.UnixMilli(a.Time), Text: registry.Describe(a)}
}
