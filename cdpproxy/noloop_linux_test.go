//go:build noeventloop

package cdpproxy_test

import (
	"testing"

	"browser-coordinator/cdpproxy"
)

var parkedOrNot = []bool{false}

func watchedByLoop(*testing.T, *cdpproxy.Proxy, int) {}
