// Package soak keeps many sessions busy over real processes while their servers are
// killed and come back, and looks at what is left: every call answered exactly once,
// no goroutine, process, file descriptor or memory that stays. It holds nothing but
// tests, which need Linux for /proc.
//
// `make soak` runs 200 sessions for five minutes, or for TIME=30s; an ordinary test
// run has a short form of it. DRAWBRIDGE_SOAK holds the time, DRAWBRIDGE_SOAK_SEED
// the seed of a run to be repeated; a run prints its own. A seed repeats who is hit
// and when, not what the machine makes of it.
package soak
