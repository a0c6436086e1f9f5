package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"browser-coordinator/cdpproxy"
)

// hold is a flag's value: how long a client waits for a browser.
type hold time.Duration

func (h *hold) String() string { return time.Duration(*h).String() }
func (h *hold) Type() string   { return "duration" }

func (h *hold) Set(text string) error {
	d, err := time.ParseDuration(text)
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && notNumber == nil:
		return fmt.Errorf("want a duration with its unit, for example %ss", strings.TrimLeft(text, "+-"))
	case err != nil:
		return errors.New("want a duration, for example 5s or 2m")
	case d < 0:
		return errors.New("want a duration of 0 or more")
	}
	*h = hold(d)
	return nil
}

// timeout is what cdpproxy calls it.
func (h hold) timeout() time.Duration {
	if h == 0 {
		return cdpproxy.NoHold
	}
	return time.Duration(h)
}

// origins is a flag's value: the origins of pages that are let in.
type origins []string

func (o *origins) String() string { return strings.Join(*o, ",") }
func (o *origins) Type() string   { return "origin" }

// Set adds an origin as browsers send it, RFC 6454 section 6.1. It does not take
// "null", which every sandboxed page has.
func (o *origins) Set(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || text != strings.ToLower(u.Scheme+"://"+u.Host) {
		return errors.New("want an origin in lower case, scheme://host or scheme://host:port, without a path")
	}
	*o = append(*o, text)
	return nil
}
