package cdpproxy

import (
	"fmt"
	"time"

	"browser-coordinator/internal/queue"
)

// Limits of an endpoint.
const (
	// maxClients bounds the WebSockets and requests, and as many connections that have not
	// sent one. Each takes up to three file descriptors, of which a process may have only a
	// few thousand: without one it cannot serve anybody.
	maxClients = 1024
	// maxHeader bounds the header of a request, which is complete within headerTimeout.
	// idleTimeout bounds the wait for the next request.
	maxHeader     = 32 << 10
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// Limits of messages.
const (
	// maxMessage is Chromium's limit.
	maxMessage = 100 << 20
	// memoryLimit bounds what all endpoints of this process buffer for their clients:
	// unfinished messages, what a client does not read, and what a tap has not read.
	memoryLimit = 512 << 20
	// A message up to smallMessage does not count toward memoryLimit.
	smallMessage = 64 << 10
	// MaxBuffered bounds the bytes kept for one client that reads more slowly than its
	// browser writes. Chromium begins to drop messages there; the proxy closes the
	// connection instead.
	MaxBuffered = 256 << 20
	// tapBytes bounds what waits for the reader of a tap: the proxy never waits for it.
	tapBytes = 128 << 20
	// closeTimeout bounds the end of a relay: the client reads what is queued and the close
	// frame, and closes its own side.
	closeTimeout = 2 * time.Second
)

// Limits of the exchanges with a browser.
const (
	// maxExchanges bounds the discovery requests and handshakes under way. Chromium's listen
	// queue takes ten connections. Of hundreds that arrive together after a restart the kernel
	// would drop most, and each would be retried only seconds later.
	maxExchanges    = 6
	dialTimeout     = 5 * time.Second
	exchangeTimeout = 20 * time.Second // the requests on one connection, with their responses

	// Bounds on what a browser may send before it is a client's upstream.
	maxResponseHeader = 64 << 10
	maxVersion        = 64 << 10 // of /json/version, before the process is verified
	maxResponse       = 64 << 20 // of /json/*; /json/protocol is 1.6 MB
)

// limits bound the memory for clients, and how long it is held.
type limits struct {
	memory          *queue.Budget // of the whole process. What does not fit is refused at once
	buffered        int           // for one client that does not read
	tapBytes        int
	closeTimeout    time.Duration
	bodyTimeout     time.Duration // for a request's body, which is ignored
	responseTimeout time.Duration // for a client to read its response
}

// realLimits are those of every proxy; tests use others.
var realLimits = limits{
	memory: queue.NewBudget(memoryLimit), buffered: MaxBuffered, tapBytes: tapBytes,
	closeTimeout: closeTimeout, bodyTimeout: 10 * time.Second, responseTimeout: 10 * time.Second,
}

// exhausted ends a client whose message gets no memory.
func exhausted(memory *queue.Budget) ending {
	return ending{closeTryLater, fmt.Sprintf("the endpoint's %d MB for messages are used up by its clients; connect "+
		"again later", memory.Limit()>>20)}
}
