package guard

import (
	"io"
	"net/http"
	"time"
)

// Body reads the whole body of a request, which has that time to come and at most limit bytes. A
// server reads it before it does anything that others could lack meanwhile. The error for a longer
// body is an [http.MaxBytesError].
func Body(w http.ResponseWriter, r *http.Request, limit int64, timeout time.Duration) ([]byte, error) {
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, err // and the deadline ends the rest of the body
	}
	return body, conn.SetReadDeadline(time.Time{})
}
