// Package partial presents a part of a browser that its user works in: the tabs that clients
// opened through it, and those that the user handed over. Clients do not learn of any other
// tab, and reach nothing of the browser itself.
//
//	b, err := partial.New(ctx, whole, logger)
//	if err != nil { … }
//	defer b.Close()
//	tabs := b.UserTabs() // for the user
//	b.HandOver(tabs[0].ID)
//
// At the level of the browser the package answers what concerns targets itself, from its own
// list, and forwards little else. In a page's session policy.DecidePersonal decides. No new tab
// waits for a client before its first script.
package partial
