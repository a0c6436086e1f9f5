package output

import (
	"mime"
	"slices"
	"strings"
	"sync"
)

// Kind has the extensions that fit a kind of content; the first is the default. No kind
// has an extension that a program runs, except Test: a page has no part in its code.
type Kind []string

// The kinds of content that tools save.
var (
	Text         = Kind{".txt", ".md", ".log"}
	Outline      = Kind{".md", ".txt", ".yml", ".yaml"}
	Markdown     = Kind{".md", ".txt"}
	HTML         = Kind{".html", ".htm", ".txt"}
	JSON         = Kind{".json", ".txt"}
	PNG          = Kind{".png"}
	JPEG         = Kind{".jpeg", ".jpg"}
	WebP         = Kind{".webp"}
	PDF          = Kind{".pdf"}
	HAR          = Kind{".har"}
	HeapSnapshot = Kind{".heapsnapshot"}
	WebM         = Kind{".webm"}
	CPUProfile   = Kind{".cpuprofile"}
	Test         = Kind{".spec.ts", ".ts"}
	Binary       = Kind{".bin"}
)

// types has the kinds of bodies by their MIME types. A script is text.
var types = map[string]Kind{
	"application/json":   JSON,
	"application/pdf":    PDF,
	"application/zip":    {".zip"},
	"application/gzip":   {".gz"},
	"application/x-gzip": {".gz"},
	"application/xml":    {".xml", ".txt"},
	"audio/mpeg":         {".mp3"},
	"audio/ogg":          {".ogg"},
	"audio/wav":          {".wav"},
	"font/otf":           {".otf"},
	"font/ttf":           {".ttf"},
	"font/woff":          {".woff"},
	"font/woff2":         {".woff2"},
	"image/avif":         {".avif"},
	"image/bmp":          {".bmp"},
	"image/gif":          {".gif"},
	"image/jpeg":         JPEG,
	"image/png":          PNG,
	"image/svg+xml":      {".svg", ".txt"},
	"image/webp":         WebP,
	"image/x-icon":       {".ico"},
	"text/css":           {".css", ".txt"},
	"text/csv":           {".csv", ".txt"},
	"text/html":          HTML,
	"text/markdown":      Markdown,
	"text/plain":         {".txt", ".md", ".log", ".csv"},
	"text/xml":           {".xml", ".txt"},
	"video/mp4":          {".mp4"},
	"video/webm":         WebM,
}

// documents are further extensions of downloaded data.
var documents = Kind{".7z", ".docx", ".eps", ".epub", ".har", ".ics", ".mkv", ".mov", ".odp", ".ods", ".odt",
	".parquet", ".pptx", ".rtf", ".tar", ".tgz", ".tif", ".tiff", ".tsv", ".xlsx", ".xz", ".zst"}

// data are all extensions that a download keeps.
var data = sync.OnceValue(func() Kind {
	all := slices.Concat(documents, Text, Outline, Binary)
	for _, kind := range types {
		all = append(all, kind...)
	}
	return all
})

// OfType is the kind of a body by its MIME type, which a server chooses.
func OfType(contentType string) Kind {
	plain, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		plain, _, _ = strings.Cut(contentType, ";")
	}
	plain = strings.ToLower(strings.TrimSpace(plain))
	if kind, known := types[plain]; known {
		return slices.Concat(kind, Binary)
	}
	switch {
	case strings.HasSuffix(plain, "+json"):
		return JSON
	case strings.HasSuffix(plain, "+xml"):
		return types["application/xml"]
	case strings.HasPrefix(plain, "text/"), strings.HasSuffix(plain, "javascript"):
		return Kind{".txt"}
	}
	return Binary
}

func (k Kind) fits(extension string) bool {
	return extension != "" && slices.Contains(k, strings.ToLower(extension))
}
