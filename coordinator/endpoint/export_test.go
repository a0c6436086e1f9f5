package endpoint

import (
	"context"
	"strconv"
)

// LogURL is a URL that the window's owner accepts once for its log.
func LogURL(ctx context.Context, hash string) (string, error) {
	f, err := openFiles(hash)
	if err != nil {
		return "", err
	}
	addr, err := f.address()
	if err != nil {
		return "", err
	}
	owners, err := f.find(ctx, addr.Port, addr.token())
	ours := newNonce()
	return addr.URL + logPath + ours + "/" + proof(addr.token(), logPath, hash, strconv.Itoa(addr.Port), owners, ours), err
}
