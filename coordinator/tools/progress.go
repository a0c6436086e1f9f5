package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often a host that wants to know hears of a call that takes
// longer than that.
const progressEvery = time.Second

// keepInformed tells the host that a call goes on, until the function that it
// gives is called, and nothing where the host has not asked for it.
func (a *agent) keepInformed(ctx context.Context, req *mcp.CallToolRequest) (end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go a.report(ctx, done, req.Params.Name, token)
	return func() {
		cancel()
		<-done
	}
}

func (a *agent) report(ctx context.Context, done chan<- struct{}, name string, token any) {
	defer close(done)
	began := time.Now()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		seconds := time.Since(began).Round(time.Second)
		err := a.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: seconds.Seconds(), Message: fmt.Sprintf("%s goes on, for %v now", name, seconds),
		})
		if err != nil {
			return // the session ends
		}
	}
}
