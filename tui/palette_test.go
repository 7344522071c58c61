package tui

import (
	"strings"
	"testing"
)

// What is typed after the colon: where it leads, or what is wrong with it.
func TestCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ at, wrong string }{
		"crds":                             {at: "crds"},
		"dash":                             {at: "dashboard"},
		"crd":                              {at: "object/customresourcedefinitions.apiextensions.k8s.io?version=v1"},
		"filters":                          {at: "chain"},
		"etcdmember":                       {at: "etcd"},
		"crds widgets.lab.example":         {at: "crds/widgets.lab.example"},
		"apis v1.tls.lab.example":          {at: "apiservices/v1.tls.lab.example"},
		"chain/authorization":              {at: "chain/authorization"},
		"cm -n default":                    {at: "object/configmaps?namespace=default&version=v1"},
		"configmaps/web -n default":        {at: "object/configmaps/web?namespace=default&version=v1"},
		"ns -A":                            {at: "object/namespaces?version=v1"},
		"route GET /api/v1/pods":           {at: "route?path=%2Fapi%2Fv1%2Fpods&verb=GET"},
		"route /api":                       {at: "route?path=%2Fapi&verb=GET"},
		"route list /api --as 花子":          {at: "route?path=%2Fapi&user=%E8%8A%B1%E5%AD%90&verb=list"},
		"route GET /a --as=a --as-group=b": {at: "route?groups=b&path=%2Fa&user=a&verb=GET"},
		"route":                            {wrong: "a verb and a path"},
		"route GET api":                    {wrong: "a verb and a path"},
		"route GET /api --as":              {wrong: "needs a name"},
		"route GET /api --as-group g":      {wrong: "--as-group needs --as"},
		"route GET /api --wat":             {wrong: "takes no --wat"},
		"crsd":                             {wrong: "did you mean"},
		"花子":                               {wrong: "no page, no command"},
		"crds a b":                         {wrong: "too many"},
		"crds --wide":                      {wrong: "takes no --wide"},
		"theme":                            {wrong: "needs a name"},
		"theme nope":                       {wrong: "nope"},
		"snapshot":                         {wrong: "name of a file"},
		"snapshot /tmp/x":                  {wrong: "no server"},
		"delete configmaps web -n default": {wrong: "--allow-changes"},
		"ctx":                              {wrong: "name of a context"},
		"x?%zz":                            {wrong: "no place"},
		"object/configmaps?version=v1":     {at: "object/configmaps?version=v1"},
		"requests?filter=user%3Asystem":    {at: "requests?filter=user%3Asystem"},
		"health   ":                        {at: "health"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := stage(t, scene{at: "hooks"})
			r.command(line)
			if want.wrong != "" {
				p, ok := r.app.panel.(*palettePanel)
				if !ok || p.err == nil || !strings.Contains(errorText(p.err), want.wrong) {
					t.Errorf("no error that says %q:\n%s", want.wrong, r.text())
				}
				return
			}
			if r.place() != want.at || r.app.panel != nil {
				t.Errorf("it leads to %s, want %s\n%s", r.place(), want.at, r.text())
			}
			r.healthy()
		})
	}
}

// Completion: what is typed stays its beginning, tab goes through what there is.
func TestCompletion(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "hooks"})
	for typed, want := range map[string]string{
		"cr": "crds", "contr": "controllers", "confi": "configmaps", "cm": "configmaps", "ns": "namespaces", "th": "theme ", "theme li": "theme light",
		"crds gad": "crds gadgets.lab.example", "apis v1.tls": "apis v1.tls.lab.example", "chain/": "", "route G": "route GET", "route GET /api/v1/namespaces/d": "route GET /api/v1/namespaces/default/configmaps",
		"configmaps -": "configmaps -n", "configmaps -n kube-s": "configmaps -n kube-system", "花": "",
	} {
		offers := r.app.complete(typed)
		if want == "" {
			if len(offers) != 0 {
				t.Errorf("%q is completed to %+v", typed, offers[0])
			}
			continue
		}
		if len(offers) == 0 || offers[0].line != want {
			t.Errorf("%q is completed to %+v, want %q", typed, offers, want)
		}
	}
	r.press(":")
	r.say("apiser")
	r.press("tab", "enter")
	if r.place() != "apiservices" {
		t.Errorf("tab and enter lead to %s", r.place())
	}
	r.press(":")
	r.say("disc")
	r.press("enter") // a beginning of only one thing is that thing
	if r.place() != "discovery" {
		t.Errorf("disc leads to %s", r.place())
	}
}
