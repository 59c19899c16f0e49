// The TTL index on _ts: made, listed, changed, refused and dropped.
package ebb;

import static com.mongodb.client.model.Indexes.ascending;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TtlIndexTest extends Ebb {
  Document createRaw(Object seconds) {
    Document spec = doc("{key: {_ts: 1}, name: '_ts_1'}").append("expireAfterSeconds", seconds);
    return db.runCommand(new Document("createIndexes", "coll").append("indexes", List.of(spec)));
  }

  static void assertSeedReply(Document reply) {
    assertEquals("CreateIndexesResponse", reply.getString("_t"));
    assertEquals(1.0, reply.getDouble("ok"));
    assertEquals(true, reply.getBoolean("createdCollectionAutomatically"));
    assertEquals(1, reply.getInteger("numIndexesBefore"));
    assertEquals(2, reply.getInteger("numIndexesAfter"));
  }

  void assertListed(int seconds) {
    List<Document> wanted = docs(
        "{v: 2, key: {_id: 1}, name: '_id_'}",
        "{v: 2, key: {_ts: 1}, name: '_ts_1', expireAfterSeconds: " + seconds + "}");
    assertEquals(wanted, list(coll.listIndexes()));
  }

  @Test
  void createIndexHelper() {
    String index = coll.createIndex(Indexes.ascending("_ts"),
        new IndexOptions().expireAfter(10L, TimeUnit.SECONDS));
    assertEquals("_ts_1", index);
    assertSeedReply(Document.parse(replies.get("createIndexes").toJson()));
    assertListed(10);
  }

  @Test
  void createIndexesHelper() {
    IndexModel model = new IndexModel(ascending("_ts"), new IndexOptions().expireAfter(10L, TimeUnit.SECONDS));
    assertEquals(List.of("_ts_1"), coll.createIndexes(List.of(model)));
    assertSeedReply(Document.parse(replies.get("createIndexes").toJson()));
    assertListed(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"int32", "int64 as Java", "double as C#"})
  void rawCommand(String style) {
    Object seconds = style.startsWith("int32") ? (Object) 10 : style.startsWith("int64") ? (Object) 10L : 10.0;
    assertSeedReply(createRaw(seconds));
    assertListed(10);
  }

  @Test
  void minusOneTurnsTtlOnWithoutADefault() {
    ttlIndex(-1);
    assertListed(-1);
    insert(doc("{_id: 'stays'}"), doc("{_id: 'goes', ttl: 20}"));
    advance(20);
    assertEquals(List.of("stays"), ids(coll.find()));
  }

  @Test
  void theSameAgainIsANoOpAndAnotherValueAConflict() {
    ttlIndex(10);
    Document again = createRaw(10);
    assertEquals(2, again.getInteger("numIndexesBefore"));
    assertEquals(2, again.getInteger("numIndexesAfter"));
    refused(85, coll -> ttlIndex(11));
    assertListed(10);
  }

  @Test
  void valuesThatMeanNothingAreRefused() {
    for (Document c : expected().getList("refusedExpireAfterSeconds", Document.class)) {
      refused(67, coll -> createRaw(c.get("value")));
    }
  }

  @Test
  void collModChangesTheDefault() {
    ttlIndex(10);
    insert(doc("{_id: 1}"));
    Document reply = change(doc("{keyPattern: {_ts: 1}, expireAfterSeconds: 30}"));
    assertEquals(10L, reply.getLong("expireAfterSeconds_old"));
    assertEquals(30L, reply.getLong("expireAfterSeconds_new"));
    assertListed(30);
    advance(29);
    assertEquals(docs("{_id: 1}"), all());
    advance(1);
    assertEquals(List.of(), all());

    insert(doc("{_id: 2}"));
    change(doc("{name: '_ts_1', expireAfterSeconds: -1}"));
    assertListed(-1);
    advance(1_000_000);
    assertEquals(docs("{_id: 2}"), all());
    change(doc("{name: '_ts_1', expireAfterSeconds: 5}"));
    assertEquals(List.of(), all(), "a shorter default kills at once");
  }

  @Test
  void collModRefusesWhatItMust() {
    ttlIndex(10);
    for (Object seconds : new Object[] {0, -2, Double.NaN}) {
      refused(72, coll -> change(new Document("name", "_ts_1").append("expireAfterSeconds", seconds)));
    }
    refused(27, coll -> change(doc("{name: 'no_such_index', expireAfterSeconds: 10}")));
    assertListed(10);
  }

  @Test
  void droppingTurnsTtlOffAndNothingComesBack() {
    ttlIndex(10);
    insert(doc("{_id: 'dead'}"), doc("{_id: 'explicit', ttl: 20}"));
    advance(10);
    insert(doc("{_id: 'later'}"));
    coll.dropIndex("_ts_1");
    advance(1_000_000);
    assertEquals(List.of("explicit", "later"), ids(coll.find()));
    ttlIndex(-1);
    assertEquals(List.of("later"), ids(coll.find()), "its own ttl is interpreted again");
    change(doc("{name: '_ts_1', expireAfterSeconds: 2000000}"));
    assertEquals(List.of("later"), ids(coll.find()));
  }

  @Test
  void turningItOnAppliesToDocumentsThatAreThere() {
    insert(doc("{_id: 'old'}"));
    advance(10);
    insert(doc("{_id: 'young'}"));
    ttlIndex(10);
    assertEquals(List.of("young"), ids(coll.find()));
  }
}
