package tools

import (
	"fmt"
	"net/netip"
	"strings"

	"browser-coordinator/coordinator/page/storage"
)

// addressed is something of a page's history or storage. All of its addresses must be
// within the agent's origins, or, of alternatives such as a cookie's, one of them.
type addressed interface{ Addresses() []string }

// within leaves out what is of an origin that the agent may not see, and counts it. A
// tab may have shown such a document before the agent worked in it. Nothing of the kind
// is told but through here.
func within[T any](o *Origins, all []T) (kept []T, refused int) {
	if o == nil {
		return all, 0
	}
	for _, one := range all {
		if !o.refuses(one) {
			kept = append(kept, one)
		}
	}
	return kept, len(all) - len(kept)
}

func (o *Origins) refuses(one any) bool {
	switch one := one.(type) {
	case storage.Cookie:
		return o.checkCookie(one) != nil
	case addressed:
		return o.checkAll(one.Addresses()) != nil
	}
	return true
}

func (o *Origins) checkAll(addresses []string) error {
	for _, address := range addresses {
		if err := o.Check(address); err != nil {
			return err
		}
	}
	return nil
}

// checkCookie refuses a cookie that goes to no origin within the limits: its port, and
// often its scheme, are any.
func (o *Origins) checkCookie(c storage.Cookie) error {
	host, below := strings.CutPrefix(c.Domain, ".")
	hosts, ports := []string{host}, []string{""}
	for _, p := range o.allowed {
		if name := strings.Replace(p.host, "*", "any", 1); below && strings.HasSuffix(name, "."+host) {
			hosts = append(hosts, name)
		}
		if p.port != "*" {
			ports = append(ports, ":"+p.port)
		}
	}
	schemes := []string{"https"}
	if ip, _ := netip.ParseAddr(host); !c.Secure || ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		schemes = append(schemes, "http")
	}
	var err error
	for _, h := range hosts {
		for _, port := range ports {
			for _, scheme := range schemes {
				if err = o.Check(scheme + "://" + h + port + "/"); err == nil {
					return nil
				}
			}
		}
	}
	return err
}

// leftOut says how many of something were left out by within.
func (a *answer) leftOut(refused int, what string) {
	if text := leftOutText(refused, what); text != "" {
		a.addf("%s", strings.TrimSpace(text))
	}
}

func leftOutText(refused int, what string) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("Left out because of --allowed-origins or --blocked-origins: %d %s.\n", refused, what)
}
