package etcd

import (
	"math/rand/v2"
	"os"
	"testing"
)

// BenchmarkStart: from nothing, or from a stopped member, to ready.
func BenchmarkStart(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			c := testConfig(b)
			b.StartTimer()
			m := mustStart(b, c)
			b.StopTimer()
			mustStop(b, m)
			b.StartTimer()
		}
	})
	b.Run("existing", func(b *testing.B) {
		c := testConfig(b)
		mustStop(b, mustStart(b, c))
		for b.Loop() {
			m := mustStart(b, c)
			b.StopTimer()
			mustStop(b, m)
			b.StartTimer()
		}
	})
}

// BenchmarkPreflight: what reading a data directory costs before each start.
func BenchmarkPreflight(b *testing.B) {
	c := testConfig(b)
	c.UnsafeNoFsync = true
	m := mustStart(b, c)
	// 2 KB is an ordinary Kubernetes object.
	value := make([]byte, 2048)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(value)
	fill(b, m.Client(), 40_000, func(int) string { return string(value) })
	mustStop(b, m)

	b.Run("database", func(b *testing.B) {
		fi, err := os.Stat(dbPath(c.Dir))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(fi.Size())
		for b.Loop() {
			if _, err := scanDB(dbPath(c.Dir)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("log", func(b *testing.B) {
		for b.Loop() {
			if _, err := scanWAL(walDir(c.Dir)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			m := mustStart(b, c)
			b.StopTimer()
			mustStop(b, m)
			b.StartTimer()
		}
	})
}
