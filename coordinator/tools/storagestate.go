package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

type saveStateIn struct {
	Filename string `json:"filename,omitempty" about:"default: storage-state-TIME.json"`
	inPage
}

var _ = define(Tool{
	Name: "browser_storage_state", Title: "Save the storage state",
	Description: "Save cookies and local storage to a file, in Playwright's format",
	Set:         "storage", Effect: Reads,
	Shell:   []command{{Args: "[filename]"}},
	Returns: "the file: cookies, and the local storage of the origins that are open, or that this page has shown",
	Notes: "It is Playwright's `storageState`, without IndexedDB. To read and to restore it, no server gets a " +
		"request and no script of a site runs.",
	Example: `{}`,
}, calls[saveStateIn]{Do: saveState})

type loadStateIn struct {
	Filename string `json:"filename" is:"subject file"`
	inPage
}

var _ = define(Tool{
	Name: "browser_set_storage_state", Title: "Restore the storage state",
	Description: "Replace cookies and local storage by those of such a file",
	Set:         "storage", Effect: Acts, Category: policy.Storage,
	Example: `{"filename": "storage-state.json"}`,
}, calls[loadStateIn]{
	Beyond: everySite[loadStateIn],
	Do:     loadState,
})

func saveState(ctx context.Context, c *agent.Call, in saveStateIn) error {
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("storage-state", output.JSON)), output.JSON)
	if err != nil {
		return err
	}
	refused := 0
	state, err := p.Storage().State(ctx, func(origin string) bool {
		skip := c.Agent.Origins.Decide(origin).Outcome != policy.Allow
		if skip {
			refused++
		}
		return skip
	})
	if err != nil {
		return err
	}
	var refusedCookies int
	state.Cookies, refusedCookies = answer.Readable(c.Agent.Origins, state.Cookies)
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	path, err := file.Save(append(text, '\n'))
	if err != nil {
		return err
	}
	c.Out.Addf("Saved %d cookies and the local storage of %d origins to %s. It holds secrets.", len(state.Cookies),
		len(state.Origins), path)
	c.Out.LeftOut(refused, "origins")
	c.Out.LeftOut(refusedCookies, "cookies")
	return nil
}

// mostState bounds a file that is read: local storage has 5 MB an origin.
const mostState = 64 << 20

func loadState(ctx context.Context, c *agent.Call, in loadStateIn) error {
	file, err := c.Agent.AllowedFile(ctx, in.Filename)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // a named pipe would wait for its writer
		return fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > mostState {
		return fmt.Errorf("%s is too large for a storage state: %d bytes", file, info.Size())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var state storage.State
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("%s is no storage state: %w", file, err)
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	if err := p.Storage().SetState(ctx, state); err != nil {
		return err
	}
	c.Out.Addf("Restored %d cookies and the local storage of %d origins; reload the page to see the effect.",
		len(state.Cookies), len(state.Origins))
	if missing := notRestored(text); missing != "" {
		c.Out.Addf("%s", missing)
	}
	return nil
}

// notRestored reports what Playwright may have saved and this tool does not restore.
func notRestored(text []byte) string {
	var more struct {
		Credentials []json.RawMessage
		Origins     []struct{ IndexedDB []json.RawMessage }
	}
	if json.Unmarshal(text, &more) != nil {
		return ""
	}
	for _, o := range more.Origins {
		if len(o.IndexedDB) > 0 {
			return "The file's IndexedDB content was not restored."
		}
	}
	if len(more.Credentials) > 0 {
		return "The file's credentials were not restored."
	}
	return ""
}
