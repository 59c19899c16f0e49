// _ts belongs to the server: never returned, never accepted, missing to every filter.
package ebb;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Updates.currentDate;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.rename;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.setOnInsert;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOptions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReservedTsTest extends Ebb {
  static final Bson ONE = eq("_id", 1);

  static final Map<String, Write> WRITES = Map.ofEntries(
      Map.entry("insertOne", c -> c.insertOne(doc("{_id: 2, _ts: 5}"))),
      Map.entry("insertMany", c -> c.insertMany(docs("{_id: 2, _ts: 5}"))),
      Map.entry("bulkWrite", c -> c.bulkWrite(List.of(new InsertOneModel<>(doc("{_id: 2, _ts: 5}"))))),
      Map.entry("$set", c -> c.updateOne(ONE, set("_ts", 5))),
      Map.entry("$inc", c -> c.updateMany(ONE, inc("_ts", 5))),
      Map.entry("$rename", c -> c.updateOne(ONE, rename("a", "_ts"))),
      Map.entry("$currentDate", c -> c.updateOne(ONE, currentDate("_ts"))),
      Map.entry("$setOnInsert", c -> c.updateOne(eq("_id", 9), setOnInsert("_ts", 5), new UpdateOptions().upsert(true))),
      Map.entry("pipeline", c -> c.updateOne(ONE, docs("{$set: {_ts: 5}}"))),
      Map.entry("replaceOne", c -> c.replaceOne(ONE, doc("{_ts: 5}"))),
      Map.entry("findOneAndUpdate", c -> c.findOneAndUpdate(ONE, set("_ts", 5))),
      Map.entry("findOneAndReplace", c -> c.findOneAndReplace(ONE, doc("{_ts: 5}"))));

  static Stream<String> writes() {
    return WRITES.keySet().stream().sorted();
  }

  @BeforeEach
  void ttl() {
    ttlIndex(10);
    insert(doc("{_id: 1, a: 1}"));
  }

  @Test
  void itIsNeverReturned() {
    assertEquals(docs("{_id: 1, a: 1}"), all());
    assertEquals(docs("{_id: 1}"), list(coll.find().projection(include("_ts"))));
    assertEquals(docs("{_id: 1, r: {_id: 1, a: 1}}"), list(coll.aggregate(docs("{$project: {t: '$_ts', r: '$$ROOT'}}"))));
    assertEquals(List.of(), list(coll.distinct("_ts", BsonValue.class)));
  }

  @Test
  void filtersSeeItAsMissing() {
    assertEquals(0, coll.countDocuments(exists("_ts")));
    assertEquals(1, coll.countDocuments(exists("_ts", false)));
    assertEquals(1, coll.countDocuments(new Document("_ts", null)));
    assertEquals(0, coll.countDocuments(gt("_ts", 0)));
  }

  @ParameterizedTest
  @MethodSource("writes")
  void writingItIsRefusedWithError2(String write) {
    String message = refused(2, WRITES.get(write)).getMessage();
    assertTrue(message.contains("_ts") && message.contains("reserved"), message);
    assertEquals(docs("{_id: 1, a: 1}"), all());
  }
}
