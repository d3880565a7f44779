package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// maxEditable is the longest text that is put into an entry, whose layout takes
// the longer the more it holds (field case 103).
const maxEditable = 64 << 10

// formField is one field: its label, what the server says about it, the widget,
// and what is wrong with the value.
type formField struct {
	field   *form.Field
	keys    keyboard
	value   form.Value
	touched bool // the person has been here, so that what is missing is said
	changed func()

	hint    *widget.Label // nil when there is nothing to say
	problem *widget.Label
	widget  fyne.CanvasObject
	first   fyne.Focusable   // what takes the focus
	show    func(form.Value) // draws a value
	box     *fyne.Container
}

func newFormField(f *form.Field, keys keyboard, changed func()) *formField {
	x := &formField{field: f, keys: keys, changed: changed}
	x.problem = caption("", widget.DangerImportance)
	x.problem.Hide()
	x.build()
	x.box = container.New(&column{gap: 2}, x.label())
	if d := strings.TrimSpace(f.Description); d != "" {
		x.box.Add(caption(strings.Join(display.Lines(d, 5, 84), "\n"), widget.LowImportance))
	}
	x.box.Add(x.widget)
	if h := f.Hint(); h != "" {
		x.hint = caption(capital(display.Line(h, 120)), widget.LowImportance)
		x.box.Add(x.hint)
	}
	x.box.Add(x.problem)
	return x
}

func (x *formField) label() fyne.CanvasObject {
	name := widget.NewLabelWithStyle(display.Line(x.field.Label(), 70), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	name.Truncation = fyne.TextTruncateEllipsis
	row := container.New(&sideBySide{}, name)
	if x.field.Required {
		row.Add(caption("required", widget.HighImportance))
	} else {
		row.Add(caption("optional", widget.LowImportance))
	}
	return row
}

// build makes the widget that the field's kind asks for.
func (x *formField) build() {
	f := x.field
	switch {
	case f.Kind == form.Bool && (f.Required || f.Default != nil):
		t := newTick("Yes", x.keys, func(on bool) { x.edit(form.Value{Set: true, On: on}) })
		x.widget, x.first, x.show = t, t, func(v form.Value) { t.put(v.On) }
	case f.Kind == form.Bool:
		x.buildAnswer()
	case f.Kind == form.Multi:
		p := newPicker(optionLabels(f.Options), false, x.keys, func(picks []int) {
			x.edit(form.Value{Set: len(picks) > 0 || f.Required, Picks: picks})
		})
		x.usePicker(p)
	case f.Kind == form.Choice && (len(f.Options) <= maxRings || len(f.Options) > maxInMenu):
		p := newPicker(optionLabels(f.Options), true, x.keys, func(picks []int) {
			x.edit(form.Value{Set: len(picks) > 0, Picks: picks})
		})
		x.usePicker(p)
	case f.Kind == form.Choice:
		x.buildMenu()
	case f.Kind == form.JSON:
		x.buildInput(4)
	default:
		x.buildInput(1)
	}
}

func (x *formField) usePicker(p *picker) {
	x.widget = p.box
	x.show = func(v form.Value) { p.set(v.Picks) }
	if len(p.ticks) > 0 {
		x.first = p.ticks[0]
	}
}

// buildAnswer is a yes or no that can also be left out.
func (x *formField) buildAnswer() {
	p := newPicker([]string{"Yes", "No"}, true, x.keys, func(picks []int) {
		x.edit(form.Value{Set: len(picks) > 0, On: len(picks) > 0 && picks[0] == 0})
	})
	x.usePicker(p)
	x.show = func(v form.Value) {
		switch {
		case !v.Set:
			p.set(nil)
		case v.On:
			p.set([]int{0})
		default:
			p.set([]int{1})
		}
	}
}

// buildMenu is a drop-down; a choice that may be left out has an entry for that.
func (x *formField) buildMenu() {
	labels, skip := optionLabels(x.field.Options), 0
	if !x.field.Required {
		labels, skip = append([]string{"(leave out)"}, labels...), 1
	}
	c := newChooser(labels, x.keys)
	pick := func(string) {
		i := c.SelectedIndex() - skip
		if i < 0 {
			x.edit(form.Value{})
			return
		}
		x.edit(form.Value{Set: true, Picks: []int{i}})
	}
	c.OnChanged = pick
	x.widget, x.first = c, c
	x.show = func(v form.Value) {
		c.OnChanged = nil
		if len(v.Picks) == 1 {
			c.SetSelectedIndex(v.Picks[0] + skip)
		} else {
			c.ClearSelected()
		}
		c.OnChanged = pick
	}
}

func (x *formField) buildInput(lines int) {
	e := newInput(x.keys, lines)
	e.Password = x.field.Secret && x.field.Kind == form.Text
	if x.field.Kind == form.JSON {
		e.TextStyle.Monospace = true
	}
	e.OnChanged = func(s string) { x.edit(form.Typed(s)) }
	x.widget, x.first = e, e
	x.show = func(v form.Value) {
		if len(v.Text) > maxEditable {
			e.Disable()
			e.SetPlaceHolder("Too long to be edited here (" + display.Count(len(v.Text)) + " bytes)")
			return
		}
		if v.Set && v.Text == "" {
			e.SetPlaceHolder("(empty text)")
		} else {
			e.SetPlaceHolder("")
		}
		e.Enable()
		e.fill(v.Text)
	}
}

// edit takes a value from the widget.
func (x *formField) edit(v form.Value) {
	x.value, x.touched = v, true
	x.changed()
}

// set shows a value that comes from elsewhere.
func (x *formField) set(v form.Value) {
	x.value = v
	x.show(v)
}

// say shows what is wrong with the value in place of the hint, once it is fair to
// say it: a field that nobody has touched is not blamed for being empty. It reports
// whether that changed the field's height.
func (x *formField) say(problem string) (changed bool) {
	if problem != "" && !x.touched && !x.value.Set {
		problem = ""
	}
	if problem != "" {
		problem = "⚠ " + display.Line(problem, 160)
	}
	if problem == x.problem.Text {
		return false
	}
	setText(x.problem, problem)
	setVisible(x.problem, problem != "")
	if x.hint != nil {
		setVisible(x.hint, problem == "")
	}
	x.box.Refresh()
	return true
}

// caption is a small remark.
func caption(text string, i widget.Importance) *widget.Label {
	l := widget.NewLabel(text)
	l.SizeName = theme.SizeNameCaptionText
	l.Importance = i
	l.Wrapping = fyne.TextWrapWord
	return l
}

// capital starts a phrase of ours with a capital letter.
func capital(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}
