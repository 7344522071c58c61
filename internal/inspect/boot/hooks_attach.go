package boot

import (
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Layer is one server of the chain.
type Layer struct {
	Name   string
	Server *genericapiserver.GenericAPIServer
}

// hookCheckPrefix is in front of a hook's name in the name of its health check.
const hookCheckPrefix = "poststarthook/"

// Attach takes over the hooks of a finished chain, outermost layer first. Only
// the outermost server runs hooks: it has taken those of the inner ones when it
// was made. A hook belongs to the innermost layer that has it. Call it once,
// before the server runs.
func (h *Hooks) Attach(layers []Layer) {
	if len(layers) == 0 {
		return
	}
	checks := map[string]healthz.HealthChecker{}
	for _, check := range layers[0].Server.HealthzChecks() {
		checks[check.Name()] = check
	}
	entries := reflect.ValueOf(layers[0].Server.PostStartHooks())
	owners := ownersOf(layers)
	now := time.Now()

	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(layers[0].Server.PostStartHooks())) {
		owner := owners[name]
		k := h.hooks[name]
		if k == nil {
			k = &hook{name: name, known: now, state: inspect.RunPending}
			k.registeredAt, k.function = origin(entries.MapIndex(reflect.ValueOf(name)))
			h.hooks[name] = k
		}
		k.layer, k.check = layers[owner].Name, checks[hookCheckPrefix+name]
		h.order = append(h.order, k)
	}
	slices.SortStableFunc(h.order, func(a, b *hook) int { return owners[a.name] - owners[b.name] })
}

// ownersOf returns the index of the innermost layer that has a hook.
func ownersOf(layers []Layer) map[string]int {
	owners := map[string]int{}
	for i, layer := range layers {
		for name := range layer.Server.PostStartHooks() {
			owners[name] = i
		}
	}
	return owners
}

// origin reads where a hook was registered and what function it is, out of an
// entry whose fields are unexported: reflection may read a string and a function's
// address all the same. It returns less when upstream's fields have changed.
func origin(entry reflect.Value) (registeredAt, function string) {
	if entry.Kind() != reflect.Struct {
		return "", ""
	}
	if run := entry.FieldByName("hook"); run.Kind() == reflect.Func {
		registeredAt, function = describe(run.Pointer())
	}
	// A hook that was in a server's configuration is added by the server's
	// constructor: then the place of the function itself says more.
	if stack := entry.FieldByName("originatingStack"); stack.Kind() == reflect.String {
		if at := registrar(stack.String()); at != "" && !strings.Contains(at, "pkg/server.completedConfig.New ") {
			registeredAt = at
		}
	}
	return registeredAt, function
}

// registrar finds in the text of a stack who called AddPostStartHook.
func registrar(stack string) string {
	lines := strings.Split(stack, "\n")
	added := false
	for i := 0; i+1 < len(lines); i++ {
		switch {
		case strings.Contains(lines[i], ".AddPostStartHook"):
			added = true
			i++ // its file
		case added:
			function := lines[i]
			if end := strings.LastIndexByte(function, '('); end > 0 {
				function = function[:end]
			}
			file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return function + " " + shortFile(file)
		}
	}
	return ""
}

// functionOf names a function the way a stack does.
func functionOf(run genericapiserver.PostStartHookFunc) string {
	_, function := describe(reflect.ValueOf(run).Pointer())
	return function
}

// describe returns "function file:line" of the function at pc, and its name.
func describe(pc uintptr) (at, function string) {
	f := runtime.FuncForPC(pc)
	if f == nil {
		return "", ""
	}
	file, line := f.FileLine(pc)
	// A method value is called through a wrapper that stacks leave out.
	function = strings.TrimSuffix(f.Name(), "-fm")
	return function + " " + shortFile(file+":"+strconv.Itoa(line)), function
}

// callerOf returns "function file:line" of the caller skip levels above ours.
func callerOf(skip int) string {
	var pcs [1]uintptr
	if runtime.Callers(skip+2, pcs[:]) == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames(pcs[:]).Next()
	return frame.Function + " " + shortFile(frame.File+":"+strconv.Itoa(frame.Line))
}

// shortFile keeps the last element of a path: the function before it has the package.
func shortFile(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
