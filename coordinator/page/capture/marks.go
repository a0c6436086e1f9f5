package capture

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"browser-coordinator/coordinator/page/frame"
)

// Mark draws a box with a label around places of the viewport, by their labels: e and a
// number. The page has no part in it: neither its scripts nor the user see anything.
func (i *Image) Mark(places map[string]frame.Rect, quality int) error {
	shot, _, err := image.Decode(bytes.NewReader(i.Data))
	if err != nil {
		return fmt.Errorf("mark the picture: %w", err)
	}
	canvas := image.NewRGBA(shot.Bounds())
	draw.Draw(canvas, canvas.Bounds(), shot, shot.Bounds().Min, draw.Src)
	m := marker{canvas: canvas}
	labels := slices.SortedFunc(maps.Keys(places), func(a, b string) int { return number(a) - number(b) })
	for n, label := range labels {
		p, scale := places[label], i.Scale()
		at := func(value, view, part float64) int { return int(math.Round((value + view - part) * scale)) }
		box := image.Rect(at(p.X, i.View.X, i.Part.X), at(p.Y, i.View.Y, i.Part.Y),
			at(p.X+p.Width, i.View.X, i.Part.X), at(p.Y+p.Height, i.View.Y, i.Part.Y))
		if box.Empty() || box.Intersect(canvas.Bounds()).Empty() {
			continue
		}
		m.frame(box, colours[n%len(colours)])
		m.queue = append(m.queue, labelled{label, box, colours[n%len(colours)]})
	}
	for _, l := range m.queue { // over all boxes
		m.label(l)
	}
	return i.encode(canvas, cmp.Or(quality, defaultQuality))
}

func number(label string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(label, "e"))
	return n
}

// colours of boxes, all of them dark enough for white letters.
var colours = []color.RGBA{
	{200, 0, 60, 255}, {0, 90, 200, 255}, {0, 120, 40, 255}, {140, 0, 170, 255}, {170, 80, 0, 255},
}

type labelled struct {
	text   string
	box    image.Rectangle
	colour color.RGBA
}

type marker struct {
	canvas   *image.RGBA
	queue    []labelled
	occupied []image.Rectangle // by labels
}

// line is the width of a box's line in pixels.
const line = 2

func (m *marker) frame(box image.Rectangle, c color.RGBA) {
	for _, side := range []image.Rectangle{
		image.Rect(box.Min.X, box.Min.Y, box.Max.X, box.Min.Y+line), image.Rect(box.Min.X, box.Max.Y-line, box.Max.X,
			box.Max.Y),
		image.Rect(box.Min.X, box.Min.Y, box.Min.X+line, box.Max.Y), image.Rect(box.Max.X-line, box.Min.Y, box.Max.X,
			box.Max.Y),
	} {
		m.fill(side, c)
	}
}

func (m *marker) fill(area image.Rectangle, c color.RGBA) {
	draw.Draw(m.canvas, area.Intersect(m.canvas.Bounds()), image.NewUniform(c), image.Point{}, draw.Src)
}

// Letters have 5 × 7 dots of two pixels, with a dot between them and around.
const (
	dot    = 2
	wide   = 5
	high   = 7
	across = (wide + 1) * dot
)

// glyphs are the rows of each letter, with the leftmost dot as the highest bit.
var glyphs = map[rune][high]byte{
	'0': {14, 17, 19, 21, 25, 17, 14}, '1': {4, 12, 4, 4, 4, 4, 14}, '2': {14, 17, 1, 2, 4, 8, 31}, '3': {31, 2, 4, 2,
		1, 17, 14},
	'4': {2, 6, 10, 18, 31, 2, 2}, '5': {31, 16, 30, 1, 1, 17, 14}, '6': {6, 8, 16, 30, 17, 17, 14}, '7': {31, 1, 2, 4,
		8, 8, 8},
	'8': {14, 17, 17, 14, 17, 17, 14}, '9': {14, 17, 17, 15, 1, 2, 12}, 'e': {0, 0, 14, 17, 31, 16, 14},
}

// covered is how much an area covers of labels, and of boxes except one.
func (m *marker) covered(area, except image.Rectangle) (pixels int) {
	for _, l := range m.queue {
		if l.box != except {
			pixels += pixelsOf(area.Intersect(l.box))
		}
	}
	for _, label := range m.occupied {
		pixels += 4 * pixelsOf(area.Intersect(label))
	}
	return pixels
}

func pixelsOf(area image.Rectangle) int { return area.Dx() * area.Dy() }

// label writes a label beside its box, where it covers the least.
func (m *marker) label(l labelled) {
	size := image.Pt(len(l.text)*across+dot, (high+2)*dot)
	box := l.box.Intersect(m.canvas.Bounds())
	// Above the box or, at the picture's edge and between other boxes, beside or in it.
	spots := []image.Point{
		{box.Min.X, box.Min.Y - size.Y}, {box.Max.X - size.X, box.Min.Y - size.Y},
		{box.Max.X, box.Min.Y}, {box.Min.X - size.X, box.Min.Y}, box.Min,
	}
	best, minimum := len(spots)-1, size.X*size.Y/2
	for n, point := range spots[:best] {
		area := image.Rectangle{point, point.Add(size)}
		if covered := m.covered(area, l.box); area.In(m.canvas.Bounds()) && covered < minimum {
			best, minimum = n, covered
		}
	}
	point := spots[best]
	area := image.Rectangle{point, point.Add(size)}
	m.occupied = append(m.occupied, area)
	m.fill(area, l.colour)
	for n, letter := range l.text {
		for y, row := range glyphs[letter] {
			for x := range wide {
				if row&(1<<(wide-1-x)) != 0 {
					corner := point.Add(image.Pt(dot+n*across+x*dot, dot+y*dot))
					m.fill(image.Rectangle{corner, corner.Add(image.Pt(dot, dot))}, color.RGBA{255, 255, 255, 255})
				}
			}
		}
	}
}
