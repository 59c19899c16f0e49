using System.Text.Json;
using Microsoft.Azure.Cosmos;

/// <summary>
/// Random cases of queries whose pages are each read by a new iterator; tests/sdks/pages.py describes and makes them.
/// </summary>
[Collection("clock")]
public class RandomPageTests : CosmosTest
{
    public record IndexPath(string path, string order);

    public record Case(
        string name, string query, JsonElement[] items, IndexPath[]? compositeIndex, string? partitionKey,
        int pageSize, int movesAfter, int diesAfter, JsonElement[] mortal, bool limited);

    [Fact]
    public async Task NoRowIsLostOrRepeated()
    {
        var file = Setting.Of("EBB_PAGES", "pages.json");
        foreach (var one in JsonSerializer.Deserialize<Case[]>(await File.ReadAllTextAsync(file))!)
        {
            var container = await Filled(one);
            await Check(container, one);
            await container.DeleteContainerAsync();
        }
    }

    async Task<Container> Filled(Case one)
    {
        var properties = new ContainerProperties("c", "/pk") { DefaultTimeToLive = -1 };
        if (one.compositeIndex != null)
            properties.IndexingPolicy.CompositeIndexes.Add([.. one.compositeIndex.Select(part => new CompositePath
            {
                Path = part.path,
                Order = part.order == "ascending" ? CompositePathSortOrder.Ascending : CompositePathSortOrder.Descending,
            })]);
        Container container = await Db.CreateContainerAsync(properties);
        foreach (var item in one.items)
        {
            var key = Pk(item.GetProperty("pk").GetString()!);
            using var answer = await container.CreateItemStreamAsync(Utf8(item.GetRawText()), key);
            answer.EnsureSuccessStatusCode();
        }
        return container;
    }

    static async Task Check(Container container, Case one)
    {
        Assert.True((await Whole(container, one)).SequenceEqual((await Pages(container, one, 0)).SelectMany(page => page)),
            $"not the rows of one read: {one.name}");

        var pages = await Pages(container, one, one.movesAfter);
        if (pages.Count < one.movesAfter) await Advance(one.diesAfter);
        var live = await Whole(container, one);
        var dead = one.mortal.Select(Text).ToHashSet();
        var found = pages.SelectMany(page => page).ToList();
        var shown = $"{one.name}: {string.Join(" | ", pages.Select(page => string.Join(", ", page)))}";
        Assert.True(found.Distinct().Count() == found.Count, $"a row twice: {shown}");
        var later = pages.Skip(one.movesAfter).SelectMany(page => page);
        Assert.False(later.Concat(live).Any(dead.Contains), $"an expired row: {shown}");
        if (!one.limited)
            Assert.True(live.SequenceEqual(found.Where(row => !dead.Contains(row))), $"a row lost: {shown}");
    }

    static QueryRequestOptions Options(Case one) =>
        new() { MaxItemCount = one.pageSize, PartitionKey = one.partitionKey == null ? null : Pk(one.partitionKey) };

    static async Task<List<string>> Whole(Container container, Case one)
    {
        var options = Options(one);
        options.MaxItemCount = -1;
        using var pages = container.GetItemQueryStreamIterator(one.query, requestOptions: options);
        var rows = new List<string>();
        while (pages.HasMoreResults) rows.AddRange(Rows(await pages.ReadNextAsync()));
        return rows;
    }

    /// <summary>Reads all pages; the clock moves after so many of them, 0 for never.</summary>
    static async Task<List<List<string>>> Pages(Container container, Case one, int movesAfter)
    {
        var found = new List<List<string>>();
        string? token = null;
        do
        {
            using var pages = container.GetItemQueryStreamIterator(one.query, token, Options(one));
            using var page = await pages.ReadNextAsync();
            var rows = Rows(page);
            Assert.True(rows.Count <= one.pageSize, $"a page of {rows.Count}: {one.name}");
            found.Add(rows);
            token = page.ContinuationToken;
            if (found.Count == movesAfter) await Advance(one.diesAfter);
        }
        while (token != null);
        return found;
    }

    // The same text however a string is escaped.
    static string Text(JsonElement row) => JsonSerializer.Serialize(row);

    /// <summary>Returns the rows of an answer as JSON.</summary>
    static List<string> Rows(ResponseMessage page)
    {
        page.EnsureSuccessStatusCode();
        using var body = JsonDocument.Parse(page.Content);
        return [.. body.RootElement.GetProperty("Documents").EnumerateArray().Select(Text)];
    }
}
