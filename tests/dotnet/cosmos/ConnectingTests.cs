using System.Security.Cryptography.X509Certificates;
using Microsoft.Azure.Cosmos;
using Microsoft.Azure.Cosmos.Fluent;

public class ConnectingTests : CosmosTest
{
    static readonly string SecureEndpoint = Endpoint.Replace("http://127.0.0.1", "https://localhost");

    async Task Works(CosmosClient client)
    {
        using (client)
        {
            var container = client.GetContainer(Db.Id, "c");
            Assert.Equal(1, (await container.ReadItemAsync<Item>("1", Pk("a"))).Resource.n);
        }
    }

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        await (await NewContainer()).CreateItemAsync(new Item("1", "a", 1));
    }

    [Fact]
    public async Task ByConnectionString()
    {
        var client = new CosmosClient(
            $"AccountEndpoint={Endpoint};AccountKey={Key};",
            new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway });
        await Works(client);
    }

    [Fact]
    public async Task ByBuilderAndInitialized()
    {
        await Works(new CosmosClientBuilder(Endpoint, Key).WithConnectionModeGateway().Build());
        await Works(await CosmosClient.CreateAndInitializeAsync(Endpoint, Key, [(Db.Id, "c")], Options()));
    }

    [Fact]
    public async Task WithPreferredRegions()
    {
        await Works(NewClient(options => options.LimitToEndpoint = false));
        await Works(NewClient(options =>
        {
            options.LimitToEndpoint = false;
            options.ApplicationPreferredRegions = ["West Europe", "South Central US"];
        }));
        await Works(NewClient(options =>
        {
            options.LimitToEndpoint = false;
            options.ApplicationRegion = Regions.SouthCentralUS;
        }));
    }

    [Fact]
    public async Task OverHttpsWithoutACheckOfTheCertificate()
    {
        var client = new CosmosClient(
            $"AccountEndpoint={SecureEndpoint};AccountKey={Key};DisableServerCertificateValidation=True;",
            new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway });
        await Works(client);
    }

    [Fact]
    public async Task OverHttpsWithTheServersCertificate()
    {
        using var http = new HttpClient();
        var root = X509Certificate2.CreateFromPem(await http.GetStringAsync($"{Endpoint}/_explorer/emulator.pem"));
        await Works(new CosmosClient(SecureEndpoint, Key, new CosmosClientOptions
        {
            ConnectionMode = ConnectionMode.Gateway,
            ServerCertificateCustomValidationCallback = (certificate, _, _) => certificate.Equals(root),
        }));
        using var stranger = new CosmosClient(
            SecureEndpoint, Key, new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway });
        await Assert.ThrowsAsync<HttpRequestException>(() =>
            stranger.GetContainer(Db.Id, "c").ReadItemAsync<Item>("1", Pk("a")));
    }

    [Fact]
    public async Task AWrongKeyIs401()
    {
        using var wrong = new CosmosClient(Endpoint, Convert.ToBase64String(new byte[64]), Options());
        await Fails(401, () => wrong.GetContainer(Db.Id, "c").ReadItemAsync<Item>("1", Pk("a")));
    }

    [Fact]
    public async Task TheAccount()
    {
        var account = await Client.ReadAccountAsync();
        Assert.Equal(ConsistencyLevel.Session, account.Consistency.DefaultConsistencyLevel);
        Assert.NotEmpty(account.Id);
        Assert.Single(account.ReadableRegions);
        Assert.Single(account.WritableRegions);
    }

    [Fact]
    public async Task DiagnosticsAndCancellation()
    {
        var container = Db.GetContainer("c");
        var read = await container.ReadItemAsync<Item>("1", Pk("a"));
        Assert.Contains(Direct ? "rntbd://" : "GatewayCalls", read.Diagnostics.ToString());
        Assert.Equal(0, read.Diagnostics.GetFailedRequestCount());
        var cancelled = new CancellationToken(canceled: true);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            container.ReadItemAsync<Item>("1", Pk("a"), cancellationToken: cancelled));
    }

    [Fact]
    public async Task ManyAtOnceOverFewConnections()
    {
        using var client = NewClient(options =>
        {
            options.AvailabilityStrategy = AvailabilityStrategy.CrossRegionHedgingStrategy(
                TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
            if (!Direct) options.GatewayModeMaxConnectionLimit = 4;
            options.RequestTimeout = TimeSpan.FromSeconds(30);
        });
        var container = client.GetContainer(Db.Id, "c");
        var reads = Enumerable.Range(0, 40).Select(_ => container.ReadItemAsync<Item>("1", Pk("a")));
        Assert.All(await Task.WhenAll(reads), read => Assert.Equal(1, read.Resource.n));
    }
}
