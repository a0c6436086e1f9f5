package endpoint

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
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
)

// Paths, each with what must follow.
const (
	provePath   = "/prove/"   // the client's nonce
	standbyPath = "/standby/" // the client's nonce and proof
	logPath     = "/log/"     // the same
)

// proof is an authentication code of the parts, each without a line end. It requires the
// token.
func proof(token string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

func proven(got, token string, parts ...string) bool {
	return hmac.Equal([]byte(got), []byte(proof(token, parts...)))
}

const nonceBytes = 16

func newNonce() string {
	var nonce [nonceBytes]byte
	rand.Read(nonce[:])
	return hex.EncodeToString(nonce[:])
}

// prover proves to clients that know the token that this process is the owner.
type prover struct {
	hash, token string
	nonce       string // lives as long as the owner
}

func newProver(hash, token string) *prover { return &prover{hash, token, newNonce()} }

// ServeHTTP is for provePath.
func (p *prover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := strings.TrimPrefix(r.URL.Path, provePath)
	w.Header().Set("Connection", "close") // the peer is still unauthenticated
	if raw, err := hex.DecodeString(asked); err != nil || len(raw) != nonceBytes {
		http.NotFound(w, r)
		return
	}
	w.Header().Set(hashHeader, p.hash)
	w.Header().Set(nonceHeader, p.nonce)
	w.Header().Set(proofHeader, proof(p.token, "owner", p.hash, localPort(r), asked, p.nonce))
	w.WriteHeader(http.StatusOK)
}

// asks checks that the sender of a request to path has proved that it knows the token,
// and returns its nonce. It responds to any other request itself.
func (p *prover) asks(w http.ResponseWriter, r *http.Request, path string) (nonce string, ok bool) {
	w.Header().Set("Connection", "close")
	nonce, shown, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, path), "/")
	if !proven(shown, p.token, path, p.hash, localPort(r), p.nonce, nonce) {
		http.Error(w, "this is for coordinators of the same user", http.StatusForbidden)
		return "", false
	}
	w.Header().Set(hashHeader, p.hash)
	return nonce, true
}

// localPort is the port at which the request arrived: a proof for another port is
// invalid, so a program in between cannot relay it.
func localPort(r *http.Request) string {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return strconv.Itoa(tcp.Port)
	}
	return ""
}

// checkOwner checks a response to provePath and returns the owner's nonce.
func (f *files) checkOwner(res *http.Response, port int, token, nonce string) (string, error) {
	owners := res.Header.Get(nonceHeader)
	if res.StatusCode != http.StatusOK || res.Header.Get(hashHeader) != f.hash ||
		!proven(res.Header.Get(proofHeader), token, "owner", f.hash, strconv.Itoa(port), nonce, owners) {
		return "", fmt.Errorf("port %d is not served by this window's coordinator (HTTP %d)", port, res.StatusCode)
	}
	return owners, nil
}
