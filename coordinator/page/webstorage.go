package page

import (
	"context"
	"fmt"
	"strings"
)

// StorageArea is one of a document's two key-value stores.
type StorageArea string

// The areas.
const (
	LocalStorage   StorageArea = "localStorage"
	SessionStorage StorageArea = "sessionStorage"
)

// Item is an entry of a storage area.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Items lists an area of the main frame's origin.
func (p *Page) Items(ctx context.Context, area StorageArea) ([]Item, error) {
	var items []Item
	err := p.inStorage(ctx, area, map[string]any{"action": "list"}, &items)
	return items, err
}

// SetItem sets an entry. Other documents of the origin hear of it by their
// storage events.
func (p *Page) SetItem(ctx context.Context, area StorageArea, name, value string) error {
	return p.inStorage(ctx, area, map[string]any{"action": "set", "name": name, "value": value}, nil)
}

// RemoveItem removes an entry.
func (p *Page) RemoveItem(ctx context.Context, area StorageArea, name string) error {
	return p.inStorage(ctx, area, map[string]any{"action": "remove", "name": name}, nil)
}

// ClearItems removes all entries.
func (p *Page) ClearItems(ctx context.Context, area StorageArea) error {
	return p.inStorage(ctx, area, map[string]any{"action": "clear"}, nil)
}

func (p *Page) inStorage(ctx context.Context, area StorageArea, argument map[string]any, result any) error {
	argument["area"], argument["origin"] = area, originOf(p.URL())
	return p.during(ctx, "using the "+string(area), p.browser.opts.CallTimeout, func(ctx context.Context) error {
		err := p.callExtra(ctx, p.mainID(), "storage", argument, result)
		if err != nil && strings.HasPrefix(err.Error(), "SecurityError") {
			return fmt.Errorf("a document at %s has none: navigate to the site first", p.URL())
		}
		return err
	})
}
