package partial

import (
	"fmt"
	"testing"
)

// TestHostsOfManyTabs: a client's command does not cost more with each tab of the user.
func TestHostsOfManyTabs(t *testing.T) {
	few, many := withTabs(1), withTabs(1000)
	hosts := few.hosts()
	if len(hosts) != 1 || hosts[0] != "shop.test" {
		t.Errorf("the hosts in reach: %q", hosts)
	}
	one, all := testing.AllocsPerRun(10, func() { few.hosts() }), testing.AllocsPerRun(10, func() { many.hosts() })
	if all > one {
		t.Errorf("%v allocations, and %v with 1,000 tabs", one, all)
	}
}

// withTabs is a browser with a client's tab and some of its user.
func withTabs(n int) *Browser {
	b := &Browser{targets: map[string]*target{}, opening: map[string]bool{"C": true}}
	b.know([]byte(`{"targetId":"C","type":"page","url":"https://Shop.test.:8080/a"}`))
	for i := range n {
		b.know(fmt.Appendf(nil, `{"targetId":"%d","type":"page","url":"https://bank%d.test/"}`, i, i))
	}
	return b
}
