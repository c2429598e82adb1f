// Requests one path from one server, each request on a new TLS connection, like booting machines.
// In Go, because the clients must never limit the compared servers.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type report struct {
	Failed     int      `json:"failed"`
	Errors     []string `json:"errors"`
	Seconds    float64  `json:"seconds"`
	Median     float64  `json:"medianMs"`
	Percentile float64  `json:"p99Ms"`
}

type load struct {
	address string
	request []byte
	expect  []byte
	tls     *tls.Config
}

func main() {
	address := flag.String("address", "", "host:port")
	path := flag.String("path", "", "what to ask for")
	token := flag.String("token", "", "provisioning token")
	accept := flag.String("accept", "", "Accept header")
	expect := flag.String("expect", "", "file with the bytes of a right answer")
	clients := flag.Int("clients", 1, "requests at the same time")
	requests := flag.Int("requests", 1, "requests in all")
	flag.Parse()
	bytes, err := os.ReadFile(*expect)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l := load{
		address: *address,
		request: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", *path, *address, *accept, *token),
		expect:  bytes,
		// The same key exchange for both sides: newer OpenSSL also offers a post-quantum one, which is slower.
		// No verification: it would use the core that the server also runs on.
		tls: &tls.Config{InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.X25519}},
	}
	json.NewEncoder(os.Stdout).Encode(l.run(*clients, *requests))
}

func (l load) run(clients, requests int) report {
	took := make([]float64, requests)
	var next atomic.Int64
	var mutex sync.Mutex
	result := report{Errors: []string{}}
	var group sync.WaitGroup
	started := time.Now()
	for range clients {
		group.Go(func() {
			buffer := make([]byte, 32*1024)
			for i := next.Add(1) - 1; i < int64(requests); i = next.Add(1) - 1 {
				began := time.Now()
				err := l.ask(buffer)
				took[i] = float64(time.Since(began).Microseconds()) / 1000
				if err != nil {
					mutex.Lock()
					result.Failed++
					if len(result.Errors) < 5 {
						result.Errors = append(result.Errors, err.Error())
					}
					mutex.Unlock()
				}
			}
		})
	}
	group.Wait()
	result.Seconds = time.Since(started).Seconds()
	sort.Float64s(took)
	result.Median = took[requests/2]
	result.Percentile = took[requests*99/100]
	return result
}

func (l load) ask(buffer []byte) error {
	connection, err := net.DialTimeout("tcp", l.address, 30*time.Second)
	if err != nil {
		return err
	}
	defer connection.Close()
	// Ignition's timeout for response headers, plus time to read the body.
	connection.SetDeadline(time.Now().Add(60 * time.Second))
	secure := tls.Client(connection, l.tls)
	if _, err := secure.Write(l.request); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(secure, 16*1024), nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return l.compare(response.Body, buffer)
}

// Every byte is compared: a fast but wrong response is a failure.
func (l load) compare(body io.Reader, buffer []byte) error {
	at := 0
	for {
		n, err := body.Read(buffer)
		if at+n > len(l.expect) || !bytes.Equal(buffer[:n], l.expect[at:at+n]) {
			return fmt.Errorf("other bytes than expected after %d", at)
		}
		at += n
		if err == io.EOF && at == len(l.expect) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w after %d of %d bytes", err, at, len(l.expect))
		}
	}
}
