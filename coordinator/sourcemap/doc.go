// Package sourcemap reads source maps (ECMA-426, version 3) and finds the files of a
// workspace that correspond to their sources.
//
// It fetches nothing: the caller passes the text of the map.
package sourcemap
