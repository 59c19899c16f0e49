// Azure Cosmos DB's own commands, in the order in which its tutorials send them: a collection with a
// shard key and throughput, documents, and the charge of an operation.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.model.Filters;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.Test;

class AzureCommandsTest extends Ebb {
  Document action(String name, String more) {
    Document command = new Document("customAction", name);
    command.putAll(doc(more));
    return db.runCommand(command);
  }

  Document shown(String name) {
    return action("GetCollection", "{collection: '" + name + "', showIndexes: true}");
  }

  /** Asserts the command and the charge of the last operation of a session, read as documented programs do. */
  void charged(ClientSession session, String command, double charge) {
    Document reply = db.runCommand(session, new Document("getLastRequestStatistics", 1));
    assertEquals("GetRequestStatisticsResponse", reply.getString("_t"));
    assertEquals(command, reply.getString("CommandName"));
    assertEquals(charge, reply.getDouble("RequestCharge"));
    assertTrue(0 <= reply.getDouble("RequestDurationInMilliSeconds"));
  }

  @Test
  void aCollectionWithShardKeyThroughputAndDefault() {
    action("CreateDatabase", "{offerThroughput: 1000}");
    action("CreateCollection", "{collection: 'coll', offerThroughput: 400, shardKey: 'university', defaultTtl: 60, "
        + "indexes: [{key: {_id: 1}, name: '_id_1'}, {key: {name: 1}, name: 'by_name'}]}");
    Document shown = shown("coll");
    assertEquals(doc("{university: 'hashed'}"), shown.get("shardKeyDefinition"));
    assertEquals(400, shown.getInteger("provisionedThroughput"));
    assertEquals(60, shown.getInteger("defaultTtl"));
    assertEquals(List.of("_id_", "by_name", "_ts_1"),
        shown.getList("indexes", Document.class).stream().map(index -> index.getString("name")).toList());
    try (ClientSession session = client.startSession()) {
      coll.insertOne(session, doc("{_id: 1, university: 'a', name: 'n'}"));
      charged(session, "insert", 5.0);
      assertEquals("n", coll.find(session, Filters.eq("_id", 1)).first().getString("name"));
      charged(session, "find", 1.0);
    }
    advance(59);
    assertEquals(1, coll.countDocuments());
    advance(1);
    assertEquals(0, coll.countDocuments());
  }

  @Test
  void throughputIsChangedAndScalesItself() {
    action("CreateCollection", "{collection: 'coll', offerThroughput: 400}");
    action("UpdateCollection", "{collection: 'coll', offerThroughput: 1200}");
    assertEquals(1200, shown("coll").getInteger("provisionedThroughput"));
    action("UpdateCollection", "{collection: 'coll', autoScaleSettings: {maxThroughput: 4000}}");
    assertEquals(400, shown("coll").getInteger("provisionedThroughput"));
    assertEquals(doc("{maxThroughput: 4000}"), shown("coll").get("autoScaleSettings"));
  }

  @Test
  void collectionsAreSharded() {
    admin.runCommand(new Document("enableSharding", db.getName()));
    Document shard = doc("{shardCollection: 'java.coll', key: {university: 'hashed'}}");
    for (Document reply : List.of(db.runCommand(shard), admin.runCommand(shard))) {
      assertEquals("ShardCollectionResponse", reply.getString("_t"));
      assertEquals("java.coll", reply.getString("collectionsharded"));
    }
    db.runCommand(doc("{create: 'made', shardKey: 'a.b'}"));
    assertEquals(new Document("a.b", "hashed"), shown("made").get("shardKeyDefinition"));
  }

  @Test
  void wrongArgumentsAreRefusedAndChangeNothing() {
    refused(2, coll -> action("CreateCollection", "{collection: 'coll', offerThroughput: 399}"));
    refused(26, coll -> shown("coll"));
    refused(59, coll -> action("Nothing", "{}"));
    assertEquals(List.of(), list(db.listCollectionNames()));
  }

  /** A server that does not enforce throughput accepts all documents. */
  @Test
  void anErrorOfThroughputNamesTheTimeToWait() {
    action("CreateCollection", "{collection: 'coll', offerThroughput: 400}");
    List<Document> documents = IntStream.range(0, 1000).mapToObj(n -> new Document("_id", n)).toList();
    try {
      assertEquals(1000, coll.insertMany(documents).getInsertedIds().size());
    } catch (MongoBulkWriteException error) {
      assertEquals(16500, error.getWriteErrors().get(0).getCode());
      assertTrue(error.getWriteErrors().get(0).getMessage().matches("(?s).*RetryAfterMs=\\d+,.*"));
    }
  }
}
