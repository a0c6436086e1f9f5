package mcphttp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// Token is the token of this user's servers, and the file that has it. The first call makes it:
// a host's configuration can hold it for good.
func Token() (token, file string, err error) {
	dir, err := statedir.Make()
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(dir, "mcp-token")
	text, err := trusted.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(dir, file); err == nil {
			text, err = trusted.ReadFile(file)
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot read or make the hosts' token: %w", err)
	}
	token = strings.TrimSpace(string(text))
	if len(token) < len(rand.Text()) || strings.ContainsAny(token, " \t\r\n") {
		return "", "", fmt.Errorf("%s does not contain a token: delete the file, and start again. Hosts then need the new "+
			"token", file)
	}
	return token, file, nil
}

// makeToken makes the file, whole or not at all, with mode 0600. Another program's is as good.
func makeToken(dir, file string) error {
	temp, err := os.CreateTemp(dir, ".mcp-token.*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), file); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
