package tools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type pdfIn struct {
	Filename string `json:"filename,omitempty"`
	inWindow
}

func (s *Server) addPDFTools() {
	add(s, &mcp.Tool{Name: "browser_pdf_save", Description: "Save the page as PDF", Annotations: reads("Save as PDF")}, savePDF)
}

func savePDF(ctx context.Context, a *agent, in pdfIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "page", "pdf")
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	data, err := p.PDF(ctx)
	if err != nil {
		return nil, err
	}
	if err := writeFile(file, data); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved %s (%d bytes).", file, len(data))
	return out, nil
}
