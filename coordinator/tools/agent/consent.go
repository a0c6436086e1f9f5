package agent

import (
	"context"
	"fmt"
	"slices"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Reasons why no user can agree to a recording.
const (
	nobodyToAsk = "its user must agree to that, and nobody can be asked: a recording needs a window that asks and " +
		"shows it, and this browser belongs to none. Open the folder in VS Code, or run `coordinator window` on it"
	notShown = "its window cannot show its user that a recording is under way: it runs an older version. Ask the " +
		"user to update it"
)

// Consent asks the window's user to agree to a recording, in every mode: no mode and no earlier answer
// allows it. It returns the window, which must show it.
func (c *Call) Consent(ctx context.Context, p *page.Page, detail string) (registry.Window, error) {
	denied := func(reason string) error {
		return &policy.DeniedError{Operation: c.Request.Operation.Name, Reason: reason}
	}
	window, err := c.Resolve(ctx)
	user := c.permission.user
	switch {
	case err != nil || user == nil || user != browserUser(c.Agent.Windows.SourceOf(window)), // another would see it
		!slices.Contains(window.Commands, vscodeipc.CommandPermissionAsk):
		return window, denied(nobodyToAsk)
	case !slices.Contains(window.Commands, vscodeipc.CommandRecordShow):
		return window, denied(notShown)
	}
	c.asked = true
	q := policy.Question{Actor: c.Agent.actor(), Operation: c.Request.Operation, Detail: c.Agent.Secrets.Hide(detail)}
	if info, err := p.Info(ctx); err == nil {
		q.Page = &policy.Page{Title: info.Title, URL: info.URL}
	}
	_, choice := user.Access()
	answer, err := policy.AskUser(ctx, user, q, choice)
	switch {
	case context.Cause(ctx) != nil:
		return window, context.Cause(ctx)
	case err != nil:
		return window, fmt.Errorf("the user could not be asked, or has changed the access mode meanwhile: %w", err)
	case answer.Allow:
		return window, nil
	case answer.Reason == "timeout":
		return window, denied("nobody answered the question.")
	}
	return window, denied("the user did not allow it.")
}
