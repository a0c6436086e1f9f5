package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the interval of progress notifications to a host that requests them.
const progressEvery = time.Second

// keepInformed notifies the host that a call goes on, until the returned function is
// called. It does nothing if the host has not requested progress.
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
