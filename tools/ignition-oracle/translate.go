package main

import (
	"fmt"

	"github.com/coreos/ign-converter/translate/v23tov30"
	"github.com/coreos/ign-converter/translate/v24tov31"
	"github.com/coreos/ign-converter/translate/v30tov22"
	"github.com/coreos/ign-converter/translate/v31tov22"
	"github.com/coreos/ign-converter/translate/v31tov24"
	"github.com/coreos/ign-converter/translate/v32tov22"
	"github.com/coreos/ign-converter/translate/v32tov24"
	"github.com/coreos/ign-converter/translate/v32tov31"
	"github.com/coreos/ign-converter/translate/v33tov32"
	"github.com/coreos/ign-converter/translate/v34tov33"
	"github.com/coreos/ign-converter/translate/v35tov34"
	up2_3 "github.com/coreos/ignition/config/v2_3"
	v2_3 "github.com/coreos/ignition/config/v2_3/types"
	up2_4 "github.com/coreos/ignition/config/v2_4"
	v2_4 "github.com/coreos/ignition/config/v2_4/types"
	up3_1 "github.com/coreos/ignition/v2/config/v3_1/translate"
	up3_2 "github.com/coreos/ignition/v2/config/v3_2/translate"
	up3_3 "github.com/coreos/ignition/v2/config/v3_3/translate"
	up3_4 "github.com/coreos/ignition/v2/config/v3_4/translate"
	up3_5 "github.com/coreos/ignition/v2/config/v3_5/translate"
	up3_6 "github.com/coreos/ignition/v2/config/v3_6/translate"
)

type step func(config any) (any, error)

func up[From, To any](convert func(From) To) step {
	return func(config any) (any, error) { return convert(config.(From)), nil }
}

func down[From, To any](convert func(From) (To, error)) step {
	return func(config any) (any, error) { return convert(config.(From)) }
}

// The published steps. There is none from 3.6 to 3.5, from 3.1 to 3.0, nor down within 2.x.
var steps = map[string]map[string]step{
	"2.2.0": {"2.3.0": up(up2_3.Translate)},
	"2.3.0": {
		"2.4.0": up(up2_4.Translate),
		"3.0.0": func(config any) (any, error) { return v23tov30.Translate(config.(v2_3.Config), emptyMap()) },
	},
	"2.4.0": {"3.1.0": func(config any) (any, error) { return v24tov31.Translate(config.(v2_4.Config), emptyMap()) }},
	"3.0.0": {"3.1.0": up(up3_1.Translate), "2.2.0": down(v30tov22.Translate)},
	"3.1.0": {"3.2.0": up(up3_2.Translate), "2.4.0": down(v31tov24.Translate), "2.2.0": down(v31tov22.Translate)},
	"3.2.0": {
		"3.3.0": up(up3_3.Translate), "3.1.0": down(v32tov31.Translate),
		"2.4.0": down(v32tov24.Translate), "2.2.0": down(v32tov22.Translate),
	},
	"3.3.0": {"3.4.0": up(up3_4.Translate), "3.2.0": down(v33tov32.Translate)},
	"3.4.0": {"3.5.0": up(up3_5.Translate), "3.3.0": down(v34tov33.Translate)},
	"3.5.0": {"3.6.0": up(up3_6.Translate), "3.4.0": down(v35tov34.Translate)},
}

// emptyMap: no filesystem but "root" has a mount point. The converter writes into the map it receives, and fails
// without one.
func emptyMap() map[string]string { return map[string]string{} }

// route finds the fewest steps between two versions, all up or all down. Of two routes of equal length, the one through
// the higher version wins.
func route(from, to string) []string {
	seen := map[string]bool{from: true}
	queue := [][]string{{from}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		last := at[len(at)-1]
		if last == to {
			return at
		}
		for _, next := range versionsDescending {
			// All versions have the same length, so they sort as text.
			if steps[last][next] != nil && !seen[next] && (next > last) == (to > from) {
				seen[next] = true
				queue = append(queue, append(append([]string{}, at...), next))
			}
		}
	}
	return nil
}

var versionsDescending = []string{
	"3.6.0", "3.5.0", "3.4.0", "3.3.0", "3.2.0", "3.1.0", "3.0.0", "2.4.0", "2.3.0", "2.2.0",
}

func translate(from string, config any, to string) (any, error) {
	versions := route(from, to)
	if versions == nil {
		return nil, fmt.Errorf("no published translation from %s to %q", from, to)
	}
	for i := 1; i < len(versions); i++ {
		next, err := steps[versions[i-1]][versions[i]](config)
		if err != nil {
			return nil, fmt.Errorf("%s to %s: %w", versions[i-1], versions[i], err)
		}
		config = next
	}
	return config, nil
}
