package boot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// The file of starts holds one JSON object a line, each the state of one step at one
// time; the last of a step counts. So a start that is cut off leaves all but what it
// had not written, and damage to a line is damage to that line.
const (
	// damagedSuffix is for a file that was set aside.
	damagedSuffix = ".damaged"
	// maxFileSize is far above what twenty starts take.
	maxFileSize = 4 << 20
	// rewriteAfter is how many starts a file may hold before old ones are dropped.
	rewriteAfter = 2 * keepBoots
)

// line is one line of the file.
type line struct {
	Boot     int64     `json:"boot"`
	BootedAt time.Time `json:"bootedAt"`
	Step     *step     `json:"step"`
}

func encodeStep(boot int64, bootedAt time.Time, s *step) []byte {
	text, err := json.Marshal(line{boot, bootedAt, s})
	if err != nil {
		return nil // plain values always encode, but for years beyond 9999
	}
	return append(text, '\n')
}

func encodeStarts(starts []start) []byte {
	var content []byte
	for _, one := range starts {
		for _, s := range one.steps {
			content = append(content, encodeStep(one.boot, one.bootedAt, s)...)
		}
	}
	return content
}

// readBoots returns the starts in the file, oldest first, and whether it should be
// written anew. A damaged file is set aside under another name, and what can be
// read of it is returned with the error.
func readBoots(path string) (starts []start, rewrite bool, err error) {
	content, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, setAside(path, err)
	}
	lines, damage := parseLines(content)
	starts = group(lines)
	if damage != nil {
		return starts, true, setAside(path, damage)
	}
	torn := len(content) > 0 && content[len(content)-1] != '\n'
	return starts, torn || len(starts) > rewriteAfter, nil
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxFileSize)
	}
	return os.ReadFile(path)
}

// setAside renames a damaged file; only the last one is kept.
func setAside(path string, why error) error {
	err := fmt.Errorf("reading %s: %w", path, why)
	if renameErr := os.Rename(path, path+damagedSuffix); renameErr != nil {
		return errors.Join(err, renameErr)
	}
	return fmt.Errorf("%w; it was renamed to %s", err, path+damagedSuffix)
}

// parseLines reads all lines that can be read. The last one may be torn, by a
// process that was killed while it wrote: that is no damage.
func parseLines(content []byte) (lines []line, damage error) {
	number := 0
	for text := range bytes.Lines(content) {
		number++
		var l line
		err := json.Unmarshal(text, &l)
		if err == nil && (l.Step == nil || l.Boot <= 0 || l.Step.Component == "") {
			err = errors.New("it is not a step of a start")
		}
		if err == nil {
			lines = append(lines, l)
		} else if damage == nil && text[len(text)-1] == '\n' {
			damage = fmt.Errorf("line %d: %w", number, err)
		}
	}
	return lines, damage
}

// group puts lines together into starts, the last line of a step counting.
func group(lines []line) []start {
	steps := map[int64]map[string]*step{}
	booted := map[int64]time.Time{}
	for _, l := range lines {
		if steps[l.Boot] == nil {
			steps[l.Boot], booted[l.Boot] = map[string]*step{}, l.BootedAt
		}
		steps[l.Boot][l.Step.Component] = l.Step
	}
	starts := make([]start, 0, len(steps))
	for boot, byComponent := range steps {
		one := start{boot, booted[boot], sortedSteps(byComponent)}
		one.settle()
		starts = append(starts, one)
	}
	slices.SortFunc(starts, func(a, b start) int { return int(a.boot - b.boot) })
	return starts
}

// settle ends what a process left running that is no longer there.
func (s *start) settle() {
	for _, one := range s.steps {
		if one.State == inspect.RunRunning {
			// When that was is not known.
			one.State = inspect.RunFailed
			one.ReadyAt = one.StartedAt
			if one.Error == "" {
				one.Error = "the process ended before this was done"
			}
		}
	}
}
