using System.Net;
using Microsoft.Azure.Cosmos;

/// <summary>A program with the SDK's defaults, which are direct mode and a check of the certificate.</summary>
public class DirectTests
{
    static readonly string Endpoint = Setting.Of("EBB_DIRECT_ENDPOINT", "http://127.0.0.1:8081");
    const string Key =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

    [Fact]
    public async Task WithTheDefaults()
    {
        using var client = new CosmosClient(Endpoint, Key);
        await Journey(client);
    }

    [Fact]
    public async Task WithAConnectionStringOverHttps()
    {
        var SecureEndpoint = Endpoint.Replace("http://127.0.0.1", "https://localhost");
        using var trusting = new CosmosClient($"AccountEndpoint={SecureEndpoint};AccountKey={Key};");
        await Journey(trusting);
        using var client = new CosmosClient(
            $"AccountEndpoint={SecureEndpoint};AccountKey={Key};DisableServerCertificateValidation=True;");
        await Journey(client);
    }

    static async Task Journey(CosmosClient client)
    {
        Database database = await client.CreateDatabaseIfNotExistsAsync($"test-{Guid.NewGuid():N}");
        Container container = await database.CreateContainerIfNotExistsAsync(new ContainerProperties("c", "/pk"));
        var created = await container.CreateItemAsync(new Item("1", "a", 1), new PartitionKey("a"));
        Assert.Contains("rntbd://", created.Diagnostics.ToString());
        Assert.Equal(1, (await container.ReadItemAsync<Item>("1", new PartitionKey("a"))).Resource.n);
        var read = client.GetDatabaseQueryIterator<DatabaseProperties>("SELECT * FROM c");
        Assert.Contains(await read.ReadNextAsync(), found => found.Id == database.Id);
        var batch = container.CreateTransactionalBatch(new PartitionKey("a"));
        batch.UpsertItem(new Item("2", "a", 2)).ReadItem("1");
        using (var done = await batch.ExecuteAsync()) Assert.True(done.IsSuccessStatusCode);
        var missing = await Assert.ThrowsAsync<CosmosException>(() =>
            container.ReadItemAsync<Item>("none", new PartitionKey("a")));
        Assert.Equal(HttpStatusCode.NotFound, missing.StatusCode);
        Assert.True(missing.Diagnostics.GetClientElapsedTime() < TimeSpan.FromSeconds(4));
        // A container that is made again under the same name is found again.
        await container.DeleteContainerAsync();
        await database.CreateContainerAsync("c", "/pk");
        Assert.Equal(HttpStatusCode.Created,
            (await container.CreateItemAsync(new Item("1", "a", 3), new PartitionKey("a"))).StatusCode);
        Assert.Equal(3, (await container.ReadItemAsync<Item>("1", new PartitionKey("a"))).Resource.n);
        await database.DeleteAsync();
    }
}
