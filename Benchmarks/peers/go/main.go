// Load through Go's net/http: the same work, checks and output line as Lupine's generators. Requires only Debian's Go.
//
// Uses a single P (GOMAXPROCS), because each client runs on one core, on which several Ps would only displace each other.

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

var helloWorld = []byte("Hello, world!")

func main() {
	l := loadFromCommandLine()
	runtime.GOMAXPROCS(1)
	client := &http.Client{Transport: transport(l)}
	send(newTickets(l.warmUp), client, l)
	t := newTickets(l.requests)
	before := costsNow()
	send(t, client, l)
	report(before, t)
}

func transport(l load) *http.Transport {
	own := &http.Transport{
		DisableCompression:  true, // sends no Accept-Encoding, as the other clients don't either
		MaxConnsPerHost:     l.inFlight,
		MaxIdleConnsPerHost: l.inFlight,
		MaxIdleConns:        l.inFlight * l.origins,
	}
	if l.authorities != "" {
		pem, err := os.ReadFile(l.authorities)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			fail("the authorities", err)
		}
		// TLS sessions are resumed if the server permits it.
		own.TLSClientConfig = &tls.Config{RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	}
	return own
}

func send(t *tickets, client *http.Client, l load) {
	urls := l.urls()
	var group sync.WaitGroup
	for slot := 0; slot < l.inFlight; slot++ {
		group.Add(1)
		go func() {
			defer group.Done()
			c := caller{client: client, load: l, body: make([]byte, 256<<10)}
			for index := t.take(); index >= 0; index = t.take() {
				begin := time.Now()
				c.call(urls[index%len(urls)])
				t.finish(index, begin)
			}
		}()
	}
	group.Wait()
}

// The objects that a goroutine reuses for each of its requests.
type caller struct {
	client *http.Client
	load   load
	body   []byte
}

func (c *caller) call(url string) {
	request, err := c.request(url)
	if err != nil {
		fail("request", err)
	}
	request.Header["User-Agent"] = []string{"lupine-benchmarks"}
	request.Header["Accept"] = []string{"*/*"}
	response, err := c.client.Do(request)
	if err != nil {
		fail("request", err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		fail("response", response.Status)
	}
	switch {
	case c.load.decode != "":
		decode(c.load.decode, response.Body)
	case c.load.download != "":
		c.checkCount(c.write(response.Body))
	case c.load.bodyBytes >= 0:
		c.checkCount(c.count(response.Body))
	default:
		expected := helloWorld
		if c.load.upload != "" {
			expected = strconv.AppendInt(nil, request.ContentLength, 10)
		}
		length, err := io.ReadFull(response.Body, c.body)
		if err != io.ErrUnexpectedEOF || !bytes.Equal(c.body[:length], expected) {
			fail("response", "the body is wrong")
		}
	}
}

func (c *caller) request(url string) (*http.Request, error) {
	if c.load.upload == "" {
		return http.NewRequest("GET", url, nil)
	}
	file, err := os.Open(c.load.upload) // net/http closes it
	if err != nil {
		return nil, err
	}
	facts, err := file.Stat()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("POST", url, file)
	if err == nil {
		request.ContentLength = facts.Size()
	}
	return request, err
}

func (c *caller) count(body io.Reader) int64 {
	var total int64
	for {
		length, err := body.Read(c.body)
		total += int64(length)
		if err == io.EOF {
			return total
		}
		if err != nil {
			fail("response", err)
		}
	}
}

func (c *caller) write(body io.Reader) int64 {
	file, err := os.Create(c.load.download)
	if err != nil {
		fail("the file", err)
	}
	defer file.Close()
	total, err := io.CopyBuffer(file, body, c.body)
	if err != nil {
		fail("response", err)
	}
	return total
}

func (c *caller) checkCount(total int64) {
	if total != c.load.bodyBytes {
		fail("response", "the body's length is "+strconv.FormatInt(total, 10))
	}
}
