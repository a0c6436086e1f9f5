package pagebrowser

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
)

// protocol is Chromium 156's /json/protocol: a page's session cannot be asked for
// it. A browser that is older or newer has some commands less or more.
//
//go:embed protocol.json.gz
var protocol []byte

func serveProtocol(w http.ResponseWriter) {
	r, err := gzip.NewReader(bytes.NewReader(protocol))
	if err != nil {
		answerText(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", jsonType)
	io.Copy(w, r)
}
