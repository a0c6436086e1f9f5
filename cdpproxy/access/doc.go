// Package access says what a CDP command does and whether a client may do it: the
// human of a window lets clients do all (full), asks to be asked (ask), or lets
// them only look (view).
//
// [Classify] reads the table of methods.txt. A [Guard] keeps a window's rule for
// whoever acts, by CDP or otherwise:
//
//	guard := access.NewGuard(human)
//	if err := guard.Permit(ctx, access.Question{Client: me, Act: "browser_click"}); err != nil {
//		return err // says which rule, and how to change it
//	}
//
// A [Rule] does so for the clients of a cdpproxy endpoint.
//
// It keeps clients from doing by mistake what their human does not want. It is no
// prison: a program of the same user that looks for the browser's own port finds
// it.
package access
