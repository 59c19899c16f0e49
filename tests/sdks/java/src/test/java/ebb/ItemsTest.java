// Items: create, read, upsert, replace, patch, delete, conditions, unique keys, batches, bulk and read-many.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchItemRequestOptions;
import com.azure.cosmos.models.CosmosBatchOperationResult;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkOperationResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosItemResponse;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ItemsTest extends Ebb {
  @Test
  void lifeOfAnItem() {
    CosmosContainer container = container();
    CosmosItemResponse<JsonNode> created = container.createItem((JsonNode) item("{'id': '1', 'pk': 'a', 'n': 1}"), A, null);
    assertEquals(201, created.getStatusCode());
    equal("{'id': '1', 'pk': 'a', 'n': 1}", bare(created.getItem()));
    assertEquals(created.getETag(), created.getItem().get("_etag").asText());
    for (String name : List.of("_rid", "_self", "_ts", "_attachments")) {
      assertTrue(created.getItem().has(name), name);
    }
    assertTrue(created.getRequestCharge() > 0);
    assertNotNull(created.getSessionToken());
    refused(409, 0, EXISTS, () -> put(container, "{'id': '1', 'pk': 'a'}"));
    assertEquals(created.getItem(), container.readItem("1", A, JsonNode.class).getItem());
    refused(404, 0, NO_ITEM, () -> container.readItem("1", B, JsonNode.class));

    CosmosItemResponse<?> replaced = container.replaceItem(item("{'id': '1', 'pk': 'a', 'n': 2}"), "1", A, null);
    assertEquals(200, replaced.getStatusCode());
    assertNotEquals(created.getETag(), replaced.getETag());
    assertEquals(200, container.upsertItem(item("{'id': '1', 'pk': 'a', 'n': 3}"), A, null).getStatusCode());
    assertEquals(201, container.upsertItem(item("{'id': '2', 'pk': 'a', 'n': 4}")).getStatusCode());
    equal("{'id': '1', 'pk': 'a', 'n': 3}", read(container, "1"));

    assertEquals(204, container.deleteItem("1", A, null).getStatusCode());
    refused(404, 0, NO_ITEM, () -> container.deleteItem("1", A, null));
    refused(404, 0, NO_ITEM, () -> container.replaceItem(item("{'id': '1', 'pk': 'a'}"), "1", A, null));
  }

  @Test
  void minimalAnswers() {
    CosmosItemRequestOptions quiet = new CosmosItemRequestOptions().setContentResponseOnWriteEnabled(false);
    CosmosItemResponse<?> created = container().createItem(item("{'id': '1', 'pk': 'a'}"), A, quiet);
    assertEquals(null, created.getItem());
    assertNotNull(created.getETag());
  }

  @Test
  void etags() {
    CosmosContainer container = container();
    String old = container.createItem(item("{'id': '1', 'pk': 'a', 'n': 1}"), A, null).getETag();
    String now = container.replaceItem(item("{'id': '1', 'pk': 'a', 'n': 2}"), "1", A, ifMatch(old)).getETag();
    refused(412, 0, NOT_MET, () -> container.replaceItem(item("{'id': '1', 'pk': 'a'}"), "1", A, ifMatch(old)));
    refused(412, 0, NOT_MET, () -> container.upsertItem(item("{'id': '1', 'pk': 'a'}"), A, ifMatch(old)));
    refused(412, 0, NOT_MET, () -> container.deleteItem("1", A, ifMatch(old)));
    CosmosPatchItemRequestOptions stale = new CosmosPatchItemRequestOptions();
    stale.setIfMatchETag(old);
    refused(412, 0, NOT_MET,
        () -> container.patchItem("1", A, CosmosPatchOperations.create().set("/n", 3), stale, JsonNode.class));
    assertEquals(2, read(container, "1").get("n").asInt());

    CosmosItemRequestOptions unless = new CosmosItemRequestOptions().setIfNoneMatchETag(now);
    assertEquals(304, container.readItem("1", A, unless, JsonNode.class).getStatusCode());
    unless.setIfNoneMatchETag(old);
    assertEquals(200, container.readItem("1", A, unless, JsonNode.class).getStatusCode());
    assertEquals(204, container.deleteItem("1", A, ifMatch("*")).getStatusCode());
    refused(404, 0, NO_ITEM, () -> container.deleteItem("1", A, ifMatch(now)));
  }

  @Test
  void patch() {
    CosmosContainer container = container();
    put(container, "{'id': '1', 'pk': 'a', 'n': 1, 's': 'x', 'list': [1, 3], 'o': {'gone': 1, 'kept': 2}, 'from': 9}");
    CosmosPatchOperations patch = CosmosPatchOperations.create()
        .add("/list/1", 2).add("/list/-", 4).set("/new", Map.of("k", true)).replace("/s", "y")
        .remove("/o/gone").increment("/n", 5).increment("/n", 0.5).move("/from", "/to");
    CosmosPatchItemRequestOptions when = new CosmosPatchItemRequestOptions().setFilterPredicate("from c where c.n = 1");
    CosmosItemResponse<JsonNode> answer = container.patchItem("1", A, patch, when, JsonNode.class);
    String want = "{'id': '1', 'pk': 'a', 'n': 6.5, 's': 'y', 'list': [1, 2, 3, 4], 'o': {'kept': 2}, 'new': {'k': true}, 'to': 9}";
    assertEquals(200, answer.getStatusCode());
    equal(want, bare(answer.getItem()));
    refused(412, 0, "", () -> container.patchItem("1", A, patch, when, JsonNode.class));
    CosmosPatchOperations missing = CosmosPatchOperations.create().replace("/nowhere", 1);
    refused(400, 0, "", () -> container.patchItem("1", A, missing, JsonNode.class));
    refused(404, 0, NO_ITEM, () -> container.patchItem("none", A, missing, JsonNode.class));
    CosmosPatchOperations eleven = CosmosPatchOperations.create();
    for (int n = 0; n < 11; n++) eleven.increment("/n", 1);
    refused(400, 0, "", () -> container.patchItem("1", A, eleven, JsonNode.class));
    equal(want, read(container, "1"));
  }

  @Test
  void badItems() {
    CosmosContainer container = container();
    for (String bad : List.of("{'id': 5, 'pk': 'a'}", "{'id': '', 'pk': 'a'}")) {
      refused(400, 0, "", () -> container.createItem(item(bad), A, null));
    }
    refused(400, 1001, "PartitionKey extracted from document doesn't match the one specified in the header.",
        () -> container.createItem(item("{'id': '1', 'pk': 'a'}"), B, null));
    String big = "{'id': '1', 'pk': 'a', 's': '" + "x".repeat(2 << 20) + "'}";
    refused(413, 0, "Request size is too large", () -> container.createItem(item(big), A, null));
    equal("[0]", query(container, "SELECT VALUE COUNT(1) FROM c"));
  }

  @Test
  void uniqueKeys() {
    UniqueKeyPolicy unique = new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/x", "/y/z"))));
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk").setUniqueKeyPolicy(unique));
    put(container, "{'id': '1', 'pk': 'a', 'x': 1, 'y': {'z': 1}}", "{'id': '2', 'pk': 'a', 'x': 1, 'y': {'z': 2}}",
        "{'id': '1', 'pk': 'b', 'x': 1, 'y': {'z': 1}}");
    String again = "{'id': '3', 'pk': 'a', 'x': 1, 'y': {'z': 1}}";
    refused(409, 0, "Unique index constraint violation.", () -> put(container, again));
    refused(409, 0, "Unique index constraint violation.",
        () -> container.replaceItem(item("{'id': '2', 'pk': 'a', 'x': 1, 'y': {'z': 1}}"), "2", A, null));
    container.deleteItem("1", A, null);
    put(container, again);
  }

  @Test
  void sessionTokens() {
    CosmosContainer container = container();
    String token = container.createItem(item("{'id': '1', 'pk': 'a'}"), A, null).getSessionToken();
    try (CosmosClient other = connect(setting("EBB_HTTPS_ENDPOINT"), setting("EBB_KEY"))) {
      CosmosContainer there = other.getDatabase(database.getId()).getContainer("c");
      assertEquals(200, there.readItem("1", A, new CosmosItemRequestOptions().setSessionToken(token), JsonNode.class).getStatusCode());
      refused(404, 1002, "The read/write session is not available for the input session token.",
          () -> there.readItem("1", A, new CosmosItemRequestOptions().setSessionToken("0:-1#999999999999"), JsonNode.class));
    }
  }

  static List<Integer> statuses(CosmosBatchResponse answer) {
    return answer.getResults().stream().map(CosmosBatchOperationResult::getStatusCode).toList();
  }

  @Test
  void batch() {
    CosmosContainer container = container();
    put(container, "{'id': '1', 'pk': 'a', 'n': 1}", "{'id': '2', 'pk': 'a'}", "{'id': '3', 'pk': 'a'}");
    CosmosBatch batch = CosmosBatch.createCosmosBatch(A);
    batch.createItemOperation(item("{'id': 'new', 'pk': 'a'}"));
    batch.readItemOperation("1");
    batch.upsertItemOperation(item("{'id': 'up', 'pk': 'a'}"));
    batch.replaceItemOperation("2", item("{'id': '2', 'pk': 'a', 'r': true}"));
    batch.deleteItemOperation("3");
    batch.patchItemOperation("1", CosmosPatchOperations.create().increment("/n", 1));
    CosmosBatchResponse answer = container.executeCosmosBatch(batch);
    assertEquals(200, answer.getStatusCode());
    assertTrue(answer.isSuccessStatusCode());
    assertEquals(List.of(201, 200, 201, 200, 204, 200), statuses(answer));
    equal("{'id': '1', 'pk': 'a', 'n': 1}", bare(answer.getResults().get(1).getItem(JsonNode.class)));
    equal("{'id': '1', 'pk': 'a', 'n': 2}", read(container, "1"));
    equal("['1', '2', 'new', 'up']", query(container, "SELECT VALUE c.id FROM c ORDER BY c.id", within(A)));
  }

  @Test
  void aFailedBatchChangesNothing() {
    CosmosContainer container = container();
    put(container, "{'id': '1', 'pk': 'a'}");
    Map<Integer, Consumer<CosmosBatch>> failing = Map.of(
        409, batch -> batch.createItemOperation(item("{'id': '1', 'pk': 'a'}")),
        404, batch -> batch.readItemOperation("none"),
        412, batch -> batch.deleteItemOperation("1", new CosmosBatchItemRequestOptions().setIfMatchETag("\"stale\"")));
    failing.forEach((status, fail) -> {
      CosmosBatch batch = CosmosBatch.createCosmosBatch(A);
      batch.upsertItemOperation(item("{'id': 'x', 'pk': 'a'}"));
      fail.accept(batch);
      batch.deleteItemOperation("1");
      CosmosBatchResponse answer = container.executeCosmosBatch(batch);
      assertFalse(answer.isSuccessStatusCode());
      assertEquals(List.of(424, status, 424), statuses(answer));
      equal("['1']", query(container, "SELECT VALUE c.id FROM c", within(A)));
    });
  }

  @Test
  void bulk() {
    CosmosContainer container = container();
    put(container, "{'id': '0', 'pk': 'a'}");
    List<CosmosItemOperation> operations = new ArrayList<>();
    for (int n = 0; n < 50; n++) {
      String key = n % 2 == 0 ? "a" : "b";
      operations.add(CosmosBulkOperations.getCreateItemOperation(
          item("{'id': '" + n + "', 'pk': '" + key + "'}"), new PartitionKey(key), (Integer) n));
    }
    operations.add(CosmosBulkOperations.getDeleteItemOperation("none", A, (Integer) 100));
    Map<Integer, Integer> statuses = new TreeMap<>();
    for (CosmosBulkOperationResponse<Integer> answer : container.<Integer>executeBulkOperations(operations)) {
      statuses.merge(answer.getResponse().getStatusCode(), 1, Integer::sum);
    }
    assertEquals(Map.of(201, 49, 409, 1, 404, 1), statuses);
    equal("[50]", query(container, "SELECT VALUE COUNT(1) FROM c"));
  }

  @Test
  void readMany() {
    CosmosContainer container = container();
    put(container, "{'id': '1', 'pk': 'a'}", "{'id': '2', 'pk': 'a'}", "{'id': '1', 'pk': 'b'}", "{'id': '3', 'pk': 'b'}");
    List<CosmosItemIdentity> wanted = List.of(new CosmosItemIdentity(A, "1"), new CosmosItemIdentity(A, "2"),
        new CosmosItemIdentity(B, "3"), new CosmosItemIdentity(B, "none"));
    List<String> found = container.readMany(wanted, JsonNode.class).getResults().stream()
        .map(item -> item.get("pk").asText() + item.get("id").asText()).sorted().toList();
    assertEquals(List.of("a1", "a2", "b3"), found);
    assertEquals(2, container.readAllItems(B, JsonNode.class).stream().count());
    container.deleteAllItemsByPartitionKey(B, null);
    equal("['1', '2']", query(container, "SELECT VALUE c.id FROM c ORDER BY c.id"));
  }
}
