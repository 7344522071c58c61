package stored

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// set makes the text anew.
func (p *Panel) set() {
	value := p.Value()
	if value == nil {
		key, guessed, without := p.key, p.guessed, p.without()
		p.doc.Set(func(paper ink.Paper) []doc.Line { return without(paper, key, guessed) })
		return
	}
	whole := decoded(value.Status.Value)
	served, key, err := p.served, p.key, p.question.Err()
	p.doc.Set(func(paper ink.Paper) []doc.Line { return text(paper, key, value, served, err, whole) })
}

// decoded is the value as a document; nil where it could not be decoded.
func decoded(value *v1alpha1.StoredValue) doc.Render {
	if value == nil || value.JSON == "" {
		return nil
	}
	var object any
	decoder := json.NewDecoder(strings.NewReader(value.JSON))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return doc.Text(value.JSON)
	}
	render, err := doc.YAML(numbered(object))
	if err != nil {
		return doc.Text(value.JSON)
	}
	return render
}

// numbered replaces numbers by those that YAML writes as they were: whole ones stay
// whole.
func numbered(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, each := range value {
			value[name] = numbered(each)
		}
	case []any:
		for i, each := range value {
			value[i] = numbered(each)
		}
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		if number, err := value.Float64(); err == nil {
			return number
		}
		return value.String()
	}
	return value
}

// text is what a key holds: what it comes to, what is remarkable, the facts, the
// value.
func text(paper ink.Paper, key string, answer *v1alpha1.StoredKeyQuery, served Served, err error, whole doc.Render) []doc.Line {
	status := answer.Status
	var lines []doc.Line
	for _, line := range verdict(paper, status.Value) {
		lines = append(lines, doc.Line{Line: line})
	}
	for _, note := range notes(status, served, err) {
		for i, line := range paper.Wrap(ink.Warning, paper.Glyphs.Warning+" "+note, paper.Width-3) {
			if i > 0 {
				line = append(ink.Line{ink.T(ink.Text, "  ")}, line...)
			}
			lines = append(lines, doc.Line{Line: line})
		}
	}
	lines = append(kit.Section(lines, "Key"), facts(paper, key, status)...)
	if whole == nil {
		return lines
	}
	lines = kit.Section(lines, "Value")
	for _, line := range whole(paper) {
		line.Level++
		line.Line = append(ink.Line{ink.T(ink.Text, "  ")}, line.Line...)
		lines = append(lines, line)
	}
	return lines
}

// verdict says in a line what is there.
func verdict(paper ink.Paper, value *v1alpha1.StoredValue) []ink.Line {
	if value == nil {
		return []ink.Line{{ink.T(ink.Muted, paper.Glyphs.Off+" no value")}}
	}
	what := strings.TrimSpace(value.APIVersion + " " + value.Kind)
	switch {
	case value.Encoding == v1alpha1.StoredEncrypted:
		return []ink.Line{{ink.T(ink.Good, paper.Glyphs.Good+" encrypted at rest"), ink.T(ink.Text, ", "+size(value.Bytes)+": the store does not say what it is")}}
	case value.Error != "":
		return paper.Wrap(ink.Bad, paper.Glyphs.Bad+" can't be decoded: "+value.Error, paper.Width-1)
	case what == "":
		return []ink.Line{{ink.T(ink.Text, fmt.Sprintf("%s of %s", size(value.Bytes), encoding(value.Encoding)))}}
	}
	return []ink.Line{{ink.T(ink.Text, "stored as "), ink.T(ink.Accent, what)}}
}

// encoding is how an encoding is called.
func encoding(e v1alpha1.StoredEncoding) string {
	switch e {
	case v1alpha1.StoredProtobuf:
		return "protobuf"
	case v1alpha1.StoredEncrypted:
		return "encrypted bytes"
	case v1alpha1.StoredBytes:
		return "bytes"
	default:
		return string(e)
	}
}

// notes are what one would not expect.
func notes(status v1alpha1.StoredKeyQueryStatus, served Served, err error) []string {
	var notes []string
	if err != nil {
		notes = append(notes, "this is what was read before; now: "+err.Error())
	}
	if v := status.Value; v != nil && served.APIVersion != "" && v.APIVersion != "" && v.APIVersion != served.APIVersion {
		notes = append(notes, fmt.Sprintf("stored as %s, shown as %s: the server converts it on the way", v.APIVersion, served.APIVersion))
	}
	if len(status.Keys) > 0 && served.ResourceVersion != "" && status.Keys[0].ModRevision != 0 {
		if stored := strconv.FormatInt(status.Keys[0].ModRevision, 10); stored != served.ResourceVersion {
			notes = append(notes, fmt.Sprintf("the store has revision %s of it, the API showed %s: it has changed in between", stored, served.ResourceVersion))
		}
	}
	if v := status.Value; v != nil && v.Withheld != "" {
		notes = append(notes, "withheld: "+v.Withheld)
	}
	return notes
}

