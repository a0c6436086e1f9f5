package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the interval of progress notifications to a host that requests them.
const progressEvery = time.Second

// ReportProgress notifies the host that a call goes on, until the returned function is
// called. It does nothing if the host has not requested progress.
func (a *Agent) ReportProgress(ctx context.Context, req *mcp.CallToolRequest) (end func()) {
	if req.Params.GetProgressToken() == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() { a.reportProgress(ctx, req.Params) })
	return func() {
		cancel()
		reporting.Wait()
	}
}

func (a *Agent) reportProgress(ctx context.Context, call *mcp.CallToolParamsRaw) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for began := time.Now(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		seconds := time.Since(began).Round(time.Second)
		message := fmt.Sprintf("%s goes on, for %v now", call.Name, seconds)
		if a.Launcher != nil && a.Launcher.Waiting() != "" {
			message += ", " + a.Launcher.Waiting()
		}
		err := a.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: call.GetProgressToken(), Progress: seconds.Seconds(), Message: message,
		})
		if err != nil {
			return // the session ends
		}
	}
}
