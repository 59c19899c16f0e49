// TTL: the matrix to the second on every path that reads, validation, countdowns, changes of the default.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TtlTest extends Ebb {
  static Integer seconds(JsonNode value) {
    return value.isNull() ? null : value.asInt();
  }

  /** Asserts on every path whether item 1 of partition a exists. */
  static void alive(CosmosContainer container, boolean lives) {
    if (lives) container.readItem("1", A, JsonNode.class);
    else refused(404, 0, NO_ITEM, () -> container.readItem("1", A, JsonNode.class));
    String ids = lives ? "['1']" : "[]";
    for (CosmosQueryRequestOptions scope : List.of(within(A), new CosmosQueryRequestOptions())) {
      for (String rest : List.of("", " WHERE c.n = 1", " ORDER BY c.n")) {
        equal(ids, query(container, "SELECT VALUE c.id FROM c" + rest, scope));
      }
      equal(ids, query(container, "SELECT DISTINCT VALUE c.id FROM c", scope));
      equal(lives ? "[1]" : "[0]", query(container, "SELECT VALUE COUNT(1) FROM c", scope));
      equal(lives ? "[1]" : "[0]", query(container, "SELECT VALUE COUNT(1) FROM c WHERE c.n = 1", scope));
    }
    int many = lives ? 1 : 0;
    assertEquals(many, container.readAllItems(A, JsonNode.class).stream().count());
    assertEquals(many, container.readMany(List.of(new CosmosItemIdentity(A, "1")), JsonNode.class).getResults().size());
    assertEquals(many, ChangeFeedTest.changes(container, ChangeFeedTest.beginning(FeedRange.forFullRange())).items().size());
    CosmosBatch batch = CosmosBatch.createCosmosBatch(A);
    batch.readItemOperation("1");
    batch.deleteItemOperation("no such item");
    assertEquals(lives ? List.of(424, 404) : List.of(404, 424), ItemsTest.statuses(container.executeCosmosBatch(batch)));
  }

  @Test
  void theMatrix() {
    int n = 0;
    for (JsonNode cell : expected.get("matrix")) {
      CosmosContainer container = container("c" + n++, seconds(cell.get("default")));
      ObjectNode item = item("{'id': '1', 'pk': 'a', 'n': 1}");
      if (!cell.get("ttl").isNull()) item.set("ttl", cell.get("ttl"));
      put(container, item.toString());
      if (cell.get("diesAfter").isNull()) {
        alive(container, true);
        advance(1_000_000);
        alive(container, true);
        assertEquals(item, read(container, "1"));
        continue;
      }
      advance(cell.get("diesAfter").asInt() - 1);
      alive(container, true);
      assertEquals(item, read(container, "1"));
      advance(1);
      alive(container, false);
      advance(1);
      alive(container, false);
    }
  }

  @Test
  void writesOfTheDead() {
    UniqueKeyPolicy unique = new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/u"))));
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk")
        .setDefaultTimeToLiveInSeconds(10).setUniqueKeyPolicy(unique));
    String etag = container.createItem(item("{'id': '1', 'pk': 'a', 'u': 1}"), A, null).getETag();
    put(container, "{'id': '2', 'pk': 'a', 'u': 2}", "{'id': '3', 'pk': 'a', 'u': 3}");
    advance(10);
    ObjectNode item = item("{'id': '1', 'pk': 'a', 'u': 2}");
    refused(404, 0, NO_ITEM, () -> container.replaceItem(item, "1", A, null));
    refused(404, 0, NO_ITEM, () -> container.patchItem("1", A, CosmosPatchOperations.create().set("/x", 1), JsonNode.class));
    refused(404, 0, NO_ITEM, () -> container.deleteItem("1", A, null));
    refused(404, 0, NO_ITEM, () -> container.deleteItem("1", A, ifMatch(etag)));
    assertEquals(201, container.createItem(item, A, null).getStatusCode());
    assertEquals(201, container.upsertItem(item("{'id': '2', 'pk': 'a', 'u': 3}")).getStatusCode());
    refused(412, 0, NOT_MET, () -> container.deleteItem("1", A, ifMatch(etag)));
  }

  @Test
  void everyWriteRestartsTheCountdown() {
    Map<String, Consumer<CosmosContainer>> writes = new LinkedHashMap<>();
    writes.put("replace", container -> container.replaceItem(item("{'id': '1', 'pk': 'a', 'n': 1}"), "1", A, null));
    writes.put("upsert", container -> container.upsertItem(item("{'id': '1', 'pk': 'a', 'n': 1}")));
    writes.put("patch", container -> container.patchItem("1", A, CosmosPatchOperations.create().set("/x", 1), JsonNode.class));
    writes.forEach((name, write) -> {
      CosmosContainer container = container(name, 10);
      put(container, "{'id': '1', 'pk': 'a', 'n': 1}");
      advance(9);
      write.accept(container);
      advance(9);
      alive(container, true);
      advance(1);
      alive(container, false);
    });
  }

  @Test
  void theDefaultChanges() {
    CosmosContainer container = container();
    CosmosContainerProperties properties = container.read().getProperties();
    Consumer<Integer> set = ttl -> container.replace(properties.setDefaultTimeToLiveInSeconds(ttl));
    put(container, "{'id': '1', 'pk': 'a', 'n': 1}");
    advance(50);
    set.accept(100);
    alive(container, true);
    for (Integer ttl : new Integer[] {50, 1000, -1, null}) {
      set.accept(ttl);
      alive(container, false);
    }
    put(container, "{'id': '1', 'pk': 'a', 'n': 1, 'ttl': 5}");
    advance(5);
    alive(container, true);
    set.accept(-1);
    alive(container, false);
  }

  @Test
  void containerTtlIsChecked() {
    int n = 0;
    for (JsonNode ttl : expected.get("acceptedDefaultTtl")) {
      assertEquals(ttl.asInt(), container("good" + n++, ttl.asInt()).read().getProperties().getDefaultTimeToLiveInSeconds());
    }
    CosmosContainer container = container();
    CosmosContainerProperties properties = container.read().getProperties();
    for (int ttl : new int[] {0, -2, -10}) {
      refused(400, 0, "", () -> container("bad" + -ttl, ttl));
      refused(400, 0, "", () -> container.replace(properties.setDefaultTimeToLiveInSeconds(ttl)));
    }
    assertNull(container.read().getProperties().getDefaultTimeToLiveInSeconds());
  }

  @Test
  void itemTtlIsChecked() {
    for (int ttl : new int[] {-1, 100}) {
      CosmosContainer on = container("on" + Math.abs(ttl), ttl);
      int n = 0;
      for (JsonNode good : expected.get("acceptedItemTtl")) {
        put(on, "{'id': 'good" + n++ + "', 'pk': 'a', 'ttl': " + good + "}");
      }
      put(on, "{'id': 'x', 'pk': 'a'}");
      for (JsonNode bad : expected.get("refusedItemTtl")) {
        String text = expected.at("/texts/itemTtl").asText().replace("%s", bad.get("quoted").asText());
        ObjectNode item = item("{'id': 'x', 'pk': 'a'}");
        item.set("ttl", bad.get("ttl"));
        CosmosPatchOperations patch = CosmosPatchOperations.create().set("/ttl", bad.get("ttl"));
        refused(400, 0, text, () -> on.createItem(item.deepCopy().put("id", "y"), A, null));
        refused(400, 0, text, () -> on.upsertItem(item, A, null));
        refused(400, 0, text, () -> on.replaceItem(item, "x", A, null));
        refused(400, 0, text, () -> on.patchItem("x", A, patch, JsonNode.class));
        CosmosBatch batch = CosmosBatch.createCosmosBatch(A);
        batch.upsertItemOperation(item);
        assertEquals(List.of(400), ItemsTest.statuses(on.executeCosmosBatch(batch)));
      }
      equal("{'id': 'x', 'pk': 'a'}", read(on, "x"));
    }
    CosmosContainer off = container("off", null);
    int n = 0;
    for (JsonNode bad : expected.get("refusedItemTtl")) {
      ObjectNode item = item("{'id': 'any" + n + "', 'pk': 'a'}");
      item.set("ttl", bad.get("ttl"));
      put(off, item.toString());
      assertEquals(item, read(off, "any" + n++));
    }
  }
}
