// WebSocket messages through gorilla/websocket: connections that each send a message and wait until the server has returned it. Built
// together with ../go/load.go.
//
// Uses a single P (GOMAXPROCS), because each client runs on one core, on which several Ps would only displace each other.

package main

import (
	"bytes"
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	l := loadFromCommandLine()
	runtime.GOMAXPROCS(1)
	connections := make([]*websocket.Conn, l.inFlight)
	for index := range connections {
		connection, _, err := websocket.DefaultDialer.Dial(l.url, nil)
		if err != nil {
			fail("handshake", err)
		}
		connections[index] = connection
	}
	exchange(newTickets(l.warmUp), connections, l)
	t := newTickets(l.requests)
	before := costsNow()
	exchange(t, connections, l)
	report(before, t)
}

func exchange(t *tickets, connections []*websocket.Conn, l load) {
	message := make([]byte, l.bodyBytes)
	for index := range message {
		message[index] = byte(index)
	}
	var group sync.WaitGroup
	for _, connection := range connections {
		group.Add(1)
		go func(connection *websocket.Conn) {
			defer group.Done()
			for index := t.take(); index >= 0; index = t.take() {
				begin := time.Now()
				if err := connection.WriteMessage(websocket.BinaryMessage, message); err != nil {
					fail("send", err)
				}
				_, answer, err := connection.ReadMessage()
				if err != nil || !bytes.Equal(answer, message) {
					fail("the message", err)
				}
				t.finish(index, begin)
			}
		}(connection)
	}
	group.Wait()
}
