// One client, a fresh database per test, the manual clock, and comparisons.
package ebb;

import static com.mongodb.client.model.Indexes.ascending;
import static com.mongodb.client.model.Sorts.orderBy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeEach;

/** What every test class inherits. */
abstract class Ebb {
  /** Seconds in which the driver connects on a busy machine, and after which a refused connection is given up. */
  static final int PATIENCE = 30, REFUSAL = 2;

  /** The last reply of each command; helpers throw them away. */
  static final Map<String, BsonDocument> replies = new ConcurrentHashMap<>();

  static final MongoClient client = MongoClients.create(MongoClientSettings.builder()
      .applyConnectionString(new ConnectionString(System.getenv("EBB_URI")))
      .addCommandListener(new CommandListener() {
        @Override
        public void commandSucceeded(CommandSucceededEvent event) {
          replies.put(event.getCommandName(), event.getResponse().clone());
        }
      })
      .build());

  static final MongoDatabase admin = client.getDatabase("admin");
  final MongoDatabase db = client.getDatabase("java");
  final MongoCollection<Document> coll = db.getCollection("coll");

  /** Lifetimes on `_ts` count whole seconds; a test starts at the top of one. */
  @BeforeEach
  void fresh() {
    db.drop();
    long now = now().getTime();
    if (now % 1000 != 0) {
      admin.runCommand(new Document("ebbClock", 1).append("set", new Date((now / 1000 + 1) * 1000)));
    }
  }

  static Date now() {
    return admin.runCommand(new Document("ebbClock", 1)).getDate("now");
  }

  static Date later(Date date, long milliseconds) {
    return new Date(date.getTime() + milliseconds);
  }

  static void advance(double seconds) {
    admin.runCommand(new Document("ebbClock", 1).append("advanceSeconds", seconds));
  }

  void ttlIndex(long seconds) {
    String index = coll.createIndex(ascending("_ts"), new IndexOptions().expireAfter(seconds, TimeUnit.SECONDS));
    assertEquals("_ts_1", index);
  }

  Document change(Bson index) {
    return db.runCommand(new Document("collMod", "coll").append("index", index));
  }

  void insert(Document... documents) {
    coll.insertMany(Arrays.asList(documents));
  }

  static Document doc(String json) {
    return Document.parse(json);
  }

  static List<Document> docs(String... json) {
    return Arrays.stream(json).map(Document::parse).toList();
  }

  static <T> List<T> list(Iterable<T> cursor) {
    List<T> all = new ArrayList<>();
    cursor.forEach(all::add);
    return all;
  }

  List<Document> all() {
    return list(coll.find().sort(orderBy(ascending("_id"))));
  }

  static List<Object> ids(Iterable<Document> documents) {
    return list(documents).stream().map(d -> d.get("_id")).sorted().toList();
  }

  /** The same documents on every path that reads. */
  void everywhere(Object... names) {
    List<Object> wanted = Arrays.stream(names).sorted().toList();
    Document paris = new Document("location", "Paris");
    assertEquals(wanted, ids(coll.find()));
    assertEquals(wanted, ids(coll.find(paris)));
    assertEquals(wanted.size(), coll.countDocuments());
    assertEquals(wanted.size(), coll.countDocuments(paris));
    assertEquals(wanted.size(), coll.estimatedDocumentCount());
    assertEquals(new HashSet<>(new Document("v", wanted).toBsonDocument().getArray("v")),
        coll.distinct("_id", BsonValue.class).into(new HashSet<>()));
    assertEquals(wanted, ids(coll.aggregate(List.of(new Document("$match", paris)))));
    List<Document> groups = list(coll.aggregate(docs("{$group: {_id: null, n: {$sum: 1}}}")));
    assertEquals(wanted.isEmpty() ? List.of() : List.of(new Document("_id", null).append("n", wanted.size())), groups);
    assertEquals(wanted.isEmpty(), coll.find(paris).first() == null);
  }

  interface Write {
    void run(MongoCollection<Document> coll);
  }

  MongoException refused(int code, Write write) {
    MongoException error = assertThrows(MongoException.class, () -> write.run(coll));
    int found = error instanceof com.mongodb.MongoBulkWriteException bulk ? bulk.getWriteErrors().get(0).getCode() : error.getCode();
    assertEquals(code, found, error::getMessage);
    return error;
  }

  static Document expected() {
    try {
      return Document.parse(Files.readString(Path.of(System.getenv("EBB_EXPECTATIONS"))));
    } catch (IOException error) {
      throw new AssertionError(error);
    }
  }
}
