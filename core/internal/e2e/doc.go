// Package e2e runs the real program in a real window on a virtual display, with
// real servers behind it, and looks at it as a person would: by its window, its
// `drawbridge status`, and its end.
//
// `make test` names the program in DRAWBRIDGE_BINARY and sets
// DRAWBRIDGE_REQUIRE_DISPLAY=1, so that nothing is skipped there. Without them the
// tests are skipped. DRAWBRIDGE_SCREENSHOTS names a folder for the pictures of the
// documentation (`make screenshots`); otherwise pictures go to build/screenshots.
package e2e
