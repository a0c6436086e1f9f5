//go:build !linux

package tools

// freeProgram does nothing where it is not known what may be unmapped.
func freeProgram() {}
