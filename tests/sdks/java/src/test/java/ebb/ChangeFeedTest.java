// The change feed: latest versions, and all versions and deletes.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChangeFeedTest extends Ebb {
  /** What a reading found, and the token to go on with. */
  record Changes(List<JsonNode> items, String token) {
    List<String> ids() {
      return items.stream().map(item -> item.get("id").asText()).toList();
    }
  }

  static Changes changes(CosmosContainer container, CosmosChangeFeedRequestOptions options) {
    List<JsonNode> found = new ArrayList<>();
    String token = null;
    for (FeedResponse<JsonNode> page : container.queryChangeFeed(options, JsonNode.class).iterableByPage()) {
      found.addAll(page.getResults());
      token = page.getContinuationToken();
    }
    return new Changes(found, token);
  }

  static CosmosChangeFeedRequestOptions beginning(FeedRange range) {
    return CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(range);
  }

  static CosmosChangeFeedRequestOptions after(Changes changes) {
    return CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(changes.token());
  }

  @Test
  void latestVersions() {
    CosmosContainer container = container();
    FeedRange all = FeedRange.forFullRange();
    put(container, "{'id': '1', 'pk': 'a', 'n': 1}", "{'id': '2', 'pk': 'b'}");
    Changes now = changes(container, CosmosChangeFeedRequestOptions.createForProcessingFromNow(all));
    assertEquals(List.of(), now.ids());
    container.upsertItem(item("{'id': '1', 'pk': 'a', 'n': 2}"));
    put(container, "{'id': '3', 'pk': 'a'}");
    container.deleteItem("2", B, null);

    Changes found = changes(container, beginning(all));
    assertEquals(List.of("1", "3"), found.ids());
    equal("{'id': '1', 'pk': 'a', 'n': 2}", bare(found.items().get(0)));
    assertEquals(List.of("1", "3"), changes(container, after(now)).ids());
    assertEquals(List.of("1", "3"), changes(container, beginning(FeedRange.forLogicalPartition(A))).ids());
    assertEquals(List.of(), changes(container, beginning(FeedRange.forLogicalPartition(B))).ids());
    assertEquals(List.of("1", "3"), changes(container, beginning(container.getFeedRanges().get(0))).ids());
    assertEquals(List.of("1", "3"), changes(container, beginning(all).setMaxItemCount(1)).ids());

    put(container, "{'id': '4', 'pk': 'b'}");
    assertEquals(List.of("4"), changes(container, after(found)).ids());
  }

  @Test
  void theDeadLeaveTheFeed() {
    CosmosContainer container = container("c", 10);
    put(container, "{'id': '1', 'pk': 'a'}", "{'id': '2', 'pk': 'a', 'ttl': -1}");
    advance(9);
    assertEquals(List.of("1", "2"), changes(container, beginning(FeedRange.forFullRange())).ids());
    advance(1);
    assertEquals(List.of("2"), changes(container, beginning(FeedRange.forFullRange())).ids());
  }

  static CosmosChangeFeedRequestOptions fromNow() {
    return CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange()).allVersionsAndDeletes();
  }

  @Test
  void allVersionsAndDeletes() {
    ChangeFeedPolicy policy = ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(60));
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk")
        .setChangeFeedPolicy(policy).setDefaultTimeToLiveInSeconds(10));
    assertEquals(Duration.ofMinutes(60),
        container.read().getProperties().getChangeFeedPolicy().getRetentionDurationForAllVersionsAndDeletesPolicy());
    put(container, "{'id': '0', 'pk': 'a', 'ttl': -1}");
    Changes start = changes(container, fromNow());
    assertEquals(0, start.items().size());
    put(container, "{'id': '1', 'pk': 'a', 'n': 1}");
    container.upsertItem(item("{'id': '1', 'pk': 'a', 'n': 2}"));
    container.deleteItem("1", A, null);
    put(container, "{'id': '2', 'pk': 'a'}");
    advance(10);

    List<JsonNode> found = changes(container, after(start).allVersionsAndDeletes()).items();
    List<String> kinds = found.stream().map(change -> change.at("/metadata/operationType").asText()).toList();
    assertEquals(List.of("create", "replace", "delete", "create", "delete"), kinds);
    equal("{'id': '1', 'pk': 'a', 'n': 1}", bare(found.get(0).get("current")));
    equal("{'id': '1', 'pk': 'a', 'n': 2}", bare(found.get(1).get("current")));
    JsonNode deleted = found.get(2).get("metadata"), expired = found.get(4).get("metadata");
    assertNotEquals(true, deleted.path("timeToLiveExpired").asBoolean(false));
    assertTrue(expired.get("timeToLiveExpired").asBoolean());
    assertEquals("2", expired.get("id").asText());
    equal("{'pk': 'a'}", expired.get("partitionKey"));
    assertTrue(expired.get("lsn").asLong() > deleted.get("lsn").asLong());
  }

  @Test
  void allVersionsWhereTheyAreNotKept() {
    ChangeFeedPolicy none = ChangeFeedPolicy.createLatestVersionPolicy();
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk").setChangeFeedPolicy(none));
    refused(400, 0, expected.at("/texts/allVersionsOff").asText(), () -> changes(container, fromNow()));
  }
}
