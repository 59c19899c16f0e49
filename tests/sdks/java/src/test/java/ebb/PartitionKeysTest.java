// Partition keys: of every type, missing, and hierarchical ones.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PartitionKeysTest extends Ebb {
  @Test
  void keysOfEveryType() {
    CosmosContainer container = container();
    Map<PartitionKey, String> kinds = new LinkedHashMap<>();
    kinds.put(new PartitionKey("ключ"), "'ключ'");
    kinds.put(new PartitionKey(""), "''");
    kinds.put(new PartitionKey(1), "1");
    kinds.put(new PartitionKey(-1.5), "-1.5");
    kinds.put(new PartitionKey(true), "true");
    kinds.put(new PartitionKey(false), "false");
    kinds.put(new PartitionKeyBuilder().addNullValue().build(), "null");
    kinds.forEach((key, value) -> {
      String item = "{'id': '1', 'pk': " + value + "}";
      container.createItem(item(item), key, null);
      equal(item, bare(container.readItem("1", key, JsonNode.class).getItem()));
      equal("[" + value + "]", query(container, "SELECT VALUE c.pk FROM c", within(key)));
    });
    container.createItem(item("{'id': '1'}"), PartitionKey.NONE, null);
    equal("{'id': '1'}", bare(container.readItem("1", PartitionKey.NONE, JsonNode.class).getItem()));
    equal("['1']", query(container, "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.pk)"));
    equal("[8]", query(container, "SELECT VALUE COUNT(1) FROM c"));
    refused(400, 1001, "", () -> container.createItem(item("{'id': '2', 'pk': 1}"), new PartitionKey("1"), null));
  }

  static PartitionKey key(String tenant, int u) {
    return new PartitionKeyBuilder().add(tenant).add(u).add(true).build();
  }

  @Test
  void hierarchicalKeys() {
    CosmosContainer container = create(hierarchical("c", "/t", "/u/v", "/w"));
    for (int u = 1; u <= 2; u++) {
      for (String tenant : new String[] {"x", "y"}) {
        ObjectNode item = item("{'id': '1', 't': '" + tenant + "', 'u': {'v': " + u + "}, 'w': true}");
        assertEquals(201, container.createItem(item, key(tenant, u), null).getStatusCode());
      }
    }
    equal("{'id': '1', 't': 'x', 'u': {'v': 2}, 'w': true}", bare(container.readItem("1", key("x", 2), JsonNode.class).getItem()));
    refused(404, 0, NO_ITEM, () -> container.readItem("1", key("z", 2), JsonNode.class));
    String pair = "SELECT c.t, c.u.v FROM c";
    equal("[{'t': 'x', 'v': 2}]", query(container, pair, within(key("x", 2))));
    equal("[{'t': 'x', 'v': 1}]", query(container, pair, within(new PartitionKeyBuilder().add("x").add(1).build())));
    equal("[1, 2]", query(container, "SELECT VALUE c.u.v FROM c ORDER BY c.u.v", within(new PartitionKeyBuilder().add("y").build())));
    equal("[4]", query(container, "SELECT VALUE COUNT(1) FROM c"));
    equal("[1, 2]", query(container, "SELECT VALUE c.u.v FROM c WHERE c.t = 'x' ORDER BY c.u.v"));
  }
}
