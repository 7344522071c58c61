package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

const (
	flagsPath = "/flagz"
	// flagsType asks for the flags as JSON; without it the page is for people.
	flagsType = "application/json;g=config.k8s.io;v=v1beta1;as=Flagz,application/json;g=config.k8s.io;v=v1alpha1;as=Flagz"
)

// flags returns the values of all flags of the server, by their names.
func (s *Server) flags(ctx context.Context) (map[string]string, error) {
	body, err := s.get(ctx, flagsPath, flagsType)
	if err != nil {
		return nil, err
	}
	var page struct {
		Kind  string            `json:"kind"`
		Flags map[string]string `json:"flags"`
	}
	if err := json.Unmarshal(body, &page); err != nil || page.Kind != "Flagz" {
		return nil, fmt.Errorf("reading %s: %w", flagsPath, errFormat)
	}
	return page.Flags, nil
}

// listed splits the value of a flag that is a list: "[Node,RBAC]".
func listed(value string) []string {
	value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// withoutCredentials leaves user and password out of URLs with commas between
// them; what is no URL stays as it is.
func withoutCredentials(value string) string {
	places := strings.Split(value, ",")
	for i, place := range places {
		if target, err := url.Parse(place); err == nil && target.User != nil {
			target.User = nil
			places[i] = target.String()
		}
	}
	return strings.Join(places, ",")
}
