package storage

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/page/address"
)

// Area is one of a document's two key-value stores.
type Area string

// The areas.
const (
	Local   Area = "localStorage"
	Session Area = "sessionStorage"
)

// Item is an entry of a storage area.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Items lists an area of the main frame's origin.
func (s *Storage) Items(ctx context.Context, area Area) ([]Item, error) {
	var items []Item
	err := s.inArea(ctx, area, map[string]any{"action": "list"}, &items)
	return items, err
}

// SetItem sets an entry. Other documents of the origin get a storage event.
func (s *Storage) SetItem(ctx context.Context, area Area, name, value string) error {
	return s.inArea(ctx, area, map[string]any{"action": "set", "name": name, "value": value}, nil)
}

// RemoveItem removes an entry.
func (s *Storage) RemoveItem(ctx context.Context, area Area, name string) error {
	return s.inArea(ctx, area, map[string]any{"action": "remove", "name": name}, nil)
}

// ClearItems removes all entries.
func (s *Storage) ClearItems(ctx context.Context, area Area) error {
	return s.inArea(ctx, area, map[string]any{"action": "clear"}, nil)
}

func (s *Storage) inArea(ctx context.Context, area Area, argument map[string]any, result any) error {
	argument["area"], argument["origin"] = area, address.Origin(s.opts.Frames.PageURL())
	return s.opts.Run(ctx, "using the "+string(area), 0, func(ctx context.Context) error {
		err := s.call(ctx, argument, result)
		if err != nil && strings.HasPrefix(err.Error(), "SecurityError") {
			return fmt.Errorf("a document at %s has none: navigate to the site first", s.opts.Frames.PageURL())
		}
		return err
	})
}
