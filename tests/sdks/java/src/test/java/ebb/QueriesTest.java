// Queries: shapes (planned through the gateway), parameters, paging with tokens across clients, errors.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class QueriesTest extends Ebb {
  CosmosContainer shelf() {
    CosmosContainer container = container();
    put(container,
        "{'id': '1', 'pk': 'a', 'n': 3, 'kind': 'x', 'tags': ['red', 'blue']}",
        "{'id': '2', 'pk': 'a', 'n': 1, 'kind': 'y', 'tags': ['red']}",
        "{'id': '3', 'pk': 'b', 'n': 2, 'kind': 'x', 'tags': []}",
        "{'id': '4', 'pk': 'b', 'n': 5, 'kind': 'x'}",
        "{'id': '5', 'pk': 'b', 'n': 4.5, 'kind': 'y', 'tags': ['green']}",
        "{'id': '6', 'pk': 'b', 'kind': 'z', 's': 'text'}");
    return container;
  }

  @Test
  void shapes() {
    CosmosContainer container = shelf();
    String[][] shapes = {
      {"SELECT VALUE c.id FROM c WHERE c.n > 2 ORDER BY c.n", "['1', '5', '4']"},
      {"SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.n) ORDER BY c.n DESC", "['4', '5', '1', '3', '2']"},
      {"SELECT TOP 2 VALUE c.id FROM c ORDER BY c.n DESC", "['4', '5']"},
      {"SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 3", "['3', '4', '5']"},
      {"SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind", "['x', 'y', 'z']"},
      {"SELECT VALUE COUNT(1) FROM c", "[6]"},
      {"SELECT VALUE SUM(c.n) FROM c", "[15.5]"},
      {"SELECT VALUE MIN(c.n) FROM c", "[1]"},
      {"SELECT VALUE MAX(c.n) FROM c", "[5]"},
      {"SELECT VALUE AVG(c.n) FROM c WHERE c.kind = 'y'", "[2.75]"},
      {"SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE c.pk = 'a' ORDER BY c.id",
        "[{'id': '1', 'tag': 'red'}, {'id': '1', 'tag': 'blue'}, {'id': '2', 'tag': 'red'}]"},
      {"SELECT VALUE c.id FROM c WHERE EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = 'green')", "['5']"},
      {"SELECT VALUE UPPER(c.s) FROM c WHERE c.s LIKE 'te%'", "['TEXT']"},
      {"SELECT c.n FROM c WHERE c.id = '6'", "[{}]"},
      {"SELECT VALUE c.n FROM c WHERE c.id = '6'", "[]"},
    };
    org.junit.jupiter.api.Assertions.assertAll(java.util.Arrays.stream(shapes).map(shape -> (Executable) () ->
        assertTrue(same(json(shape[1]), query(container, shape[0])), () -> shape[0] + " gives " + query(container, shape[0]))));
    equal("['1', '2']", query(container, "SELECT VALUE c.id FROM c ORDER BY c.id", within(A)));
    equal("[2]", query(container, "SELECT VALUE COUNT(1) FROM c", within(A)));
  }

  @Test
  void groups() {
    List<JsonNode> found = query(shelf(),
        "SELECT c.kind, COUNT(1) AS many, SUM(c.n) AS total, AVG(c.n) AS mean FROM c WHERE c.kind = 'y' GROUP BY c.kind");
    equal("[{'kind': 'y', 'many': 2, 'total': 5.5, 'mean': 2.75}]", found);
    found = query(shelf2(), "SELECT c.kind, COUNT(1) AS many FROM c GROUP BY c.kind");
    found.sort(Comparator.comparing(group -> group.get("kind").asText()));
    equal("[{'kind': 'x', 'many': 1}, {'kind': 'y', 'many': 2}]", found);
  }

  CosmosContainer shelf2() {
    CosmosContainer container = container("d", null);
    put(container, "{'id': '1', 'pk': 'a', 'kind': 'x'}", "{'id': '2', 'pk': 'b', 'kind': 'y'}", "{'id': '3', 'pk': 'a', 'kind': 'y'}");
    return container;
  }

  @Test
  void parameters() {
    SqlQuerySpec sql = new SqlQuerySpec(
        "SELECT VALUE c.id FROM c WHERE c.n = @n OR c.tags = @tags OR c.s = @s ORDER BY c.id",
        new SqlParameter("@n", 5), new SqlParameter("@tags", List.of("red")), new SqlParameter("@s", null));
    List<JsonNode> found = new ArrayList<>();
    shelf().queryItems(sql, new CosmosQueryRequestOptions(), JsonNode.class).forEach(id -> found.add(value(id)));
    equal("['2', '4']", found);
  }

  @Test
  void pages() {
    CosmosContainer container = container();
    List<String> want = new ArrayList<>();
    for (int n = 0; n < 25; n++) {
      want.add(String.format("%02d", n));
      put(container, "{'id': '" + want.get(n) + "', 'pk': '" + (n % 2 == 0 ? "a" : "b") + "'}");
    }
    for (String sql : List.of("SELECT VALUE c.id FROM c ORDER BY c.id", "SELECT VALUE c.id FROM c",
        "SELECT TOP 100 VALUE c.id FROM c ORDER BY c.id")) {
      List<String> found = new ArrayList<>();
      String token = null;
      int pages = 0;
      do {
        // Each page is asked for by a client of its own.
        try (CosmosClient other = connect(setting("EBB_HTTPS_ENDPOINT"), setting("EBB_KEY"))) {
          CosmosContainer there = other.getDatabase(database.getId()).getContainer("c");
          FeedResponse<JsonNode> page = there.queryItems(sql, new CosmosQueryRequestOptions(), JsonNode.class)
              .iterableByPage(token, 4).iterator().next();
          assertTrue(page.getResults().size() <= 4, page.getResults().size() + " items on a page of 4");
          page.getResults().forEach(id -> found.add(value(id).asText()));
          token = page.getContinuationToken();
        }
      } while (token != null && ++pages < 30);
      found.sort(null);
      assertEquals(want, found, sql);
    }
  }

  /** Pages over values that many items have: each is read by a new iterator from the token of the page before. */
  @Test
  void pagesOverTies() {
    JsonNode table = expected.get("tiedPages");
    int size = table.get("pageSize").asInt();
    int diesAfter = table.get("diesAfter").asInt();
    List<CompositePath> index = compositeIndex(table.get("compositeIndex"));
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk").setDefaultTimeToLiveInSeconds(-1).setIndexingPolicy(
        new IndexingPolicy().setIncludedPaths(List.of(new IncludedPath("/*"))).setCompositeIndexes(List.of(index))));
    for (JsonNode text : table.get("queries")) {
      String sql = text.asText();
      for (int n = 0; n < table.get("items").asInt(); n++) {
        container.upsertItem(item("{'id': '" + n + "', 'pk': 'k" + n % 7 + "', 'n': " + n + ", 'same': " + n % 3
            + ", 'odd': " + n % 2 + ", 'ttl': " + (n % 5 == 4 ? diesAfter : -1) + "}"));
      }
      assertEquals(numbers(query(container, sql)), numbers(pages(container, sql, size, 0).stream().flatMap(List::stream).toList()), sql);
      List<List<JsonNode>> pages = pages(container, sql, size, diesAfter);
      List<Integer> found = numbers(pages.stream().flatMap(List::stream).toList());
      assertEquals(found.size(), Set.copyOf(found).size(), () -> sql + " twice: " + found);
      assertEquals(numbers(query(container, sql)), found.stream().filter(n -> n % 5 != 4).toList(), sql);
      assertTrue(numbers(pages.stream().skip(2).flatMap(List::stream).toList()).stream().allMatch(n -> n % 5 != 4), () -> sql + " expired: " + pages);
    }
  }

  private static List<Integer> numbers(List<JsonNode> values) {
    return values.stream().map(JsonNode::asInt).toList();
  }

  /** All pages; the clock moves by so many seconds behind the second. */
  private static List<List<JsonNode>> pages(CosmosContainer container, String sql, int size, int seconds) {
    List<List<JsonNode>> found = new ArrayList<>();
    String token = null;
    do {
      FeedResponse<JsonNode> page = container.queryItems(sql, new CosmosQueryRequestOptions(), JsonNode.class)
          .iterableByPage(token, size).iterator().next();
      found.add(page.getResults().stream().map(Ebb::value).toList());
      token = page.getContinuationToken();
      if (found.size() == 2 && seconds > 0) advance(seconds);
    } while (token != null);
    return found;
  }

  @Test
  void feedRanges() {
    CosmosContainer container = shelf();
    List<String> found = new ArrayList<>();
    for (FeedRange range : container.getFeedRanges()) {
      query(container, "SELECT VALUE c.id FROM c", new CosmosQueryRequestOptions().setFeedRange(range))
          .forEach(id -> found.add(id.asText()));
    }
    found.sort(null);
    assertEquals(List.of("1", "2", "3", "4", "5", "6"), found);
    FeedRange one = FeedRange.forLogicalPartition(A);
    equal("['1', '2']", query(container, "SELECT VALUE c.id FROM c", new CosmosQueryRequestOptions().setFeedRange(one)));
  }

  @Test
  void compositeOrder() {
    CosmosContainer container = create(new CosmosContainerProperties("c", "/pk").setIndexingPolicy(
        new IndexingPolicy().setIncludedPaths(List.of(new IncludedPath("/*"))).setCompositeIndexes(List.of(List.of(
            new CompositePath().setPath("/x").setOrder(CompositePathSortOrder.ASCENDING),
            new CompositePath().setPath("/y").setOrder(CompositePathSortOrder.DESCENDING))))));
    put(container, "{'id': '1', 'pk': 'a', 'x': 1, 'y': 1}", "{'id': '2', 'pk': 'a', 'x': 1, 'y': 2}", "{'id': '3', 'pk': 'b', 'x': 0, 'y': 0}");
    equal("['3', '2', '1']", query(container, "SELECT VALUE c.id FROM c ORDER BY c.x, c.y DESC"));
    refused(400, 0, expected.at("/texts/compositeIndexMissing").asText(),
        () -> query(container, "SELECT * FROM c ORDER BY c.x, c.y"));
  }

  @Test
  void badQueries() {
    CosmosContainer container = container();
    refused(400, 0, "Syntax error, incorrect syntax near", () -> query(container, "SELECT * FORM c"));
    refused(400, 0, "Identifier 'nowhere' could not be resolved.", () -> query(container, "SELECT nowhere.x FROM c"));
    refused(400, 0, "'NOSUCH' is not a recognized built-in function name.",
        () -> query(container, "SELECT NOSUCH(c.x) FROM c", within(A)));
  }
}
