// The breadth of daily work through this driver.
package ebb;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Projections.excludeId;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static com.mongodb.client.model.Sorts.descending;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.push;
import static com.mongodb.client.model.Updates.set;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CrudTest extends Ebb {
  void numbers() {
    coll.insertMany(IntStream.range(0, 250).mapToObj(n ->
        new Document("_id", n).append("group", n % 3).append("name", String.format("n%03d", n))).toList());
  }

  List<Integer> failedAt(List<Document> documents, boolean ordered) {
    MongoBulkWriteException error = assertThrows(MongoBulkWriteException.class,
        () -> coll.insertMany(documents, new InsertManyOptions().ordered(ordered)));
    error.getWriteErrors().forEach(e -> assertEquals(11000, e.getCode()));
    return error.getWriteErrors().stream().map(BulkWriteError::getIndex).toList();
  }

  @Test
  void insertManyOrderedStopsAtADuplicate() {
    assertEquals(List.of(2), failedAt(docs("{_id: 1}", "{_id: 2}", "{_id: 1}", "{_id: 3}"), true));
    assertEquals(List.of(1, 2), ids(coll.find()));
  }

  @Test
  void insertManyUnorderedGoesOn() {
    assertEquals(List.of(1, 3), failedAt(docs("{_id: 1}", "{_id: 1}", "{_id: 2}", "{_id: 2}", "{_id: 3}"), false));
    assertEquals(List.of(1, 2, 3), ids(coll.find()));
  }

  @Test
  void bulkWrite() {
    BulkWriteResult result = coll.bulkWrite(List.of(
        new InsertOneModel<>(doc("{_id: 1, a: 1}")),
        new InsertOneModel<>(doc("{_id: 2, a: 2}")),
        new UpdateOneModel<>(eq("_id", 1), inc("a", 10)),
        new ReplaceOneModel<>(eq("_id", 2), doc("{b: 2}")),
        new UpdateOneModel<>(eq("_id", 3), set("c", 3), new UpdateOptions().upsert(true)),
        new DeleteOneModel<>(eq("_id", 2))));
    assertEquals(2, result.getInsertedCount());
    assertEquals(2, result.getModifiedCount());
    assertEquals(1, result.getDeletedCount());
    assertEquals(4, result.getUpserts().get(0).getIndex());
    assertEquals(new BsonInt32(3), result.getUpserts().get(0).getId());
    assertEquals(docs("{_id: 1, a: 11}", "{_id: 3, c: 3}"), all());
  }

  @Test
  void aCursorOverSeveralBatches() {
    numbers();
    List<Integer> seen = list(coll.find().sort(ascending("_id")).batchSize(7).map(d -> d.getInteger("_id")));
    assertEquals(IntStream.range(0, 250).boxed().toList(), seen);
    assertEquals(5, list(coll.find().batchSize(2).limit(5)).size());
    assertEquals(250, list(coll.aggregate(docs("{$match: {}}")).batchSize(7)).size());
  }

  @Test
  void sortSkipLimitAndProjection() {
    numbers();
    FindIterable<Document> found = coll.find(eq("group", 1)).sort(descending("name")).skip(1).limit(2)
        .projection(fields(include("name"), excludeId()));
    assertEquals(docs("{name: 'n244'}", "{name: 'n241'}"), list(found));
    coll.createIndex(Indexes.compoundIndex(Indexes.ascending("group"), Indexes.descending("name")));
    assertEquals(docs("{name: 'n244'}", "{name: 'n241'}"), list(found));
  }

  @Test
  void updateManyAndDeleteMany() {
    numbers();
    UpdateResult updated = coll.updateMany(eq("group", 0), combine(set("seen", true), push("tags", "x")));
    assertEquals(84, updated.getMatchedCount());
    assertEquals(84, updated.getModifiedCount());
    assertEquals(84, coll.countDocuments(eq("tags", "x")));
    assertEquals(166, coll.deleteMany(in("group", 1, 2)).getDeletedCount());
  }

  @Test
  void findOneAndUpdate() {
    numbers();
    assertEquals("n005", coll.findOneAndUpdate(eq("_id", 5), set("name", "five")).getString("name"));
    FindOneAndUpdateOptions options = new FindOneAndUpdateOptions()
        .sort(descending("_id")).projection(include("hits")).returnDocument(ReturnDocument.AFTER);
    assertEquals(doc("{_id: 248, hits: 1}"), coll.findOneAndUpdate(eq("group", 2), inc("hits", 1), options));
  }

  @Test
  void aggregateWithGroupAndLookup() {
    numbers();
    db.getCollection("groups").insertMany(docs("{_id: 0, title: 'zero'}", "{_id: 1, title: 'one'}"));
    assertEquals(
        docs("{_id: 0, n: 84, top: 'n249', titles: ['zero']}",
            "{_id: 1, n: 83, top: 'n247', titles: ['one']}",
            "{_id: 2, n: 83, top: 'n248', titles: []}"),
        list(coll.aggregate(docs(
            "{$group: {_id: '$group', n: {$sum: 1}, top: {$max: '$name'}}}",
            "{$lookup: {from: 'groups', localField: '_id', foreignField: '_id', as: 'g'}}",
            "{$project: {n: 1, top: 1, titles: '$g.title'}}",
            "{$sort: {_id: 1}}"))));
  }

  @Test
  void countsAndDistinct() {
    numbers();
    assertEquals(250, coll.estimatedDocumentCount());
    assertEquals(50, coll.countDocuments(gte("_id", 200)));
    assertEquals(List.of(0, 1), list(coll.distinct("group", in("_id", 0, 1), Integer.class)));
  }

  @Test
  void anExplicitSession() {
    try (ClientSession session = client.startSession()) {
      coll.insertOne(session, doc("{_id: 1}"));
      assertEquals(doc("{_id: 1}"), coll.find(session, eq("_id", 1)).first());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"zlib", "snappy", "zstd"})
  void compression(String compressor) {
    try (MongoClient other = MongoClients.create(System.getenv("EBB_URI") + "/?compressors=" + compressor)) {
      MongoCollection<Document> compressed = other.getDatabase("java").getCollection("coll");
      String text = "compressible ".repeat(10_000);
      compressed.insertMany(IntStream.range(0, 20).mapToObj(n -> new Document("_id", n).append("text", text)).toList());
      assertEquals(20, list(compressed.find(eq("text", text)).batchSize(3)).size());
    }
    Document hello = admin.runCommand(new Document("hello", 1).append("compression", List.of(compressor)));
    assertEquals(List.of(compressor), hello.getList("compression", String.class));
  }

  @Test
  void databasesAndCollectionsAreListedAndDropped() {
    db.createCollection("made");
    db.getCollection("other").insertOne(new Document());
    assertEquals(List.of("made", "other"), list(db.listCollectionNames()).stream().sorted().toList());
    assertTrue(list(client.listDatabaseNames()).contains("java"));
    db.getCollection("made").drop();
    assertEquals(List.of("other"), list(db.listCollectionNames()));
    db.drop();
    assertEquals(List.of(), list(db.listCollectionNames()));
    assertFalse(list(client.listDatabaseNames()).contains("java"));
  }

  static long passes() {
    Document status = admin.runCommand(new Document("serverStatus", 1));
    return status.getEmbedded(List.of("metrics", "ttl", "passes"), Number.class).longValue();
  }

  @Test
  @Timeout(30)
  void theTtlPassesOfServerStatusGrow() throws InterruptedException {
    long before = passes();
    while (passes() < before + 2) {
      Thread.sleep(50);
    }
  }
}
