package main

import (
	"fmt"
	"reflect"
	"strings"

	json2 "github.com/ajeddeloh/go-json"
	v2_2 "github.com/coreos/ignition/config/v2_2/types"
	v2_3 "github.com/coreos/ignition/config/v2_3/types"
	v2_4 "github.com/coreos/ignition/config/v2_4/types"
	validate2 "github.com/coreos/ignition/config/validate"
	"github.com/coreos/ignition/v2/config/merge"
	"github.com/coreos/ignition/v2/config/util"
	v3_0 "github.com/coreos/ignition/v2/config/v3_0/types"
	v3_1 "github.com/coreos/ignition/v2/config/v3_1/types"
	v3_2 "github.com/coreos/ignition/v2/config/v3_2/types"
	v3_3 "github.com/coreos/ignition/v2/config/v3_3/types"
	v3_4 "github.com/coreos/ignition/v2/config/v3_4/types"
	v3_5 "github.com/coreos/ignition/v2/config/v3_5/types"
	v3_6 "github.com/coreos/ignition/v2/config/v3_6/types"
	"github.com/coreos/ignition/v2/config/validate"
	"github.com/coreos/vcontext/path"
	"github.com/coreos/vcontext/report"
)

// A spec contains the functions of one version of the format. Decoding is separate from validation, so that both
// verdicts can be compared; the library's Parse does both.
type spec struct {
	version  string
	kind     reflect.Type
	decode   func(raw []byte) (any, error)
	validate func(config any, raw []byte) []entry
	merge    func(parent, child any) any
}

var specs = map[string]*spec{}

func init() {
	for _, s := range []*spec{
		spec2[v2_2.Config]("2.2.0"), spec2[v2_3.Config]("2.3.0"), spec2[v2_4.Config]("2.4.0"),
		spec3[v3_0.Config]("3.0.0"), spec3[v3_1.Config]("3.1.0"), spec3[v3_2.Config]("3.2.0"),
		spec3[v3_3.Config]("3.3.0"), spec3[v3_4.Config]("3.4.0"), spec3[v3_5.Config]("3.5.0"),
		spec3[v3_6.Config]("3.6.0"),
	} {
		specs[s.version] = s
	}
}

// specOf reads the version like the client before it chooses a parser.
func specOf(raw []byte) (*spec, error) {
	version, _, err := util.GetConfigVersion(raw)
	if err != nil {
		return nil, err
	}
	s, known := specs[version.String()]
	if !known {
		return nil, fmt.Errorf("unsupported config version %s", version.String())
	}
	return s, nil
}

func spec3[T any](version string) *spec {
	return &spec{
		version: version,
		kind:    reflect.TypeFor[T](),
		decode: func(raw []byte) (any, error) {
			var config T
			if rpt, err := util.HandleParseErrors(raw, &config); err != nil {
				return nil, fmt.Errorf("%w: %s", err, rpt.String())
			}
			return config, nil
		},
		validate: func(config any, raw []byte) []entry { return entries(validate.ValidateWithContext(config, raw)) },
		merge: func(parent, child any) any {
			result, _ := merge.MergeStructTranscribe(parent, child)
			return result
		},
	}
}

func spec2[T any](version string) *spec {
	return &spec{
		version: version,
		kind:    reflect.TypeFor[T](),
		decode: func(raw []byte) (any, error) {
			var config T
			if err := json2.Unmarshal(raw, &config); err != nil {
				return nil, err
			}
			return config, nil
		},
		validate: func(config any, raw []byte) []entry {
			rpt := validate2.ValidateConfig(raw, config)
			found := make([]entry, 0, len(rpt.Entries))
			for _, e := range rpt.Entries {
				kind := e.Kind.String()
				if kind == "deprecated" {
					kind = "warning"
				}
				found = append(found, entry{Kind: kind, Message: e.Message})
			}
			return found
		},
	}
}

func entries(rpt report.Report) []entry {
	found := make([]entry, 0, len(rpt.Entries))
	for _, e := range rpt.Entries {
		found = append(found, entry{
			Kind:    e.Kind.String(),
			Path:    pathText(e.Context),
			Message: e.Message,
		})
	}
	return found
}

// pathText formats a path like Slipway: storage.files[3].path.
func pathText(context path.ContextPath) string {
	var text strings.Builder
	for _, part := range context.Path {
		if index, isIndex := part.(int); isIndex {
			fmt.Fprintf(&text, "[%d]", index)
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('.')
		}
		fmt.Fprint(&text, part)
	}
	return text.String()
}

// schemas describes every field of every version by reflection: version → path → type, with a question mark where Go
// has a pointer, so that a zero value differs from an absent one.
func schemas() map[string]map[string]string {
	all := map[string]map[string]string{}
	for version, s := range specs {
		fields := map[string]string{}
		describe("", s.kind, fields)
		all[version] = fields
	}
	return all
}

func describe(path string, t reflect.Type, fields map[string]string) {
	optional := ""
	if t.Kind() == reflect.Pointer {
		optional = "?"
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		describe(path+"[]", t.Elem(), fields)
	case reflect.Struct:
		fields[path] = "object" + optional
		for i := range t.NumField() {
			member := t.Field(i)
			key := strings.Split(member.Tag.Get("json"), ",")[0]
			if key == "" {
				describe(path, member.Type, fields)
			} else {
				describe(strings.TrimPrefix(path+"."+key, "."), member.Type, fields)
			}
		}
	default:
		fields[path] = t.Kind().String() + optional
	}
}
