// Package breaker keeps callers away from an origin that keeps failing (C8).
//
// A [Table] holds one breaker per key. Whoever wants to make an exchange asks
// [Table.Allow] for a [Lease] and ends it in one of three ways: Success, Failure, or
// Nothing for outcomes that say nothing about health. At the threshold of failures
// in a row the breaker opens: for the recovery time everybody is refused with
// [OpenError]. Then it is half open and one caller at a time gets a lease, the
// probe, whose outcome closes or re-opens it. A probe whose holder never reports
// makes room for another after twice the recovery time.
//
// A Table may be used from any goroutine. The package does not know who calls it or
// what counts as a failure.
package breaker
