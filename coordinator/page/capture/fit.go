package capture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
)

// Fit makes an image of more bytes than that a JPEG of fewer. It reports what it has changed;
// empty: nothing. It does not read WebP.
func (i *Image) Fit(limit int) (change string, err error) {
	if len(i.Data) <= limit {
		return "", nil
	}
	pixels, _, err := image.Decode(bytes.NewReader(i.Data))
	if err != nil {
		return "", fmt.Errorf("make the picture smaller: %w", err)
	}
	before, quality := len(i.Data), defaultQuality
	for ; len(i.Data) > limit && quality > 0; quality -= 20 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, pixels, &jpeg.Options{Quality: quality}); err != nil {
			return "", fmt.Errorf("make the picture smaller: %w", err)
		}
		i.Data = b.Bytes()
	}
	change = fmt.Sprintf("a JPEG of quality %d: as %s it has %.1f "+
		"MB", quality+20, formatNames[i.Format], float64(before)/1e6)
	i.Format = "jpeg"
	return change, nil
}

var formatNames = map[string]string{"png": "PNG", "jpeg": "JPEG"}
