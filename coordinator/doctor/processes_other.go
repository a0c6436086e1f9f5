//go:build !linux

package doctor

// Only Linux reports to every program which process has a lock or a port.

func holderOf(string) string { return "a coordinator (this system does not report which one)" }

func startedBy(int) string { return "" }

func listenerAt(int) string { return "another program" }
