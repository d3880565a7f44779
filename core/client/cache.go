package client

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// The bounds of what is kept of a server's answers.
const (
	maxKept     = 256
	maxKeptSize = 16 << 20
	// maxTTL caps what a server may promise: nobody restarts a server to see a
	// change.
	maxTTL = 24 * time.Hour
)

// cache keeps results of resources/read for as long as a modern server says that
// they are fresh (server/utilities/caching). It belongs to one connection, and so
// to one credential and one authorization context: private results may be kept in
// it like public ones. Results that took further inputs are never kept.
type cache struct {
	mu   sync.Mutex
	gen  int // counts invalidations
	kept *ttlcache.Cache[string, json.RawMessage]
}

// cacheKey is a request with everything that affects its result; "" when the
// result is not to be kept.
func cacheKey(o *opened, c Call) string {
	if c.Method != mcp.MethodResourcesRead || !o.modern() {
		return ""
	}
	return string(c.Fields) + "\n" + string(c.Meta) + "\n" + string(c.Capabilities)
}

// get returns a fresh result, nil when there is none, and the generation for put.
func (k *cache) get(key string) (json.RawMessage, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return nil, k.gen
	}
	if item := k.kept.Get(key); item != nil {
		return item.Value(), k.gen
	}
	return nil, k.gen
}

// put keeps a result that was asked for at generation gen. One that was
// invalidated meanwhile is not kept.
func (k *cache) put(key string, result json.RawMessage, gen int) {
	ttl := ttlOf(result)
	if ttl == 0 || len(key)+len(result) > maxKeptSize/4 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if gen != k.gen {
		return
	}
	if k.kept == nil {
		k.kept = ttlcache.New(
			ttlcache.WithCapacity[string, json.RawMessage](maxKept),
			ttlcache.WithMaxCost(maxKeptSize, func(i ttlcache.CostItem[string, json.RawMessage]) uint64 {
				return uint64(len(i.Key) + len(i.Value))
			}),
			ttlcache.WithDisableTouchOnHit[string, json.RawMessage](),
		)
	}
	k.kept.Set(key, result, ttl)
}

// invalidate forgets everything: what a change of one resource means for others is
// the server's secret.
func (k *cache) invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gen++
	k.kept = nil
}

// ttlOf reads how long a result is fresh: 0 when it says nothing that can be used
// (server/utilities/caching "Time-to-Live (TTL) Field").
func ttlOf(result json.RawMessage) time.Duration {
	var ms float64
	if json.Unmarshal(jsonrpc.Get(result, "ttlMs"), &ms) != nil || !(ms > 0) {
		return 0
	}
	return time.Duration(math.Min(ms, float64(maxTTL/time.Millisecond)) * float64(time.Millisecond))
}

// invalidate forgets the kept results of the connection l.
func (s *Session) invalidate(l *link) {
	s.mu.Lock()
	o := s.st.conn
	s.mu.Unlock()
	if o != nil && o.link == l {
		o.cache.invalidate()
	}
}
