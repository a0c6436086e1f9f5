// Package discovery is shared by the servers of /json/* that respond for a browser
// or in its place.
package discovery

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// ContentType is Chromium's content type of every response under /json/.
const ContentType = "application/json; charset=UTF-8"

// protocol is Chromium 156's /json/protocol. A browser that is older or newer has
// some commands less or more.
//
//go:embed protocol.json.gz
var protocol []byte

// WriteProtocol writes the response to /json/protocol where no browser can provide
// it.
func WriteProtocol(w io.Writer) error {
	r, err := gzip.NewReader(bytes.NewReader(protocol))
	if err == nil {
		_, err = io.Copy(w, r)
	}
	return err
}
