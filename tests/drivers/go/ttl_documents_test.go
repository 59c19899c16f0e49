// Documents with their own ttl: the examples, the matrix, and values without meaning.
package drivers

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func text(n *int32, missing string) string {
	if n == nil {
		return missing
	}
	return fmt.Sprint(*n)
}

func TestValidValuesDieAfter20SecondsAndInvalidOnesAfter10(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll,
		bson.D{{"_id", "double"}, {"id", 1}, {"location", "Paris"}, {"ttl", 20.0}},
		bson.D{{"_id", "int32"}, {"id", 1}, {"location", "Paris"}, {"ttl", int32(20)}},
		bson.D{{"_id", "int64"}, {"id", 1}, {"location", "Paris"}, {"ttl", int64(20)}},
		bson.D{{"_id", "invalid fraction"}, {"id", 1}, {"location", "Paris"}, {"ttl", 20.5}},
		bson.D{{"_id", "invalid size"}, {"id", 1}, {"location", "Paris"}, {"ttl", int64(2147483649)}},
	)
	cursor, err := coll.Aggregate(ctx, bson.A{m{"$sort": m{"_id": 1}}, m{"$project": bson.D{{"_id", 0}, {"t", m{"$type": "$ttl"}}}}})
	equal(t, ids(t, all(t, cursor, err)), `["double", "int", "long", "double", "long"]`)

	valid := `["double", "int32", "int64"]`
	advance(t, 9)
	everywhere(t, coll, `["double", "int32", "int64", "invalid fraction", "invalid size"]`)
	advance(t, 1)
	everywhere(t, coll, valid)
	advance(t, 9)
	everywhere(t, coll, valid)
	advance(t, 1)
	everywhere(t, coll, `[]`)
}

func TestTheDeadlineIsExactToTheMillisecond(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "location": "Paris"})
	advance(t, 9.999)
	everywhere(t, coll, `[1]`)
	advance(t, 0.001)
	everywhere(t, coll, `[]`)
}

func TestTheClockMovesThroughTheAdminAddressToo(t *testing.T) {
	post := func(seconds int) {
		body := strings.NewReader(fmt.Sprintf(`{"advance_seconds": %d}`, seconds))
		answer, err := http.Post(os.Getenv("EBB_ADMIN")+"/_ebb/clock", "application/json", body)
		must(t, err)
		defer answer.Body.Close()
		equal(t, answer.StatusCode, `200`)
	}
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "location": "Paris"})
	post(9)
	everywhere(t, coll, `[1]`)
	post(1)
	everywhere(t, coll, `[]`)
}

func TestMatrix(t *testing.T) {
	for _, c := range expected(t).Matrix {
		t.Run("default "+text(c.Default, "off")+", ttl "+text(c.TTL, "missing"), func(t *testing.T) {
			coll := fresh(t)
			if c.Default != nil {
				ttlIndex(t, coll, *c.Default)
			}
			document := m{"_id": 1, "location": "Paris"}
			if c.TTL != nil {
				document["ttl"] = *c.TTL
			}
			insert(t, coll, document)
			if c.DiesAfter == nil {
				advance(t, 100*365*86400)
				everywhere(t, coll, `[1]`)
			} else {
				advance(t, float64(*c.DiesAfter-1))
				everywhere(t, coll, `[1]`)
				advance(t, 1)
				everywhere(t, coll, `[]`)
			}
		})
	}
}

func TestValuesWithoutMeaningAreStoredAndTheDefaultCounts(t *testing.T) {
	coll := freshTTL(t)
	var documents []any
	for n, fields := range expected(t).Odd {
		documents = append(documents, append(bson.D{{"_id", int32(n)}, {"location", "Paris"}}, fields...))
	}
	insert(t, coll, documents...)
	advance(t, 9)
	cursor, err := coll.Find(ctx, m{}, options.Find().SetSort(m{"_id": 1}))
	found, err2 := bson.MarshalExtJSON(m{"v": all(t, cursor, err)}, true, false)
	must(t, err2)
	wanted, err := bson.MarshalExtJSON(m{"v": documents}, true, false)
	must(t, err)
	if string(found) != string(wanted) {
		t.Fatalf("\n got %s\nwant %s", found, wanted)
	}
	advance(t, 1)
	everywhere(t, coll, `[]`)
}
