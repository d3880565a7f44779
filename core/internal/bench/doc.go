// Package bench compares sessions of core/client with those of the official Go
// SDK's client: `make bench`.
//
// The two programs that do the work, client below this folder and gosdk-bench in
// core/internal/peers, share all that measures and differ in what opens a session
// and calls a tool. They run in turns, several rounds of each, against one and the
// same server, the peer gosdk-server: over stdio and HTTP, in both eras. What is
// measured costs something, so that less is better:
//
//   - calls: the time that a call takes of one second, and the 50th and 99th
//     percentile of what a caller waits, with 1, 16 and 64 callers at a time;
//   - ready: how long one session takes to be ready and to have its tools;
//   - idle: what a session holds that rests among a thousand, and how long those
//     take to open.
//
// A row's number is the median, over the rounds, of ours divided by theirs. Two
// rounds side by side see the same machine; two runs on different days do not, so
// that only the ratio is worth comparing. docs/performance.md says how to read them.
//
// Nothing that ships imports this package.
package bench
