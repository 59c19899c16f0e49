// Random cases of queries whose pages are each read by a new iterator; see tests/sdks/pages.py.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomPagesTest extends Ebb {
  @Test
  void randomPages() throws IOException {
    for (JsonNode one : JSON.readTree(Files.readString(Path.of(setting("EBB_PAGES"))))) {
      if (unsupported(one)) continue;
      CosmosContainer container = filled(one);
      check(container, one);
      container.delete();
    }
  }

  /**
   * Whether the SDK cannot read the pages. After the last row of fewer than LIMIT, OFFSET LIMIT has a token without that
   * of the server, which begins again. The token of DISTINCT loses the last value on a page without a new one, and the
   * next page repeats it.
   */
  private static boolean unsupported(JsonNode one) {
    return Set.of("offset", "distinct").contains(one.get("shape").asText());
  }

  private CosmosContainer filled(JsonNode one) {
    IndexingPolicy policy = new IndexingPolicy().setIncludedPaths(List.of(new IncludedPath("/*")));
    if (!one.get("compositeIndex").isNull()) policy.setCompositeIndexes(List.of(compositeIndex(one.get("compositeIndex"))));
    CosmosContainer container =
        create(new CosmosContainerProperties("c", "/pk").setDefaultTimeToLiveInSeconds(-1).setIndexingPolicy(policy));
    one.get("items").forEach(container::createItem);
    return container;
  }

  private static void check(CosmosContainer container, JsonNode one) {
    String name = one.get("name").asText();
    int movesAfter = one.get("movesAfter").asInt();
    assertEquals(whole(container, one), rows(pages(container, one, 0)), name);

    List<List<String>> pages = pages(container, one, movesAfter);
    if (pages.size() < movesAfter) advance(one.get("diesAfter").asInt());
    List<String> found = rows(pages);
    List<String> live = whole(container, one);
    Set<String> dead = new HashSet<>();
    one.get("mortal").forEach(row -> dead.add(row.toString()));
    assertEquals(found.size(), Set.copyOf(found).size(), () -> "a row twice: " + name + ": " + pages);
    List<String> later = new ArrayList<>(live);
    later.addAll(rows(pages.subList(Math.min(movesAfter, pages.size()), pages.size())));
    assertTrue(later.stream().noneMatch(dead::contains), () -> "an expired row: " + name + ": " + pages);
    if (!one.get("limited").asBoolean()) {
      assertEquals(live, found.stream().filter(row -> !dead.contains(row)).toList(), () -> "a row lost: " + name);
    }
  }

  private static List<String> whole(CosmosContainer container, JsonNode one) {
    return query(container, one.get("query").asText(), options(one)).stream().map(JsonNode::toString).toList();
  }

  private static List<String> rows(List<List<String>> pages) {
    return pages.stream().flatMap(List::stream).toList();
  }

  private static CosmosQueryRequestOptions options(JsonNode one) {
    JsonNode key = one.get("partitionKey");
    return key.isNull() ? new CosmosQueryRequestOptions() : within(new PartitionKey(key.asText()));
  }

  /** All pages; the clock moves after so many of them, 0 for never. */
  private static List<List<String>> pages(CosmosContainer container, JsonNode one, int movesAfter) {
    int size = one.get("pageSize").asInt();
    List<List<String>> found = new ArrayList<>();
    String token = null;
    do {
      Iterator<FeedResponse<JsonNode>> pages = container.queryItems(one.get("query").asText(), options(one), JsonNode.class)
          .iterableByPage(token, size).iterator();
      // The rows after a token may have expired.
      if (!pages.hasNext()) return found;
      FeedResponse<JsonNode> page = pages.next();
      assertTrue(page.getResults().size() <= size, () -> page.getResults().size() + " items on a page of " + size);
      found.add(page.getResults().stream().map(row -> value(row).toString()).toList());
      token = page.getContinuationToken();
      if (found.size() == movesAfter) advance(one.get("diesAfter").asInt());
    } while (token != null);
    return found;
  }
}
