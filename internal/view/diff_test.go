package view

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/kapi-dev/kapi/internal/client/inspection/diff"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/text"
)

// snapshot opens one of the recordings of a real server: a definition was removed,
// one added and one changed in between, and an APIService added whose server is not there.
func snapshot(t *testing.T, name string) *recorded.Server {
	t.Helper()
	server, err := recorded.Open(filepath.Join("..", "client", "inspection", "recorded", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func compared(t *testing.T, from, to string, all bool) diff.Result {
	t.Helper()
	result, err := diff.Compare(t.Context(), snapshot(t, from), snapshot(t, to), diff.Options{All: all})
	if err != nil {
		t.Fatal(err)
	}
	result.From.File, result.To.File = from, to
	return result
}

func TestDiff(t *testing.T) {
	t.Parallel()
	unlike := compared(t, "before.json", "after.json", false)
	unlike.To.Address = "https://[2001:db8::1]:6443"
	unlike.NotCompared = []diff.NotCompared{{Resource: "etcdmembers", Reason: "the second: 禁止: etcdmembers.inspect.kapi.dev is forbidden"}}
	difference := int64(-3)
	unlike.Kinds = []diff.KindDiff{{
		Resource: "healthchecks", Kind: "HealthCheck", Before: 2, After: 2,
		Added: []diff.ObjectDiff{{Name: "检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查检查"}}, Removed: []string{"e\u0301tcd\x1b[31m"},
		Changed: []diff.ObjectDiff{{Name: "ping", Changes: []diff.FieldChange{
			{Field: "Objects", From: "5", To: "2", Difference: &difference},
			{Field: "Healthy", From: "", To: "False NoRoute", Message: "connecting to 主机: no route to host\nsecond line"},
		}}},
	}}
	restarted := compared(t, "after.json", "after.json", false)
	restarted.From.At = restarted.To.At.AddDate(0, 0, 1)
	restarted.From.StartedAt = restarted.To.StartedAt.AddDate(0, 0, -1)
	for name, result := range map[string]diff.Result{
		"changed":  compared(t, "before.json", "after.json", false),
		"all":      compared(t, "before.json", "after.json", true),
		"same":     compared(t, "after.json", "after.json", true),
		"backward": compared(t, "after.json", "before.json", false),
		"unlike":   unlike, "restarted": restarted,
	} {
		golden(t, "diff/"+name, func(w io.Writer, s text.Screen) error { return Diff(w, s, result) })
	}
}
