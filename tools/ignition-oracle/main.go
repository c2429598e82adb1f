// The oracle answers the lines of `slipway ignition batch` with the published Ignition and ign-converter modules, so
// that the two can be compared. One JSON object per line in, one per line out, in order.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type request struct {
	ID      json.RawMessage   `json:"id"`
	Op      string            `json:"op"`
	Configs []json.RawMessage `json:"configs"`
	To      string            `json:"to"`
	// Times is read by the op `bench` only.
	Times int `json:"times"`
}

type entry struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// The last three fields extend the batch protocol; its readers may ignore them.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result"`
	Report []entry         `json:"report"`
	// Stage is where processing stopped: decode, validate, translate, merge, or done.
	Stage string `json:"stage"`
	// Merged is the validation of a merged result: the library does not validate it.
	Merged []entry `json:"merged,omitempty"`
	Panic  bool    `json:"panic,omitempty"`
}

func failure(path string, err error) []entry {
	return []entry{{Kind: "error", Path: path, Message: err.Error()}}
}

func fatal(report []entry) bool {
	for _, e := range report {
		if e.Kind == "error" {
			return true
		}
	}
	return false
}

// rawConfig returns the bytes to parse: those of the object, or the contents of a string.
func rawConfig(message json.RawMessage) ([]byte, error) {
	if len(message) > 0 && message[0] == '"' {
		var text string
		if err := json.Unmarshal(message, &text); err != nil {
			return nil, err
		}
		return []byte(text), nil
	}
	return message, nil
}

// load decodes and validates one config with the rules of its own version.
func load(message json.RawMessage) (s *spec, config any, report []entry, stage string) {
	raw, err := rawConfig(message)
	if err != nil {
		return nil, nil, failure("", err), "decode"
	}
	s, err = specOf(raw)
	if err != nil {
		return nil, nil, failure("", err), "decode"
	}
	config, err = s.decode(raw)
	if err != nil {
		return s, nil, failure("", err), "decode"
	}
	report = s.validate(config, raw)
	if fatal(report) {
		return s, config, report, "validate"
	}
	return s, config, report, "done"
}

func one(req request) answer {
	if len(req.Configs) != 1 {
		return answer{Report: failure("", errors.New("expected one config")), Stage: "decode"}
	}
	s, config, report, stage := load(req.Configs[0])
	if stage != "done" {
		return answer{Report: report, Stage: stage}
	}
	if req.Op != "translate" {
		return answer{Result: config, Report: report, Stage: stage}
	}
	translated, err := translate(s.version, config, req.To)
	if err != nil {
		return answer{Report: append(report, failure("", err)...), Stage: "translate"}
	}
	return answer{Result: translated, Report: report, Stage: stage}
}

func mergeAll(req request) answer {
	merged, report, refused := mergeInputs(req)
	if refused != nil {
		return *refused
	}
	return answer{Result: merged, Report: report, Stage: "done", Merged: specs[mergeVersion(req)].validate(merged, nil)}
}

func mergeVersion(req request) string {
	if req.To == "" {
		return "3.5.0"
	}
	return req.To
}

func mergeInputs(req request) (merged any, all []entry, refused *answer) {
	to := mergeVersion(req)
	target, known := specs[to]
	if !known || target.merge == nil || len(req.Configs) == 0 {
		err := fmt.Errorf("cannot merge %d configs in %q", len(req.Configs), to)
		return nil, nil, &answer{Report: failure("", err), Stage: "merge"}
	}
	for i, message := range req.Configs {
		s, config, report, stage := load(message)
		all = append(all, report...)
		if stage != "done" {
			return nil, nil, &answer{Report: all, Stage: stage}
		}
		translated, err := translate(s.version, config, to)
		if err != nil {
			return nil, nil, &answer{Report: append(all, failure("", err)...), Stage: "translate"}
		}
		if i == 0 {
			merged = translated
		} else {
			merged = target.merge(merged, translated)
		}
	}
	return merged, all, nil
}

// rusage reports the resources used by this process, so that a benchmark can subtract two responses.
func rusage() answer {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return answer{Report: failure("", err)}
	}
	micros := usage.Utime.Sec*1e6 + usage.Utime.Usec + usage.Stime.Sec*1e6 + usage.Stime.Usec
	return answer{Result: map[string]int64{"cpuMicros": micros, "maxRssKiB": usage.Maxrss}, Stage: "done"}
}

// bench parses, validates and merges the same configs many times, without the cost of the line protocol.
func bench(req request) answer {
	for range req.Times {
		if _, _, refused := mergeInputs(req); refused != nil {
			return *refused
		}
	}
	return answer{Stage: "done"}
}

// fold merges as an operator renders: each config is parsed, validated and merged onto the growing result, which is
// validated at the end. It reports time and allocated bytes without those of the line protocol.
func fold(req request) answer {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	merged, _, refused := mergeInputs(req)
	if refused != nil {
		return *refused
	}
	report := specs[mergeVersion(req)].validate(merged, nil)
	micros := time.Since(start).Microseconds()
	runtime.ReadMemStats(&after)
	if fatal(report) {
		return answer{Report: report, Stage: "validate"}
	}
	figures := map[string]int64{"micros": micros, "allocatedBytes": int64(after.TotalAlloc - before.TotalAlloc)}
	return answer{Result: figures, Stage: "done"}
}

func dispatch(req request) (a answer) {
	defer func() {
		if reason := recover(); reason != nil {
			a = answer{Report: failure("", fmt.Errorf("panic: %v", reason)), Stage: "panic", Panic: true}
		}
	}()
	switch req.Op {
	case "parse", "validate", "translate":
		return one(req)
	case "merge":
		return mergeAll(req)
	case "schema":
		return answer{Result: schemas(), Stage: "done"}
	case "rusage":
		return rusage()
	case "bench":
		return bench(req)
	case "fold":
		return fold(req)
	}
	return answer{Report: failure("", fmt.Errorf("unknown op %q", req.Op)), Stage: "decode"}
}

func respond(line string) answer {
	var req request
	if err := json.Unmarshal([]byte(line), &req); err != nil {
		return answer{ID: json.RawMessage("null"), Report: failure("", err), Stage: "line"}
	}
	a := dispatch(req)
	a.ID = req.ID
	if a.ID == nil {
		a.ID = json.RawMessage("null")
	}
	if a.Report == nil {
		a.Report = []entry{}
	}
	return a
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			if encodeErr := encoder.Encode(respond(line)); encodeErr != nil {
				fmt.Fprintln(os.Stderr, "ignition-oracle:", encodeErr)
				os.Exit(1)
			}
			// No more buffered input: the client is waiting.
			if in.Buffered() == 0 {
				out.Flush()
			}
		}
		if err != nil {
			out.Flush()
			return
		}
	}
}
