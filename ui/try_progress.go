package ui

import (
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// repaint is the least time between two drawings of progress (field case 67).
const repaint = 100 * time.Millisecond

// tryProgress is a bar and what the server says about it.
type tryProgress struct {
	bar     *widget.ProgressBar
	endless *widget.ProgressBarInfinite
	words   *widget.Label
	doing   string // what is said before the server says something
	box     *fyne.Container
}

func newTryProgress(doing string) *tryProgress {
	p := &tryProgress{doing: doing, bar: widget.NewProgressBar(), endless: widget.NewProgressBarInfinite(), words: caption("", widget.LowImportance)}
	p.words.Wrapping, p.words.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	p.endless.Stop()
	p.box = container.NewBorder(nil, nil, nil, nil, container.NewGridWithColumns(2, container.NewStack(p.bar, p.endless), p.words))
	p.end()
	return p
}

func (p *tryProgress) begin() {
	p.bar.Hide()
	p.endless.Show()
	p.endless.Start()
	p.words.SetText(p.doing)
	p.box.Show()
}

func (p *tryProgress) end() {
	p.endless.Stop()
	p.words.SetText("")
	p.box.Hide()
}

// show draws progress: a share of the total where there is one.
func (p *tryProgress) show(x hub.Progress) {
	if share, ok := shareOf(x); ok {
		p.endless.Stop()
		p.endless.Hide()
		p.bar.Show()
		p.bar.SetValue(share)
	}
	if x.Message != "" {
		setText(p.words, display.Line(x.Message, 120))
	}
}

// shareOf is how much is done, from 0 to 1; ok is false when nobody knows.
func shareOf(x hub.Progress) (share float64, ok bool) {
	if !(x.Total > 0) || !(x.Done >= 0) {
		return 0, false
	}
	share = x.Done / x.Total
	if !(share >= 0) { // infinite by infinite
		return 0, false
	}
	return min(share, 1), true
}

// progressFeed brings progress from a server's goroutine to the UI's, the newest
// only, and no faster than the window is drawn.
type progressFeed struct {
	do    func(func())
	paint func(hub.Progress)

	mu     sync.Mutex
	latest *hub.Progress
	posted bool // one is on its way to the UI
	end    chan struct{}
	done   chan struct{}
}

func newProgressFeed(do func(func()), paint func(hub.Progress)) *progressFeed {
	f := &progressFeed{do: do, paint: paint, end: make(chan struct{}), done: make(chan struct{})}
	go f.serve()
	return f
}

// set takes progress; it returns at once.
func (f *progressFeed) set(p hub.Progress) {
	f.mu.Lock()
	f.latest = &p
	f.mu.Unlock()
}

// stop ends the feed and waits for its goroutine.
func (f *progressFeed) stop() {
	close(f.end)
	<-f.done
}

func (f *progressFeed) serve() {
	defer close(f.done)
	t := time.NewTicker(repaint)
	defer t.Stop()
	for {
		select {
		case <-f.end:
			return
		case <-t.C:
			f.post()
		}
	}
}

func (f *progressFeed) post() {
	f.mu.Lock()
	if f.latest == nil || f.posted {
		f.mu.Unlock()
		return
	}
	p := *f.latest
	f.latest, f.posted = nil, true
	f.mu.Unlock()
	f.do(func() {
		f.mu.Lock()
		f.posted = false
		f.mu.Unlock()
		f.paint(p)
	})
}
