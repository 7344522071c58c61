package page

import (
	"net/url"
	"strings"
)

// Location is where one is: a page, and what of it. The zero Location is nowhere.
type Location struct {
	// Page is a name of the table of pages ("crds", "object").
	Page string
	// Name is the part of it that is shown ("widgets.example.com"); empty is the page
	// itself.
	Name string
	// Query are further settings, by page; "namespace", "filter", "view" are the usual ones.
	Query url.Values
}

// At returns a location from pairs of further settings.
func At(page, name string, pairs ...string) Location {
	l := Location{Page: page, Name: name}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if l.Query == nil {
			l.Query = url.Values{}
		}
		l.Query.Set(pairs[i], pairs[i+1])
	}
	return l
}

// Zero tells whether it is nowhere.
func (l Location) Zero() bool { return l.Page == "" }

// Get is one of the further settings.
func (l Location) Get(name string) string { return l.Query.Get(name) }

// String writes it as Parse reads it: PAGE[/NAME][?SETTINGS].
func (l Location) String() string {
	s := l.Page
	if l.Name != "" {
		s += "/" + l.Name
	}
	if len(l.Query) > 0 {
		s += "?" + l.Query.Encode()
	}
	return s
}

// Parse reads PAGE[/NAME][?SETTINGS]. Names may hold slashes.
func Parse(s string) (Location, error) {
	s, query, _ := strings.Cut(s, "?")
	settings, err := url.ParseQuery(query)
	if err != nil {
		return Location{}, err
	}
	if len(settings) == 0 {
		settings = nil
	}
	page, name, _ := strings.Cut(s, "/")
	return Location{Page: page, Name: name, Query: settings}, nil
}
