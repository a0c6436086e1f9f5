// Package sourcemap reads source maps (ECMA-426, version 3) and finds the files of a
// workspace that correspond to their sources.
//
//	m, err := sourcemap.Parse(data, "http://localhost:5173/assets/app.js.map")
//	at, ok := m.Find(1, 4711)                         // webpack://shop/src/cart.ts:12:7
//	file, ok := sourcemap.File([]string{"/home/me/shop"}, at.Source)
//
// It fetches nothing: the caller passes the text of the map.
package sourcemap
