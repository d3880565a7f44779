package transport

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter caps what a server may ask for (field case 36).
const maxRetryAfter = 5 * time.Minute

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return time.Duration(min(n, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter)
}