// facts are what etcd knows of the key.
func facts(paper ink.Paper, key string, status v1alpha1.StoredKeyQueryStatus) []doc.Line {
	var lines []doc.Line
	fact := func(label, value string) { lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value)) }
	fact("key", key)
	if parent := Parent(key); parent != "" {
		from := len(lines)
		fact("beside it", "what is under "+parent)
		for i := range lines[from:] {
			lines[from+i].Open = page.At("etcd", "", "prefix", parent)
		}
	}
	if len(status.Keys) > 0 {
		k := status.Keys[0]
		fact("changed", changed(k))
		if k.Lease != 0 {
			fact("lease", fmt.Sprintf("%x: the key goes when the lease ends", k.Lease))
		}
	}
	if v := status.Value; v != nil {
		fact("size", size(v.Bytes)+exactly(v.Bytes)+" of "+encoding(v.Encoding))
		fact("encrypted by", encryptedBy(v))
	}
	if status.Revision != 0 {
		fact("read at", "revision "+strconv.FormatInt(status.Revision, 10)+" of the store")
	}
	return lines
}

func changed(k v1alpha1.StoredKey) string {
	if k.Version <= 1 && k.ModRevision == k.CreateRevision {
		return fmt.Sprintf("not since it was created at revision %d", k.CreateRevision)
	}
	return fmt.Sprintf("at revision %d, its version %d; created at %d", k.ModRevision, k.Version, k.CreateRevision)
}

// size writes bytes as everywhere in kapi, with the unit where that has none.
func size(bytes int64) string {
	if bytes >= 0 && bytes < 1024 {
		return kinds.Size(bytes) + " bytes"
	}
	return kinds.Size(bytes)
}

// exactly is what size has rounded.
func exactly(bytes int64) string {
	if bytes < 1024 {
		return ""
	}
	return fmt.Sprintf(" (%d bytes)", bytes)
}

func encryptedBy(v *v1alpha1.StoredValue) string {
	if v.EncryptedBy == "" {
		return "nothing: it is stored as it is"
	}
	return v.EncryptedBy
}

// Parent is the prefix that a key, or a prefix, is directly under; empty at the top.
func Parent(key string) string {
	trimmed := strings.TrimSuffix(key, "/")
	at := strings.LastIndexByte(trimmed, '/')
	if at <= 0 {
		return ""
	}
	return trimmed[:at+1]
}

// without is the text where there is no value, by why there is none.
func (p *Panel) without() func(paper ink.Paper, key string, guessed bool) []doc.Line {
	err := p.question.Err()
	switch {
	case p.about.RecordedFrom != "":
		return elsewhere("a recording has no values of the store")
	case err != nil && p.missing(err):
		return func(paper ink.Paper, key string, _ bool) []doc.Line { return nowhere(paper, key, err) }
	case err != nil:
		return elsewhere(err.Error())
	default:
		return elsewhere("this server does not show what is in its store; kapi does")
	}
}

// nowhere is said of a key that is not there.
func nowhere(paper ink.Paper, key string, err error) []doc.Line {
	var lines []doc.Line
	for _, line := range paper.Wrap(ink.Warning, paper.Glyphs.Warning+" "+err.Error(), paper.Width-1) {
		lines = append(lines, doc.Line{Line: line})
	}
	return append(kit.Section(lines, "Key"), facts(paper, key, v1alpha1.StoredKeyQueryStatus{})...)
}

// elsewhere is said where the server does not let anybody look into its store.
func elsewhere(why string) func(paper ink.Paper, key string, guessed bool) []doc.Line {
	return func(paper ink.Paper, key string, guessed bool) []doc.Line {
		var lines []doc.Line
		add := func(token ink.Token, text string) {
			for _, line := range paper.Wrap(token, text, min(100, paper.Width-1)) {
				lines = append(lines, doc.Line{Line: line})
			}
		}
		add(ink.Warning, paper.Glyphs.Warning+" "+why)
		lines = kit.Section(lines, "Key")
		lines = kit.Fact(lines, paper, "key", ink.L(ink.Accent, key))
		if guessed {
			lines = kit.Fact(lines, paper, "known from", ink.L(ink.Text, "convention; --etcd-prefix of the server may be another than /registry"))
		}
		command := Command(key)
		if strings.HasSuffix(key, "/") {
			command = List(key)
		}
		lines = append(lines, doc.Line{})
		add(ink.Text, "Who can reach its etcd reads it with")
		lines = append(lines, doc.Line{}, doc.Line{Line: ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Accent, command)}, Copy: command, Key: "command"}, doc.Line{})
		add(ink.Text, "and with --endpoints, --cacert, --cert and --key where etcd asks for certificates. Values of built-in resources are protobuf.")
		return lines
	}
}
