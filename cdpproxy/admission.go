package cdpproxy

import (
	"context"
	"net"
	"net/http"
)

// Admission admits clients to another server by the rules of the endpoint: Host and
// Origin, and the token or, on Linux, proof that the client is the same user.
type Admission struct{ proxy *Proxy }

// NewAdmission returns the admission that a Proxy with these options would have.
func NewAdmission(o *Options) *Admission { return &Admission{New(nil, o)} }

// ConnContext is for the ConnContext field of the server's http.Server.
func (a *Admission) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return withPeer(ctx, conn)
}

// Admit reports whether the client is admitted, and returns the mount in its URL
// ("" or "/TOKEN") and the path below it.
func (a *Admission) Admit(r *http.Request) (mount, path string, ok bool) {
	if a.proxy.checkPage(r) != nil {
		return "", "", false
	}
	mount, path, no := a.proxy.admit(r)
	return mount, path, no == nil
}
