package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the interval of progress notifications to a host that requests them.
const progressEvery = time.Second

// startProgress notifies the host that a call goes on, until the returned function is called.
// It does nothing if the host has not requested progress.
func (s *Server) startProgress(ctx context.Context, req *mcp.CallToolRequest) (end func()) {
	if req.Params.GetProgressToken() == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() { s.reportProgress(ctx, req) })
	return func() {
		cancel()
		reporting.Wait()
	}
}

func (s *Server) reportProgress(ctx context.Context, req *mcp.CallToolRequest) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for startTime := time.Now(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		seconds := time.Since(startTime).Round(time.Second)
		message := fmt.Sprintf("%s goes on, for %v now", req.Params.Name, seconds)
		if launcher := s.options.Launcher; launcher != nil && launcher.Waiting() != "" {
			message += ", " + launcher.Waiting()
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: req.Params.GetProgressToken(), Progress: seconds.Seconds(), Message: message,
		})
		if err != nil {
			return // the session ends
		}
	}
}
