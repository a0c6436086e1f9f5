//go:build unix

package main

import "syscall"

// asUser starts a program as another user.
func asUser(uid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
}
