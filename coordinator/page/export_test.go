package page

import "browser-coordinator/coordinator/page/frame"

// Frames are the page's frames, for tests of what stays in their documents.
func (p *Page) Frames() *frame.Tree { return p.frames }
