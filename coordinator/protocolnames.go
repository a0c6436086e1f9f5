package main

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy/discovery"
)

// unknown are the domains and methods that a person wants to see and Chromium, as
// far as it is known here, does not have.
func (f *logFlags) unknown() (names []string) {
	if len(f.domains) == 0 && len(f.methods) == 0 {
		return nil
	}
	methods := protocolMethods()
	for _, domain := range f.domains {
		if !slices.ContainsFunc(methods, func(m string) bool { return strings.HasPrefix(m, strings.ToLower(domain)+".") }) {
			names = append(names, "domain "+domain)
		}
	}
	for _, pattern := range f.methods {
		fits := func(m string) bool { ok, _ := path.Match(strings.ToLower(pattern), m); return ok }
		if !slices.ContainsFunc(methods, fits) {
			names = append(names, "method "+pattern)
		}
	}
	return names
}

// completeDomains offers the domains that are not in the list yet.
func completeDomains(_ *cobra.Command, _ []string, typed string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	begun := typed[:strings.LastIndexByte(typed, ',')+1]
	for _, d := range protocolDomains() {
		if !slices.Contains(strings.Split(begun, ","), d.Domain) {
			offers = append(offers, begun+d.Domain)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// protocolMethods are Chromium's commands and events, in small letters.
func protocolMethods() (all []string) {
	for _, d := range protocolDomains() {
		for _, method := range slices.Concat(d.Commands, d.Events) {
			all = append(all, strings.ToLower(d.Domain+"."+method.Name))
		}
	}
	return all
}

type protocolDomain struct {
	Domain           string
	Commands, Events []struct{ Name string }
}

func protocolDomains() []protocolDomain {
	var text bytes.Buffer
	var protocol struct{ Domains []protocolDomain }
	if discovery.WriteProtocol(&text) != nil || json.Unmarshal(text.Bytes(), &protocol) != nil {
		panic("the protocol that is built in cannot be read")
	}
	return protocol.Domains
}
