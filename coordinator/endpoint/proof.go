package endpoint

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A window's port follows from its folder and is free while no coordinator serves it. Any
// user of the machine may listen on it, respond as an owner would, and later replay what
// it has received. So coordinators prove to each other that they know the token, and
// never send it. The client first gets the owner's proof, made with the client's nonce.
// Then it sends a proof made with the owner's nonce, which lives as long as the owner
// serves. Neither proof is valid at another port or later.

const (
	// hashHeader identifies the window whose endpoint the sender serves.
	hashHeader = "Browser-Coordinator-Window"
	// nonceHeader is the owner's nonce, proofHeader its proof of a response.
	nonceHeader = "Browser-Coordinator-Nonce"
	proofHeader = "Browser-Coordinator-Proof"
	// tokenHeader with tokenRequired means that the owner admits no client without the
	// token. In a request it demands that from the owner while the response lasts.
	tokenHeader   = "Browser-Coordinator-Token"
	tokenRequired = "required"
)

// Paths, each with what must follow.
const (
	provePath   = "/prove/"   // the client's nonce
	standbyPath = "/standby/" // the client's nonce and proof
	logPath     = "/log/"     // the same
	statusPath  = "/status/"  // the same
)

// proof is an authentication code of the parts, each without a line end. It requires the
// token.
func (f *files) proof(parts ...string) string {
	mac := hmac.New(sha256.New, []byte(f.token))
	mac.Write([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

func (f *files) proven(got string, parts ...string) bool {
	return hmac.Equal([]byte(got), []byte(f.proof(parts...)))
}

const nonceBytes = 16

func newNonce() string {
	var nonce [nonceBytes]byte
	rand.Read(nonce[:])
	return hex.EncodeToString(nonce[:])
}
