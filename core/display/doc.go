// Package display turns strings from outside into text that a person can trust:
// what is shown is what is there (rule A7, case 104).
//
// Names, titles, descriptions, messages, log lines and results come from servers
// and files. Unicode and terminals offer many ways to make such a string look
// like another one: direction overrides, characters of no width, tag characters,
// escape sequences, or a few thousand spaces before the part that matters. Every
// foreign string passes through [Line] or [Lines] on its way to the screen; the
// value itself, which is sent and stored, is never changed.
//
// It is a package of its own, outside the house table, because the window, the
// command line and later the history and the approvals must all show the same
// string in the same way, and none of them may import another.
//
// # What is kept
//
// Letters, marks, digits, punctuation and symbols of every script, right-to-left
// text included; emoji with their presentation selectors, skin tones and joined
// sequences; joiners inside words of scripts that need them, such as Persian.
// The rest becomes a visible escape like ⟨U+202E⟩, or ⟨0xFF⟩ for a byte that is
// no UTF-8. Runs of white space, of empty lines and of combining marks beyond
// what writing needs are collapsed with a count.
package display
