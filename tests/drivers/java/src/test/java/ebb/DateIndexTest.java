// MongoDB's own TTL index on a date, exact to the millisecond.
package ebb;

import static com.mongodb.client.model.Indexes.ascending;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.model.IndexOptions;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DateIndexTest extends Ebb {
  static Document at(int id, Object date) {
    return new Document("_id", id).append("at", date);
  }

  @BeforeEach
  void dated() {
    coll.createIndex(ascending("at"), new IndexOptions().expireAfter(5L, TimeUnit.SECONDS));
  }

  @Test
  void itIsListed() {
    assertEquals(doc("{v: 2, key: {at: 1}, name: 'at_1', expireAfterSeconds: 5}"), list(coll.listIndexes()).get(1));
  }

  @Test
  void aDocumentDiesToTheMillisecond() {
    insert(at(1, later(now(), 250)));
    advance(5.249);
    assertEquals(1, coll.countDocuments());
    assertEquals(1, coll.estimatedDocumentCount());
    advance(0.001);
    assertEquals(0, coll.countDocuments());
    assertEquals(0, coll.estimatedDocumentCount());
  }

  @Test
  void collModChangesItAndNothingComesBack() {
    Date now = now();
    insert(at(1, now), at(2, later(now, 2000)));
    advance(5);
    assertEquals(List.of(2), ids(coll.find()));
    Document reply = change(doc("{keyPattern: {at: 1}, expireAfterSeconds: 60}"));
    assertEquals(5L, reply.getLong("expireAfterSeconds_old"));
    assertEquals(60L, reply.getLong("expireAfterSeconds_new"));
    assertEquals(List.of(2), ids(coll.find()));
    advance(56.999);
    assertEquals(List.of(2), ids(coll.find()));
    advance(0.001);
    assertEquals(List.of(), ids(coll.find()));

    insert(at(3, later(now(), -59_000)));
    assertEquals(List.of(3), ids(coll.find()), "an old date under a longer time is alive");
    coll.dropIndex("at_1");
    assertEquals(List.of(3), ids(coll.find()));
  }

  @Test
  void anArrayCountsByItsEarliestDate() {
    Date now = now();
    insert(at(1, Arrays.asList(later(now, 3_600_000), true, now, "x")));
    advance(4.999);
    assertEquals(1, coll.countDocuments());
    advance(0.001);
    assertEquals(0, coll.countDocuments());
  }

  @Test
  void withoutADateADocumentLives() {
    insert(doc("{_id: 1}"), at(2, "2020-01-01"), at(3, 5), at(4, null));
    advance(1_000_000);
    assertEquals(4, coll.countDocuments());
  }
}
