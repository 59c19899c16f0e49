using System.Net;
using System.Net.Http.Json;
using System.Text;
using Microsoft.Azure.Cosmos;

/// <summary>A test with a client and a database of its own.</summary>
public abstract class CosmosTest : IAsyncLifetime
{
    protected static readonly string Endpoint = Setting.Of("EBB_ENDPOINT", "http://127.0.0.1:8081");
    protected const string Key =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

    // One client for the life of the process, as the SDK's documentation has it.
    static readonly CosmosClient Shared = NewClient();
    protected CosmosClient Client => Shared;
    protected Database Db { get; private set; } = null!;

    /// <summary>Whether the tests use direct mode, the SDK's default, instead of gateway mode.</summary>
    protected static bool Direct => Setting.Of("DIRECT", "") == "1";

    // `LimitToEndpoint` has the client use this address alone, whatever the account says of its regions.
    protected static CosmosClientOptions Options()
    {
        var options = new CosmosClientOptions { LimitToEndpoint = true };
        if (Direct) options.ServerCertificateCustomValidationCallback = (_, _, _) => true;
        else options.ConnectionMode = ConnectionMode.Gateway;
        return options;
    }

    protected static CosmosClient NewClient(Action<CosmosClientOptions>? change = null)
    {
        var options = Options();
        change?.Invoke(options);
        return new CosmosClient(Endpoint, Key, options);
    }

    public virtual async Task InitializeAsync() => Db = await Client.CreateDatabaseAsync($"test-{Guid.NewGuid():N}");

    public virtual async Task DisposeAsync() => await Db.DeleteAsync();

    protected async Task<Container> NewContainer(string id = "c", string key = "/pk") =>
        await Db.CreateContainerAsync(id, key);

    protected static PartitionKey Pk(string key) => new(key);

    /// <summary>Reads all pages of an iterator.</summary>
    protected static async Task<List<T>> All<T>(FeedIterator<T> pages)
    {
        var all = new List<T>();
        using (pages)
            while (pages.HasMoreResults) all.AddRange(await pages.ReadNextAsync());
        return all;
    }

    protected static Task<List<T>> Query<T>(Container container, string sql, QueryRequestOptions? options = null) =>
        All(container.GetItemQueryIterator<T>(sql, requestOptions: options));

    protected static async Task<T> One<T>(Container container, string sql, QueryRequestOptions? options = null) =>
        Assert.Single(await Query<T>(container, sql, options));

    /// <summary>Reads a change feed until there is nothing new; returns the items and where to go on.</summary>
    protected static async Task<(List<T> Seen, string Token)> Changes<T>(FeedIterator<T> feed)
    {
        var seen = new List<T>();
        while (true)
        {
            var page = await feed.ReadNextAsync();
            if (page.StatusCode == HttpStatusCode.NotModified) return (seen, page.ContinuationToken);
            seen.AddRange(page);
        }
    }

    /// <summary>Asserts that a call fails with a status.</summary>
    protected static async Task<CosmosException> Fails(int status, Func<Task> call)
    {
        var failure = await Assert.ThrowsAnyAsync<CosmosException>(call);
        Assert.True(status == (int)failure.StatusCode, $"{status} expected, got {failure.Message}");
        return failure;
    }

    protected static Stream Utf8(string text) => new MemoryStream(Encoding.UTF8.GetBytes(text));

    protected static string Text(Stream stream)
    {
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    /// <summary>Moves the clock of the server.</summary>
    protected static async Task Advance(long seconds)
    {
        using var http = new HttpClient();
        var clock = Setting.Of("EBB_ADMIN", "http://127.0.0.1:8080") + "/_ebb/clock";
        var answer = await http.PostAsJsonAsync(clock, new { advance_seconds = seconds });
        answer.EnsureSuccessStatusCode();
    }
}

/// <summary>An item as both serializers of the SDK write and read it.</summary>
public record Item(string id, string pk, int n = 0)
{
    [Newtonsoft.Json.JsonProperty(NullValueHandling = Newtonsoft.Json.NullValueHandling.Ignore)]
    [System.Text.Json.Serialization.JsonIgnore(
        Condition = System.Text.Json.Serialization.JsonIgnoreCondition.WhenWritingNull)]
    public string? name { get; init; }

    // A null would be refused: left out, the item has the default of the container.
    [Newtonsoft.Json.JsonProperty(NullValueHandling = Newtonsoft.Json.NullValueHandling.Ignore)]
    [System.Text.Json.Serialization.JsonIgnore(
        Condition = System.Text.Json.Serialization.JsonIgnoreCondition.WhenWritingNull)]
    public int? ttl { get; init; }

    public long _ts { get; init; }
    public string? _etag { get; init; }
}
