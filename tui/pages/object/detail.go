package object

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// detail is what stands beside a list about an object: what the list's columns do
// not have, since lists come without the objects themselves.
func detail(r *data.Row, _ data.Frame) doc.Render {
	return func(paper ink.Paper) []doc.Line {
		lines := kit.Section(nil, r.Name)
		fact := func(token ink.Token, label, value string) {
			lines = kit.Fact(lines, paper, label, ink.L(token, value))
		}
		fact(ink.Text, "namespace", r.Namespace)
		if !r.CreationTimestamp.IsZero() {
			fact(ink.Text, "created", r.CreationTimestamp.Format("2006-01-02 15:04:05")+", "+kit.Ago(r.CreationTimestamp.Time, paper.Now)+" ago")
		}
		if r.DeletionTimestamp != nil {
			fact(ink.Warning, "being deleted", "since "+kit.Ago(r.DeletionTimestamp.Time, paper.Now))
		}
		for _, owner := range r.OwnerReferences {
			fact(ink.Text, "owned by", owner.Kind+" "+owner.Name)
		}
		fact(ink.Text, "finalizers", strings.Join(r.Finalizers, ", "))
		fact(ink.Muted, "version", r.ResourceVersion)
		fact(ink.Muted, "uid", string(r.UID))
		lines = pairsOf(lines, paper, "Labels", r.Labels)
		return pairsOf(lines, paper, "Annotations", r.Annotations)
	}
}

// pairsOf adds a section of keys and values. The copy of the whole object that
// kubectl apply leaves behind is left out.
func pairsOf(lines []doc.Line, paper ink.Paper, title string, pairs map[string]string) []doc.Line {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(pairs)), func(key string) bool { return key == corev1.LastAppliedConfigAnnotation })
	if len(keys) == 0 {
		return lines
	}
	lines = kit.Section(lines, title)
	for _, key := range keys {
		for i, line := range paper.Wrap(ink.Value, key+"="+pairs[key], max(1, paper.Width-6)) {
			before := "  "
			if i > 0 {
				before = "    "
			}
			lines = append(lines, doc.Line{Level: 1, Line: append(ink.Line{ink.T(ink.Text, before)}, line...), Copy: key + "=" + pairs[key]})
		}
	}
	return lines
}
