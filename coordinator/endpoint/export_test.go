package endpoint

import (
	"context"
	"strconv"
)

// LogURL is a URL that the window's owner accepts once for its log.
func LogURL(ctx context.Context, hash string) (string, error) {
	f, addr, err := open(hash)
	if err != nil {
		return "", err
	}
	owners, err := f.find(ctx, addr.Port)
	ours := newNonce()
	return addr.URL + logPath + ours + "/" + f.proof(logPath, hash, strconv.Itoa(addr.Port), owners, ours), err
}
