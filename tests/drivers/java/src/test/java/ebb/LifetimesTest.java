// Writes and lifetimes: what restarts the countdown, and what a dead document gives free.
package ebb;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Indexes.ascending;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LifetimesTest extends Ebb {
  static final Bson ONE = eq("_id", 1);
  static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);

  static final Map<String, Write> WRITES = Map.of(
      "updateOne", c -> c.updateOne(ONE, set("b", 2)),
      "updateMany", c -> c.updateMany(ONE, inc("a", 1)),
      "replaceOne", c -> c.replaceOne(ONE, doc("{a: 9}")),
      "upsert", c -> c.updateOne(ONE, set("a", 5), UPSERT),
      "pipeline", c -> c.updateOne(ONE, docs("{$set: {a: {$add: ['$a', 1]}}}")),
      "findOneAndUpdate", c -> c.findOneAndUpdate(ONE, set("a", 3)),
      "findOneAndReplace", c -> c.findOneAndReplace(ONE, doc("{a: 4}")));

  static Stream<String> writes() {
    return WRITES.keySet().stream().sorted();
  }

  @BeforeEach
  void ttl() {
    ttlIndex(10);
  }

  @ParameterizedTest
  @MethodSource("writes")
  void anyWriteRestartsTheCountdown(String write) {
    coll.createIndex(ascending("a"));
    insert(doc("{_id: 1, a: 1}"));
    advance(9);
    WRITES.get(write).run(coll);
    advance(9);
    assertEquals(1, coll.countDocuments());
    assertEquals(1, coll.countDocuments(gt("a", 0)), "through the index as well");
    advance(1);
    assertEquals(0, coll.countDocuments());
  }

  @Test
  void aWriteThatChangesNothingDoesNot() {
    insert(doc("{_id: 1, a: 1}"));
    advance(9);
    UpdateResult result = coll.updateOne(ONE, set("a", 1));
    assertEquals(1, result.getMatchedCount());
    assertEquals(0, result.getModifiedCount());
    advance(1);
    assertNull(coll.find().first());
  }

  @Test
  void settingTtlChangesTheDeadlineAndUnsetReturnsToTheDefault() {
    insert(doc("{_id: 1}"));
    coll.updateOne(ONE, set("ttl", 100));
    advance(99);
    assertEquals(docs("{_id: 1, ttl: 100}"), all());
    coll.updateOne(ONE, set("ttl", -1));
    advance(1_000_000);
    assertEquals(docs("{_id: 1, ttl: -1}"), all());
    coll.updateOne(ONE, unset("ttl"));
    advance(9);
    assertEquals(docs("{_id: 1}"), all());
    advance(1);
    assertEquals(List.of(), all());
  }

  @Test
  void replacingWithoutTtlReturnsToTheDefault() {
    insert(doc("{_id: 1, ttl: 100}"));
    coll.replaceOne(ONE, doc("{a: 1}"));
    advance(9);
    assertEquals(docs("{_id: 1, a: 1}"), all());
    advance(1);
    assertEquals(List.of(), all());
  }

  @Test
  void anUpsertOnADeadIdInserts() {
    insert(doc("{_id: 1, old: true}"));
    advance(10);
    UpdateResult result = coll.updateOne(ONE, set("a", 1), UPSERT);
    assertEquals(0, result.getMatchedCount());
    assertEquals(new BsonInt32(1), result.getUpsertedId());
    assertEquals(docs("{_id: 1, a: 1}"), all());
  }

  @Test
  void idAndUniqueKeyAreFreeAtTheDeadline() {
    coll.createIndex(ascending("mail"), new IndexOptions().unique(true));
    insert(doc("{_id: 1, mail: 'a'}"));
    advance(9);
    refused(11000, c -> c.insertOne(doc("{_id: 2, mail: 'a'}")));
    refused(11000, c -> c.insertOne(doc("{_id: 1, mail: 'b'}")));
    advance(1);
    insert(doc("{_id: 2, mail: 'a'}"), doc("{_id: 1, mail: 'b'}"));
    assertEquals(List.of(2), ids(coll.find(eq("mail", "a"))));
    assertEquals(2, coll.estimatedDocumentCount());
  }

  @Test
  void writesFindNothingOfTheDead() {
    insert(doc("{_id: 1, a: 1}"));
    advance(10);
    assertNull(coll.findOneAndUpdate(ONE, set("a", 2)));
    assertNull(coll.findOneAndReplace(ONE, doc("{a: 2}")));
    assertNull(coll.findOneAndDelete(ONE));
    assertEquals(0, coll.updateMany(eq("a", 1), set("a", 2)).getMatchedCount());
    assertEquals(0, coll.replaceOne(ONE, doc("{a: 2}")).getMatchedCount());
    assertEquals(0, coll.deleteOne(ONE).getDeletedCount());
    assertEquals(0, coll.deleteMany(new Document()).getDeletedCount());
  }

  @Test
  void findOneAndUpdateWithUpsertStartsAnew() {
    insert(doc("{_id: 1, n: 41}"));
    advance(10);
    FindOneAndUpdateOptions after = new FindOneAndUpdateOptions().upsert(true).returnDocument(ReturnDocument.AFTER);
    assertEquals(doc("{_id: 1, n: 1}"), coll.findOneAndUpdate(ONE, inc("n", 1), after));
  }

  @Test
  void anOpenCursorStopsAtTheDeadline() {
    coll.insertMany(IntStream.range(0, 10).mapToObj(n -> new Document("_id", n)).toList());
    try (MongoCursor<Document> cursor = coll.find().sort(ascending("_id")).batchSize(3).cursor()) {
      for (int n = 0; n < 3; n++) {
        assertEquals(n, cursor.next().get("_id"));
      }
      advance(10);
      assertFalse(cursor.hasNext());
    }
  }
}
