package tools

import (
	"context"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// logger writes to the program's log, and to the host at the level that it has
// asked for (none until it asks).
func (s *Server) logger(session *mcp.ServerSession) *slog.Logger {
	//lint:ignore SA1019 hosts that show a server's log will do so for years
	host := mcp.NewLoggingHandler(session, &mcp.LoggingHandlerOptions{LoggerName: "browser-coordinator"})
	return slog.New(both{s.options.Logger.Handler(), host})
}

// both are two handlers of the same records.
type both [2]slog.Handler

func (b both) Enabled(ctx context.Context, level slog.Level) bool {
	return b[0].Enabled(ctx, level) || b[1].Enabled(ctx, level)
}

func (b both) Handle(ctx context.Context, r slog.Record) error {
	var err error
	for _, h := range b {
		if h.Enabled(ctx, r.Level) {
			err = errors.Join(err, h.Handle(ctx, r.Clone()))
		}
	}
	return err
}

func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(attrs), b[1].WithAttrs(attrs)}
}

func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}
