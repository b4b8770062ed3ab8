// The types of the JSON documents that fixtures.py creates.

package main

import (
	"encoding/json"
	"io"
	"time"
)

type page struct {
	Total int `json:"total"`
	Items []struct {
		ID        int      `json:"id"`
		Name      string   `json:"name"`
		Price     float64  `json:"price"`
		IsInStock bool     `json:"isInStock"`
		Tags      []string `json:"tags"`
		Note      *string  `json:"note"`
	} `json:"items"`
}

// Names 14 of 60 keys.
type wide struct {
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Field1    int       `json:"field1_name"`
	Field4    string    `json:"field4_name"`
	Field13   int       `json:"field13_name"`
	Field16   string    `json:"field16_name"`
	Field20   string    `json:"field20_name"`
	Field26   *bool     `json:"field26_name"`
	Field28   string    `json:"field28_name"`
	Field33   int       `json:"field33_name"`
	Field40   string    `json:"field40_name"`
	Field44   string    `json:"field44_name"`
	Field53   int       `json:"field53_name"`
	OwnerID   int       `json:"owner_id"`
}

// Reads and decodes a body, and checks its last object.
func decode(kind string, body io.Reader) {
	data, err := io.ReadAll(body)
	if err != nil {
		fail("response", err)
	}
	isExpected := false
	if kind == "wide" {
		var list []wide
		err = json.Unmarshal(data, &list)
		isExpected = len(list) > 0 && list[len(list)-1].OwnerID == len(list)-1
	} else {
		var document page
		err = json.Unmarshal(data, &document)
		count := len(document.Items)
		isExpected = count > 0 && count == document.Total && document.Items[count-1].ID == count
	}
	if err != nil || !isExpected {
		fail("response", "the JSON is wrong")
	}
}
