// Package usersocket connects the processes of one user on one machine: by a Unix socket
// that no other user can open, or by a named pipe of Windows. The file system and the
// kernel check the user, so nothing that passes needs a proof or a secret.
//
//	ln, err := usersocket.Listen(path)      // in one process
//	conn, err := usersocket.Dial(ctx, path) // in another one
//
// A path whose folder is too long for a socket works on Linux only.
package usersocket

import "browser-coordinator/internal/trusted"

// ErrForeign is wrapped by errors about a peer that is not the user's own.
var ErrForeign = trusted.ErrForeign
