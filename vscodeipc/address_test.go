package vscodeipc

import "testing"

// find returns the addresses with a key.
func find(key string) (found []Address) {
	all, _ := List()
	for _, a := range all {
		if a.Key() == key {
			found = append(found, a)
		}
	}
	return found
}

func TestKeys(t *testing.T) {
	for address, key := range map[Address]string{
		"/x/ipc-0123456789abcdef.sock":                         "0123456789abcdef",
		"/x/ipc-0123456789abcdef-2.sock":                       "0123456789abcdef",
		"/x/ipc-pid-17.sock":                                   "pid-17",
		"/x/ipc-pid-17-9.sock":                                 "pid-17",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef`:    "0123456789abcdef",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef-3`:  "0123456789abcdef",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef-33`: "",
		`\\.\pipe\other`:                                       "",
		"/x/ipc-0123456789ABCDEF.sock":                         "",
		"/x/ipc-0123456789abcdef-1.sock":                       "",
		"/x/ipc-0123456789abcdef-10.sock":                      "",
		"/x/ipc-0123456789abcde.sock":                          "",
		"/x/ipc-0123456789abcdef.soc":                          "",
		"/x/ipc-pid-.sock":                                     "",
		"/x/.bind-1-00000000":                                  "",
		"/x/ipc-0123456789abcdef.sock\n":                       "",
	} {
		if got := address.Key(); got != key {
			t.Errorf("%q: the key is %q, want %q", address, got, key)
		}
	}
}
