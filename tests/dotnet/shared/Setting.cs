/// <summary>Where the servers are: variables that `run` sets, with the default addresses.</summary>
static class Setting
{
    public static string Of(string name, string otherwise) => Environment.GetEnvironmentVariable(name) ?? otherwise;
}

static class Eventually
{
    /// <summary>Waits until something is so; fails after a minute.</summary>
    public static Task Holds(Func<bool> condition, string what) => Holds(() => Task.FromResult(condition()), what);

    public static async Task Holds(Func<Task<bool>> condition, string what)
    {
        for (var tries = 0; !await condition(); tries++)
        {
            Assert.True(tries < 1200, $"not within a minute: {what}");
            await Task.Delay(50);
        }
    }
}
